"""Tops: faces of low obstacles that walkers step onto, as they do with ground.

A face is such a top when it is not too steep, when its obstacle does not lie above it as over an
underside, and when it is reached: from ground at most a step below some place of it, or from
another top that it meets from above with at most a step between. So a curb is one, all steps of a
stair and the landing that they lead to are, and a table is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.jit import kernel, parallel_for
from ..numeric.vec import add, add_scaled, load, scale
from .bvh_rays import ray_cast, ray_winding
from .ground import SLACK, UP_SLACK, min_up

if TYPE_CHECKING:
    from ..views import F32, I32, I64, BvhView

_LOOKS = ((0.5377, 0.6234, 0.5677), (-0.7215, 0.3411, 0.6026), (0.1873, -0.8942, 0.4067))
"""Directions upward in which an obstacle is looked for above its own face."""
INWARD = 0.98
"""Places near the rim of a face lie at this share of the way from its middle."""
APART = 0.02
"""Tops with gaps up to this between them meet [m]."""
NONE, OTHER, LOW = 0, 1, 2


@kernel
def _covered(tree, point, low, high):
    """Whether a place is inside of an obstacle, as one above an underside is."""
    for look in _LOOKS:
        if ray_winding(tree, point, look, low, high) < 1:
            return False
    return True


@kernel
def _rise(ground, place, step_height):
    """How far a place is above the ground [m]; -1 where that is more than a step, or below it."""
    start = (place[0], place[1], place[2] + SLACK)
    face, distance = ray_cast(ground, start, (0.0, 0.0, -1.0), step_height + 2.0 * SLACK)
    return max(distance - SLACK, 0.0) if face >= 0 else -1.0


@kernel
def kinds_kernel(start, stop, rows, owner, tree, first, ground, step_height, kinds):
    """What some faces are: LOW above the ground, OTHER that may be reached, or NONE.

    Args:
        start: First of the rows.
        stop: The row after the last one.
        rows: Numbers of the faces, none of them steep.
        owner: The obstacle of each of them.
        tree: BvhView of all obstacles.
        first: First face of each obstacle.
        ground: BvhView of the terrain.
        step_height: Highest step [m].
        kinds: What they are, written.
    """
    for k in range(start, stop):
        corners, low, high = tree.triangles[rows[k]], first[owner[k]], first[owner[k] + 1]
        a, b, c = load(corners, 0), load(corners, 1), load(corners, 2)
        middle = scale(add(add(a, b), c), 1.0 / 3.0)
        kinds[k] = NONE
        if _covered(tree, (middle[0], middle[1], middle[2] + 10.0 * SLACK), low, high):
            continue
        most = least = _rise(ground, middle, step_height)
        for rim in (a, b, c, scale(add(a, b), 0.5), scale(add(b, c), 0.5), scale(add(c, a), 0.5)):
            place = add_scaled(scale(middle, 1.0 - INWARD), rim, INWARD)
            rise = _rise(ground, place, step_height)
            most, least = max(most, rise), min(least, rise)
        if most > SLACK:
            kinds[k] = LOW
        elif least < 0.0:
            kinds[k] = OTHER


@kernel
def reach_kernel(low, high, widest, step_height, reached, waiting):
    """Reach faces from others that they meet, with at most a step between.

    Args:
        low: Low corners of the boxes of faces [m], in order of x.
        high: Their high corners [m].
        widest: The largest extent of a face along x [m].
        step_height: Highest step [m].
        reached: 1 for faces that are reached, changed.
        waiting: Memory for as many faces.
    """
    count = 0
    for i in range(len(low)):
        if reached[i] == 1:
            waiting[count] = i
            count += 1
    while count > 0:
        count -= 1
        i = waiting[count]
        j = np.searchsorted(low[:, 0], low[i, 0] - widest - APART)
        while j < len(low) and low[j, 0] <= high[i, 0] + APART:
            beside = high[j, 0] >= low[i, 0] - APART
            beside = beside and low[j, 1] <= high[i, 1] + APART and high[j, 1] >= low[i, 1] - APART
            step = max(low[j, 2] - high[i, 2], low[i, 2] - high[j, 2])
            if reached[j] == 0 and beside and step <= step_height + SLACK:
                reached[j] = 1
                waiting[count] = j
                count += 1
            j += 1


def find_tops(
    ground: BvhView, tree: BvhView, first: I32, takes: Any, step_height: float, max_slope: float
) -> F32:
    """The faces of obstacles that walkers step onto.

    Args:
        ground: The terrain.
        tree: All obstacles.
        first: Obstacle c has the faces first[c] to first[c + 1] - 1, shape (obstacles + 1,).
        takes: Whether an obstacle counts, shape (obstacles,).
        step_height: Highest step [m].
        max_slope: Steepest slope [deg].

    Returns:
        Their corners [m], shape (faces, 3, 3), in the order of the obstacles.
    """
    owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
    corners = tree.triangles.astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1)
    level = np.abs(normal[:, 2]) >= (min_up(max_slope) - UP_SLACK) * size
    rows: I64 = np.flatnonzero(level & (size > 0.0) & np.asarray(takes, np.bool_)[owner])
    kinds = np.zeros(len(rows), np.uint8)
    blocks = tree, first, ground, float(step_height)
    parallel_for(kinds_kernel, len(rows), rows, owner[rows], *blocks, kinds)
    rows, kinds = rows[kinds != NONE], kinds[kinds != NONE]
    low, high = tree.triangles[rows].min(axis=1), tree.triangles[rows].max(axis=1)
    order = np.argsort(low[:, 0], kind="stable")
    reached = (kinds[order] == LOW).astype(np.uint8)
    widest = float((high - low)[:, 0].max(initial=0.0))
    boxes = low[order], high[order]
    reach_kernel(*boxes, widest, float(step_height), reached, np.zeros(len(rows), np.int64))
    found: F32 = tree.triangles[np.sort(rows[order[reached == 1]])]
    return found
