"""Textures of exported materials: images that are in memory only are written beside the file.

Blender's exporter names files for images that are packed, generated or painted, and makes none
unless it copies all textures, where images with the same name overwrite each other. So they are
written here. Images that are files stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ...core.diagnoses import Diagnosis, diagnose
from ...core.files.additions import Additions
from ...core.files.plain import reason
from ...core.files.whole import why_not_whole
from ..display import images
from ..writing.files import reason_of, safe_name
from ..writing.usd_points import pxr

FOLDER = "textures"
"""Folder beside the exported file, named as Blender names it."""
_TILE = "<UDIM>"
"""What stands for the number of a tile in paths of USD."""
_ENDING = re.compile(r"\.\w{1,8}$")

Finish = Callable[[Any, Path], None]
"""Adds the textures, given a stage that is complete otherwise, and the path of its file."""


@dataclass
class Texture:
    """An image that exists in memory only, and where an exported file shows it.

    Attributes:
        image: Its name in Blender.
        stem: Name of its files before their endings.
        ending: Their ending, with a place for the number of the tile where it has tiles.
        files: Temporary files with its bytes, by their endings.
        places: Paths of the attributes that name it, below the root.
        fault: Why there is no file of it; empty if there is.
    """

    image: str
    stem: str = ""
    ending: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)
    fault: str = ""


def collect(
    file: Path, materials: Iterable[bpy.types.Material], root: str, folder: Path
) -> list[Texture]:
    """Save the images that a file names and that are nowhere on the disk.

    Args:
        file: A USD file that Blender has exported.
        materials: The materials in it.
        root: Path of its root prim.
        folder: Temporary folder for the images.
    """
    usd = pxr()
    layer = usd.Sdf.Layer.OpenAsAnonymous(str(file))
    made = list(materials)
    found: dict[Any, Texture] = {}

    def visit(path: Any) -> None:
        spec = layer.GetAttributeAtPath(path) if path.IsPropertyPath() else None
        if spec is None or not isinstance(spec.default, usd.Sdf.AssetPath):
            return
        authored = spec.default.path
        image = _image_of(usd, path.GetPrimPath(), authored, made)
        if image is None:
            if authored and not Path(authored).is_absolute():
                found.setdefault(authored, Texture(authored, fault="no material shows it"))
            return
        key = image.session_uid
        if key not in found and images.in_memory(image):
            found[key] = _saved(image, authored, folder / f"{len(found)}")
        elif key not in found and (fault := images.why_missing(image)):
            found[key] = Texture(image.name, fault=fault)
        if key in found:
            found[key].places.append(path.pathString.removeprefix(root))

    layer.Traverse(root, visit)
    return list(found.values())


@contextmanager
def adding(
    textures: Iterable[Texture], path: Path, above: str, warnings: list[Diagnosis]
) -> Iterator[Finish]:
    """Textures for a file that is written in this block; after an error none of them is left.

    Args:
        textures: The textures.
        path: The file that will be there.
        above: Path of the prim in it that has what was below the root.
        warnings: Filled with what cannot be written.
    """
    added = Additions(path.parent, FOLDER)

    def finish(stage: Any, partial: Path) -> None:
        for texture in textures:
            try:
                if not texture.fault:
                    name = added.add(texture.stem, texture.files, partial.parent)
            except OSError as error:
                texture.fault = reason(error)
            if texture.fault:
                found = diagnose("TEXTURE_MISSING", texture.image, reason=texture.fault)
                warnings.append(found)
                continue
            asset = pxr().Sdf.AssetPath(f"./{name}{texture.ending}")
            for place in texture.places:
                stage.GetRootLayer().GetAttributeAtPath(f"{above}{place}").default = asset

    try:
        yield finish
    except BaseException:
        added.undo()
        raise
    added.complete()


def missing(objects: Iterable[bpy.types.Object]) -> Iterator[Diagnosis]:
    """Diagnoses of images that are not found, of exports that bring all images along."""
    for image in images.shown_by(slot.material for obj in objects for slot in obj.material_slots):
        if fault := images.why_missing(image):
            yield diagnose("TEXTURE_MISSING", image.name, reason=fault)


def _image_of(
    usd: Any, prim: Any, authored: str, materials: list[bpy.types.Material]
) -> bpy.types.Image | None:
    """The image of a shader in a file, by the names of its material and its node.

    Materials whose names differ only in what USD has no room for are one there; so the name of the
    file decides among several.
    """
    shown = [
        getattr(node, "image", None)
        for material in materials
        if material.node_tree is not None and prim.GetParentPath().name in _keys(usd, material.name)
        for node in material.node_tree.nodes
        if prim.name in _keys(usd, node.name)
    ]
    named = [image for image in shown if image is not None]
    fitting = [image for image in named if _stem_of(image) in authored]
    return next(iter(fitting or named), None)


def _keys(usd: Any, name: str) -> set[str]:
    """Names that USD may have for a name, with letters of all languages or without."""
    wide = re.sub(r"\W", "_", name)
    return {usd.Tf.MakeValidIdentifier(name), f"_{wide}" if wide[:1].isdigit() else wide}


def _stem_of(image: bpy.types.Image) -> str:
    name = bpy.path.basename(image.filepath) or image.name
    return _ENDING.sub("", name).split("<")[0]


def _saved(image: bpy.types.Image, authored: str, temporary: Path) -> Texture:
    """Save an image to temporary files whose names begin with a path."""
    name = authored.removeprefix("./").removeprefix(f"{FOLDER}/")
    found = _ENDING.search(name)
    suffix = "" if found is None else found[0]
    tile = f".{_TILE}" if image.source == "TILED" else ""
    stem = safe_name(_ENDING.sub("", name).removesuffix(tile))
    texture = Texture(image.name, stem, f"{tile}{suffix}")
    temporary.parent.mkdir(exist_ok=True)
    try:
        if image.packed_files and not image.is_dirty:
            texture.files = _unpacked(image, texture.ending, temporary)
        else:
            texture.files = _encoded(image, texture.ending, temporary)
        faults = (why_not_whole(path) for path in texture.files.values())
        texture.fault = next(filter(None, faults), "")
    except (RuntimeError, OSError) as error:
        texture.fault = reason(error) if isinstance(error, OSError) else reason_of(error)
    return texture


def _unpacked(image: bpy.types.Image, ending: str, temporary: Path) -> dict[str, Path]:
    """The files that are packed in an image, with the bytes that they have there."""
    files = {}
    for tile in image.packed_files:
        packed: Any = tile.packed_file
        own = ending.replace(_TILE, str(tile.tile_number))
        files[own] = Path(f"{temporary}{own}")
        files[own].write_bytes(packed.data)
    return files


def _encoded(image: bpy.types.Image, ending: str, temporary: Path) -> dict[str, Path]:
    """The pixels of an image in files of its own format; the image stays as it is.

    Raises:
        RuntimeError: Blender cannot write it.
    """
    tiles = [str(tile.number) for tile in image.tiles] if _TILE in ending else [""]
    endings = [ending.replace(_TILE, tile) for tile in tiles]
    wanted = {own: Path(f"{temporary}{own}") for own in endings}
    try:
        image.save(filepath=f"{temporary}{ending}", save_copy=True)
    except RuntimeError:
        # tiles that were never filled have no pixels to save
        if not any(path.is_file() for path in wanted.values()):
            raise
    return {own: path for own, path in wanted.items() if path.is_file()}
