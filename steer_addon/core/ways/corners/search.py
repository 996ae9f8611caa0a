"""Searches among corners: A* from the ends of ways to single agents, see `graph`.

Which corners come straight to the end is looked up as their turns come: straight ways are the
shortest ones, so what a corner is given first is its own. Who stands in a tight cell, or goes to
one, goes by the open cell beside it. Where a way bends much, it cuts the corner, as searches from
cell to cell do: it goes from the one of the two open cells that the corner is between to the other.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import length, load, sub
from ..heap import rise, take
from ..lattice import sees, stand_of
from ..own import CORNERS, COUNT, FIRST, GATE, TAIL, corner_of, left_of
from ..room import OPEN
from .graph import bends, beside_each_other, comes_straight, open_at

UNSEEN, WAITS, DONE = 0, 1, 2
"""Phases of a corner."""
SHORT = 12.0
"""Ways that are no longer are left to the search among all cells, which is quick there and counts
every cell [m]."""
WORTH = 0.01
"""Share of the way to a corner and on to the next one that is worth cutting it."""


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
def _cut(surface, room, before, corner, after):
    """The two cells by which a way cuts a corner, -1 where that is not worth it."""
    one, two = -1, -1
    least = _gap(surface, room, before, corner) + _gap(surface, room, corner, after)
    least *= 1.0 - WORTH
    for number in range(8):
        first, turn = number >> 1, 1 if number & 1 == 0 else 3
        a = open_at(surface, room, corner, first)
        b = open_at(surface, room, corner, (first + turn) & 3)
        if a < 0 or b < 0 or not beside_each_other(surface, a, b):
            continue
        way = _gap(surface, room, before, a) + _gap(surface, room, a, b)
        way += _gap(surface, room, b, after)
        if way < least and sees(surface, room, before, a) and sees(surface, room, b, after):
            one, two, least = a, b, way
    return one, two


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
def _keep(surface, room, graph, number, cell, begin, last, end, onward, distance, kept, i):
    """Let an agent keep a way: from its cell by an open one, corners, and another open one."""
    tail = _gap(surface, room, last, end)
    before = cell
    to = graph.cells[number] if number >= 0 else last
    if begin != cell and not sees(surface, room, cell, to):
        rest = distance[number] * 1.0 if number >= 0 else 0.0
        _add(surface, room, kept, i, begin, _gap(surface, room, begin, to) + rest + tail)
        before = begin
    while number >= 0:
        corner, number = graph.cells[number], onward[number]
        to = graph.cells[number] if number >= 0 else last
        rest = tail + (distance[number] * 1.0 if number >= 0 else 0.0)
        one, two = -1, -1
        if room.state[before] == OPEN and room.state[corner] == OPEN:
            one, two = _cut(surface, room, before, corner, to)
        if one >= 0:
            way = _gap(surface, room, two, to) + rest
            _add(surface, room, kept, i, one, _gap(surface, room, one, two) + way)
            corner = two
        _add(surface, room, kept, i, corner, _gap(surface, room, corner, to) + rest)
        before = corner
    if last != end and not sees(surface, room, before, end):
        _add(surface, room, kept, i, last, tail)


@kernel
def _way(kept, i, place):
    """Length of the way that an agent keeps, from a place on [m]."""
    gap = length(sub(corner_of(kept, i, 0), place)) if kept[i, COUNT] > 0.0 else -math.inf
    return gap + left_of(kept, i)


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
        lost[k] = 0 if straight or number >= 0 else 1
        if lost[k] != 0:
            continue
        goal = load(goals, row[i])
        for axis in range(3):
            kept[i, axis] = goal[axis]
        for at in range(COUNT, GATE + 1):
            kept[i, at] = 0.0
        _keep(surface, room, graph, number, cell, begin, last, end, onward, distance, kept, i)
        way = _way(kept, i, stand_of(surface, room, cell))
        lost[k] = 1 if way <= SHORT else 0
