"""Images of materials, and the files that they are read from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bpy


def shown_by(materials: Iterable[bpy.types.Material | None]) -> list[bpy.types.Image]:
    """Images that nodes of materials, or of groups in them, lead on; each once."""
    known: set[Any] = set()
    found = (image for one in materials if one for image in _of_tree(one.node_tree, known))
    return list(dict.fromkeys(found))


def _of_tree(tree: Any, known: set[Any]) -> Iterator[bpy.types.Image]:
    if tree is None or tree in known:
        return
    known.add(tree)
    for node in tree.nodes:
        if node.type == "GROUP":
            yield from _of_tree(node.node_tree, known)
        image = getattr(node, "image", None)
        if image is not None and any(output.is_linked for output in node.outputs):
            yield image


def in_memory(image: bpy.types.Image) -> bool:
    """Whether an image needs no file."""
    return bool(image.packed_files) or image.source == "GENERATED" or image.is_dirty


def why_missing(image: bpy.types.Image) -> str:
    """Why the file of an image is not found, as part of a sentence; empty if all is well.

    Of images with tiles all have to be there; sequences and the like are not looked for.
    """
    if in_memory(image) or image.source not in ("FILE", "TILED"):
        return ""
    if not image.filepath:
        return "it names no file"
    path = bpy.path.abspath(image.filepath, library=image.library)
    tiles = [tile.number for tile in image.tiles] if image.source == "TILED" else [0]
    paths = [path.replace("<UDIM>", str(tile)) for tile in tiles]
    return next((f"there is no file {one}" for one in paths if not Path(one).is_file()), "")
