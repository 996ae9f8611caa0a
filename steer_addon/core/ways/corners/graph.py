"""The graph of corners: cells at which shortest ways bend, and which of them see each other.

A shortest way is straight from corner to corner, and a corner is an open cell beside the end of
what is not open: both cells next to it along x and y are open, and one does not go on from both to
the cell between them. A way bends there only around that cell, so a straight line that leaves to
where it would bend away from it, or cross it, is left out. Through tight cells ways go from cell to
cell: those that may join what is open on two sides, as in a door, and the open cells beside them
are corners too. All other tight cells lie along a wall, and nobody needs to go through them.

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
from ..fields import SQUEEZE
from ..lattice import neighbor_of, sees, stand_of
from ..room import BLOCKED, OPEN, TIGHT

I32 = NDArray[np.int32]
F32 = NDArray[np.float32]
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
    x = int(surface.at[other, 0]) - int(surface.at[cell, 0])
    y = int(surface.at[other, 1]) - int(surface.at[cell, 1])
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
def straight_kernel(start, stop, surface, room, cells, turns, straight):
    """Whether one goes straight from each corner to each other one, shape (to, from)."""
    for a in range(start, stop):
        for b in range(len(cells)):
            straight[a, b] = 0
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


def find_corners(surface: SurfaceView, room: RoomView) -> Corners | None:
    """Find the graph of corners; None where there are more than `MOST_CORNERS`.

    Args:
        surface: The cells.
        room: Which of them have room; areas count nowhere.
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
    straight = np.zeros((len(cells), len(cells)), np.uint8)
    known = surface, room, cells
    parallel_for(straight_kernel, len(cells), *known, turns[cells], straight, chunk=AT_ONCE)
    to, others = np.nonzero(straight)
    first = np.searchsorted(to, np.arange(len(cells) + 1)).astype(np.int32)
    others, gaps = others.astype(np.int32), np.zeros(len(others), np.float32)
    parallel_for(gaps_kernel, len(cells), *known, first, others, gaps)
    return Corners(cells, turns[cells], first, others, gaps)
