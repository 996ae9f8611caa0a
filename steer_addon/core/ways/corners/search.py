"""Searches among corners: A* from the ends of ways to single agents, see `graph`.

Whether a corner sees the end is looked up when the search gets to it. No way is shorter than a
straight one, so the first length that a corner gets then stays. Agents that stand in a tight cell,
or go to one, go by the open cell beside it.

Ways from cell to cell cut corners a little more, and go by tight cells where that is shorter. Where
that may matter, as in a maze, they are searched among all cells, see `fields`.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import length, load, sub, unit
from ..heap import rise, take
from ..lattice import sees, stand_of
from ..own import CORNERS, COUNT, FIRST, GATE, TAIL
from ..room import OPEN
from .graph import bends, beside_each_other, comes_straight, open_at

UNSEEN, WAITS, DONE = 0, 1, 2
"""Phases of a corner."""
LOSS, MOST_LOST = 0.75, 0.01
"""What a way loses as corners are middles of cells: cells for each turn by one, see `_turned`; and
the share of a way that it may lose, beyond which it is left to the search among all cells."""
TIGHT_TURN = 1.0
"""What a tight cell counts as: through them ways go from cell to cell."""


@kernel
def _gap(surface, room, cell, other):
    """How far two cells are from each other [m]."""
    return length(sub(stand_of(surface, room, cell), stand_of(surface, room, other)))


@kernel
def _open_beside(surface, room, cell):
    """The open cell nearest to a cell: itself, or a neighbor; itself where none is open."""
    if room.state[cell] == OPEN:
        return cell
    best, least = cell, math.inf
    for side in range(8):
        other = open_at(surface, room, cell, side)
        if other >= 0 and _gap(surface, room, cell, other) < least:
            best, least = other, _gap(surface, room, cell, other)
    return best


@kernel
def first_corner(surface, room, graph, cell, end, onward, distance, phase, heap, keys, place):
    """The corner to which a way from a cell to another goes first; -1 where none is found.

    Args:
        surface: SurfaceView.
        room: RoomView.
        graph: Corners.
        cell: Where the way begins.
        end: Where it ends.
        onward: The corner after each one, -1 for the end, shape (corners,), written.
        distance: Length of the way from each corner [m], shape (corners,), written.
        phase: Scratch, shape (2·corners,).
        heap: Scratch, shape (2·corners,).
        keys: Scratch, shape (2·corners,).
        place: Scratch, shape (2·corners,).
    """
    here, goal = stand_of(surface, room, cell), stand_of(surface, room, end)
    count, size = len(graph.cells), 0
    for number in range(count):
        phase[number], place[number], place[count + number] = UNSEEN, -1, -1
        stand = stand_of(surface, room, graph.cells[number])
        onward[number], distance[number] = -1, math.inf
        # not yet known to come straight to the end
        far = length(sub(stand, goal)) + length(sub(stand, here))
        size = rise(count + number, far, size, heap, keys, place)
    while size > 0:
        number, size = take(size, heap, keys, place)
        if number >= count:
            number -= count
            corner = graph.cells[number]
            straight = comes_straight(surface, room, graph.turns[number], corner, end)
            if phase[number] == DONE or corner == end or not straight:
                continue
            onward[number], distance[number] = -1, _gap(surface, room, corner, end)
        elif phase[number] == DONE:
            continue
        phase[number], corner = DONE, graph.cells[number]
        if corner == cell:
            return onward[number]
        # nearest first: the first one in sight is on the shortest way
        if bends(surface, graph.turns[number], corner, cell):
            if sees(surface, room, cell, corner) or beside_each_other(surface, cell, corner):
                return number
        for edge in range(graph.first[number], graph.first[number + 1]):
            other = graph.others[edge]
            way = distance[number] * 1.0 + graph.gaps[edge]
            if phase[other] != DONE and way < distance[other]:
                distance[other], onward[other], phase[other] = way, number, WAITS
                far = way + _gap(surface, room, graph.cells[other], cell)
                size = rise(other, far, size, heap, keys, place)
    return -1


@kernel
def _add(surface, room, kept, i, cell, rest):
    """Let an agent keep one more corner, from which the way is of some length [m]."""
    size = int(kept[i, COUNT])
    if size == CORNERS:
        # negative where the way has more corners than are kept
        kept[i, TAIL] = -abs(kept[i, TAIL])
        return
    stand = stand_of(surface, room, cell)
    for axis in range(3):
        kept[i, FIRST + 3 * size + axis] = stand[axis]
    kept[i, COUNT], kept[i, TAIL] = size + 1, rest


@kernel
def _turned(surface, room, before, cell, after):
    """By how much a way turns at a cell: twice the sine of half the angle, more in a tight cell."""
    place = stand_of(surface, room, cell)
    inward = unit(sub(place, stand_of(surface, room, before)))
    onward = unit(sub(stand_of(surface, room, after), place))
    return length(sub(inward, onward)) + (0.0 if room.state[cell] == OPEN else TIGHT_TURN)


@kernel
def _is_exact(surface, room, graph, number, cell, begin, last, end, onward, distance):
    """Whether a way that is kept by `_keep` loses little to those from cell to cell."""
    to = graph.cells[number] if number >= 0 else last
    way = _gap(surface, room, cell, begin) + _gap(surface, room, begin, to)
    way += _gap(surface, room, last, end) + (distance[number] * 1.0 if number >= 0 else 0.0)
    turned = _turned(surface, room, cell, begin, to) if begin != cell else 0.0
    before = begin
    while number >= 0:
        here, number = graph.cells[number], onward[number]
        to = graph.cells[number] if number >= 0 else last
        turned += _turned(surface, room, before, here, to)
        before = here
    turned += _turned(surface, room, before, last, end) if last != end else 0.0
    return LOSS * surface.size * turned <= MOST_LOST * way


@kernel
def _keep(surface, room, graph, number, cell, begin, last, end, onward, distance, kept, i):
    """Let an agent keep a way: from its cell by an open one, corners, and another open one."""
    tail = _gap(surface, room, last, end)
    to = graph.cells[number] if number >= 0 else last
    rest = distance[number] * 1.0 if number >= 0 else 0.0
    if begin != cell and not sees(surface, room, cell, to):
        _add(surface, room, kept, i, begin, _gap(surface, room, begin, to) + rest + tail)
    before = begin
    while number >= 0:
        before = graph.cells[number]
        _add(surface, room, kept, i, before, distance[number] + tail)
        number = onward[number]
    if last != end and not sees(surface, room, before, end):
        _add(surface, room, kept, i, last, tail)


@kernel
def ways_kernel(
    start, stop, looks, surface, room, graph, goals, row, cells, ends, kept, lost, memory
):
    """What agents keep of ways by corners, see `own`.

    Args:
        start: First of the rows.
        stop: The row after the last one.
        looks: Rows of the agents that look for ways.
        surface: SurfaceView.
        room: RoomView.
        graph: Corners.
        goals: Places of the goals [m].
        row: Each agent's goal.
        cells: Where agents stand.
        ends: The last cells of their ways.
        kept: What they keep, written.
        lost: 1 for agents without a way by corners, written.
        memory: The arrays that `first_corner` writes.
    """
    onward, distance = memory[0], memory[1]
    for k in range(start, stop):
        i = looks[k]
        cell, end, number = cells[i], ends[i], -1
        begin, last = _open_beside(surface, room, cell), _open_beside(surface, room, end)
        straight = (begin != cell or last != end) and sees(surface, room, begin, last)
        if not straight:
            number = first_corner(surface, room, graph, begin, last, *memory)
        way = number, cell, begin, last, end, onward, distance
        lost[k] = 0 if straight or number >= 0 else 1
        if lost[k] != 0 or not _is_exact(surface, room, graph, *way):
            lost[k] = 1
            continue
        goal = load(goals, row[i])
        for axis in range(3):
            kept[i, axis] = goal[axis]
        for at in range(COUNT, GATE + 1):
            kept[i, at] = 0.0
        _keep(surface, room, graph, *way, kept, i)
        lost[k] = 1 if kept[i, COUNT] == 0.0 else 0
