"""Where agents head for on their way: the next corner, each beside it in a lane of its own.

An agent looks up the next corner c of the cell that it is in. It does not aim at c itself, or all
would walk in one line along the inside of the bend, but at

    c + min(l·w·min(|b|, 1), max(|c - p| - n, 0))·dir(b),    b = dir(c - p) - dir(d - c)

a place away from what the way bends around, if it sees that. A tight corner, as in a door, is gone
through where it is. Within a distance n of the place agents aim past it, along dir(d - c): who is
pushed about before a door would turn round and round to get to a point. With r left to the place
they aim past it by n·(n - r)/r, not past d, as far as there is room on the straight way, else by
n - r: so those who are pressed along a wall do not leave it for corners in every cell.

Symbols: p the agent's position [m], d the corner after c [m], l in [0, 1) the agent's own lane by
its id, w `LANES` or what of it is open [m], n `NEARLY` [m].
Source: ours.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from ..numeric.vec import add_scaled, dot, length, load, store, sub, unit
from .islands import BEYOND, island_of
from .lattice import cell_at, floor_at, line_cost, neighbor_of, place_of, sees, stand_of
from .portals.links import link_from
from .room import BLOCKED, OPEN, may_go

LANES = 1.25
"""Width of the bend in which agents spread [m]."""
NEARLY = 0.75
"""Distance from a corner at which agents begin to turn [m]."""
BACK = -0.7
"""Cosine of the bend from which on an agent goes to a corner itself: it turns back there."""
AT = 1.0e-3
"""Distance from which on an agent is at a corner [m]."""
FAR = 3.0
"""How far past a corner agents aim at most [m]."""
GOLDEN = 0.6180339887498949
"""Multiples of it spread evenly in [0, 1)."""
DEARER = 0.01
"""Share by which a straight way past a corner may cost more than the one by it."""
BESIDE = 72
"""Cells that are looked at beside one: its 8 neighbors, each before the 8 of its own."""
SKIPS = 3
"""Corners that an agent looks past at most."""


@kernel
def _beside(surface, cell, number):
    """One of the `BESIDE` cells next to a cell, or next to those; -1 where there is none."""
    near = neighbor_of(surface, cell, number // 9)
    if near < 0 or number % 9 == 0:
        return near
    return neighbor_of(surface, near, number % 9 - 1)


@kernel
def cell_of_least_way(surface, room, distance, position):
    """The cell from which an agent goes on; -1 where there is none.

    Where its own cell has no room, since it is pressed to a wall, that is the neighbor with the
    shortest way, or one next to that.
    """
    cell = floor_at(surface, position[0], position[1], position[2])
    if cell < 0 or (room.state[cell] != BLOCKED and distance[cell] < math.inf):
        return cell
    best, least = -1, math.inf
    for number in range(BESIDE):
        other = _beside(surface, cell, number)
        if other < 0 or room.state[other] == BLOCKED:
            continue
        way = length(sub(stand_of(surface, room, other), position)) + distance[other]
        if way < least:
            best, least = other, way
    return best


@kernel
def islands_kernel(start, stop, rows, surface, room, label, positions, islands):
    """The islands on which agents stand, or next to which, as far as there is space for them.

    Args:
        start: First of the rows.
        stop: The row after the last one.
        rows: Rows of the agents.
        surface: SurfaceView.
        room: RoomView.
        label: LabelView.
        positions: Where they are [m].
        islands: Their islands, -1 for none, shape (agents, k), written.
    """
    for row in range(start, stop):
        i, size = rows[row], 0
        for k in range(islands.shape[1]):
            islands[i, k] = -1
        position = load(positions, i)
        cell = cell_at(surface, position[0], position[1], position[2])
        islands[i, 0] = island_of(label, room, cell) if cell >= 0 else -1
        if cell < 0 or islands[i, 0] >= 0:
            continue
        for number in range(BESIDE):
            other = _beside(surface, cell, number)
            island = island_of(label, room, other) if other >= 0 else -1
            known = island < 0 or size == islands.shape[1]
            for k in range(size):
                known = known or islands[i, k] == island
            if not known:
                islands[i, size] = island
                size += 1


@kernel
def _knows_around(surface, room, distance, cell):
    """Whether a field knows all cells that `cell_of_least_way` may take for one without room."""
    for number in range(BESIDE):
        other = _beside(surface, cell, number)
        if other >= 0 and room.state[other] != BLOCKED and distance[other] == math.inf:
            return False
    return True


@kernel
def short_kernel(start, stop, rows, surface, room, distances, reach, slot, positions, short):
    """Which agents have fields that may have to reach further to lead them.

    Args:
        start: First of the rows.
        stop: The row after the last one.
        rows: Rows of the agents that go by these fields.
        surface: SurfaceView.
        room: RoomView.
        distances: Distances of several fields, shape (f, cells).
        reach: Length of ways up to which each of them knows all [m], shape (f,).
        slot: The field of each agent.
        positions: Where they are [m].
        short: 1 for those agents, written.
    """
    for k in range(start, stop):
        i = rows[k]
        short[i] = 0
        position, distance = load(positions, i), distances[slot[i]]
        cell = floor_at(surface, position[0], position[1], position[2])
        if cell < 0 or reach[slot[i]] == math.inf:
            continue
        if room.state[cell] != BLOCKED:
            short[i] = 1 if distance[cell] == math.inf else 0
        elif not _knows_around(surface, room, distance, cell):
            short[i] = 1


@kernel
def _far_corner(surface, room, cost, field, cell):
    """The corner that an agent heads for: past near ones where it sees the one after them.

    Fields have small steps where a way just misses a wall. Where ways cost, that must cost no more.
    """
    corner, distance = field
    found = int(corner[cell])
    cx, cy = place_of(surface, cell)
    for _step in range(SKIPS):
        beyond = int(corner[found])
        x, y = place_of(surface, found)
        near = max(abs(x - cx), abs(y - cy)) * surface.size <= LANES
        if beyond == found or not near or not sees(surface, room, cell, beyond):
            break
        if len(cost) > 0:
            saved = (distance[cell] - distance[beyond]) * (1.0 + DEARER)
            if line_cost(surface, room, cost, cell, beyond)[0] > saved:
                break
        found = beyond
    return found


@kernel
def _open_width(surface, room, corner, out):
    """How far it is open from a corner in a level direction, up to `LANES` [m]."""
    place, width = stand_of(surface, room, corner), 0.0
    while width < LANES:
        reach = min(width + surface.size, LANES)
        aim = add_scaled(place, out, reach)
        there = cell_at(surface, aim[0], aim[1], aim[2])
        if there < 0 or room.state[there] != OPEN or not sees(surface, room, corner, there):
            break
        width = reach
    return width


@kernel
def has_room_along(surface, room, position, aim):
    """Whether a body that is at a place has room on the straight way to another one.

    Unlike `sees` this begins at the very place, and goes through tight cells, too.
    """
    way = sub(aim, position)
    count = int(length(way) / surface.size) + 1
    cell = floor_at(surface, position[0], position[1], position[2])
    if cell < 0:
        return False
    for step in range(1, count + 1):
        at = add_scaled(position, way, step / count)
        there = cell_at(surface, at[0], at[1], at[2])
        if there == cell:
            continue
        if there < 0 or room.state[there] == BLOCKED:
            return False
        # pressed to a wall or at an edge, it leaves a cell without links
        goes = room.state[cell] == BLOCKED
        for side in range(8):
            next_to = neighbor_of(surface, cell, side) == there
            goes = goes or (next_to and may_go(room, cell, there, side))
        if not goes:
            return False
        cell = there
    return True


@kernel
def lane_of(agent_id):
    """An agent's own lane, from 0 next to a corner to 1."""
    return (agent_id * GOLDEN) % 1.0


