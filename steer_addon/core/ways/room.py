"""Room: which cells of a surface a body of some radius can stand in, and where.

A cell is open when its middle is as far as the radius from all that stops a body. Where the middle
is nearer, a place off the middle may do, as in a door: the place is moved away from what is next to
it, a few times, and stays within the cell. Such a cell is tight.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel, parallel_for
from ..views import BvhView, RoomView
from .clearance import clearance_at, is_clear
from .lattice import HALF, PART, PART_BITS, VOID, against, middle_of, places_of, side_step
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
    return _filled(RoomView(*arrays), cells, surface, ground, colliders, radius)


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
    find_leaps(surface.view, room.state, room.leap, _around(surface, cells))
    return room


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
    same = np.array_equal(a.state[cells], b.state[cells])
    return same and np.array_equal(shifts_of(a, cells), shifts_of(b, cells))


def _around(surface: Surface, cells: I64 | None) -> I64 | None:
    """The cells whose leaps may change with some cells."""
    if cells is None or not len(cells):
        return cells
    at, view = places_of(surface.view, cells).astype(np.float64), surface.view
    low, high = at.min(axis=0) - FARTHEST, at.max(axis=0) + FARTHEST
    return surface.within(view.low + low * view.size, view.low + (high + 0.5) * view.size)
