"""Small pictures of the built-in presets for menus, loaded when the first menu is drawn."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.utils import previews

from ...core.crowd import presets

FOLDER = "previews"
"""Folder beside the built-in presets, with a PNG file for each of them by name."""

_collection: list[Any] = []


def icon_of(name: str) -> int:
    """The icon of a preset, for `icon_value`; 0 (no icon) if there is no picture."""
    if bpy.app.background:
        # without a window nothing is drawn, and pictures could not be freed
        return 0
    if not _collection:
        _collection.append(previews.new())
    pictures = _collection[0]
    if name not in pictures:
        path = presets.builtin_folder() / FOLDER / f"{name}.png"
        if not path.is_file():
            return 0
        pictures.load(name, str(path), "IMAGE")
    return int(pictures[name].icon_id)


def unregister() -> None:
    """Free the pictures."""
    while _collection:
        previews.remove(_collection.pop())
