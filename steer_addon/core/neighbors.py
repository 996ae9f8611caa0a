"""Neighbors: for each agent the nearest others, found in a uniform grid.

N(i) holds the nearest `max_neighbors` agents q ≠ i with |q - p|² ≤ radius² that lie inside the
field of view, nearest first, ties by id. A coincident agent lies inside any field of view.
Distances are 3D and computed in 64 bits, so they are those of a plain search through all pairs.

The grid is a torus: a cell's coordinates are taken modulo the grid's dimensions. One agent far
away therefore costs nothing: it lands in some cell near the others, and the distance test sorts
it out. The result never depends on the grid, only the time does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import kernel, parallel_for
from .vec import dot, load, pick
from .views import F32, I32, I64, NeighborView

F64 = NDArray[np.float64]

_MIN_CELL = 1.0e-6
_MIN_CELLS = 64
_CELLS_PER_AGENT = 2
_SAMPLES = 1024
# Agents within the radius that are collected before the nearest of them are picked.
_CANDIDATES = 256
_TAIL = 16
# Agents often stand on a lattice whose spacing is the radius; a cell a little larger keeps them
# off the cell borders, where every search would look into one more row of cells.
_OFF_LATTICE = 1.001
# Cell coordinates beyond are clamped: the map stays monotonic, hence the search complete.
_FAR = 2.0**50
# A distance rounds to 64 bits, so that one just above the radius may pass for equal to it.
_SLACK = 1.0e-15


class GridView(NamedTuple):
    """Agents sorted by cell; cell (cx, cy, cz) has the number (cz·ny + cy)·nx + cx."""

    inverse: float  # [1/m] 1 / cell size
    nx: int  # cells along x
    ny: int
    nz: int
    start: I32  # (nx·ny·nz + 1,) cell c holds the slots start[c] … start[c + 1] - 1
    order: I32  # (n,) row of the agent in a slot; rows ascend inside a cell
    x: F64  # (n,) [m] positions by slot
    y: F64  # (n,) [m]
    z: F64  # (n,) [m]


@kernel
def _cell_coordinate(value, inverse):
    return int(math.floor(min(max(value * inverse, -_FAR), _FAR)))


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


def _dimensions(position: F32, cell: float) -> tuple[int, int, int]:
    """Cells along each axis: enough for where most agents are, at most two per agent."""
    sample = np.sort(position[:: max(1, len(position) // _SAMPLES)].astype(np.float64), axis=0)
    tail = len(sample) // _TAIL
    extent = sample[len(sample) - 1 - tail] - sample[tail]
    cells = np.minimum(np.ceil(extent * (_TAIL / (_TAIL - 2)) / cell), 2.0**40)
    dims = [max(1, int(value)) for value in cells]
    limit = max(_MIN_CELLS, _CELLS_PER_AGENT * len(position))
    while dims[0] * dims[1] * dims[2] > limit:
        axis = dims.index(max(dims))
        # Odd: agents on a lattice of 2, 4, 8, … cells then spread over all cells, not over a few.
        dims[axis] = dims[axis] // 2 | 1
    return dims[0], dims[1], dims[2]


def build_grid(position: F32, cell_size: float) -> GridView:
    """Sort agents into cells; do it once per step.

    Args:
        position: Finite positions [m], shape (agent_count, 3).
        cell_size: Edge of a cell [m]: best the largest search radius. Any value gives the same
            neighbors; ones below a micrometer are raised to it.

    Returns:
        The grid that `find` searches.
    """
    count = len(position)
    cell = max(float(cell_size), _MIN_CELL) * _OFF_LATTICE
    nx, ny, nz = _dimensions(position, cell) if count else (1, 1, 1)
    start = np.zeros(nx * ny * nz + 1, np.int32)
    order = np.empty(count, np.int32)
    columns = np.empty((3, count), np.float64)
    x, y, z = columns[0], columns[1], columns[2]
    cells, cursor = np.empty(count, np.int32), np.empty(len(start), np.int32)
    _sort_by_cell(position, 1.0 / cell, nx, ny, nz, cells, start, cursor, order, x, y, z)
    return GridView(1.0 / cell, nx, ny, nz, start, order, x, y, z)


@kernel
def _range(value, reach, inverse, size):
    """First cell and number of cells of an axis that hold value ± reach, no cell twice."""
    padded = reach + _SLACK * (reach + abs(value))
    low = _cell_coordinate(value - padded, inverse)
    high = _cell_coordinate(value + padded, inverse)
    if high - low + 1 >= size:
        return 0, size
    return low % size, high - low + 1


@kernel
def _view_cosine(field_of_view):
    """Cosine of half the field of view [deg]; exact at 180, and -1 where all is seen."""
    if field_of_view >= 360.0:
        return -1.0
    return math.sin(math.radians(90.0 - 0.5 * max(field_of_view, 0.0)))


@kernel
def _keep(total, near, near2, me, here, grid, ids, heading, cosine, found, best, best2):
    """Sort candidates into the row of the best by (d², id); returns the row's new length."""
    x, y, z, order = grid.x, grid.y, grid.z, grid.order
    i = order[me]
    limit = best.size
    for t in range(total):
        slot = near[t]
        d2 = near2[t]
        if slot == me or (found == limit and d2 > best2[limit - 1]):
            continue
        if cosine > -1.0:  # a coincident agent passes: 0 < 0 is false
            offset = (x[slot] - here[0], y[slot] - here[1], z[slot] - here[2])
            if dot(offset, load(heading, i)) < cosine * math.sqrt(d2):
                continue
        at = found
        while at > 0 and (
            d2 < best2[at - 1]
            or (d2 == best2[at - 1] and ids[order[slot]] < ids[order[best[at - 1]]])
        ):
            at -= 1
        if at >= limit:
            continue
        last = min(found, limit - 1)
        for j in range(last, at, -1):
            best[j] = best[j - 1]
            best2[j] = best2[j - 1]
        best[at] = slot
        best2[at] = d2
        found = last + 1
    return found


