"""`Object.steer.groups`: the groups of a crowd, as Blender properties."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import bpy

from ...core.crowd.groups import GroupSettings
from ...core.parameters import parameters
from . import casting
from .property_factory import (
    FIXED,
    make_class,
    make_property,
    read_settings,
    unique_name,
    write_settings,
)

if TYPE_CHECKING:
    from .property_types import SteerCrowd, SteerGroup

_NEW = "group"
"""Name of a group without one."""


def group_class() -> type:
    """The class of an entry of the list (not yet registered)."""
    updates = {"name": _keep_name_usable}
    searches = {"name": _name_search, "characters": _character_search}
    properties = {
        # membership does not change from frame to frame
        name: make_property(info, updates.get(name), searches.get(name), FIXED)
        for name, info in parameters(GroupSettings).items()
    }
    return make_class("SteerGroup", properties, GroupSettings.__doc__ or "")


def search(item: Any, _context: Any, text: str) -> list[str]:
    """Groups that the field of a behavior suggests, and all but one of them.

    Args:
        item: The behavior.
        text: What stands in the field: the last of its names is replaced.
    """
    names = [group.name for group in item.id_data.steer.groups]
    return _completed(text, [*names, *(f"!{name}" for name in names)])


def _character_search(item: Any, _context: Any, text: str) -> list[str]:
    return _completed(text, casting.character_names(item.id_data))


def _name_search(item: SteerGroup, _context: Any, _text: str) -> list[str]:
    """Names that the source knows."""
    obj: Any = item.id_data
    if item.source == "VERTEX_GROUP":
        return [group.name for group in obj.vertex_groups]
    if item.source == "ATTRIBUTE":
        return [a.name for a in obj.data.attributes if a.domain == "POINT" and a.name[0] != "."]
    return []


def _completed(text: str, names: Iterable[str]) -> list[str]:
    """Lists of names, each with one more in place of the last one."""
    before, comma, _ = text.rpartition(",")
    return [f"{before}{comma} {name}" if comma else name for name in names]


def _keep_name_usable(self: SteerGroup, _context: Any) -> None:
    """Behaviors know groups by their names, in lists with commas between."""
    wanted = self.name.replace(",", " ").strip().lstrip("!").strip() or _NEW
    groups = self.id_data.steer.groups
    taken = [group.name for group in groups if group.as_pointer() != self.as_pointer()]
    name = unique_name(wanted, taken)
    if name != self.name:
        self.name = name


def groups_of(steer: SteerCrowd) -> tuple[GroupSettings, ...]:
    """The groups of a crowd.

    Raises:
        ParameterError: A value does not fit, such as a source of a newer version.
    """
    return tuple(read_settings(item, GroupSettings) for item in steer.groups)


def write_groups(steer: SteerCrowd, groups: Iterable[GroupSettings]) -> None:
    """Set the list of groups."""
    steer.groups.clear()
    for group in groups:
        write_settings(steer.groups.add(), group)
    steer.active_group = min(steer.active_group, max(0, len(steer.groups) - 1))


def add_group(obj: bpy.types.Object) -> Any:
    """Add a group to the end of the list; returns the entry."""
    item = obj.steer.groups.add()
    item.name = _NEW
    obj.steer.active_group = len(obj.steer.groups) - 1
    return item
