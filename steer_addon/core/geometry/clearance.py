"""Free space around the triangles of a tree: how far nothing can be met, looked up in a lattice.

Most rays meet nothing, and a look into the lattice tells so for less than a tenth of what a walk
through the tree costs. A ray goes from cell to cell by the distances that are free there (sphere
tracing, Hart 1996); only one that comes near a triangle is asked of the tree. Answers stay those of
the tree to the last bit.

Cells hold the chessboard distance to the nearest cell that a triangle touches (two-pass distance
transform, Rosenfeld and Pfaltz 1968): with k of them, nothing is nearer than (k - 1) cells.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..compiled.jit import kernel
from ..numeric.vec import cross, dot, length, load, sub

if TYPE_CHECKING:
    from ..views import BvhView

MOST_CELLS = 1 << 17
"""Few enough to stay in a processor's cache."""
FARTHEST = 255
STRIDES = 24
"""Steps that a ray may take through free space before the tree is asked."""
FEW = 8
"""Boxes of this number of cells are marked whole, without testing which the triangle crosses."""


def with_clearance(view: BvhView) -> BvhView:
    """The same tree with the lattice of its free space.

    Args:
        view: A tree; one without triangles is given back as it is.
    """
    if len(view.link) == 0:
        return view
    low, high = view.box[0, :3].astype(np.float64), view.box[0, 3:].astype(np.float64)
    pad = 1.0e-5 * (1.0 + float(np.abs(view.box[0]).max()))
    low, extent = low - pad, high - low + 2.0 * pad
    cell = float(extent.max()) / MOST_CELLS
    while np.prod(np.ceil(extent / cell)) > MOST_CELLS:
        cell *= 1.05
    cells = np.ceil(extent / cell)
    lattice = np.array([*low, *cells, cell, 1.0 / cell], np.float64)
    free = np.full(int(np.prod(cells)), FARTHEST, np.uint8)
    _mark(free, lattice, view.triangles, pad)
    _spread(free, lattice)
    return view._replace(free=free, lattice=lattice)


@kernel
def _cells(lattice, axis, low, high):
    """First and last cell along an axis that an interval touches."""
    most = int(lattice[3 + axis]) - 1
    first = int(math.floor((low - lattice[axis]) * lattice[7]))
    last = int(math.floor((high - lattice[axis]) * lattice[7]))
    return min(max(first, 0), most), min(max(last, 0), most)


@kernel
def _range(lattice, axis, triangles, t, pad):
    """`_cells` of triangle t, with some room."""
    a = np.float64(triangles[t, 0, axis])
    b = np.float64(triangles[t, 1, axis])
    c = np.float64(triangles[t, 2, axis])
    return _cells(lattice, axis, min(a, b, c) - pad, max(a, b, c) + pad)


@kernel
def _mark(free, lattice, triangles, pad):
    """Mark the cells that triangles touch, and some that they nearly touch."""
    nx, ny, cell = int(lattice[3]), int(lattice[4]), lattice[6]
    for t in range(len(triangles)):
        x0, x1 = _range(lattice, 0, triangles, t, pad)
        y0, y1 = _range(lattice, 1, triangles, t, pad)
        z0, z1 = _range(lattice, 2, triangles, t, pad)
        few = (x1 - x0 + 1) * (y1 - y0 + 1) * (z1 - z0 + 1) <= FEW
        a = load(triangles[t], 0)
        normal = cross(sub(load(triangles[t], 1), a), sub(load(triangles[t], 2), a))
        # a cell is clear of the plane when its middle is farther away than it reaches itself
        reach = 0.5 * cell * (abs(normal[0]) + abs(normal[1]) + abs(normal[2]))
        reach += 2.0 * pad * length(normal)
        for z in range(z0, z1 + 1):
            for y in range(y0, y1 + 1):
                for x in range(x0, x1 + 1):
                    middle = (
                        lattice[0] + (x + 0.5) * cell,
                        lattice[1] + (y + 0.5) * cell,
                        lattice[2] + (z + 0.5) * cell,
                    )
                    if few or abs(dot(sub(middle, a), normal)) <= reach:
                        free[(z * ny + y) * nx + x] = 0


@kernel
def _spread(free, lattice):
    """Chessboard distances from the marked cells, in one pass forth and one back."""
    nx, ny, nz = int(lattice[3]), int(lattice[4]), int(lattice[5])
    for step in (1, -1):
        for k in range(nz):
            z = k if step > 0 else nz - 1 - k
            for j in range(ny):
                y = j if step > 0 else ny - 1 - j
                for i in range(nx):
                    x = i if step > 0 else nx - 1 - i
                    if free[(z * ny + y) * nx + x] > 0:
                        _nearer_than_before(free, nx, ny, nz, x, y, z, step)


@kernel
def _nearer_than_before(free, nx, ny, nz, x, y, z, step):
    """One more than the least of the neighbors that were done before a cell, if that is less."""
    row = (z * ny + y) * nx
    best = int(free[row + x])
    if 0 <= x - step < nx:
        best = min(best, int(free[row + x - step]) + 1)
    for i in range(max(x - 1, 0), min(x + 2, nx)):
        if 0 <= y - step < ny:
            best = min(best, int(free[row - step * nx + i]) + 1)
        if 0 <= z - step < nz:
            for j in range(max(y - 1, 0), min(y + 2, ny)):
                best = min(best, int(free[((z - step) * ny + j) * nx + i]) + 1)
    free[row + x] = min(best, FARTHEST)


@kernel
def _gap(free, lattice, x, y, z):
    """No triangle is nearer to a place than this [m]; 0 where that is not known."""
    u, v, w = x - lattice[0], y - lattice[1], z - lattice[2]
    cell = lattice[6]
    beyond = max(
        max(-u, u - lattice[3] * cell),
        max(-v, v - lattice[4] * cell),
        max(-w, w - lattice[5] * cell),
    )
    # so far outside of the lattice; also when it is no number
    if not beyond <= 0.0:
        return beyond
    nx, ny, nz = int(lattice[3]), int(lattice[4]), int(lattice[5])
    i = min(int(u * lattice[7]), nx - 1)
    j = min(int(v * lattice[7]), ny - 1)
    k = min(int(w * lattice[7]), nz - 1)
    return max(int(free[(k * ny + j) * nx + i]) - 1, 0) * cell


@kernel
def clearance(bvh, point):
    """No triangle of a tree is nearer to a point than this [m]; 0 where that is not known."""
    if len(bvh.free) == 0:
        return 0.0
    return _gap(bvh.free, bvh.lattice, point[0], point[1], point[2])


@kernel
def free_way(bvh, origin, direction, most):
    """Distance along a ray within which it meets nothing [m], at most `most`; 0 if not known."""
    if len(bvh.free) == 0:
        return 0.0
    return _stride(bvh.free, bvh.lattice, origin, direction, most)


@kernel
def _stride(free, lattice, origin, direction, most):
    """`free_way` in a lattice."""
    done = 0.0
    for _step in range(STRIDES):
        gap = _gap(
            free,
            lattice,
            origin[0] + done * direction[0],
            origin[1] + done * direction[1],
            origin[2] + done * direction[2],
        )
        if not gap > 0.0:
            return done
        done += gap
        if done > most:
            return most
    return done
