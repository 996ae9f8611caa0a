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
from .clearance import clearance_at
from .lattice import HALF, middle_of
from .leaps import FARTHEST, leap_kernel
from .surface import Surface

I64 = NDArray[np.int64]

BLOCKED, TIGHT, OPEN = 0, 1, 2

SLACK = 1.0e-3
"""By how much less than the radius is still enough [m]."""
TRIES = 6
"""How often a place is moved."""


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
    """The state of some of the cells, and where bodies stand in them."""
    for row in range(start, stop):
        cell = cells[row]
        clear = surface.clear[cell]
        state[cell], shift[cell, 0], shift[cell, 1] = BLOCKED, 0, 0
        if clear >= radius - SLACK:
            state[cell] = OPEN
        elif clear > 0.0 and clear >= radius - surface.size * math.sqrt(0.5):
            found, x, y = _moved(surface, cell, ground, colliders, body, radius)
            if found:
                state[cell] = TIGHT
                shift[cell, 0], shift[cell, 1] = round(x * HALF), round(y * HALF)


def make_room(surface: Surface, ground: BvhView, colliders: BvhView, radius: float) -> RoomView:
    """Find the cells with room for a body.

    Args:
        surface: The cells.
        ground: The terrain.
        colliders: What blocks.
        radius: Radius of the body [m], up to the reach of the surface.
    """
    state = np.zeros(surface.count, np.uint8)
    shift = np.zeros((surface.count, 2), np.int8)
    room = RoomView(state, shift, np.zeros(surface.count, np.uint8))
    update_room(room, np.arange(surface.count), surface, ground, colliders, radius)
    return room


def update_room(
    room: RoomView,
    cells: I64,
    surface: Surface,
    ground: BvhView,
    colliders: BvhView,
    radius: float,
) -> None:
    """Find the room of some cells again."""
    blocks = (ground, colliders, surface.shape.body)
    found = room.state, room.shift
    parallel_for(room_kernel, len(cells), cells, surface.view, *blocks, float(radius), *found)
    leap_kernel(_around(surface, cells), surface.view, room.state, room.leap)


def _around(surface: Surface, cells: I64) -> I64:
    """The cells whose leaps may change with some cells."""
    if len(cells) in (0, surface.count):
        return cells
    at, view = surface.view.at[cells].astype(np.float64), surface.view
    low, high = at.min(axis=0) - FARTHEST, at.max(axis=0) + FARTHEST
    return surface.within(view.low + low * view.size, view.low + (high + 0.5) * view.size)
