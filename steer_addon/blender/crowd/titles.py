"""Titles of entries in the list of behaviors: "Avoid Neighbors.001", while the key stays.

Keys, as `avoid_neighbors.001`, are what presets, the command line and animation know. People read,
and type, what stands in the menus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.behaviors import REGISTRY
from ...core.sensing.titles import renumbered

if TYPE_CHECKING:
    from .property_types import SteerBehavior


def title_of(item: SteerBehavior) -> str:
    """Title of a list entry: its name, or the label of its type."""
    cls, name = REGISTRY.get(item.type), str(item.name)
    return name if cls is None else renumbered(name, item.type, cls.definition.label)


def set_title(item: SteerBehavior, title: str) -> None:
    """Rename a list entry; nothing, or what its type is called, gives it the name of its type."""
    cls, title = REGISTRY.get(item.type), title.strip()
    item.name = title if cls is None else renumbered(title, cls.definition.label, item.type)
