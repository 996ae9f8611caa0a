"""Room: which cells of a surface a body of some radius can stand in, and where.

A cell is open when its middle is as far as the radius from all that stops a body. Where the middle
is nearer, a place off the middle may do, as in a door: the place is moved away from what is next to
it, a few times, and stays within the cell. Such a cell is tight.

Two neighbors may have room while the gap between them has none: a body would stick there. So places
between them are moved, too; where one finds no room, nobody goes on there (`RoomView.narrow`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel, parallel_for
from ..views import BvhView, RoomView
from .clearance import clearance_at, is_clear
from .lattice import (
    HALF,
    PART,
    PART_BITS,
    VOID,
    against,
    middle_of,
    neighbor_of,
    opposite,
    places_of,
    side_step,
    stand_of,
    unlink,
)
from .leaps import FARTHEST, find_leaps
from .surface import Surface, bands

I8 = NDArray[np.int8]
I64 = NDArray[np.int64]

BLOCKED, TIGHT, OPEN, FORBIDDEN = 0, 1, 2, 3
"""States of cells; who is in a forbidden one may leave it, and nobody goes into one."""

SLACK = 1.0e-3
"""By how much less than the radius is enough in a cell, whose places are kept in steps [m]."""
CLOSE = 1.0e-4
"""The same on the way between two of them [m]."""
TRIES = 6
"""How often a place is moved."""
LOOKS = 3
"""How often the place of a straight way is looked for where there is least room."""
BETWEEN = 8
"""Into how many parts the way between two cells is divided where a body may not fit through."""
WITHIN = 4
"""Into how many parts each of these is divided."""
ONCE = (0, 1, 4, 5)
"""Sides at which each pair of neighbors is found once."""


@kernel
def may_go(room, cell, other, side):
    """Whether areas let a body go from a cell to its neighbor at a side."""
    if room.state[other] == FORBIDDEN and room.state[cell] != FORBIDDEN:
        return False
    if len(room.lane) == 0:
        return True
    x, y = side_step(side)
    return not against(room, cell, x, y) and not against(room, other, x, y)


@kernel
def _apart(point, at, clear, radius):
    """A point moved away from what is next to it, until that is as far as the radius: x, y."""
    away = (radius - clear) / clear
    return point[0] + (point[0] - at[0]) * away, point[1] + (point[1] - at[1]) * away


@kernel
def _moved(surface, cell, ground, colliders, body, radius):
    """A place with enough room in a cell, as shares of half of it: (found, x, y)."""
    mx, my = middle_of(surface, cell)
    z, half = surface.z[cell] * 1.0, 0.5 * surface.size
    x, y = mx, my
    for _try in range(TRIES):
        clear, at_x, at_y = clearance_at(ground, colliders, (x, y, z), body, radius)
        if clear >= radius - SLACK:
            return True, (x - mx) / half, (y - my) / half
        if clear <= 0.0:
            break
        x, y = _apart((x, y), (at_x, at_y), clear, radius + 0.5 * SLACK)
        x = mx + min(max(x - mx, -half), half)
        y = my + min(max(y - my, -half), half)
        # what is kept is a whole number of 127ths
        x = mx + round((x - mx) / half * HALF) / HALF * half
        y = my + round((y - my) / half * HALF) / HALF * half
    return False, 0.0, 0.0


@kernel
def _beside(ground, colliders, body, radius, point):
    """The place with enough room to which a point is moved: (found, x, y)."""
    x, y, z = point
    for _try in range(TRIES):
        clear, at_x, at_y = clearance_at(ground, colliders, (x, y, z), body, radius)
        if clear >= radius - CLOSE:
            return True, x, y
        if clear <= 0.0:
            break
        x, y = _apart((x, y), (at_x, at_y), clear, radius + 0.5 * CLOSE)
    return False, x, y


@kernel
def _goes_straight(ground, colliders, body, radius, start, way):
    """Whether there is enough room on the straight way from a place, where it is least."""
    square = way[0] * way[0] + way[1] * way[1]
    reach, share = radius + math.sqrt(square), 0.5
    # the nearest thing, and the place on the way that is nearest to it
    for _look in range(LOOKS):
        place = (start[0] + share * way[0], start[1] + share * way[1], start[2])
        clear, at_x, at_y = clearance_at(ground, colliders, place, body, reach)
        if clear >= reach:
            return True
        if clear < radius - CLOSE:
            return False
        along = (at_x - start[0]) * way[0] + (at_y - start[1]) * way[1]
        share = min(max(along / square, 0.0), 1.0)
    return True


@kernel
def _pinched(ground, colliders, body, radius, a, b):
    """Whether something on both sides keeps a body from going from one place to another.

    Round a corner it goes beside the straight way; in a gap that is too narrow it finds no place,
    or only places on either side of the gap, which are far from each other.
    """
    step, height, up, slant = body
    # what is lower than a step, or higher than a head, at either end does not count
    blocks = ground, colliders, (step, height - abs(a[2] - b[2]), up, slant), radius
    x, y, z = a[0], a[1], max(a[2], b[2])
    way = (b[0] - x, b[1] - y)
    if _goes_straight(*blocks, (x, y, z), way):
        return False
    most = 2.0 * math.sqrt(way[0] * way[0] + way[1] * way[1]) / BETWEEN
    for k in range(BETWEEN + 1):
        point = (a[0] + way[0] * k / BETWEEN, a[1] + way[1] * k / BETWEEN, z)
        found, next_x, next_y = _beside(*blocks, point)
        if found and k > 0:
            found = math.sqrt((next_x - x) ** 2 + (next_y - y) ** 2) <= most
            # a gap that is little too narrow lies between two places
            for part in range(1, WITHIN):
                share = part / WITHIN
                point = (x + share * (next_x - x), y + share * (next_y - y), z)
                found = found and _beside(*blocks, point)[0]
        if not found:
            return True
        x, y = next_x, next_y
    return False


@kernel
def narrow_kernel(start, stop, cells, surface, ground, colliders, body, room, radius, found):
    """At which sides of some of the cells it is too narrow to go on: bits of `ONCE`."""
    blocks = ground, colliders, body
    for row in range(start, stop):
        cell = cells[row]
        found[row] = 0
        if room.state[cell] == BLOCKED:
            continue
        for k in range(4):
            side = ONCE[k]
            other = neighbor_of(surface, cell, side)
            if other < 0 or room.state[other] == BLOCKED:
                continue
            free = radius + surface.size * (0.5 if side < 4 else math.sqrt(0.5))
            if is_clear(surface, cell, free, *blocks) and is_clear(surface, other, free, *blocks):
                continue
            a, b = stand_of(surface, room, cell), stand_of(surface, room, other)
            if _pinched(*blocks, radius, a, b):
                found[row] |= 1 << k


@kernel
def cut_kernel(narrow, surface, link, wide):
    """Take away the links where it is too narrow, from both ends."""
    for row in range(len(narrow)):
        cell, side = narrow[row] >> 3, narrow[row] & 7
        other = neighbor_of(surface, cell, side)
        unlink(surface, cell, side, link, wide)
        unlink(surface, other, opposite(side), link, wide)


def passable(surface: Surface, room: RoomView) -> Surface:
    """A surface without the links where a body does not fit through."""
    if not len(room.narrow):
        return surface
    view = surface.view
    view = view._replace(link=view.link.copy(), wide=view.wide.copy())
    cut_kernel(room.narrow, surface.view, view.link, view.wide)
    return replace(surface, view=view)


@kernel
def room_kernel(start, stop, cells, surface, ground, colliders, body, radius, state, shift):
    """The state of some of the cells, and where bodies stand in them, a row each."""
    blocks = ground, colliders, body
    for row in range(start, stop):
        cell = cells[row]
        state[cell], shift[row, 0], shift[row, 1] = BLOCKED, 0, 0
        if surface.z[cell] == VOID:
            continue
        if is_clear(surface, cell, radius - SLACK, *blocks):
            state[cell] = OPEN
        elif is_clear(surface, cell, radius - surface.size * math.sqrt(0.5), *blocks):
            found, x, y = _moved(surface, cell, *blocks, radius)
            if found:
                state[cell] = TIGHT
                shift[row, 0], shift[row, 1] = round(x * HALF), round(y * HALF)


def make_room(surface: Surface, ground: BvhView, colliders: BvhView, radius: float) -> RoomView:
    """Find the cells with room for a body.

    Args:
        surface: The cells.
        ground: The terrain.
        colliders: What blocks.
        radius: Radius of the body [m], up to the reach of the surface.
    """
    count = surface.count
    part, shift = np.zeros(-(-count // PART), np.int32), np.zeros((1, PART, 2), np.int8)
    room = RoomView(np.zeros(count, np.uint8), part, shift, np.zeros(count, np.uint8))
    return _filled(room, None, surface, ground, colliders, radius)


def updated_room(
    room: RoomView,
    cells: I64,
    surface: Surface,
    ground: BvhView,
    colliders: BvhView,
    radius: float,
) -> RoomView:
    """The room after a surface changed in some of its cells; `room` is not changed."""
    arrays = room.state.copy(), room.part.copy(), room.shift.copy(), room.leap.copy()
    room = RoomView(*arrays, narrow=room.narrow)
    return _filled(room, cells, surface, ground, colliders, radius)


def _filled(
    room: RoomView,
    cells: I64 | None,
    surface: Surface,
    ground: BvhView,
    colliders: BvhView,
    radius: float,
) -> RoomView:
    """Find the room of some cells, None for all; arrays are changed."""
    blocks = surface.view, ground, colliders, surface.shape.body, float(radius)
    for band in bands(cells, surface.count):
        shift = np.zeros((len(band), 2), np.int8)
        parallel_for(room_kernel, len(band), band, *blocks, room.state, shift)
        room = _shifted(room, band, shift)
    room = _narrowed(room, _around(surface, cells, 1), *blocks)
    links = passable(surface, room).view
    find_leaps(links, room.state, room.leap, _around(surface, cells, FARTHEST))
    return room


def _narrowed(room: RoomView, cells: I64 | None, *blocks: Any) -> RoomView:
    """Find where it is too narrow to go on from some cells, None for all."""
    parts = [] if cells is None else [room.narrow[~np.isin(room.narrow >> 3, cells)]]
    *solid, radius = blocks
    for band in bands(cells, len(room.state)):
        found = np.zeros(len(band), np.uint8)
        parallel_for(narrow_kernel, len(band), band, *solid, room, radius, found)
        rows = np.flatnonzero(found)
        parts += [8 * band[rows[found[rows] >> k & 1 != 0]] + side for k, side in enumerate(ONCE)]
    return room._replace(narrow=np.sort(np.concatenate(parts)))


def _shifted(room: RoomView, cells: I64, shift: I8) -> RoomView:
    """Let bodies stand off the middle of some cells; arrays are changed."""
    parts = cells >> PART_BITS
    new = np.unique(parts[(room.state[cells] == TIGHT) & (room.part[parts] == 0)])
    room.part[new] = np.arange(len(room.shift), len(room.shift) + len(new))
    rows = np.concatenate([room.shift, np.zeros((len(new), PART, 2), np.int8)])
    there = np.flatnonzero(room.part[parts])
    rows[room.part[parts[there]], cells[there] & (PART - 1)] = shift[there]
    return room._replace(shift=rows)


def shifts_of(room: RoomView, cells: I64) -> I8:
    """Where bodies stand in some cells, off their middles, shape (n, 2); ±127 is the edge."""
    found: I8 = room.shift[room.part[cells >> PART_BITS], cells & (PART - 1)]
    return found


def same_room(a: RoomView, b: RoomView, cells: I64) -> bool:
    """Whether some cells have the same room."""
    same = np.array_equal(a.state[cells], b.state[cells]) and np.array_equal(a.narrow, b.narrow)
    return same and np.array_equal(shifts_of(a, cells), shifts_of(b, cells))


def _around(surface: Surface, cells: I64 | None, far: int) -> I64 | None:
    """Some cells and those around them, up to a number of cells away."""
    if cells is None or not len(cells):
        return cells
    at, view = places_of(surface.view, cells).astype(np.float64), surface.view
    low, high = at.min(axis=0) - far, at.max(axis=0) + far
    return surface.within(view.low + low * view.size, view.low + (high + 0.5) * view.size)
