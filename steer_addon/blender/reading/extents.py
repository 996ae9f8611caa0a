"""Boxes around crowds and what they steer by: where another crowd or an obstacle is in the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..crowd.links import ROLES
from ..crowd.slots import SOLID_EMPTIES, source_use
from .scene_inputs import source_objects, target_objects
from .scene_meshes import FloatArray, matrix_of, own_mesh, positions, transform

Box = NDArray[np.float64]
"""Lower and upper corner [m], shape (2, 3)."""


def box_of(points: Any) -> Box:
    """The box around points, shape (n, 3)."""
    rows = np.asarray(points, np.float64).reshape(-1, 3)
    return np.array([rows.min(axis=0), rows.max(axis=0)])


def object_box(obj: bpy.types.Object) -> Box:
    """The box around an object in world space; of an empty, that of its sphere or cube."""
    half = obj.empty_display_size if obj.empty_display_type in SOLID_EMPTIES else 0.0
    corners: Any = [(-half,) * 3, (half,) * 3] if obj.data is None else obj.bound_box
    return box_of(transform(np.array([tuple(c) for c in corners], np.float32), matrix_of(obj)))


def start_points(obj: bpy.types.Object) -> FloatArray:
    """Vertices of a crowd in world space, shape (n, 3) [m]."""
    with own_mesh(obj.data) as mesh:
        return transform(positions(mesh), matrix_of(obj))


def start_box(obj: bpy.types.Object) -> Box:
    """The box around the vertices of a crowd in world space; without any, its origin."""
    points = start_points(obj)
    return box_of(points if len(points) else matrix_of(obj)[:3, 3])


def footprint(obj: bpy.types.Object) -> Box:
    """The box around the start of a crowd and all that it steers by."""
    parts = [
        p for slots in ROLES.values() for s in slots(obj).values() for p in target_objects(obj, s)
    ]
    for item in obj.steer.behaviors:
        if source_use(item):
            parts += source_objects(obj, item)
    return joined([start_box(obj), *(object_box(part) for part in parts)])


def joined(boxes: Iterable[Box]) -> Box:
    """The box around boxes."""
    return box_of(np.concatenate(list(boxes)))


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes overlap, seen from above."""
    return bool((one[0, :2] < other[1, :2]).all() and (other[0, :2] < one[1, :2]).all())


def holds(outer: Box, inner: Box) -> bool:
    """Whether a box holds another one, seen from above."""
    return bool((outer[0, :2] <= inner[0, :2]).all() and (inner[1, :2] <= outer[1, :2]).all())


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
    for move in moves[np.argsort(np.abs(moves).sum(axis=1), kind="stable")]:
        # what is exactly beside another box does not overlap it
        place = box + move * (1.0 + 1.0e-6)
        if (room is None or holds(room, place)) and not any(overlap(place, t) for t in taken):
            found: NDArray[np.float64] = move * (1.0 + 1.0e-6)
            return found
    return None
