"""Presets as menus show them: by groups, with small pictures that are loaded at the first menu."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.utils import previews

from ...core.crowd import presets
from ..crowd.crowds import user_preset_folders

FOLDER = "previews"
"""Folder beside the built-in presets, with a PNG file for each of them by name."""

GROUPS = ("People", "Animals", "Techniques")
"""Headings that come first, in this order."""
OWN = "Your Own"
"""Heading of presets without a group."""

_collection: list[Any] = []


def grouped_presets() -> dict[str, list[tuple[str, presets.Card]]]:
    """Names and texts of all presets by their heading in menus."""
    groups: dict[str, list[tuple[str, presets.Card]]] = {name: [] for name in GROUPS}
    for name, path in presets.find_presets(*user_preset_folders()).items():
        card = presets.preset_card(path)
        groups.setdefault(card.group or OWN, []).append((name, card))
    for rows in groups.values():
        rows.sort(key=lambda row: row[1].label)
    return {group: rows for group, rows in groups.items() if rows}


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
