"""The graph of corners: cells at which shortest ways bend, and which of them see each other.

A shortest way is straight from corner to corner. A corner is an open cell beside the end of
something that is not: its neighbors along x and along y are open, and the cell between these is not
reached from both. As ways bend around that end only, a corner needs lines from up left to down
right, or from down left to up right, but no others. Through tight cells ways go from cell to cell:
those that may join what is open on two sides, as in a door, and the open cells beside them are
corners too. All other tight cells lie along a wall, and nobody needs to go through them.

After colliders moved, only lines that come near the cells that changed are looked along again.

Source: Uras, Koenig, Hernández 2013, "Subgoal Graphs for Optimal Pathfinding in Eight-Neighbor
Grids"; Lozano-Pérez, Wesley 1979, "An Algorithm for Planning Collision-Free Paths Among Polyhedral
Obstacles".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiled.jit import kernel, parallel_for
from ...numeric.vec import length, sub
from ...views import RoomView, SurfaceView
from ..fields.filling import SQUEEZE
from ..lattice import neighbor_of, place_of, places_of, sees, stand_of
from ..room import BLOCKED, OPEN, TIGHT

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
U8 = NDArray[np.uint8]

MOST_CORNERS = 640
"""Corners of a graph: each looks for all others once, which takes as long as some ten searches
among cells."""
RISING, FALLING, ANY = 1, 2, 4
"""How ways pass a corner: along lines that rise or fall from left to right, or any."""
AT_ONCE = 16
"""Corners to a task: each looks for all others."""


class Corners(NamedTuple):
    """A graph of corners.

    Corner c is come to straight from the corners others[first[c]] to others[first[c + 1] - 1].
    """

    cells: I32  # (corners,)
    turns: U8  # (corners,) RISING, FALLING, ANY, added
    first: I32  # (corners + 1,)
    others: I32  # (edges,)
    gaps: F32  # (edges,) [m] how long the way from there seems
    straight: U8  # (corners, corners) whether one comes straight to a corner from another


@kernel
def open_at(surface, room, cell, side):
    """The open cell at a side; -1 for none."""
    other = neighbor_of(surface, cell, side)
    return other if other >= 0 and room.state[other] == OPEN else -1


@kernel
def _turns_of(surface, room, cell):
    """How ways bend at an open cell, 0 where they do not."""
    turns = 0
    for side in range(4):
        along, across = side, (side + 1) & 3
        a, b = open_at(surface, room, cell, along), open_at(surface, room, cell, across)
        over_a = open_at(surface, room, a, across) if a >= 0 else -1
        over_b = open_at(surface, room, b, along) if b >= 0 else -1
        if a >= 0 and b >= 0 and (over_a < 0 or over_a != over_b):
            # who passes a corner of what is up right or down left goes down right or up left
            turns |= FALLING if side & 1 == 0 else RISING
        if over_a < 0 and over_b < 0 and open_at(surface, room, cell, side + 4) >= 0:
            turns |= ANY
    return turns


@kernel
def _share_open(surface, room, cell, other):
    """Whether an open cell is beside both of two cells."""
    for side in range(8):
        between = open_at(surface, room, cell, side)
        for back in range(8):
            if between >= 0 and neighbor_of(surface, other, back) == between:
                return True
    return False


@kernel
def _joins(surface, room, cell):
    """Whether a tight cell may join what is open on two sides of it."""
    opened, walked = 0, 0
    for number in range(8):
        # round the cell, from each side to the corner after it
        here = neighbor_of(surface, cell, (number >> 1) + 4 * (number & 1))
        before = neighbor_of(surface, cell, ((number + 7 & 7) >> 1) + 4 * (number + 7 & 1))
        now = 0 if here < 0 else int(room.state[here])
        last = 0 if before < 0 else int(room.state[before])
        opened += 1 if now == OPEN and last != OPEN else 0
        walked += 1 if now != BLOCKED and last == BLOCKED else 0
        if now == TIGHT and not _share_open(surface, room, cell, here):
            return True
    return opened != 1 or walked != 1


@kernel
def turns_kernel(start, stop, surface, room, turns):
    """How ways bend at each cell, 0 where they do not, but for those beside tight corners."""
    for cell in range(start, stop):
        turns[cell] = 0
        if room.state[cell] == OPEN and room.leap[cell] < 2:
            turns[cell] = _turns_of(surface, room, cell)
        elif room.state[cell] == TIGHT and _joins(surface, room, cell):
            turns[cell] = ANY


@kernel
def mats_kernel(corners, surface, room, turns):
    """Let the open cells beside tight corners be corners."""
    for number in range(len(corners)):
        for side in range(8):
            mat = open_at(surface, room, corners[number], side)
            if room.state[corners[number]] == TIGHT and mat >= 0:
                turns[mat] = ANY


@kernel
def beside_each_other(surface, cell, other):
    """Whether one goes from a cell to another as its neighbor."""
    for side in range(8):
        if neighbor_of(surface, cell, side) == other:
            return True
    return False


@kernel
def bends(surface, turns, cell, other):
    """Whether a way may bend at a cell that goes on straight to or from another."""
    x, y = place_of(surface, other)
    from_x, from_y = place_of(surface, cell)
    x, y = x - from_x, y - from_y
    # corners are middles of cells, not the very ends of what is passed
    if turns & ANY or min(abs(x), abs(y)) <= 1:
        return True
    return turns & (RISING if (x > 0) == (y > 0) else FALLING) != 0


@kernel
def comes_straight(surface, room, turns, cell, end):
    """Whether one goes straight from a corner to a cell, where ways may bend at the corner."""
    if room.state[cell] == OPEN and bends(surface, turns, cell, end):
        return sees(surface, room, cell, end)
    return beside_each_other(surface, cell, end)


@kernel
def _apart(surface, cell, other, box):
    """Whether a box of columns (low x, low y, high x, high y) is beside a line between cells."""
    x, y = place_of(surface, cell)
    to_x, to_y = place_of(surface, other)
    if max(x, to_x) < box[0] or max(y, to_y) < box[1]:
        return True
    if min(x, to_x) > box[2] or min(y, to_y) > box[3]:
        return True
    left, right = False, False
    for k in range(4):
        bx, by = box[2 * (k & 1)], box[1 + 2 * (k >> 1)]
        side = (to_x - x) * (by - y) - (to_y - y) * (bx - x)
        left, right = left or side >= 0.0, right or side <= 0.0
    return not (left and right)


@kernel
def straight_kernel(start, stop, surface, room, cells, turns, before, was, box, straight):
    """Whether one goes straight from each corner to each other one, shape (to, from).

    `before` holds the number of each corner in `was`, the lines of before, -1 for none; they hold
    but for those that come to a box of columns.
    """
    for a in range(start, stop):
        for b in range(len(cells)):
            straight[a, b] = 0
            if before[a] >= 0 and before[b] >= 0 and _apart(surface, cells[a], cells[b], box):
                straight[a, b] = was[before[a], before[b]]
                continue
            if a == b or not bends(surface, turns[a], cells[a], cells[b]):
                continue
            if comes_straight(surface, room, turns[b], cells[b], cells[a]):
                straight[a, b] = 1


@kernel
def gaps_kernel(start, stop, surface, room, cells, first, others, gaps):
    """How long the ways to corners seem."""
    for a in range(start, stop):
        for edge in range(first[a], first[a + 1]):
            b = cells[others[edge]]
            gap = length(sub(stand_of(surface, room, b), stand_of(surface, room, cells[a])))
            gaps[edge] = gap if room.state[b] == OPEN else SQUEEZE * gap


def find_corners(
    surface: SurfaceView, room: RoomView, before: Corners | None = None, changed: I64 | None = None
) -> Corners | None:
    """Find the graph of corners; None where there are more than `MOST_CORNERS`.

    Args:
        surface: The cells.
        room: Which of them have room; areas count nowhere.
        before: The graph of a surface that only differed in some cells; None for none.
        changed: These cells.
    """
    turns = np.zeros(len(surface.z), np.uint8)
    parallel_for(turns_kernel, len(turns), surface, room, turns)
    cells = np.flatnonzero(turns)
    if len(cells) > MOST_CORNERS:
        return None
    mats_kernel(cells, surface, room, turns)
    cells = np.flatnonzero(turns).astype(np.int32)
    if len(cells) > MOST_CORNERS:
        return None
    known = surface, room, cells
    straight = np.zeros((len(cells), len(cells)), np.uint8)
    lines = turns[cells], *_before(surface, cells, turns, before, changed), straight
    parallel_for(straight_kernel, len(cells), *known, *lines, chunk=AT_ONCE)
    to, others = np.nonzero(straight)
    first = np.searchsorted(to, np.arange(len(cells) + 1)).astype(np.int32)
    others, gaps = others.astype(np.int32), np.zeros(len(others), np.float32)
    parallel_for(gaps_kernel, len(cells), *known, first, others, gaps)
    return Corners(cells, turns[cells], first, others, gaps, straight)


def _before(
    surface: SurfaceView, cells: I32, turns: U8, before: Corners | None, changed: I64 | None
) -> tuple[I32, U8, F64]:
    """What `straight_kernel` takes from before: (numbers, lines, box)."""
    numbers, box = np.full(len(cells), -1, np.int32), np.zeros(4)
    if before is None or changed is None or not len(before.cells):
        return numbers, np.zeros((0, 0), np.uint8), box
    at = np.minimum(np.searchsorted(before.cells, cells), len(before.cells) - 1)
    same = (before.cells[at] == cells) & (before.turns[at] == turns[cells])
    numbers[same] = at[same]
    places = places_of(surface, changed).astype(np.float64)
    # lines go from places in cells, through cells beside them
    box[:2], box[2:] = places.min(axis=0) - 2.0, places.max(axis=0) + 2.0
    return numbers, before.straight, box
