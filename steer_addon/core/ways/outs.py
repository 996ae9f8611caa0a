"""Ways out: where agents run that are cornered, as walls are in the way of their straight flight.

An agent is cornered when what is ahead of it within `AHEAD`, straight away from the threat, is not
all open. It looks around as far as `FAR` and goes to the place x that is largest in

    s(x) = 2 · min(D(x), 2·FAR) - d(x)

among those to which it comes before the threat does on all of the way: d < D. It keeps to x until
it is there, and looks again once a second. Where no place is better than its own, it stays.

Symbols: D(x), d(x) the lengths of the ways of the threat and of the agent to x, from cell to cell
[m].
Source: "The Incredible Power of Dijkstra Maps", RogueBasin 2010, whose flee map has 1.2 in place of
2: the more, the longer the way past the threat that pays.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel
from ..numeric.vec import EPSILON, length, load, sub
from ..views import RoomView, SurfaceView
from .fields.settling import UNSEEN
from .heap import rise, take
from .lattice import cell_at, neighbor_of, sees, stand_of
from .own import nearest_cell
from .room import BLOCKED, OPEN, may_go
from .searching import Scratch

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

AHEAD = 1.5
"""How far straight flight has to be open [m]."""
FAR = 10.0
"""Length of the longest ways out [m]."""
WORTH = 2.0
"""How much the distance from the threat counts beside that from the agent."""
REVIEW = 1.0
"""Time after which an agent looks for a better way out [s]."""
ON, WIDTH = 3, 4
"""What agents keep of a way out: its place [m], and 1 while they go there."""


class Flight(NamedTuple):
    """Agents that run away.

    Attributes:
        threat: What each of them runs from [m], shape (agents, 3).
        runs: Whether it does, shape (agents,).
        due: Whether those that go to a way out look for another one, shape (agents,).
        kept: The ways out, see `WIDTH`, shape (agents, WIDTH); changed.
    """

    threat: F32
    runs: NDArray[np.bool_]
    due: NDArray[np.bool_]
    kept: F32


@kernel
def cornered_kernel(start, stop, rows, surface, room, positions, threats, cornered):
    """Which agents have no open floor ahead of them, straight away from what they run from."""
    for k in range(start, stop):
        i = rows[k]
        place = load(positions, i)
        away = sub(place, load(threats, i))
        size = math.sqrt(away[0] * away[0] + away[1] * away[1])
        cell = nearest_cell(surface, room, place)
        cornered[i] = 0
        if cell < 0 or size < EPSILON:
            continue
        x, y = place[0] + away[0] / size * AHEAD, place[1] + away[1] / size * AHEAD
        end = cell_at(surface, x, y, place[2])
        if end < 0 or room.state[end] != OPEN or not sees(surface, room, cell, end):
            cornered[i] = 1


@kernel
def near_ways(surface, room, begin, most, before, distance, phase, heap, keys, place):
    """Lengths of the ways from a cell to those around it, from cell to cell.

    Args:
        surface: SurfaceView.
        room: RoomView.
        begin: The cell.
        most: Length of the longest ways [m].
        before: Others take cells over at these lengths, shape (cells,), or (0,) for nobody.
        distance: Lengths of the ways [m], written; infinite where there is none.
        phase: Scratch, shape (cells,).
        heap: Scratch, shape (cells,).
        keys: Scratch, shape (cells,).
        place: Scratch, shape (cells,).
    """
    for cell in range(len(distance)):
        distance[cell], phase[cell], place[cell] = math.inf, UNSEEN, -1
    distance[begin] = 0.0
    size = rise(begin, 0.0, 0, heap, keys, place)
    while size > 0:
        cell, size = take(size, heap, keys, place)
        phase[cell] = 1
        here = stand_of(surface, room, cell)
        for side in range(8):
            other = neighbor_of(surface, cell, side)
            if other < 0 or phase[other] != UNSEEN or room.state[other] == BLOCKED:
                continue
            if not may_go(room, cell, other, side):
                continue
            way = distance[cell] + length(sub(stand_of(surface, room, other), here))
            if way >= distance[other] or way > most:
                continue
            if len(before) > 0 and way >= before[other]:
                continue
            distance[other] = way
            size = rise(other, way, size, heap, keys, place)


@kernel
def best_out(own, threat):
    """The cell of the best way out, see the module; both are lengths of ways [m]."""
    best, most = -1, -math.inf
    for cell in range(len(own)):
        if own[cell] < math.inf:
            worth = WORTH * min(threat[cell] * 1.0, 2.0 * FAR) - own[cell]
            if worth > most:
                best, most = cell, worth
    return best


NOBODY = np.zeros(0, np.float32)


def look_for_outs(
    surface: SurfaceView,
    room: RoomView,
    rows: list[int],
    positions: F32,
    flight: Flight,
    scratch: Scratch,
) -> None:
    """Find ways out for some agents; what they keep is written.

    Args:
        surface: The cells.
        room: Which of them have room.
        rows: Rows of the agents.
        positions: Places of all agents [m].
        flight: What they run from.
        scratch: Memory for the search.
    """
    count = len(surface.z)
    own, known = np.empty(count, np.float32), -1
    theirs = np.empty(count, np.float32)
    # those who run from the same one share what it reaches
    for threat, i in sorted((_cell(surface, room, flight.threat[i]), i) for i in rows):
        begin = _cell(surface, room, positions[i])
        flight.kept[i] = 0.0
        if threat < 0 or begin < 0:
            continue
        if threat != known:
            near_ways(surface, room, threat, 2.0 * FAR, NOBODY, theirs, *scratch.of(count))
            known = threat
        near_ways(surface, room, begin, FAR, theirs, own, *scratch.of(count))
        best = int(best_out(own, theirs))
        if best not in (begin, -1):
            flight.kept[i, :ON], flight.kept[i, ON] = stand_of(surface, room, best), 1.0


def _cell(surface: SurfaceView, room: RoomView, place: Any) -> int:
    """The cell from which one goes on; -1 for none."""
    return int(nearest_cell(surface, room, tuple(float(x) for x in place)))
