"""Presets as menus list them: by groups, the built-in ones and the user's."""

from __future__ import annotations

from ...core.crowd.presets import Card, find_presets, preset_card
from ..crowd.crowds import user_preset_folders

GROUPS = ("People", "Animals", "Techniques")
"""Headings that come first, in this order."""
OWN = "Your Own"
"""Heading of presets without a group."""


def grouped_presets() -> dict[str, list[tuple[str, Card]]]:
    """Names and texts of all presets by their heading in menus."""
    groups: dict[str, list[tuple[str, Card]]] = {name: [] for name in GROUPS}
    for name, path in find_presets(*user_preset_folders()).items():
        card = preset_card(path)
        groups.setdefault(card.group or OWN, []).append((name, card))
    for rows in groups.values():
        rows.sort(key=lambda row: row[1].label)
    return {group: rows for group, rows in groups.items() if rows}
