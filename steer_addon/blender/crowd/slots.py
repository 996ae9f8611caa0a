"""Entries of the lists of behaviors and groups: their names, and slots for targets and sources.

This decides from the settings alone which objects count; nothing is evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ...core.behaviors import REGISTRY
from ...core.sensing.declare import CONTAINER, FIELD, PATHS, SECOND_TARGETS, TARGETS
from ...core.sensing.titles import renumbered
from . import casting
from .property_factory import unique_name

if TYPE_CHECKING:
    from .property_types import SteerBehavior, SteerGroup

NEW_GROUP = "group"
"""Name of a group without one."""

LINE_TYPES = ("MESH", "CURVE")
"""Types of objects that are paths and fields."""

EXTENT_TYPES = ("MESH", "CURVE", "SURFACE", "FONT")
SOLID_EMPTIES = ("SPHERE", "CUBE")


HAIR = "hair curves are not read, convert it to a curve or a mesh (Object ▸ Convert)"
"""Way out for an object of the type CURVES: only geometry nodes evaluate its splines."""


class SourceKind(NamedTuple):
    """A source: an input of behaviors other than targets, colliders and ground.

    Attributes:
        label: Its name in the panel.
        choose: Kinds of objects that the user can choose.
        icon: Icon of what is made where there is none.
    """

    label: str
    choose: str
    icon: str

    @property
    def noun(self) -> str:
        """Its name in sentences."""
        return self.label.lower()


SOURCES = {
    PATHS: SourceKind("Path", "choose a curve or a mesh with edges", "CURVE_PATH"),
    FIELD: SourceKind(
        "Field", "choose a mesh with a vector attribute, or curves", "CURVE_BEZCIRCLE"
    ),
    CONTAINER: SourceKind("Container", "choose a mesh, or an empty of type sphere or cube", "CUBE"),
}
"""The kinds of sources by what behaviors declare in `uses`."""


def uses_of(item: SteerBehavior) -> tuple[str, ...]:
    """Slots of a list entry; none for a type of another version."""
    cls = REGISTRY.get(item.type)
    return () if cls is None else cls.definition.uses


def title_of(item: SteerBehavior) -> str:
    """The name that people read and type: "Avoid Neighbors.001" for `avoid_neighbors.001`."""
    cls, name = REGISTRY.get(item.type), str(item.name)
    return name if cls is None else renumbered(name, item.type, cls.definition.label)


def set_title(item: SteerBehavior, title: str) -> None:
    """Rename a list entry; an empty title, or the label of its type, gives it the type's name."""
    cls, title = REGISTRY.get(item.type), title.strip()
    item.name = title if cls is None else renumbered(title, cls.definition.label, item.type)


def search_groups(item: SteerBehavior, _context: Any, text: str) -> list[str]:
    """Groups that the field of a behavior suggests, and all agents but those of one."""
    names = [group.name for group in item.id_data.steer.groups]
    return _completed(text, [*names, *(f"!{name}" for name in names)])


def search_characters(item: SteerGroup, _context: Any, text: str) -> list[str]:
    """Characters that the field of a group suggests."""
    return _completed(text, casting.character_names(item.id_data))


def search_names(item: SteerGroup, _context: Any, _text: str) -> list[str]:
    """Names that the mesh knows what the source of a group says by."""
    obj: Any = item.id_data
    if item.source == "VERTEX_GROUP":
        return [group.name for group in obj.vertex_groups]
    if item.source == "ATTRIBUTE":
        return [a.name for a in obj.data.attributes if a.domain == "POINT" and a.name[0] != "."]
    return []


def _completed(text: str, names: Iterable[str]) -> list[str]:
    """Lists of names, each with one more in place of the last one of a list."""
    before, comma, _ = text.rpartition(",")
    return [f"{before}{comma} {name}" if comma else name for name in names]


def keep_group_name(item: SteerGroup, _context: Any) -> None:
    """Behaviors know groups by their names, in lists with commas between."""
    wanted = item.name.replace(",", " ").strip().lstrip("!").strip() or NEW_GROUP
    groups = item.id_data.steer.groups
    taken = [group.name for group in groups if group.as_pointer() != item.as_pointer()]
    name = unique_name(wanted, taken)
    if name != item.name:
        item.name = name


def needs_target(item: SteerBehavior) -> bool:
    """Whether a list entry does nothing without a target."""
    return TARGETS in uses_of(item) and REGISTRY[item.type].needs_target


def source_use(item: SteerBehavior) -> str:
    """Which kind of source a list entry reads, one of SOURCES; empty for none."""
    for use in uses_of(item):
        if use in SOURCES:
            return use
    return ""


class SecondTarget:
    """The second target of a list entry, under the names that all targets have."""

    def __init__(self, item: SteerBehavior) -> None:
        self._item = item
        self.id_data = item.id_data

    def __getattr__(self, name: str) -> Any:
        """Of the entry: target_kind, target_object or target_collection."""
        return getattr(self._item, f"second_{name}")


def target_slots(obj: bpy.types.Object) -> dict[str, Any]:
    """Owner of the target properties: "" for the crowd, else a behavior's name."""
    steer = obj.steer
    own = {i.name: i for i in steer.behaviors if i.use_own_target and TARGETS in uses_of(i)}
    return {"": steer, **own}


def second_slots(obj: bpy.types.Object) -> dict[str, SecondTarget]:
    """The second targets of behaviors that stand between two, by the behaviors' names."""
    used = [item for item in obj.steer.behaviors if SECOND_TARGETS in uses_of(item)]
    return {item.name: SecondTarget(item) for item in used}


def is_chosen(owner: Any, role: str) -> bool:
    """Whether an object, or a collection with any, is chosen as one of a few roles.

    Args:
        owner: The crowd or the list entry.
        role: One of "target", "second_target" and "source".
    """
    if getattr(owner, f"{role}_kind") != "COLLECTION":
        return getattr(owner, f"{role}_object") is not None
    collection = getattr(owner, f"{role}_collection")
    return collection is not None and len(collection.all_objects) > 0


def can_be_source(obj: bpy.types.Object, use: str) -> bool:
    """Whether an object can be read as this kind of source."""
    if use != CONTAINER:
        return obj.type in LINE_TYPES
    if obj.type == "EMPTY":
        return obj.empty_display_type in SOLID_EMPTIES
    return obj.type in EXTENT_TYPES
