"""A uniform grid of agents, sorted by cell: what searches for neighbors and contacts look into.

The grid is a torus: a cell's coordinates are taken modulo the grid's dimensions. One agent far
away therefore costs nothing: it lands in some cell near the others, and the distance test sorts
it out. No result of a search ever depends on the grid, only the time does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel
from ..views import F32, I32

F64 = NDArray[np.float64]

_MIN_CELL = 1.0e-6
_MIN_CELLS = 64
# With this few in one cell, testing all of them is quicker than finding out how far they spread.
FEW = 32
_CELLS_PER_AGENT = 2
_SAMPLES = 256
_TAIL = 16
# Where more agents are within reach than are kept, a cell has the size in which this many times the
# kept ones are expected; it is taken where it is below this share of the reach.
_ENOUGH = 1.6
_WORTH = 0.8
# Agents often stand on a lattice whose spacing is the radius; a cell a little larger keeps them
# off the cell borders, where every search would look into one more row of cells.
OFF_LATTICE = 1.001
# Cell coordinates beyond are clamped: the map stays monotonic, hence the search complete.
FAR = 2.0**50
# A distance rounds to 64 bits, so that one just above the radius may pass for equal to it.
SLACK = 1.0e-15


class GridView(NamedTuple):
    """Agents sorted by cell; cell (cx, cy, cz) has the number (cz·ny + cy)·nx + cx."""

    cell: float  # [m] cell size
    inverse: float  # [1/m] 1 / cell size
    nx: int  # cells along x
    ny: int
    nz: int
    start: I32  # (nx·ny·nz + 1,) cell c holds the slots start[c] … start[c + 1] - 1
    order: I32  # (n,) row of the agent in a slot; rows ascend inside a cell
    x: F64  # (n,) [m] positions by slot
    y: F64  # (n,) [m]
    z: F64  # (n,) [m]
    source: F32  # (n, 3) [m] the positions by row


@kernel
def _cell_coordinate(value, inverse):
    return int(math.floor(min(max(value * inverse, -FAR), FAR)))


@kernel
def _sort_by_cell(position, inverse, nx, ny, nz, cell, start, cursor, order, x, y, z):
    """Counting sort; stable, so the order of slots is the same on every machine."""
    count = position.shape[0]
    for i in range(count):
        cx = _cell_coordinate(np.float64(position[i, 0]), inverse) % nx
        cy = _cell_coordinate(np.float64(position[i, 1]), inverse) % ny
        cz = _cell_coordinate(np.float64(position[i, 2]), inverse) % nz
        c = (cz * ny + cy) * nx + cx
        cell[i] = c
        start[c + 1] += 1
    for c in range(nx * ny * nz):
        start[c + 1] += start[c]
        cursor[c] = start[c]
    for i in range(count):
        slot = cursor[cell[i]]
        cursor[cell[i]] = slot + 1
        order[slot] = i
        x[slot] = position[i, 0]
        y[slot] = position[i, 1]
        z[slot] = position[i, 2]


def _dimensions(count: int, extent: F64, cell: float) -> tuple[int, int, int]:
    """Cells along each axis: enough for where most agents are, at most two per agent."""
    dims = [max(1, int(value)) for value in np.minimum(np.ceil(extent / cell), 2.0**40)]
    limit = max(_MIN_CELLS, _CELLS_PER_AGENT * count)
    while dims[0] * dims[1] * dims[2] > limit:
        axis = dims.index(max(dims))
        # Odd: agents on a lattice of 2, 4, 8, … cells then spread over all cells, not over a few.
        dims[axis] = dims[axis] // 2 | 1
    return dims[0], dims[1], dims[2]


def _core_extent(position: F32) -> F64:
    """How far most agents are spread along each axis [m], shape (3,)."""
    sample = position[:: max(1, len(position) // _SAMPLES)].T.astype(np.float64, order="C")
    low = sample.shape[1] // _TAIL
    high = sample.shape[1] - 1 - low
    sample = np.partition(sample, (low, high), axis=1)
    spread: F64 = sample[:, high] - sample[:, low]
    return spread * (_TAIL / (_TAIL - 2))


def _crowded_cell(count: int, spread: F64, reach: float, most: int) -> float:
    """The search radius [m], or less where far more agents are within it than are kept."""
    extent = sorted((max(float(value), _MIN_CELL) for value in spread), reverse=True)
    for axes, ball in ((3, 4.0 / 3.0 * math.pi), (2, math.pi), (1, 2.0)):
        room = math.prod(extent[:axes]) / count
        cell = (_ENOUGH * most * room / ball) ** (1.0 / axes)
        # along other axes the crowd is flat: they hold no more agents
        if extent[axes - 1] >= 2.0 * cell:
            break
    return cell if cell < _WORTH * reach else reach


def build_grid(position: F32, cell_size: float, most: int | None = None) -> GridView:
    """Sort agents into cells; do it once per step.

    Args:
        position: Finite positions [m], shape (agent_count, 3).
        cell_size: Edge of a cell [m]: best the largest search radius. Any value gives the same
            neighbors; ones below a micrometer are raised to it.
        most: Neighbors that will be kept; where there are many more, cells become smaller.

    Returns:
        The grid that `find` searches.
    """
    count = len(position)
    nx, ny, nz = 1, 1, 1
    extent = _core_extent(position) if count > FEW else np.zeros(3)
    if most is not None and count > FEW:
        cell_size = _crowded_cell(count, extent, float(cell_size), max(1, most))
    cell = max(float(cell_size), _MIN_CELL) * OFF_LATTICE
    if count > FEW:
        nx, ny, nz = _dimensions(count, extent, cell)
    start = np.zeros(nx * ny * nz + 1, np.int32)
    order = np.empty(count, np.int32)
    columns = np.empty((3, count), np.float64)
    x, y, z = columns[0], columns[1], columns[2]
    cells, cursor = np.empty(count, np.int32), np.empty(len(start), np.int32)
    _sort_by_cell(position, 1.0 / cell, nx, ny, nz, cells, start, cursor, order, x, y, z)
    return GridView(cell, 1.0 / cell, nx, ny, nz, start, order, x, y, z, position)


@kernel
def axis_cells(value, reach, inverse, size):
    """Cells of an axis that hold value ± reach: (own cell, steps down, steps up, certain).

    Without certainty the steps go once around the torus, or the cells at their ends reach to
    infinity: then they say nothing about how far away their agents are.
    """
    padded = reach + SLACK * (reach + abs(value))
    own = _cell_coordinate(value, inverse)
    low = _cell_coordinate(value - padded, inverse)
    high = _cell_coordinate(value + padded, inverse)
    if high - low + 1 >= size:
        return 0, 0, size - 1, False
    return own % size, own - low, high - own, -FAR < low and high < FAR


@kernel
def wrap_cell(cell, size):
    """A cell back in the torus, when it is at most once around away."""
    return cell - size if cell >= size else cell + size if cell < 0 else cell
