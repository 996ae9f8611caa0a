"""Settling: a cell whose turn has come gets a corner that it sees.

A cell that heads for the corner of the cell it was reached from looks for it once; where it does
not see it, the best of its neighbors becomes its corner. Most need not look: what two neighbors see
past which the line goes on either side is seen between them, as it is nowhere a cell wide.

Source: Nash, Koenig, Tovey 2010, "Lazy Theta*: Any-Angle Path Planning and Path Length Analysis in
3D".
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import length, sub
from ..lattice import (
    HIDDEN,
    WIDE,
    cell_in,
    column_of,
    layer_of,
    line_cost,
    look,
    neighbor_of,
    stand_of,
)
from ..room import FORBIDDEN, OPEN, may_go

UNSEEN, WAITS, HEADS, DONE, DONE_WIDE = 0, 1, 2, 3, 4
"""Phases of a cell; it WAITS with a neighbor as its corner, or HEADS for what may be any cell. The
last one is of those whose look to their corner is WIDE, along which all cells cost the same."""
DEARER = 1.0e-5
"""Share by which straight ways may cost more than those from cell to cell."""


@kernel
def _between(surface, room, cell, far, corner, phase):
    """Whether two neighbors have wide looks to a corner and a cell's own look lies between them.

    Across the line, the two looks are less than a cell apart: so a cell without room that is in the
    way of the line is in the way of one of them too.
    """
    if room.leap[cell] < 2 or len(room.lane) > 0:
        return False
    x, y, _z = stand_of(surface, room, cell)
    to_x, to_y, _z = stand_of(surface, room, far)
    to_x -= x
    to_y -= y
    dx, dy = (1 if to_x > 0.0 else -1), (1 if to_y > 0.0 else -1)
    column = column_of(surface, cell)
    layer = layer_of(surface, cell, column)
    row = dy * surface.nx
    across = cell_in(surface, column + row + dx, layer)
    if phase[across] != DONE_WIDE or corner[across] != far:
        return False
    side = cell_in(surface, column + (dx if abs(to_x) > abs(to_y) else row), layer)
    return phase[side] == DONE_WIDE and corner[side] == far


@kernel
def _best_neighbor(surface, room, cost, cell, corner, distance, phase):
    """Let a cell go to the neighbor from which the way is the shortest."""
    here = stand_of(surface, room, cell)
    best, least = -1, math.inf
    for k in range(8):
        other = neighbor_of(surface, cell, k)
        if other < 0 or phase[other] < DONE or not may_go(room, cell, other, k):
            continue
        gap = length(sub(here, stand_of(surface, room, other)))
        if len(cost) > 0:
            gap *= 0.5 * (cost[cell] + cost[other])
        way = distance[other] + gap
        if way < least:
            best, least = other, way
    if best >= 0:
        corner[cell], distance[cell] = best, least


@kernel
def settle(surface, room, cell, cost, corner, distance, phase):
    """Give a cell whose turn has come a corner that it sees: the phase that it is in then."""
    far = int(corner[cell])
    if far == cell:
        return DONE_WIDE
    if room.state[cell] == FORBIDDEN:
        return DONE
    if _between(surface, room, cell, far, corner, phase):
        return DONE_WIDE
    found = look(surface, room, cell, far)
    if found != HIDDEN:
        return DONE_WIDE if found == WIDE else DONE
    _best_neighbor(surface, room, cost, cell, corner, distance, phase)
    return DONE_WIDE if room.leap[cell] > 1 else DONE


@kernel
def settle_costly(surface, room, cell, cost, corner, distance, phase):
    """`settle` where ways through cells seem `cost` times as long.

    A cell that waits with a neighbor heads for the corner of that one, where this costs no more.
    """
    far = int(corner[cell])
    if far == cell:
        return DONE_WIDE
    if phase[cell] == HEADS:
        if _between(surface, room, cell, far, corner, phase):
            return DONE_WIDE
        way, found = line_cost(surface, room, cost, cell, far)
        if distance[far] + way <= distance[cell] * (1.0 + DEARER):
            return DONE_WIDE if found == WIDE else DONE
        _best_neighbor(surface, room, cost, cell, corner, distance, phase)
    near = int(corner[cell])
    far = int(corner[near])
    if far != near and room.state[cell] == OPEN and room.state[far] == OPEN:
        way, found = line_cost(surface, room, cost, cell, far)
        if distance[far] + way <= distance[cell] * (1.0 + DEARER):
            corner[cell], distance[cell] = far, distance[far] + way
            return DONE_WIDE if found == WIDE else DONE
    return DONE_WIDE if room.leap[cell] > 1 and cost[near] == cost[cell] else DONE
