"""Properties that name objects of the scene: inputs of a crowd, and of an entry of its list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty, PointerProperty

from .property_factory import ANIMATED, FIXED, OVERRIDABLE
from .slots import SecondTarget, can_be_source, source_use

if TYPE_CHECKING:
    from .property_types import SteerBehavior, SteerCrowd

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
