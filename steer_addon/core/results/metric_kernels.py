"""Kernels of `metrics`: touching bodies, walls passed, and turns in a step."""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel
from ..contacts.near import climb
from ..geometry.bvh import nearest_point, ray_cast, triangle_corners, triangle_normal
from ..geometry.bvh_rays import winding
from ..numeric.vec import add, add_scaled, dot, length, load, scale, store, sub

PARTNERS = 8
"""Bodies touching an agent that are told apart from one step to the next, at most."""
DEEPER = 1.0e-3
"""Two that began inside each other may be deeper by this share of their radii, by rounding."""
MOST_FACES = 8
"""Most faces tested for an agent in one step: an agent that grazes more is past them by then."""


@kernel
def _around(value, inverse, size, more):
    """Cells of an axis of a grid that hold a value and what is a cell's size away: (first, count).

    Modulo the size: the grid is a torus. With `more`, that number of cells is added on both sides.
    """
    count = 3 + 2 * more
    if size < count:
        return 0, size
    return int(math.floor(value * inverse)) - 1 - more, count


@kernel
def _touched(row, other, share, touch, found, partners, beginning, collisions, column):
    """Take down a body that overlaps another one; returns how many it overlaps by now."""
    if share <= touch or found == PARTNERS:
        return found
    beginning[row, found] = other
    began = True
    for j in range(PARTNERS):
        began = began and partners[row, j] != other
    collisions[row, column] += int(began)
    return found + 1


@kernel
def _square(row, other, here, there, kinds):
    """Squared distance of two bodies; those that walk are upright for those that fly [m²]."""
    away = sub(there, here)
    if kinds.tall.size > 1 and (kinds.tall[row] > 0.0) != (kinds.tall[other] > 0.0):
        away = (away[0], away[1], climb(row, other, here[2], there[2], False, kinds))
    return dot(away, away)


@kernel
def _began_together(row, other, share, both, origin, parting, kinds):
    """Whether two overlap since the start, no deeper than there: both are still coming apart."""
    if parting[row] == 0 or parting[other] == 0:
        return False
    square = _square(row, other, load(origin, row), load(origin, other), kinds)
    return share <= (both - math.sqrt(square)) / both + DEEPER


