"""Boxes around crowds and what they steer by: where another crowd or an obstacle is in the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..crowd.links import ROLES
from ..crowd.slots import SOLID_EMPTIES, source_use
from .scene_inputs import collider_objects, source_objects, target_objects
from .scene_meshes import FloatArray, matrix_of, own_mesh, positions, transform

Box = NDArray[np.float64]
"""Lower and upper corner [m], shape (2, 3)."""
_OBSTACLES = 30.0
"""Obstacles of a small crowd stand this many body radii beside it, at most."""


def box_of(points: Any) -> Box:
    """The box around points, shape (n, 3)."""
    # along three columns of many rows NumPy is ten times slower than column by column
    columns = np.asarray(points).reshape(-1, 3).T
    return np.array([[c.min() for c in columns], [c.max() for c in columns]], np.float64)


def object_box(obj: bpy.types.Object) -> Box:
    """The box around an object in world space; of an empty, that of its sphere or cube."""
    box: Box = object_boxes([obj])[0]
    return box


def object_boxes(objects: Sequence[bpy.types.Object]) -> Box:
    """The boxes around objects in world space, shape (n, 2, 3), as `object_box`."""
    corners = np.array([_corners(obj) for obj in objects], np.float64).reshape(-1, 8, 3)
    places = np.array([matrix_of(obj) for obj in objects]).reshape(-1, 4, 4)
    points = corners @ places[:, :3, :3].transpose(0, 2, 1) + places[:, None, :3, 3]
    points = points.astype(np.float32).astype(np.float64)
    return np.stack([points.min(axis=1), points.max(axis=1)], axis=1)


def _corners(obj: bpy.types.Object) -> Any:
    if obj.data is not None:
        # rows of Blender's own array are slow to convert
        return [*map(tuple, obj.bound_box)]
    half = obj.empty_display_size if obj.empty_display_type in SOLID_EMPTIES else 0.0
    return [(-half,) * 3] * 4 + [(half,) * 3] * 4


def start_points(obj: bpy.types.Object) -> FloatArray:
    """Vertices of a crowd in world space, shape (n, 3) [m]."""
    with own_mesh(obj.data) as mesh:
        return transform(positions(mesh), matrix_of(obj))


def start_box(obj: bpy.types.Object) -> Box:
    """The box around the vertices of a crowd in world space; without any, its origin."""
    points = start_points(obj)
    return box_of(points if len(points) else matrix_of(obj)[:3, 3])


def target_parts(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that are targets of a crowd."""
    return [
        p for slots in ROLES.values() for s in slots(obj).values() for p in target_objects(obj, s)
    ]


def ways(obj: bpy.types.Object) -> Box:
    """The box around the start of a crowd, and those of all that it steers by, (n, 2, 3)."""
    parts = target_parts(obj)
    for item in obj.steer.behaviors:
        if source_use(item):
            parts += source_objects(obj, item)
    return np.concatenate([start_box(obj)[None], object_boxes(parts)])


def footprint(obj: bpy.types.Object) -> Box:
    """The box around the start of a crowd and all that it steers by."""
    return box_of(ways(obj))


def with_obstacles(obj: bpy.types.Object, box: Box) -> Box:
    """A box around a crowd, joined with those colliders that stand in or beside it.

    Those that are larger, or farther off than Add > Crowd puts them, are a scene of the user's.
    """
    boxes = object_boxes(collider_objects(obj))
    room = np.ptp(box[:, :2], axis=0).max() / 2.0 + _OBSTACLES * obj.steer.agents.radius
    near = np.ptp(boxes[:, :, :2], axis=1).max(axis=1) <= room
    near &= overlap(boxes, box + np.array([[-1.0], [1.0]]) * room)
    return joined([box, *boxes[near]])


def joined(boxes: Iterable[Box]) -> Box:
    """The box around boxes."""
    return box_of(np.concatenate(list(boxes)))


def overlap(one: Box, other: Box) -> Any:
    """Whether two boxes overlap, seen from above; of arrays of boxes, (..., 2, 3), each of them."""
    below = (one[..., 0, :2] < other[..., 1, :2]).all(axis=-1)
    return below & (other[..., 0, :2] < one[..., 1, :2]).all(axis=-1)


def holds(outer: Box, inner: Box) -> Any:
    """Whether a box holds another one, seen from above; of arrays, (..., 2, 3), each of them."""
    below = (outer[..., 0, :2] <= inner[..., 0, :2]).all(axis=-1)
    return below & (inner[..., 1, :2] <= outer[..., 1, :2]).all(axis=-1)


def on_way(boxes: Box, start: Box, goal: Box) -> Any:
    """Whether boxes overlap one that moves straight to the nearest point of another one.

    Args:
        boxes: The boxes, shape (n, 2, 3).
        start: The one that moves.
        goal: Where it goes; the same box for one that stays.

    Returns:
        For each of the boxes, seen from above, shape (n,).
    """
    begin, half = start[:, :2].mean(axis=0), np.ptp(start[:, :2], axis=0) / 2.0
    way = np.clip(begin, goal[0, :2], goal[1, :2]) - begin
    # a way along an axis, or none, is in a slab for all of its length
    way = np.where(np.abs(way) < 1.0e-9, 1.0e-9, way)
    ends = (boxes[:, :, :2] + np.array([[-1.0], [1.0]]) * half - begin) / way
    enter, leave = ends.min(axis=1).max(axis=1), ends.max(axis=1).min(axis=1)
    return (enter < leave) & (enter < 1.0) & (leave > 0.0)


def free_shift(box: Box, taken: list[Box], room: Box | None = None) -> NDArray[np.float64] | None:
    """The shortest move of a box, along X and Y, that brings it beside others.

    Args:
        box: The box.
        taken: The others.
        room: Box that it has to stay in, or None.

    Returns:
        The move [m], shape (3,); None if there is no place in the room.
    """
    steps = [
        [0.0, *(t[1, k] - box[0, k] for t in taken), *(t[0, k] - box[1, k] for t in taken)]
        for k in (0, 1)
    ]
    moves = np.array([(x, y, 0.0) for x in steps[0] for y in steps[1]])
    moves = moves[np.argsort(np.abs(moves).sum(axis=1), kind="stable")]
    # what is exactly beside another box does not overlap it
    moves *= 1.0 + 1.0e-6
    places = box + moves[:, None]
    free = np.full(len(moves), True) if room is None else holds(room, places)
    for other in taken:
        free &= ~overlap(places, other)
    found: NDArray[np.float64] = moves[free]
    return found[0] if len(found) else None
