"""A new crowd beside those that a scene has: a place and a seed of its own."""

from __future__ import annotations

from itertools import count
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ..crowd.crowds import crowds
from ..reading.extents import (
    Box,
    footprint,
    free_shift,
    joined,
    object_box,
    start_box,
    start_points,
)


def free_seed(scene: bpy.types.Scene) -> int:
    """The smallest seed that no crowd of a scene has."""
    taken = {crowd.steer.seed for crowd in crowds(scene)}
    return next(number for number in count() if number not in taken)


def starts(scene: bpy.types.Scene) -> Any:
    """Start positions of all agents of a scene [m], shape (n, 3)."""
    return np.concatenate([np.zeros((0, 3), np.float32), *map(start_points, crowds(scene))])


def free_origin(
    scene: bpy.types.Scene,
    box: Box,
    ground: bpy.types.Object | None = None,
    new_ground: float = 0.0,
) -> tuple[Vector, bpy.types.Object | None]:
    """Where a new crowd is out of the way of others, as near to the 3D cursor as possible.

    Args:
        scene: The scene.
        box: Box around the crowd and what belongs to it, with the 3D cursor as its origin.
        ground: Ground that it should stay on, or None.
        new_ground: Width of the ground that is made where there is none; 0 for none.

    Returns:
        The origin [m], and the ground; None in place of a ground without room beside its crowds.
    """
    cursor = scene.cursor.location.copy()
    others = crowds(scene)
    if not others:
        return cursor, ground
    box = box + np.array(cursor)
    ways, places = [footprint(c) for c in others], [start_box(c) for c in others]
    if ground is not None:
        for taken in (ways, places):
            move = free_shift(box, taken, object_box(ground))
            if move is not None:
                return cursor + Vector(move.tolist()), ground
    if new_ground:
        # two grounds in one place would flicker
        half = np.array([[-0.5], [0.5]]) * new_ground
        box = joined([box, np.array(cursor) + half])
        ways += [object_box(c.steer.ground) for c in others if c.steer.ground is not None]
    move = free_shift(box, ways)
    assert move is not None  # there is no end of room
    return cursor + Vector(move.tolist()), None
