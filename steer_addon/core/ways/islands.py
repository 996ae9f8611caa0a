"""Islands: cells between which bodies can walk, and where ways to a goal end on each of them.

Portals make one island of those that they join, also where they lead one way only.

A way ends in the cell of the goal. On every other island it ends where that island comes nearest to
the goal, so that agents without a way go as near as they can.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel
from ..numeric.vec import length, sub
from ..views import LabelView, RoomView, SurfaceView
from .lattice import (
    PART,
    PART_BITS,
    cell_at,
    cells_above,
    middles_of,
    neighbor_of,
    opposite,
    stand_of,
)
from .room import BLOCKED, FORBIDDEN, OPEN, may_go

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


NOWHERE, BEYOND = -1, -2
"""In place of the cell of a goal: nobody can stand there; it is outside, where nothing blocks."""


class Roots(NamedTuple):
    """Where ways to a goal end.

    Attributes:
        goal: The cell of the goal, or NOWHERE or BEYOND.
        cells: The last cells of the ways, shape (roots,).
        far: How long the way is from there to the goal [m], where it goes on, shape (roots,).
        near: The last cell that is nearest to the goal, where areas forbid some ways; else -1.
    """

    goal: int
    cells: I64
    far: F64
    near: int = -1


@kernel
def label_kernel(surface, room, label, waiting):
    """Number the islands from 0 on; cells without room have -1. Returns how many there are."""
    count = 0
    for cell in range(len(label)):
        label[cell] = -1
    for begin in range(len(label)):
        if label[begin] >= 0 or room.state[begin] == BLOCKED:
            continue
        label[begin], waiting[0] = count, begin
        size = 1
        while size > 0:
            size -= 1
            cell = waiting[size]
            for side in range(8):
                other = neighbor_of(surface, cell, side)
                if other >= 0 and label[other] < 0 and room.state[other] != BLOCKED:
                    label[other], waiting[size] = count, other
                    size += 1
            if len(room.gate) > 0 and room.gate[cell] != 0:
                for k in range(2 * len(room.joined)):
                    other = int(room.joined[k >> 1, k & 1])
                    if room.joined[k >> 1, 1 - (k & 1)] == cell and label[other] < 0:
                        label[other], waiting[size] = count, other
                        size += 1
        count += 1
    return count


@kernel
def pack_kernel(label, part, single):
    """Keep islands by parts, see `LabelView`. Returns how many rows `single` needs.

    Nothing is written to `single` if it has none.
    """
    rows = 0
    for number in range(len(part)):
        begin, end = number << PART_BITS, min((number + 1) << PART_BITS, len(label))
        part[number], several = 0, False
        found = -1
        for cell in range(begin, end):
            if label[cell] >= 0:
                several = several or (found >= 0 and found != label[cell])
                found = label[cell]
        if not several:
            part[number] = max(found, 0)
            continue
        part[number] = -1 - rows
        if len(single) > 0:
            for cell in range(begin, end):
                single[rows, cell - begin] = label[cell]
        rows += 1
    return rows


@kernel
def island_of(label, room, cell):
    """The island of a cell, -1 where there is no room."""
    if room.state[cell] == BLOCKED:
        return -1
    island = label.part[cell >> PART_BITS]
    return island if island >= 0 else label.single[-1 - island, cell & (PART - 1)]


def islands_at(label: LabelView, room: RoomView, cells: I64) -> I32:
    """The islands of some cells, -1 where there is no room, shape (n,)."""
    found: I32 = label.part[cells >> PART_BITS]
    several = np.flatnonzero(found < 0)
    found[several] = label.single[-1 - found[several], cells[several] & (PART - 1)]
    found[room.state[cells] == BLOCKED] = -1
    return found


@kernel
def nearest_kernel(surface, room, label, goal, cells, least):
    """The cell of each island that is nearest to a goal, and its distance [m]."""
    for island in range(len(cells)):
        cells[island], least[island] = -1, math.inf
    for cell in range(len(room.state)):
        island = island_of(label, room, cell)
        if island >= 0 and room.state[cell] != FORBIDDEN:
            x, y, z = stand_of(surface, room, cell)
            x, y, z = x - goal[0], y - goal[1], z - goal[2]
            distance = x * x + y * y + z * z
            if distance < least[island]:
                cells[island], least[island] = cell, distance


@kernel
def nearest_on(surface, room, label, island, goal):
    """The cell of an island that is nearest to a goal; -1 for none.

    Rings of columns are looked at from the goal outward: those of ring k are k - 1 cells away or
    more, as bodies may stand off the middle of a cell by half of it.
    """
    best, least, ring, left = -1, math.inf, 0, True
    cx = min(max(int((goal[0] - surface.low[0]) / surface.size), 0), surface.nx - 1)
    cy = min(max(int((goal[1] - surface.low[1]) / surface.size), 0), surface.ny - 1)
    while left and (ring < 1 or ((ring - 1) * surface.size) ** 2 <= least):
        left = False
        for y in range(max(cy - ring, 0), min(cy + ring + 1, surface.ny)):
            across = 1 if abs(y - cy) == ring else max(2 * ring, 1)
            for x in range(cx - ring, cx + ring + 1, across):
                if x < 0 or x >= surface.nx:
                    continue
                left, column = True, y * surface.nx + x
                begin, end = cells_above(surface, column)
                for cell in range(begin - 1, end):
                    cell = column if cell < begin else cell
                    if island_of(label, room, cell) != island or room.state[cell] == FORBIDDEN:
                        continue
                    dx, dy, dz = sub(stand_of(surface, room, cell), goal)
                    gap = dx * dx + dy * dy + dz * dz
                    if gap < least or (gap == least and cell < best):
                        best, least = cell, gap
        ring += 1
    return best


def label_islands(surface: SurfaceView, room: RoomView) -> tuple[LabelView, int]:
    """The island of each cell with room, and how many islands there are."""
    label, waiting = np.zeros(len(surface.z), np.int32), np.zeros(len(surface.z), np.int32)
    count = int(label_kernel(surface, room, label, waiting))
    part, single = np.zeros(-(-len(label) // PART), np.int32), np.zeros((0, PART), np.int32)
    rows = pack_kernel(label, part, single)
    if rows:
        single = np.full((rows, PART), -1, np.int32)
        pack_kernel(label, part, single)
    return LabelView(part, single), count


def find_roots(
    surface: SurfaceView,
    room: RoomView,
    label: LabelView,
    count: int,
    goal: Any,
    strict: bool = False,
) -> Roots:
    """Where ways to a goal end; in forbidden cells none do.

    Args:
        surface: The cells.
        room: Which of them have room.
        label: Their islands.
        count: Number of islands.
        goal: Place of the goal [m], shape (3,).
        strict: Whether areas forbid some ways.
    """
    point = np.asarray(goal, np.float64)
    outside = _outside(surface, room, point)
    if len(outside):
        x, y, _z = middles_of(surface, outside).T
        gap = np.hypot(x - point[0], y - point[1])
        return Roots(BEYOND, outside, gap, int(outside[gap.argmin()]) if strict else -1)
    cells, least = np.zeros(count, np.int64), np.zeros(count)
    nearest_kernel(surface, room, label, tuple(point.tolist()), cells, least)
    here = int(cell_at(surface, *point.tolist()))
    island = int(islands_at(label, room, np.array([here]))[0]) if here >= 0 else -1
    if island < 0 or room.state[here] == FORBIDDEN:
        near = int(cells[least.argmin()]) if strict and count else -1
        return Roots(NOWHERE, cells, np.zeros(count), near)
    cells[island] = here
    return Roots(here, cells, np.zeros(count), here if strict else -1)


@kernel
def reached_kernel(surface, room, begin, backward, reached, waiting):
    """Which cells a cell can be reached from, or which it reaches: 1 in `reached`."""
    for cell in range(len(reached)):
        reached[cell] = 0
    reached[begin], waiting[0] = 1, begin
    size = 1
    while size > 0:
        size -= 1
        cell = waiting[size]
        for side in range(8):
            other = neighbor_of(surface, cell, side)
            if other < 0 or reached[other] != 0 or room.state[other] == BLOCKED:
                continue
            if backward and not may_go(room, other, cell, opposite(side)):
                continue
            if not backward and not may_go(room, cell, other, side):
                continue
            reached[other], waiting[size] = 1, other
            size += 1
        if len(room.gate) > 0 and room.gate[cell] != 0:
            begins = 1 if backward else 0
            for k in range(len(room.joined)):
                other = int(room.joined[k, 1 - begins])
                if room.joined[k, begins] == cell and reached[other] == 0:
                    reached[other], waiting[size] = 1, other
                    size += 1


def reached_from(
    surface: SurfaceView, room: RoomView, cell: int, backward: bool
) -> NDArray[np.uint8]:
    """1 for cells that a cell reaches, or that it is reached from, shape (cells,)."""
    found, waiting = np.zeros(len(surface.z), np.uint8), np.zeros(len(surface.z), np.int32)
    reached_kernel(surface, room, cell, backward, found, waiting)
    return found


@kernel
def nearest_reached(surface, room, reached, goal):
    """The reached cell that is nearest to a goal; -1 for none."""
    best, least = -1, math.inf
    for cell in range(len(reached)):
        if reached[cell] != 0 and room.state[cell] != FORBIDDEN:
            gap = length(sub(stand_of(surface, room, cell), goal))
            if gap < least:
                best, least = cell, gap
    return best


def _outside(surface: SurfaceView, room: RoomView, goal: F64) -> I64:
    """For a goal outside of an endless plane's lattice, the cells on the edges that face it."""
    if not surface.endless:
        return np.zeros(0, np.int64)
    nx, ny = surface.nx, surface.ny
    x, y = (goal[:2] - surface.low) / surface.size
    columns, rows = np.arange(nx), np.arange(ny)
    edges = [
        (x < 0.0, rows * nx),
        (x >= nx, rows * nx + nx - 1),
        (y < 0.0, columns),
        (y >= ny, columns + (ny - 1) * nx),
    ]
    facing = [cells for faces, cells in edges if faces]
    found = np.unique(np.concatenate(facing)) if facing else np.zeros(0, np.int64)
    clear: I64 = found[room.state[found] == OPEN]
    return clear
