"""The search for fields of next corners.

Dijkstra's search from the goal, in which a cell keeps the last corner on its way that it sees, so
that ways are straight from corner to corner at any angle (`settling`). Cells come in buckets of
distance (`buckets`), so narrow that the order within one hardly changes a way.
Where the way goes through a portal, the cell at its entrance is its own corner, as at a goal.
A search may end at some length of ways. What it knows by then is what the whole search would know.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import length, sub
from ..lattice import linked_in, middle_at, opposite, place_of, side_step, stand_at, stand_of
from ..room import BLOCKED, FORBIDDEN, OPEN, may_go
from .buckets import drop, nearest, put
from .settling import DONE, DONE_WIDE, HEADS, UNSEEN, WAITS, settle, settle_costly

SQUEEZE = 1.25
"""How much longer tight cells seem: along a wall, ways keep to the open cells beside it."""
OUT = 10.0
"""How much longer ways seem in forbidden cells: who is in them leaves them soon."""
LEFT_OVERS = 64
"""Places at most at which ways end besides where goals are, as areas let nobody go on."""
UNFINISHED = -1.0
"""In place of the length up to which all ways are found: there is more to do."""
FINE = 16.0
"""Buckets as cells are wide."""


@kernel
def _wait(cell, way, via, waits, key, now, field, memory):
    """Let a cell have a way and a corner until its turn comes: 1 if it had none before, else 0.

    Args:
        cell: The cell.
        way: Length of the way [m].
        via: The corner.
        waits: WAITS or HEADS.
        key: What it is put in order by [buckets].
        now: The bucket whose turn it is.
        field: (corners, distances), written.
        memory: `Scratch.queue`, written.
    """
    (corner, distance), (phase, keys, heads, before, after) = field, memory
    more = 1
    if phase[cell] != UNSEEN:
        drop(cell, heads, before, after)
        more = 0
    corner[cell], distance[cell], phase[cell] = via, way, waits
    keys[cell] = key
    put(cell, int(key), now, heads, before, after)
    return more


@kernel
def _begin(roots, far, scale, field, memory):
    """Begin a search at the roots: (how many cells wait, the first bucket)."""
    (corner, distance), (phase, _keys, heads, _before, _after) = field, memory
    for bucket in range(len(heads)):
        heads[bucket] = -1
    for cell in range(len(corner)):
        corner[cell], distance[cell], phase[cell] = -1, math.inf, UNSEEN
    least = math.inf
    for k in range(len(roots)):
        if roots[k] >= 0:
            least = min(least, far[k])
    size, now = 0, int(least * scale) if least < math.inf else 0
    for k in range(len(roots)):
        root = roots[k]
        if root >= 0 and far[k] < distance[root]:
            size += _wait(root, far[k], root, HEADS, far[k] * scale, now, field, memory)
    return size, now


@kernel
def _begin_again(surface, room, near, field, memory):
    """Begin at the cell left over that is nearest to another: how many cells wait, 0 for none."""
    phase, goal = memory[0], stand_of(surface, room, near)
    best, least = -1, math.inf
    for cell in range(len(phase)):
        if phase[cell] == UNSEEN and room.state[cell] not in (BLOCKED, FORBIDDEN):
            gap = length(sub(stand_of(surface, room, cell), goal))
            if gap < least:
                best, least = cell, gap
    return 0 if best < 0 else _wait(best, 0.0, best, HEADS, 0.0, 0, field, memory)


@kernel
def _reach(size, limit, paused, field, phase):
    """The length of ways up to which all are found, as a search returns while some cells wait."""
    corner, distance = field
    if size == 0:
        return math.inf
    if paused:
        return UNFINISHED
    # the cells whose turn has not come have no ways
    for cell in range(len(phase)):
        if phase[cell] < DONE:
            corner[cell], distance[cell] = -1, math.inf
    return limit


@kernel
def _tightness(room, cell):
    """How much longer ways through a cell seem by its state."""
    if room.state[cell] == OPEN:
        return 1.0
    return OUT if room.state[cell] == FORBIDDEN else SQUEEZE


@kernel
def _pull(surface, room):
    """How many times less than the distance the way between two places may seem, 1 at most."""
    least = 1.0
    for k in range(len(room.joined)):
        a = stand_of(surface, room, int(room.joined[k, 0]))
        gap = length(sub(stand_of(surface, room, int(room.joined[k, 1])), a))
        if room.toll[k] < least * gap:
            least = room.toll[k] / gap
    return least


@kernel
def _key(surface, room, cell, way, order):
    """What cells are put in order by: the length of a way, or of one on by the cell to a target.

    Args:
        surface: SurfaceView.
        room: RoomView.
        cell: The cell.
        way: Length of its way [m].
        order: (buckets a meter; how long the way to the target seems at least, as a share of the
            distance, 0 without a target; where that is [m]).
    """
    scale, pull, target = order
    if pull > 0.0:
        way += pull * length(sub(stand_of(surface, room, cell), target))
    return way * scale


@kernel
def _entrances(surface, room, cell, order, now, field, memory):
    """Let ways go through the portals that lead to a cell: how many more cells wait."""
    (_corner, distance), phase, size = field, memory[0], 0
    for k in range(len(room.joined)):
        other = int(room.joined[k, 0])
        if room.joined[k, 1] != cell or phase[other] >= DONE:
            continue
        way = distance[cell] * 1.0 + room.toll[k]
        if way < distance[other]:
            key = _key(surface, room, other, way, order)
            size += _wait(other, way, other, HEADS, key, now, field, memory)
    return size


@kernel
def _heads_on(room, cost, cell, far, phase):
    """Whether what is beyond a cell may head for its corner.

    Bodies in a tight cell stand off the middle: what is beyond goes there first.
    """
    if room.state[cell] != OPEN:
        return False
    return len(cost) == 0 or (phase[cell] == DONE_WIDE and cost[far] == cost[cell])


@kernel
def _spread(surface, room, cost, cell, order, now, field, memory):
    """Give ways to the neighbors of a cell, where they are shorter: how many more cells wait."""
    (corner, distance), phase, size = field, memory[0], 0
    far = int(corner[cell])
    heads = _heads_on(room, cost, cell, far, phase)
    cx, cy = place_of(surface, cell)
    here, there = stand_at(surface, room, cell, cx, cy), stand_of(surface, room, far)
    to_here, to_there = distance[cell] * 1.0, distance[far] * 1.0
    dear = cost[cell] * 1.0 if len(cost) > 0 else 1.0
    # in the open all is linked, and bodies stand in the middle
    wide = room.leap[cell] > 1 and cell < surface.nx * surface.ny and len(room.lane) == 0
    for k in range(8):
        dx, dy = side_step(k)
        other = (cy + dy) * surface.nx + cx + dx
        if not wide:
            other = linked_in(surface, cell, k, other)
            if other < 0 or room.state[other] == BLOCKED:
                continue
            if not may_go(room, other, cell, opposite(k)):
                continue
        waits = phase[other]
        if waits >= DONE:
            continue
        beyond = cost[other] * 1.0 if len(cost) > 0 else 1.0
        straight = heads and beyond == dear and (wide or room.state[other] == OPEN)
        if straight and waits == HEADS and corner[other] == far:
            continue
        if wide:
            x, y = middle_at(surface, cx + dx, cy + dy)
            stand = x, y, surface.z[other] * 1.0
        else:
            stand = stand_at(surface, room, other, cx + dx, cy + dy)
        if straight:
            via, way, waits = far, to_there + dear * length(sub(stand, there)), HEADS
        else:
            gap = _tightness(room, other) * length(sub(stand, here))
            via, way, waits = cell, to_here + 0.5 * (dear + beyond) * gap, WAITS
        if way < distance[other]:
            key = _key(surface, room, other, way, order)
            size += _wait(other, way, via, waits, key, now, field, memory)
    return size


@kernel
def corner_field(surface, room, cost, toward, near, limit, most, left, roots, far, field, memory):
    """Find the next corner of all cells from which a root is reached.

    With a cell to reach it is A*: cells nearer to that one come first, and the search ends there.
    After some cells it returns, and goes on when it is called again with the same arrays.

    Args:
        surface: SurfaceView.
        room: RoomView.
        cost: How many times longer ways through cells seem, shape (cells,), or (0,) for once.
        toward: The cell to reach; -1 for all.
        near: A cell; where areas keep cells from all roots, their ways end as near to it as they
            can. -1 for leaving them without ways.
        limit: Length of ways at which the search ends [m]; infinite for all.
        most: Cells after which it returns, to go on by another call.
        left: How far the search is, shape (4,), written: how many cells wait, negative at its
            start, how often it began again, how many cells the call searched, and the bucket whose
            turn it is.
        roots: Cells where ways end, shape (r,).
        far: How long the way from each of them to the goal is [m], shape (r,).
        field: The next corner of each cell, a cell, -1 where there is no way, and the length of its
            way [m], infinite where there is none, shape (cells,) each; written.
        memory: `Scratch.queue`.

    Returns:
        The limit, infinity where all ways are shorter, or UNFINISHED.
    """
    (corner, distance), (phase, keys, heads, before, after) = field, memory
    scale = FINE / surface.size
    pull = _pull(surface, room) if toward >= 0 and len(cost) == 0 else 0.0
    order = scale, pull, stand_of(surface, room, max(toward, 0))
    size, again, done, now = int(left[0]), int(left[1]), 0, int(left[3])
    if size < 0:
        size, now = _begin(roots, far, scale, field, memory)
    while size > 0:
        now, cell = nearest(now, keys, heads, before, after)
        if now > limit * scale or done == most:
            break
        drop(cell, heads, before, after)
        size -= 1
        done += 1
        if len(cost) == 0:
            phase[cell] = settle(surface, room, cell, cost, corner, distance, phase)
        else:
            phase[cell] = settle_costly(surface, room, cell, cost, corner, distance, phase)
        if cell == toward:
            size = 0
            break
        if len(room.gate) > 0 and room.gate[cell] != 0:
            size += _entrances(surface, room, cell, order, now, field, memory)
        size += _spread(surface, room, cost, cell, order, now, field, memory)
        if size == 0 and near >= 0 and again < LEFT_OVERS:
            again += 1
            now, size = 0, _begin_again(surface, room, near, field, memory)
    left[0], left[1], left[2], left[3] = size, again, done, now
    return _reach(size, limit, done == most, field, phase)