@kernel
def touch_kernel(
    start,
    stop,
    grid,
    place,
    rows,
    radius,
    kinds,
    more,
    touch,
    origin,
    parting,
    partners,
    overlap,
    collisions,
    beginning,
    pressed,
):
    """Overlaps of agents with all others, and how many of them began in this step.

    Args:
        start: First agent.
        stop: Agent after the last.
        grid: GridView of all bodies, its cells as large as the largest two together.
        place: Where the bodies are [m], shape (m, 3).
        rows: Whose bodies they are, shape (m,); those of the agents come first.
        radius: Radii by row [m].
        kinds: Kinds of the rows: heights and crowds, and whose bodies touch.
        more: Cells that those that walk are high, where others fly.
        touch: Overlaps above this share are collisions.
        origin: Where the agents started, by row [m], shape (n, 3).
        parting: 1 for those that overlap others since the start, by row: such pairs count only
            when they get deeper into each other than they were there.
        partners: Rows in collision at the step before, -1 where none, shape (n, PARTNERS); written.
        overlap: Largest overlap until now by row and the other one's crowd; written.
        collisions: Collisions until now, as `overlap`; written.
        beginning: For the kernel's own use, shape as `partners`.
        pressed: 1 where an overlap is above `touch`, whether it counts or not, by row; written.
    """
    for i in range(start, stop):
        row, found = rows[i], 0
        pressed[row] = 0
        here = load(place, i)
        first_x, count_x = _around(here[0], grid.inverse, grid.nx, 0)
        first_y, count_y = _around(here[1], grid.inverse, grid.ny, 0)
        first_z, count_z = _around(here[2], grid.inverse, grid.nz, more)
        for cell in range(count_x * count_y * count_z):
            x = (first_x + cell % count_x) % grid.nx
            y = (first_y + cell // count_x % count_y) % grid.ny
            z = (first_z + cell // (count_x * count_y)) % grid.nz
            number = (z * grid.ny + y) * grid.nx + x
            for slot in range(grid.start[number], grid.start[number + 1]):
                j = grid.order[slot]
                other, column = rows[j], 0
                if kinds.crowd.size > 1:
                    column = kinds.crowd[other]
                    if not kinds.touches[kinds.crowd[row], column]:
                        continue
                both = np.float64(radius[row]) + np.float64(radius[other])
                there = (grid.x[slot], grid.y[slot], grid.z[slot])
                square = _square(row, other, here, there, kinds)
                if j == i or square >= both * both:
                    continue
                share = (both - math.sqrt(square)) / both
                pressed[row] |= int(share > touch)
                if _began_together(row, other, share, both, origin, parting, kinds):
                    continue
                overlap[row, column] = max(overlap[row, column], share)
                found = _touched(
                    row, other, share, touch, found, partners, beginning, collisions, column
                )
        for k in range(PARTNERS):
            partners[row, k] = beginning[row, k] if k < found else -1


@kernel
def crosses(bvh, start, end, tolerance):
    """Whether a straight step passes a face: from one side of it to the other, by more than that.

    A step that begins or ends within the tolerance of a face's plane has not passed that face.
    """
    move = sub(end, start)
    left = length(move)
    if left < 1.0e-12:
        return False
    ahead = scale(move, 1.0 / left)
    origin = start
    for _face in range(MOST_FACES):
        triangle, distance = ray_cast(bvh, origin, ahead, left)
        if triangle < 0:
            return False
        normal = triangle_normal(bvh, triangle)
        corner, _b, _c = triangle_corners(bvh, triangle)
        before = dot(sub(start, corner), normal)
        after = dot(sub(end, corner), normal)
        if before * after < 0.0 and min(abs(before), abs(after)) > tolerance:
            return True
        on = distance + tolerance
        origin = add_scaled(origin, ahead, on)
        left -= on
        if left <= 0.0:
            return False
    return False


@kernel
def inside_any(bvh, first, closed, low, high, point):
    """Whether a point is inside one of the closed colliders."""
    x, y, z = point
    for c in range(len(closed)):
        if not closed[c]:
            continue
        if x < low[c, 0] or y < low[c, 1] or z < low[c, 2]:
            continue
        if x > high[c, 0] or y > high[c, 1] or z > high[c, 2]:
            continue
        if abs(winding(bvh.triangles, first[c], first[c + 1], point)) > 0.5:
            return True
    return False


@kernel
def wall_kernel(start, stop, scene, anchor, center, radius, alive, tolerance, hits, pressed):
    """Steps into and through walls, and how far bodies are pressed into them.

    Args:
        start: First row.
        stop: Row after the last.
        scene: (all colliders, standing colliders, first, closed, low, high): two trees, and of the
            colliders the first triangles, whether they are closed, and the corners of their boxes.
        anchor: Last places clear of every face [m], shape (n, 3); written.
        center: Centers after the step [m], shape (n, 3).
        radius: Radii [m].
        alive: Whether a row counts.
        tolerance: So near a face [m] a center is on neither side of it.
        hits: Set to 1 for agents that are inside a collider or passed a face.
        pressed: Largest share of the radius inside a wall until now by row; written.
    """
    bvh, standing, first, closed, low, high = scene
    for i in range(start, stop):
        if not alive[i]:
            continue
        here = load(center, i)
        body = np.float64(radius[i])
        triangle, _point, distance = nearest_point(bvh, here, max(body, tolerance))
        clear = triangle < 0 or distance > tolerance
        if body > 0.0:
            pressed[i] = max(pressed[i], (body - distance) / body)
        if crosses(standing, load(anchor, i), here, tolerance):
            hits[i] = 1
        if clear:
            if inside_any(bvh, first, closed, low, high, here):
                hits[i] = 1
            store(anchor, i, here)


@kernel
def carried_kernel(start, stop, bvh, turn, before, after, anchor, center, alive, tolerance, hits):
    """Steps through a collider that moved: seen from it, the agent starts where it is carried to.

    Args:
        start: First row.
        stop: Row after the last.
        bvh: The collider where it is now.
        turn: How it turned, rows of the matrix, shape (3, 3).
        before: A point of it before the step [m], shape (1, 3).
        after: The same point after the step [m], shape (1, 3).
        anchor: Where agents were [m], shape (n, 3).
        center: Where they are [m], shape (n, 3).
        alive: Whether a row counts.
        tolerance: As `wall_kernel`.
        hits: Set to 1 for agents that passed a face.
    """
    for i in range(start, stop):
        if alive[i]:
            offset = sub(load(anchor, i), load(before, 0))
            turned = (
                dot(load(turn, 0), offset),
                dot(load(turn, 1), offset),
                dot(load(turn, 2), offset),
            )
            if crosses(bvh, add(load(after, 0), turned), load(center, i), tolerance):
                hits[i] = 1


@kernel
def turn_kernel(start, stop, move, least, alive, headings, slot, held, reversals):
    """Turns by more than 90° against any direction of motion that the window holds.

    A turn empties the window, so that each one is counted once.

    Args:
        start: First row.
        stop: Row after the last.
        move: Displacements of the step [m], shape (n, 3).
        least: Shorter ones [m] have no direction, shape (n,).
        alive: Whether a row counts.
        headings: Unit directions, a ring in time, shape (n, window, 3); written.
        slot: Where in the ring this step goes.
        held: How many steps of the ring count, shape (n,); written.
        reversals: Turns until now; written.
    """
    window = headings.shape[1]
    for i in range(start, stop):
        if not alive[i]:
            continue
        step = load(move, i)
        size = length(step)
        moves = size > least[i] and size > 0.0
        if moves:
            step = scale(step, 1.0 / size)
            for k in range(1, held[i] + 1):
                if dot(step, load(headings[i], (slot - k) % window)) < -1.0e-6:
                    reversals[i] += 1
                    held[i] = 0
                    break
        else:
            step = (0.0, 0.0, 0.0)
        store(headings[i], slot, step)
        held[i] = min(held[i] + 1, window - 1)
