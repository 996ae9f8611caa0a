"""Colliders that moved since the last step push the agents that are in their way.

A center that a collider moved over has to end in front of it. So each agent is treated as if the
collider stood still: it starts at the place to which the collider would have carried it, and goes
from there to where it really was, as far as the collider lets it, see `walls`. An agent that is not
in the way reaches that place and is not moved at all; an agent in the way slides along the surface.

The triangle nearest to an agent tells where its collider carries it: the agent's offset turns and
scales with the frame of that triangle. So rigid and evenly scaled motion is exact; where a mesh
bends, the way starts at least on the same side of the surface.

A collider that appeared, or whose faces changed, has no motion: an agent that is then inside of it,
or is squeezed between two moving colliders, is put to the nearest free place, see `free`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel, scratch
from ..geometry.bvh import ray_cast, triangle_corners
from ..geometry.regions import rounded
from ..inputs.world import Colliders
from ..numeric.vec import add, add_scaled, cross, dot, length, load, scale, store, sub
from ..views import F32, I32, BvhView
from .cells import COLUMNS, PLANES, nearest_in_cell
from .free import crosses, holds, meets, nearest_free
from .walls import add_walls, next_wall, wall_margin

U8 = NDArray[np.uint8]

STANDS, MOVED, APPEARED = 0, 1, 2
SLIDES = 8
"""Rounds in which an agent finds how far a moving collider lets it go."""
ROUNDS = 2
"""Rounds through all moving colliders, since one may push an agent into another."""


class MovedView(NamedTuple):
    """The colliders of two steps in a row. Shapes: c colliders now."""

    tree: BvhView
    center: F32  # (c, 3) [m]
    radius: F32  # (c,) [m] bounding spheres
    first: I32  # (c + 1,)
    old: BvhView
    old_first: I32  # (c,) first triangle of the same collider before
    kind: U8  # (c,) STANDS, MOVED or APPEARED
    still: U8  # (c,) 1 for those that stand
    box: F32  # (c, 6) [m] what a collider filled before and fills now: low x, y, z, high x, y, z


def find_moved(old: Colliders | None, new: Colliders | None) -> MovedView | None:
    """Find the colliders that moved from one step to the next; None when none did.

    Args:
        old: The colliders of the step before; None when they are not known.
        new: The colliders now.
    """
    if new is None or old is None or old is new:
        return None
    before = {name: row for row, name in enumerate(old.names)}
    count = len(new.names)
    kind, place = np.zeros(count, np.uint8), np.zeros(count, np.int32)
    box = np.zeros((count, 6), np.float32)
    for row, (name, tree) in enumerate(zip(new.names, new.trees, strict=True)):
        was = old.trees[before[name]] if name in before else None
        if was is tree:
            continue
        if was is None or len(was.triangles) != len(tree.triangles):
            kind[row] = APPEARED
        elif not np.array_equal(was.triangles, tree.triangles):
            kind[row], place[row] = MOVED, old.first[before[name]]
            box[row, :3] = np.minimum(was.box[0, :3], tree.box[0, :3])
            box[row, 3:] = np.maximum(was.box[0, 3:], tree.box[0, 3:])
    if not kind.any():
        return None
    still = (kind == STANDS).astype(np.uint8)
    return MovedView(new.bvh, new.center, new.radius, new.first, old.bvh, place, kind, still, box)


@kernel
def _frame(corners):
    """A triangle's corner, two square unit axes in it, its unit normal, and its size."""
    a, b, c = corners
    p, q = sub(b, a), sub(c, a)
    normal = cross(p, q)
    long, area = length(p), length(normal)
    if long < 1.0e-12 or area < 1.0e-12 * (dot(p, p) + dot(q, q)):
        return False, a, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), 1.0
    x, z = scale(p, 1.0 / long), scale(normal, 1.0 / area)
    return True, a, x, cross(z, x), z, math.sqrt(area)


@kernel
def _turned(offset, old, new):
    """An offset after the turn and the growth that make one frame of another."""
    known, _corner, x, y, z, size = old
    still_known, _corner, u, v, w, new_size = new
    if not (known and still_known):
        return offset
    grown = new_size / size
    out = scale(u, dot(offset, x) * grown)
    out = add_scaled(out, v, dot(offset, y) * grown)
    return add_scaled(out, w, dot(offset, z) * grown)


@kernel
def _shares(corners, point):
    """Weights of the first two corners of a triangle at a place on it."""
    a, b, c = corners
    p, q, r = sub(a, c), sub(b, c), sub(point, c)
    pp, pq, qq, rp, rq = dot(p, p), dot(p, q), dot(q, q), dot(r, p), dot(r, q)
    whole = pp * qq - pq * pq
    if whole <= 1.0e-20 * (pp + qq) * (pp + qq):
        return 1.0, 0.0
    return (rp * qq - rq * pq) / whole, (rq * pp - rp * pq) / whole


