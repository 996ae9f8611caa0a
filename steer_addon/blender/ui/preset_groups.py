"""Presets as menus list them: by groups, those that come with Steer and those of the user."""

from __future__ import annotations

from ...core.crowd.presets import Card, find_presets, preset_card
from ..crowd.crowds import user_preset_folders

GROUPS = ("People", "Animals", "Techniques")
"""Headings of presets that come first, in this order."""
OWN = "Your Own"
"""Heading of presets that name none."""


def grouped_presets() -> dict[str, list[tuple[str, Card]]]:
    """Names and texts of all presets by the heading that menus list them under."""
    groups: dict[str, list[tuple[str, Card]]] = {name: [] for name in GROUPS}
    for name, path in find_presets(*user_preset_folders()).items():
        card = preset_card(path)
        groups.setdefault(card.group or OWN, []).append((name, card))
    for rows in groups.values():
        rows.sort(key=lambda row: row[1].label)
    return {group: rows for group, rows in groups.items() if rows}
