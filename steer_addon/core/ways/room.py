"""Room: which cells of a surface a body of some radius can stand in, and where.

A cell is open when its middle is as far as the radius from all that stops a body. Where the middle
is nearer, a place off the middle may do, as in a door: the place is moved away from what is next to
it, a few times, and stays within the cell. Such a cell is tight.

Two neighbors may have room while the gap between them has none: a body would stick there. So places
between them are moved, too; where one finds no room, nobody goes on there (`RoomView.narrow`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel, parallel_for
from ..views import BvhView, RoomView, SurfaceView
from .clearance import clearance_at, is_clear
from .lattice import (
    HALF,
    LAYERED,
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
    wide_of,
)
from .leaps import FARTHEST, find_leaps
from .surface import Surface, bands

I8 = NDArray[np.int8]
I64 = NDArray[np.int64]

BLOCKED, TIGHT, OPEN, FORBIDDEN = 0, 1, 2, 3
"""States of cells; who is in a forbidden one may leave it, and nobody goes into one."""

SLACK = 1.0e-3
"""By how much less than the radius is still enough [m]."""
TRIES = 6
"""How often a place is moved."""
BETWEEN = 8
"""Into how many parts the way between two cells is divided where a body may not fit through."""
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
        away = (radius - clear + 0.5 * SLACK) / clear
        x = mx + min(max(x + (x - at_x) * away - mx, -half), half)
        y = my + min(max(y + (y - at_y) * away - my, -half), half)
        # what is kept is a whole number of 127ths
        x = mx + round((x - mx) / half * HALF) / HALF * half
        y = my + round((y - my) / half * HALF) / HALF * half
    return False, 0.0, 0.0


@kernel
def _pinched(surface, ground, colliders, body, radius, a, b):
    """Whether something on both sides keeps a body from going from one place to another.

    Round a corner it goes beside the straight way; in a gap that is too narrow it finds no place,
    or only places on either side of the gap, which are far from each other.
    """
    step, height, up, slant = body
    way = (b[0] - a[0], b[1] - a[1])
    size = math.sqrt(way[0] * way[0] + way[1] * way[1])
    z, upright = max(a[2], b[2]), (step, height - abs(a[2] - b[2]), up, slant)
    reach, share = radius + size, 0.5
    # the nearest thing, and the place that is nearest to it
    for _try in range(3):
        place = (a[0] + share * way[0], a[1] + share * way[1], z)
        clear, at_x, at_y = clearance_at(ground, colliders, place, upright, reach)
        if clear >= reach:
            return False
        if clear < radius - SLACK:
            break
        along = (at_x - a[0]) * way[0] + (at_y - a[1]) * way[1]
        share = min(max(along / (size * size), 0.0), 1.0)
    if clear >= radius - SLACK:
        return False
    before_x, before_y = a[0], a[1]
    for k in range(1, BETWEEN + 1):
        x, y = a[0] + way[0] * k / BETWEEN, a[1] + way[1] * k / BETWEEN
        clear = radius if k == BETWEEN else 0.0
        for _try in range(TRIES if k < BETWEEN else 0):
            clear, at_x, at_y = clearance_at(ground, colliders, (x, y, z), upright, radius)
            if clear >= radius - SLACK or clear <= 0.0:
                break
            away = (radius - clear + 0.5 * SLACK) / clear
            x, y = x + (x - at_x) * away, y + (y - at_y) * away
        gap = math.sqrt((x - before_x) ** 2 + (y - before_y) ** 2)
        if clear < radius - SLACK or gap > 2.0 * size / BETWEEN:
            return True
        before_x, before_y = x, y
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
            if _pinched(surface, *blocks, radius, a, b):
                found[row] |= 1 << k


@kernel
def cut_kernel(narrow, surface, link, wide):
    """Take away the links where it is too narrow, from both ends."""
    for row in range(len(narrow)):
        cell, side = narrow[row] >> 3, narrow[row] & 7
        other = neighbor_of(surface, cell, side)
        for _end in range(2):
            if link[cell] == LAYERED:
                wide[wide_of(surface, cell)] &= ~(15 << (4 * side))
            else:
                link[cell] &= ~(1 << side)
            cell, side = other, opposite(side)


def passable(surface: SurfaceView, room: RoomView) -> SurfaceView:
    """A surface without the links where a body does not fit through."""
    if not len(room.narrow):
        return surface
    link, wide = surface.link.copy(), surface.wide.copy()
    cut_kernel(room.narrow, surface, link, wide)
    return surface._replace(link=link, wide=wide)


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
    around = _around(surface, cells)
    room = _narrowed(room, around, *blocks)
    find_leaps(passable(surface.view, room), room.state, room.leap, around)
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


def _around(surface: Surface, cells: I64 | None) -> I64 | None:
    """The cells whose leaps may change with some cells."""
    if cells is None or not len(cells):
        return cells
    at, view = places_of(surface.view, cells).astype(np.float64), surface.view
    low, high = at.min(axis=0) - FARTHEST, at.max(axis=0) + FARTHEST
    return surface.within(view.low + low * view.size, view.low + (high + 0.5) * view.size)
