"""All that a behavior outside of Steer is made of, in one place that stays: `from ..api import …`.

docs/own_behaviors.md has an example. The names here keep their form and their meaning from version
to version; anything else of Steer may move.
"""

from __future__ import annotations

from .compiled.jit import kernel, scratch
from .errors import SteerError
from .numeric.rng import random_purpose, uniform, uniform4, unit_vector
from .numeric.vec import (
    EPSILON,
    add,
    add_scaled,
    cross,
    dot,
    length,
    load,
    pick,
    project,
    scale,
    store,
    sub,
    truncate,
    unit,
)
from .parameters import choice, param
from .sensing.approach import arrive_speed, arrive_velocity, meeting_offset, meeting_time
from .sensing.declare import (
    ASKED,
    AXES,
    COLLIDERS,
    COMPANIONS,
    CONTAINER,
    FIELD,
    NEIGHBORS,
    PATHS,
    PUSH,
    SECOND_TARGETS,
    SET,
    SPHERES,
    TARGETS,
    VELOCITY,
    WISH,
    Behavior,
    Circle,
    Waypoints,
    behavior,
)
from .sensing.grouped import GroupedBehavior
from .sensing.seen_neighbors import NeighborBehavior, distance_weight, parting, seen_neighbors
from .sensing.sight import eye, first_hit
from .sensing.targeting import (
    ToTarget,
    on_ground,
    side_axis,
    target_choice,
    target_flow,
    target_offset,
)

__all__ = [
    "ASKED",
    "AXES",
    "COLLIDERS",
    "COMPANIONS",
    "CONTAINER",
    "EPSILON",
    "FIELD",
    "NEIGHBORS",
    "PATHS",
    "PUSH",
    "SECOND_TARGETS",
    "SET",
    "SPHERES",
    "TARGETS",
    "VELOCITY",
    "WISH",
    "Behavior",
    "Circle",
    "GroupedBehavior",
    "NeighborBehavior",
    "SteerError",
    "ToTarget",
    "Waypoints",
    "add",
    "add_scaled",
    "arrive_speed",
    "arrive_velocity",
    "behavior",
    "choice",
    "cross",
    "distance_weight",
    "dot",
    "eye",
    "first_hit",
    "kernel",
    "length",
    "load",
    "meeting_offset",
    "meeting_time",
    "on_ground",
    "param",
    "parting",
    "pick",
    "project",
    "random_purpose",
    "scale",
    "scratch",
    "seen_neighbors",
    "side_axis",
    "store",
    "sub",
    "target_choice",
    "target_flow",
    "target_offset",
    "truncate",
    "uniform",
    "uniform4",
    "unit",
    "unit_vector",
]
