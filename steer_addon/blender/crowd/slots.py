"""Entries of the lists of behaviors and groups: their names, and slots for targets and sources.

This decides from the settings alone which objects count; nothing is evaluated here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
from bpy.props import EnumProperty, IntProperty, PointerProperty

from ...core.behaviors import REGISTRY
from ...core.sensing.declare import CONTAINER, FIELD, PATHS, SECOND_TARGETS, TARGETS
from ...core.sensing.titles import renumbered
from . import casting
from .property_factory import ANIMATED, FIXED, OVERRIDABLE, unique_name

if TYPE_CHECKING:
    from .property_types import SteerBehavior, SteerCrowd, SteerGroup

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


TARGET_KINDS = (
    ("OBJECT", "Object", "The origin of one object", "OBJECT_DATA", 0),
    (
        "COLLECTION",
        "Collection",
        "The origins of all objects of a collection",
        "OUTLINER_COLLECTION",
        1,
    ),
    ("POINTS", "Points", "The vertices of a mesh object", "MESH_DATA", 2),
    ("CROWD", "Crowd", "The agents of another crowd, or the others of this one", "COMMUNITY", 3),
)

SOURCE_KINDS = (
    ("OBJECT", "Object", "One object", "OBJECT_DATA", 0),
    (
        "COLLECTION",
        "Collection",
        "All objects of a collection, in order of name",
        "OUTLINER_COLLECTION",
        1,
    ),
)


def fixed(kind: Any, name: str, description: str, **more: Any) -> Any:
    """A property that cannot be animated, unless `options` says so."""
    options = {"options": FIXED, "override": OVERRIDABLE, **more}
    return kind(name=name, description=description, **options)


def object_property(name: str, description: str, poll: Any) -> Any:
    """A property that names an object."""
    return fixed(PointerProperty, name, description, type=bpy.types.Object, poll=poll)


def collection_property(name: str, description: str) -> Any:
    """A property that names a collection."""
    return fixed(PointerProperty, name, description, type=bpy.types.Collection)


def is_other(self: Any, obj: bpy.types.Object) -> bool:
    """Whether an object is not the crowd itself."""
    return bool(obj != self.id_data)


def _is_target(self: SteerBehavior | SteerCrowd | SecondTarget, obj: bpy.types.Object) -> bool:
    if self.target_kind == "CROWD":
        return obj.steer.is_crowd
    return is_other(self, obj) and (self.target_kind != "POINTS" or obj.type == "MESH")


def is_second_target(self: Any, obj: bpy.types.Object) -> bool:
    """Whether an object can be the second target of an entry."""
    return _is_target(SecondTarget(self), obj)


def _is_source(self: Any, obj: bpy.types.Object) -> bool:
    return obj != self.id_data and can_be_source(obj, source_use(self))


def _is_other_mesh(self: Any, obj: bpy.types.Object) -> bool:
    return obj != self.id_data and obj.type == "MESH"


def target_properties(prefix: str = "", label: str = "", poll: Any = _is_target) -> dict[str, Any]:
    """Kind and objects of targets.

    Args:
        prefix: What their names begin with.
        label: What their labels begin with.
        poll: Whether an object can be one.
    """
    kind = fixed(
        EnumProperty,
        f"{label}Target Kind",
        "Kind of the targets",
        items=TARGET_KINDS,
        default="OBJECT",
    )
    return {
        f"{prefix}target_kind": kind,
        f"{prefix}target_object": object_property(
            f"{label}Target", "Object that agents steer by", poll
        ),
        f"{prefix}target_collection": collection_property(
            f"{label}Targets", "Collection whose objects agents steer by"
        ),
    }


def source_properties() -> dict[str, Any]:
    """Kind and objects of what an entry follows, flows along or stays in."""
    kind = fixed(
        EnumProperty,
        "Source Kind",
        "Whether one object is read, or a collection of them",
        items=SOURCE_KINDS,
        default="OBJECT",
    )
    return {
        "source_kind": kind,
        "source_object": object_property(
            "Source", "Object that agents follow, flow along or stay in", _is_source
        ),
        "source_collection": collection_property(
            "Sources", "Collection of objects that agents follow, flow along or stay in"
        ),
    }


def inputs() -> dict[str, Any]:
    """What a crowd reads of its scene, and the seed."""
    return {
        **target_properties(),
        "colliders": collection_property(
            "Colliders",
            "Obstacles that agents perceive: meshes, walls drawn as edges or curves, and "
            "empties of type sphere, which rays do not see",
        ),
        "ground": object_property(
            "Ground",
            "Terrain that agents walk on; without it they stay at their own height",
            _is_other_mesh,
        ),
        "areas": collection_property(
            "Areas",
            "Objects that mark where walkers may not go, would rather not, or go one way; their "
            "Crowd Area settings say which",
        ),
        "meets_collection": collection_property(
            "Chosen Crowds", "Collection of the crowds that are met where Chosen is set"
        ),
        "births_kind": fixed(
            EnumProperty,
            "Source Kind",
            "Whether agents are born at one object, or at all objects of a collection",
            items=SOURCE_KINDS,
            default="OBJECT",
        ),
        "births_object": object_property("Source", "Object at which agents are born", is_other),
        "births_collection": collection_property(
            "Sources", "Collection of objects at which agents are born"
        ),
        "exits": collection_property(
            "Exits", "Collection of closed meshes: agents that come into one are gone"
        ),
        "seed": fixed(
            IntProperty,
            "Seed",
            "Changes everything that is random; the same seed gives the same motion",
            options=ANIMATED,
        ),
    }