@kernel
def _carried(moved, collider, point):
    """Where a collider would have carried a point, on the same side of its surface."""
    none = scratch(1, COLUMNS)
    low = moved.old_first[collider]
    count = moved.first[collider + 1] - moved.first[collider]
    triangle, place, _distance = next_wall(
        moved.old, point, 1.0e15, False, 0.0, none, 0, 0, low, low + count
    )
    if triangle < 0:
        return point
    old = triangle_corners(moved.old, triangle)
    new = triangle_corners(moved.tree, triangle - low + moved.first[collider])
    s, t = _shares(old, place)
    surface = add(add_scaled(scale(new[0], s), new[1], t), scale(new[2], 1.0 - s - t))
    offset = _turned(sub(point, place), _frame(old), _frame(new))
    size = length(offset)
    if size < 1.0e-9:
        return surface
    # a mesh that bends may have come between
    along = scale(offset, 1.0 / size)
    margin = min(wall_margin(surface), 0.5 * size)
    begin = add_scaled(surface, along, margin)
    hit, distance = ray_cast(moved.tree, begin, along, size - margin)
    if hit >= 0 and moved.first[collider] <= hit < moved.first[collider + 1]:
        return add_scaled(begin, along, max(distance - margin, 0.0))
    return add(surface, offset)


@kernel
def _begin(moved, collider, point, flat):
    """Where an agent that was at a point starts, for a collider that is taken to stand."""
    x, y, z = _carried(moved, collider, point)
    return (x, y, point[2] if flat else z)


@kernel
def _out_of_way(moved, collider, point, goal, room, flat, tall):
    """The place of an agent after a collider moved over its point; its goal where that is free."""
    start = _begin(moved, collider, point, flat)
    here, first = start, start
    plane = scratch(PLANES, COLUMNS)
    low, high = moved.first[collider], moved.first[collider + 1]
    for slide in range(SLIDES):
        wish = sub(goal, here)
        size = length(wish)
        count, reach = add_walls(moved.tree, here, room, size, flat, tall, plane, 0, low, high)
        step = wish if reach >= size else scale(wish, reach / size)
        step = nearest_in_cell(plane, count, step, flat)
        arrives = step == wish
        here = goal if arrives else add(here, step)
        if slide == 0:
            first = here
        if arrives or length(step) < 1.0e-3 * room:
            break
    if here != first and meets(moved.tree, moved.first, moved.still, collider, start, here, tall):
        # around a corner: its straight way would lead through the collider
        return first
    return here


@kernel
def _touches(moved, collider, start, stop, reach, tall):
    """Whether a collider moved, and was or is anywhere near the way between two places."""
    if moved.kind[collider] != MOVED:
        return False
    box = moved.box[collider]
    for c in range(3):
        low, high = min(start[c], stop[c]) - reach, max(start[c], stop[c]) + reach
        if high + (tall if c == 2 else 0.0) < box[c] or low > box[c + 3]:
            return False
    return True


@kernel
def carry_kernel(begin, stop, moved, eye, radius, tall, flat, before, goal, after, touched):
    """Move agents out of the way of colliders, from `before` to `after` [m].

    Those that a collider may touch on their way to `goal` are marked in `touched`.
    """
    for i in range(begin, stop):
        start = load(before, i)
        point = (start[0], start[1], start[2] + eye)
        here = point
        room, high = max(radius[i] * 1.0, wall_margin(point)), tall[i] * 1.0
        x, y, z = load(goal, i)
        end = (x, y, z + eye)
        reach = room + length(sub(end, point))
        for c in range(len(moved.kind)):
            if _touches(moved, c, point, end, reach, high):
                touched[i] = 1
        for _round in range(ROUNDS if touched[i] != 0 else 0):
            for c in range(len(moved.kind)):
                if _touches(moved, c, point, here, room, high):
                    here = _out_of_way(moved, c, point, here, room, flat, high)
        swept = here != point
        lost = swept and crosses(moved.tree, moved.first, moved.still, point, here, high)
        for c in range(len(moved.kind)):
            if (touched[i] != 0 or moved.kind[c] == APPEARED) and not lost:
                lost = (moved.kind[c] != STANDS or swept) and holds(
                    moved.tree, moved.center, moved.radius, moved.first, c, here, high
                )
        if lost:
            found, place = nearest_free(
                moved.tree, moved.center, moved.radius, moved.first, moved.still,
                point, room, flat, high,
            )  # fmt: skip
            here = place if found else here
        store(after, i, (here[0], here[1], here[2] - eye))


@kernel
def hold_kernel(
    begin, stop, moved, eye, radius, tall, flat, before, touched, place, normal, gone, turned
):
    """Take back the steps of agents that lead through a collider that moved.

    Seen from the collider the way is straight from where it would have carried the agent.
    """
    for i in range(begin, stop):
        if touched[i] == 0:
            continue
        x, y, z = load(before, i)
        point = (x, y, z + eye)
        x, y, z = load(gone, i)
        there = rounded((x, y, z + eye))
        room, high = max(radius[i] * 1.0, wall_margin(point)), tall[i] * 1.0
        for c in range(len(moved.kind)):
            if _touches(moved, c, point, there, room, high) and meets(
                moved.tree, moved.first, moved.still, c, _begin(moved, c, point, flat), there, high
            ):
                store(gone, i, load(place, i))
                store(turned, i, load(normal, i))
                break
