"""The files that the open one reads: those that crowds may depend on, and those of pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

from ...core.files.plain import digest_if_there
from ..checks import advice

_SHAPES = ("objects", "cache_files", "fonts", "volumes")
"""Kinds of data whose files shape what crowds meet."""
_UNSEEN = {"BRUSH", "SCREEN", "WINDOWMANAGER", "WORKSPACE"}
"""Users of images that no picture shows."""
_TILE = {"<UDIM>": r"\d{4}", "<UVTILE>": r"u\d+_v\d+"}


def read() -> dict[str, Any]:
    """SHA-256 of the files that the open one reads, by their paths, empty where one is gone.

    Returns:
        `linked`: those that it links from, and those that shape its objects, which are caches,
        fonts, volumes, and images of textures and Geometry Nodes; `images`: those of images that
        pictures show, and that shape nothing; `lost`: those that it links from, of which nothing
        comes, as they are not there; `lacking`: a sentence for each that lacks what is linked.
    """
    linked = {_path(one, one.filepath) for one in bpy.data.libraries if one.users_id}
    known = {one for kind in _SHAPES for one in getattr(bpy.data, kind)}
    found = bpy.data.file_path_map(subset=known) if known else {}
    for one, texts in found.items():
        # a folder may be that of a whole disk
        of_one = (file for text in texts if text != "<builtin>" for file in _files(one, text))
        linked.update(file for file in of_one if not file.is_dir())
    shaping, shown = _image_files()
    linked |= shaping
    found_lost = list(advice.lost_libraries())
    return {
        "linked": _digests(linked),
        "images": _digests(shown - shaping),
        "lost": sorted(one.subject for one in found_lost if one.code == "LIBRARY_LOST"),
        "lacking": sorted(str(one) for one in found_lost if one.code != "LIBRARY_LOST"),
    }


def _digests(paths: set[Path]) -> dict[str, str]:
    return {str(path): digest_if_there(path) for path in sorted(paths)}


def _image_files() -> tuple[set[Path], set[Path]]:
    """Files of images that shape objects, and of those that are only seen."""
    images = {image for image in bpy.data.images if image.filepath and not image.packed_files}
    shaping, shown = set[Path](), set[Path]()
    for image, users in (bpy.data.user_map(subset=images) if images else {}).items():
        seen = [one for one in users if one.id_type not in _UNSEEN]
        if seen and isinstance(image, bpy.types.Image):
            kind = shaping if any(map(_shapes, seen)) else shown
            kind.update(_files(image, image.filepath))
    return shaping, shown


def _shapes(user: bpy.types.ID) -> bool:
    """Whether an image may change the shape of objects by what uses it."""
    if isinstance(user, bpy.types.Object):
        # an input of its Geometry Nodes; empties only show theirs
        return user.type != "EMPTY"
    return isinstance(user, bpy.types.Texture | bpy.types.GeometryNodeTree)


def _path(owner: bpy.types.ID, text: str) -> Path:
    # links are not followed: a farm has to find files where Blender looks for them
    return Path(os.path.abspath(bpy.path.abspath(text, library=owner.library)))


def _files(owner: Any, text: str) -> Iterator[Path]:
    """The file of a path, or those of all tiles or frames that it stands for."""
    path = _path(owner, text)
    pattern = re.escape(path.name)
    for mark, digits in _TILE.items():
        pattern = pattern.replace(re.escape(mark), digits)
    if getattr(owner, "source", "") == "SEQUENCE" or getattr(owner, "is_sequence", False):
        pattern = re.sub(r"\d+(?=\D*$)", r"\\d+", pattern)
    if pattern == re.escape(path.name):
        yield path
        return
    try:
        names = [name for name in os.listdir(path.parent) if re.fullmatch(pattern, name)]
    except OSError:
        names = []
    yield from map(path.with_name, names or [path.name])
