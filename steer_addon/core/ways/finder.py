"""Where agents head for on their way: the next corner, each beside it in a lane of its own.

An agent looks up the next corner c of the cell that it is in. It does not aim at c itself, or all
would walk in one line along the inside of the bend, but at

    c + l·w·min(|b|, 1)·dir(b),    b = dir(c - p) - dir(d - c)

a place away from what the way bends around, as far as that is open. A tight corner, as in a door,
is gone through where it is.

Symbols: p the agent's position [m], d the corner after c [m], l in [0, 1) the agent's own lane by
its id, w `LANES` or what of it is open [m].
Source: ours.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from ..numeric.vec import add_scaled, length, load, store, sub, unit
from .islands import BEYOND
from .lattice import cell_at, neighbor_of, sees, stand_of
from .room import BLOCKED, OPEN

LANES = 1.25
"""Width of the bend in which agents spread [m]."""
GOLDEN = 0.6180339887498949
"""Multiples of it spread evenly in [0, 1)."""
NEAR = 2
"""Cells over which an agent that stands too near to a wall looks for its way."""


@kernel
def standing_in(surface, room, distance, position):
    """The cell from which an agent goes on; -1 where there is none.

    Where its own cell has no room, since it is pressed to a wall, that is the neighbor with the
    shortest way.
    """
    cell = cell_at(surface, position[0], position[1], position[2])
    if cell < 0 or (room.state[cell] != BLOCKED and distance[cell] < math.inf):
        return cell
    best, least = -1, math.inf
    for first in range(8):
        near = neighbor_of(surface, cell, first)
        if near < 0:
            continue
        for second in range(-1, 8):
            other = near if second < 0 else neighbor_of(surface, near, second)
            if other < 0 or room.state[other] == BLOCKED:
                continue
            way = sub(stand_of(surface, room, other), position)
            size = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
            if size + distance[other] < least:
                best, least = other, size + distance[other]
    return best


@kernel
def _beside(surface, room, cell, corner, beyond, lane, position):
    """Where an agent passes a corner."""
    place = stand_of(surface, room, corner)
    if room.state[corner] != OPEN:
        return place
    before, after = unit(sub(place, position)), unit(sub(stand_of(surface, room, beyond), place))
    out = (before[0] - after[0], before[1] - after[1], 0.0)
    # where the way hardly bends, its sides are chance, and change from cell to cell
    width = lane * LANES * min(length(out), 1.0)
    out = unit(out)
    for _try in range(2):
        aim = add_scaled(place, out, width)
        there = cell_at(surface, aim[0], aim[1], aim[2])
        if there >= 0 and room.state[there] == OPEN and sees(surface, room, corner, there):
            return aim
        width *= 0.5
    return place


@kernel
def aims_kernel(start, stop, rows, surface, room, fields, slot, agents, via, rest):
    """Where agents head for, and how long their way is from there.

    Args:
        start: First of the rows.
        stop: The row after the last one.
        rows: Rows of the agents that go by these fields.
        surface: SurfaceView.
        room: RoomView.
        fields: (corners, distances, goals) of several fields, shapes (f, cells), (f, cells), (f,).
        slot: The field of each agent.
        agents: (positions [m], ids).
        via: Where they head for [m], written; it holds their targets before.
        rest: Length of the way from there [m], written.
    """
    corners, distances, goals = fields
    positions, ids = agents
    for k in range(start, stop):
        i = rows[k]
        field = slot[i]
        rest[i] = 0.0
        corner, distance = corners[field], distances[field]
        position = load(positions, i)
        cell = standing_in(surface, room, distance, position)
        if cell < 0 or corner[cell] < 0:
            continue
        next_cell = int(corner[cell])
        beyond = int(corner[next_cell])
        if next_cell == beyond:
            # the end of the way: the goal itself, or as near to it as it goes
            if goals[field] != BEYOND and next_cell != goals[field]:
                store(via, i, stand_of(surface, room, next_cell))
            continue
        lane = (ids[i] * GOLDEN) % 1.0
        store(via, i, _beside(surface, room, cell, next_cell, beyond, lane, position))
        rest[i] = distance[next_cell]