@kernel
def _search(me, here, grid, ids, heading, radius, cosine, near, near2, best, best2):
    """Fill the row of the best for the agent in slot `me`; returns the row's length."""
    x, y, z, start = grid.x, grid.y, grid.z, grid.start
    px, py, pz = here
    x0, size_x = _range(px, radius, grid.inverse, grid.nx)
    y0, size_y = _range(py, radius, grid.inverse, grid.ny)
    z0, size_z = _range(pz, radius, grid.inverse, grid.nz)
    # Cells next to each other along x are one run of slots, or two where the run wraps around.
    wrapped = max(0, x0 + size_x - grid.nx)
    parts = 2 if wrapped > 0 else 1
    bound = radius * radius
    found = 0
    total = 0
    for jz in range(z0, z0 + size_z):
        layer = (jz if jz < grid.nz else jz - grid.nz) * grid.ny
        for jy in range(y0, y0 + size_y):
            row = (layer + (jy if jy < grid.ny else jy - grid.ny)) * grid.nx
            for part in range(parts):
                a = start[row + x0 if part == 0 else row]
                b = start[row + (x0 + size_x - wrapped if part == 0 else wrapped)]
                while a < b:
                    stop = min(b, a + near.size - total)
                    # Every slot is written, and overwritten unless it counts: a branch that goes
                    # either way at random would cost more than the rest of the loop.
                    for slot in range(a, stop):
                        dx = x[slot] - px
                        dy = y[slot] - py
                        dz = z[slot] - pz
                        d2 = dx * dx + dy * dy + dz * dz
                        near[total] = slot
                        near2[total] = d2
                        total += int(d2 <= bound)
                    a = stop
                    if total == near.size:
                        found = _keep(
                            total,
                            near,
                            near2,
                            me,
                            here,
                            grid,
                            ids,
                            heading,
                            cosine,
                            found,
                            best,
                            best2,
                        )
                        total = 0
                        if found == best.size:
                            bound = best2[found - 1]
    return _keep(total, near, near2, me, here, grid, ids, heading, cosine, found, best, best2)


@kernel
def _find_kernel(
    first, last, grid, position, heading, ids, radius, most, view, count, index, distance
):
    """Rows of the agents in the slots first to last - 1: neighbors in memory are so in space."""
    width = index.shape[1]
    near = np.empty(_CANDIDATES, np.int64)
    near2 = np.empty(_CANDIDATES, np.float64)
    best = np.empty(width, np.int64)
    best2 = np.empty(width, np.float64)
    for me in range(first, last):
        i = grid.order[me]
        limit = min(width, int(pick(most, i)))
        reach = pick(radius, i)
        found = 0
        if limit > 0 and reach >= 0.0:
            cosine = _view_cosine(pick(view, i))
            here = load(position, i)
            row, row2 = best[:limit], best2[:limit]
            found = _search(me, here, grid, ids, heading, reach, cosine, near, near2, row, row2)
        count[i] = found
        for j in range(found):
            index[i, j] = grid.order[best[j]]
            distance[i, j] = math.sqrt(best2[j])
        for j in range(found, width):
            index[i, j] = -1
            distance[i, j] = 0.0


def find(
    grid: GridView,
    position: F32,
    heading: F32,
    ids: I64,
    radius: F32,
    max_neighbors: F32,
    field_of_view: F32,
    k: int | None = None,
) -> NeighborView:
    """Find the nearest neighbors of every agent.

    Args:
        grid: The agents sorted into cells, from `build_grid`.
        position: Positions [m] from which they look, shape (agent_count, 3); as a rule those
            that the grid was built from.
        heading: Unit headings, shape (agent_count, 3).
        ids: Unique identities, shape (agent_count,); they decide ties.
        radius: Largest distance [m], inclusive; shape (1,) or (agent_count,).
        max_neighbors: Most neighbors to keep; shape (1,) or (agent_count,).
        field_of_view: Full angle around the heading [deg], 360 for all around; shape (1,) or
            (agent_count,).
        k: Columns of the result; no agent gets more neighbors than that. None takes the
            largest of `max_neighbors`, but no more than there are other agents.

    Returns:
        Neighbors, nearest first; unused entries have the index -1 and the distance 0.
    """
    n = len(grid.order)
    if k is None:
        k = max(0, min(int(max_neighbors.max(initial=0.0)), n - 1))
    view = NeighborView(
        np.empty(n, np.int32), np.empty((n, k), np.int32), np.empty((n, k), np.float32)
    )
    options = (heading, ids, radius, max_neighbors, field_of_view)
    parallel_for(_find_kernel, n, grid, position, *options, *view)
    return view


def empty(n: int) -> NeighborView:
    """The neighbors of n agents that nobody asked for: none, in no columns."""
    return NeighborView(
        np.zeros(n, np.int32), np.empty((n, 0), np.int32), np.empty((n, 0), np.float32)
    )