@kernel
def beside(surface, room, here, cell, place, after, lane, position):
    """Where an agent passes a corner.

    Args:
        surface: SurfaceView.
        room: RoomView.
        here: The cell of the agent.
        cell: The cell of the corner.
        place: Where a body stands in it [m].
        after: The corner after it [m].
        lane: See `lane_of`.
        position: Where the agent is [m].
    """
    way, onward = sub(place, position), unit(sub(after, place))
    if room.state[cell] == OPEN:
        inward = unit(way)
        bend = (inward[0] - onward[0], inward[1] - onward[1], 0.0)
        share, out = lane * min(length(bend), 1.0), unit(bend)
        far = length(way) - NEARLY
        if share > 0.0 and far > 0.0:
            width = min(share * _open_width(surface, room, cell, out), far)
            aside = add_scaled(place, out, width)
            there = cell_at(surface, aside[0], aside[1], aside[2])
            if there >= 0 and sees(surface, room, here, there):
                place, way = aside, sub(aside, position)
    left = max(math.sqrt(way[0] * way[0] + way[1] * way[1]), AT)
    if left >= NEARLY or dot(way, onward) < BACK * left:
        return place
    past = min(NEARLY * (NEARLY - left) / left, length(sub(after, place)))
    aim = add_scaled(place, onward, min(past, FAR))
    if not has_room_along(surface, room, position, aim):
        aim = add_scaled(place, onward, NEARLY - left)
    return aim


@kernel
def through(surface, room, link, gates, i):
    """Let an agent go through a portal."""
    gates.portal[i] = room.portal[link]
    store(gates.exit, i, stand_of(surface, room, room.joined[link, 1]))


@kernel
def aims_kernel(start, stop, rows, surface, room, cost, fields, slot, agents, via, rest, gates):
    """Where agents head for, and how long their way is from there.

    Args:
        start: First of the rows.
        stop: The row after the last one.
        rows: Rows of the agents that go by these fields.
        surface: SurfaceView.
        room: RoomView.
        cost: How many times longer ways seem in each cell by areas, shape (cells,), or (0,).
        fields: (corners, distances, goals) of several fields, shapes (f, cells), (f, cells), (f,).
        slot: The field of each agent.
        agents: (positions [m], ids).
        via: Where they head for [m], written; it holds their targets before.
        rest: Length of the way from there [m], written.
        gates: Gates: the portals that they head for, written.
    """
    corners, distances, goals = fields
    positions, ids = agents
    for k in range(start, stop):
        i = rows[k]
        field = slot[i]
        rest[i] = 0.0
        corner, distance = corners[field], distances[field]
        position = load(positions, i)
        cell = cell_of_least_way(surface, room, distance, position)
        if cell < 0 or corner[cell] < 0:
            continue
        next_cell = _far_corner(surface, room, cost, (corner, distance), cell)
        beyond = int(corner[next_cell])
        if next_cell == beyond:
            link = link_from(room, next_cell, distance)
            if link >= 0:
                store(via, i, stand_of(surface, room, next_cell))
                rest[i] = distance[next_cell]
                through(surface, room, link, gates, i)
                continue
            # the end of the way: the goal itself, or as near to it as it goes
            if next_cell != goals[field] and (goals[field] != BEYOND or distance[next_cell] == 0.0):
                store(via, i, stand_of(surface, room, next_cell))
            continue
        place, after = stand_of(surface, room, next_cell), stand_of(surface, room, beyond)
        lane = lane_of(ids[i])
        store(via, i, beside(surface, room, cell, next_cell, place, after, lane, position))
        rest[i] = distance[next_cell]
