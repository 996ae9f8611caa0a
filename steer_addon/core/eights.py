"""Boxes by eights: which triangles of a tree are around a place, with few waits for memory.

Triangles in the order of their tree lie near one another. Eight in a row share a group, eight
groups the next coarser one, and so on. A group holds the boxes of its eight members side by side,
so that they are asked at once; and groups of a level do not wait for one another.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .jit import inlined_kernel, kernel, scratch

if TYPE_CHECKING:
    from .views import F32, BvhView, EightsView

EIGHT = 8
MOST = 64
"""So many triangles can be found."""
COARSEST = 32
"""Members of the coarsest level at most: all of them are asked."""
ROOMY = MOST + EIGHT + 1


def no_eights() -> EightsView:
    """No boxes."""
    # imported with the first crowd: enabling the extension has to be quick
    from .views import EightsView

    return EightsView(np.zeros((0, 6, EIGHT), np.float32), np.zeros((0, 2), np.int64))


def make_eights(tree: BvhView) -> EightsView:
    """Group the triangles of a tree."""
    from .views import EightsView

    corners = tree.triangles[tree.order]
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    groups: list[F32] = []
    counts: list[int] = []
    while len(boxes) and (not counts or counts[0] > COARSEST):
        counts.insert(0, len(boxes))
        boxes = np.concatenate([boxes, np.repeat(boxes[-1:], -len(boxes) % EIGHT, axis=0)])
        members = boxes.reshape(-1, EIGHT, 6)
        groups.insert(0, members.transpose(0, 2, 1))
        boxes = np.concatenate([members[:, :, :3].min(axis=1), members[:, :, 3:].max(axis=1)], 1)
    if not groups:
        return no_eights()
    first = [sum(len(group) for group in groups[:depth]) for depth in range(len(groups))]
    level = np.array([first, counts], np.int64).T.copy()
    return EightsView(np.ascontiguousarray(np.concatenate(groups), np.float32), level)


@inlined_kernel
def _beyond(low, high, value):
    """How far a number is above an interval; negative below it."""
    above, below = value - high, value - low
    return above if above > 0.0 else (below if below < 0.0 else 0.0)


@inlined_kernel
def _ask(groups, group, point, way, limit, best, rounding, answer):
    """Ask the members of a group whether any of their points holds for less than a limit.

    See `vicinity_rows`: what is behind a plane at the distance e, with the normal m, does, or
    it is e - best - rounding ≥ |m - way|·limit + limit²/(2·best), or twice the limit.
    """
    curve = limit * limit / (2.0 * best) if best > 0.0 else math.inf
    plane, ball = best + rounding + curve, best + rounding + 2.0 * limit
    for k in range(EIGHT):
        x0, x1 = np.float64(groups[group, 0, k]), np.float64(groups[group, 3, k])
        y0, y1 = np.float64(groups[group, 1, k]), np.float64(groups[group, 4, k])
        z0, z1 = np.float64(groups[group, 2, k]), np.float64(groups[group, 5, k])
        x, y, z = _beyond(x0, x1, point[0]), _beyond(y0, y1, point[1]), _beyond(z0, z1, point[2])
        size = math.sqrt(x * x + y * y + z * z)
        more = size - plane
        cosine = (x * way[0] + y * way[1] + z * way[2]) / (size if size > 0.0 else 1.0)
        apart = (more > 0.0) & (more * more >= (2.0 - 2.0 * cosine) * (limit * limit))
        least = way[0] * (point[0] - (x1 if way[0] > 0.0 else x0))
        least += way[1] * (point[1] - (y1 if way[1] > 0.0 else y0))
        least += way[2] * (point[2] - (z1 if way[2] > 0.0 else z0))
        answer[0, k] = 0.0 if apart | (least >= plane) | (size >= ball) else 1.0


@kernel
def around(groups, level, point, way, limit, best, rounding, lists):
    """Find the triangles that may hold for less than a limit.

    Args:
        groups: Of `EightsView`.
        level: Of `EightsView`.
        point: The place [m].
        way: Unit vector to it from the point of a triangle that is near, zero if it is there.
        limit: So far the place may move [m].
        best: How far that point is [m].
        rounding: Room for rounding [m].
        lists: Filled, shape (2, ROOMY).

    Returns:
        (row of the list that holds their numbers in the order of the tree, how many; more than MOST
        when there are too many).
    """
    answer = scratch(1, EIGHT)
    side, count = 0, 0
    if len(level) > 0:
        count = (level[0, 1] + EIGHT - 1) // EIGHT
    for group in range(count):
        lists[0, group] = group
    for depth in range(len(level)):
        first, members = level[depth, 0], level[depth, 1]
        found = 0
        for n in range(count):
            group = int(lists[side, n])
            _ask(groups, first + group, point, way, limit, best, rounding, answer)
            for k in range(EIGHT):
                member = EIGHT * group + k
                lists[1 - side, found] = member
                found += int((answer[0, k] > 0.0) & (member < members))
            if found > MOST:
                return side, found
        side, count = 1 - side, found
    return side, count
