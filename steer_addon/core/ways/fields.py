"""Fields: the next corner on the shortest way from each cell to a goal.

Dijkstra's search from the goal, in which a cell keeps the last corner on its way that it sees, so
that ways are straight from corner to corner at any angle. A cell takes over the corner of the cell
it was reached from, and looks for it once, when its turn has come; where it does not see it, the
best of its neighbors becomes its corner. Most need not look: what two neighbors see past which the
line goes on either side is seen between them, as it is nowhere a cell wide.
Where the way goes through a portal, the cell at its entrance is its own corner, as at a goal.
A search may end at some length of ways. What it knows by then is what the whole search would know.

Source: Nash, Koenig, Tovey 2010, "Lazy Theta*: Any-Angle Path Planning and Path Length Analysis in
3D".
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from ..numeric.vec import length, sub
from .heap import rise, take
from .lattice import (
    HIDDEN,
    WIDE,
    cell_in,
    column_of,
    layer_of,
    line_cost,
    linked_in,
    look,
    neighbor_of,
    opposite,
    place_of,
    side_step,
    stand_at,
    stand_of,
)
from .room import BLOCKED, FORBIDDEN, OPEN, may_go

SQUEEZE = 1.25
"""How much longer tight cells seem: along a wall, ways keep to the open cells beside it."""
OUT = 10.0
"""How much longer ways seem in forbidden cells: who is in them leaves them soon."""
LEFT_OVERS = 64
"""Places at most at which ways end besides where goals are, as areas let nobody go on."""
UNSEEN, WAITS, DONE, DONE_WIDE = 0, 1, 2, 3
"""Phases of a cell; the last one is of those whose look to their corner is WIDE."""
UNFINISHED = -1.0
"""In place of the length up to which all ways are found: there is more to do."""


@kernel
def _begin(roots, far, corner, distance, phase, heap, keys, place):
    """Begin a search at the roots: how many cells wait."""
    for cell in range(len(corner)):
        corner[cell], distance[cell], phase[cell], place[cell] = -1, math.inf, UNSEEN, -1
    size = 0
    for k in range(len(roots)):
        root = roots[k]
        if root >= 0 and far[k] < distance[root]:
            corner[root], distance[root], phase[root] = root, far[k], WAITS
            size = rise(root, far[k], size, heap, keys, place)
    return size


@kernel
def _begin_again(surface, room, near, corner, distance, phase, heap, keys, place):
    """Begin at the cell left over that is nearest to another: how many cells wait, 0 for none."""
    goal = stand_of(surface, room, near)
    best, least = -1, math.inf
    for cell in range(len(phase)):
        if phase[cell] == UNSEEN and room.state[cell] not in (BLOCKED, FORBIDDEN):
            gap = length(sub(stand_of(surface, room, cell), goal))
            if gap < least:
                best, least = cell, gap
    if best < 0:
        return 0
    corner[best], distance[best], phase[best] = best, 0.0, WAITS
    return rise(best, 0.0, 0, heap, keys, place)


@kernel
def _reach(size, limit, corner, distance, phase, keys):
    """The length of ways up to which all are found, as a search returns while some cells wait."""
    if size == 0:
        return math.inf
    if keys[0] <= limit:
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
def _settle(surface, room, cell, corner, distance, phase):
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
    here = stand_of(surface, room, cell)
    best, least = -1, math.inf
    for k in range(8):
        other = neighbor_of(surface, cell, k)
        if other < 0 or phase[other] < DONE or not may_go(room, cell, other, k):
            continue
        way = distance[other] + length(sub(here, stand_of(surface, room, other)))
        if way < least:
            best, least = other, way
    if best >= 0:
        corner[cell], distance[cell] = best, least
    return DONE_WIDE if room.leap[cell] > 1 else DONE


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
def _entrances(surface, room, cell, target, pull, corner, distance, phase, size, heap, keys, place):
    """Let ways go through the portals that lead to a cell: how many cells wait."""
    for k in range(len(room.joined)):
        other = int(room.joined[k, 0])
        if room.joined[k, 1] != cell or phase[other] >= DONE:
            continue
        way = distance[cell] * 1.0 + room.toll[k]
        if way < distance[other]:
            distance[other], corner[other], phase[other] = way, other, WAITS
            key = way + pull * length(sub(stand_of(surface, room, other), target))
            size = rise(other, key, size, heap, keys, place)
    return size


@kernel
def _spread(
    surface, room, cell, far, target, pull, corner, distance, phase, size, heap, keys, place
):
    """Let the neighbors of a cell head for a corner, where that is shorter: how many cells wait."""
    cx, cy = place_of(surface, cell)
    here, there = stand_at(surface, room, cell, cx, cy), stand_of(surface, room, far)
    to_here, to_there = distance[cell] * 1.0, distance[far] * 1.0
    for k in range(8):
        dx, dy = side_step(k)
        other = linked_in(surface, cell, k, (cy + dy) * surface.nx + cx + dx)
        if other < 0 or phase[other] >= DONE or room.state[other] == BLOCKED:
            continue
        if not may_go(room, other, cell, opposite(k)):
            continue
        stand = stand_at(surface, room, other, cx + dx, cy + dy)
        via, way = far, to_there + length(sub(stand, there))
        if room.state[other] != OPEN:
            via, way = cell, to_here + _tightness(room, other) * length(sub(stand, here))
        if way < distance[other]:
            distance[other], corner[other], phase[other] = way, via, WAITS
            key = way + pull * length(sub(stand, target)) if pull > 0.0 else way
            size = rise(other, key, size, heap, keys, place)
    return size


@kernel
def corner_field(surface, room, toward, near, limit, most, left, roots, far, field, memory):
    """Find the next corner of all cells from which a root is reached.

    With a cell to reach it is A*: cells nearer to that one come first, and the search ends there.
    After some cells it returns, and goes on when it is called again with the same arrays.

    Args:
        surface: SurfaceView.
        room: RoomView.
        toward: The cell to reach; -1 for all.
        near: A cell; where areas keep cells from all roots, their ways end as near to it as they
            can. -1 for leaving them without ways.
        limit: Length of ways at which the search ends [m]; infinite for all.
        most: Cells after which it returns, to go on by another call.
        left: How far the search is, shape (3,), written: how many cells wait, negative at its
            start, how often it began again, and how many cells the call searched.
        roots: Cells where ways end, shape (r,).
        far: How long the way from each of them to the goal is [m], shape (r,).
        field: The next corner of each cell, a cell, -1 where there is no way, and the length of its
            way [m], infinite where there is none, shape (cells,) each; written.
        memory: `Scratch.of`.

    Returns:
        The limit, infinity where all ways are shorter, or UNFINISHED.
    """
    (corner, distance), (phase, heap, keys, place) = field, memory
    target = stand_of(surface, room, max(toward, 0))
    pull = _pull(surface, room) if toward >= 0 else 0.0
    size, again, done = int(left[0]), int(left[1]), 0
    if size < 0:
        size = _begin(roots, far, corner, distance, phase, heap, keys, place)
    while size > 0:
        if keys[0] > limit or done == most:
            break
        done += 1
        cell, size = take(size, heap, keys, place)
        phase[cell] = _settle(surface, room, cell, corner, distance, phase)
        if cell == toward:
            size = 0
            break
        if len(room.gate) > 0 and room.gate[cell] != 0:
            size = _entrances(
                surface, room, cell, target, pull, corner, distance, phase, size, heap, keys, place
            )
        # bodies in a tight cell stand off the middle: what is beyond goes there first
        far = int(corner[cell]) if room.state[cell] == OPEN else cell
        size = _spread(
            surface, room, cell, far, target, pull, corner, distance, phase, size, heap, keys, place
        )
        if size == 0 and near >= 0 and again < LEFT_OVERS:
            again += 1
            size = _begin_again(surface, room, near, corner, distance, phase, heap, keys, place)
    left[0], left[1], left[2] = size, again, done
    return _reach(size, limit, corner, distance, phase, keys)


@kernel
def _settle_costly(surface, room, cost, cell, corner, distance, phase):
    """Let a cell whose turn has come head for the corner of its neighbor, where that pays.

    Returns:
        The phase that it is in then: DONE_WIDE where all cells on the way to its corner cost the
        same, too.
    """
    near = int(corner[cell])
    far = int(corner[near])
    if far != near and room.state[cell] == OPEN and room.state[far] == OPEN:
        if cost[far] == cost[cell] and _between(surface, room, cell, far, corner, phase):
            gap = length(sub(stand_of(surface, room, far), stand_of(surface, room, cell)))
            corner[cell], distance[cell] = far, distance[far] + cost[cell] * gap
            return DONE_WIDE
        way, found = line_cost(surface, room, cost, cell, far)
        if distance[far] + way <= distance[cell] * (1.0 + 1.0e-5):
            corner[cell], distance[cell] = far, distance[far] + way
            return DONE_WIDE if found == WIDE else DONE
    return DONE_WIDE if room.leap[cell] > 1 and cost[near] == cost[cell] else DONE


@kernel
def cost_field(surface, room, cost, toward, near, limit, most, left, roots, far, field, memory):
    """`corner_field` where ways through some cells seem longer: `cost` times as long.

    With a cell to reach, the search ends there. Ways go from cell to cell here, and take a corner
    that they see where that costs no more.
    """
    (corner, distance), (phase, heap, keys, place) = field, memory
    size, again, done = int(left[0]), int(left[1]), 0
    if size < 0:
        size = _begin(roots, far, corner, distance, phase, heap, keys, place)
    while size > 0:
        if keys[0] > limit or done == most:
            break
        done += 1
        cell, size = take(size, heap, keys, place)
        phase[cell] = DONE_WIDE
        if corner[cell] != cell:
            phase[cell] = _settle_costly(surface, room, cost, cell, corner, distance, phase)
        if cell == toward:
            size = 0
            break
        cx, cy = place_of(surface, cell)
        here, to_here = stand_at(surface, room, cell, cx, cy), distance[cell] * 1.0
        if len(room.gate) > 0 and room.gate[cell] != 0:
            size = _entrances(
                surface, room, cell, here, 0.0, corner, distance, phase, size, heap, keys, place
            )
        for k in range(8):
            dx, dy = side_step(k)
            other = linked_in(surface, cell, k, (cy + dy) * surface.nx + cx + dx)
            if other < 0 or phase[other] >= DONE or room.state[other] == BLOCKED:
                continue
            if not may_go(room, other, cell, opposite(k)):
                continue
            gap = length(sub(stand_at(surface, room, other, cx + dx, cy + dy), here))
            way = 0.5 * (cost[cell] + cost[other]) * gap
            way = to_here + way * _tightness(room, other)
            if way < distance[other]:
                distance[other], corner[other], phase[other] = way, cell, WAITS
                size = rise(other, way, size, heap, keys, place)
        if size == 0 and near >= 0 and again < LEFT_OVERS:
            again += 1
            size = _begin_again(surface, room, near, corner, distance, phase, heap, keys, place)
    left[0], left[1], left[2] = size, again, done
    return _reach(size, limit, corner, distance, phase, keys)
