"""Which triangles can be nearest, cell by cell: a nearest point without a walk through the tree.

A cell with center c and half diagonal h lists every triangle that is at most d + 2·h from c, d the
distance of the nearest one. For any point of the cell the nearest triangle is among them, since
distances change by no more than h between c and the point. Answers are those of the tree, to the
last bit. Outside of the lattice, and in cells where many are equally far, the tree is asked.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .bvh_build import STACK
from .bvh_points import load_corners, nearer, nearest_point, node_distance, on_triangle, walk
from .jit import inlined_kernel, kernel, parallel_for, scratch
from .vec import dot, length, sub

if TYPE_CHECKING:
    from .views import BvhView, NearbyView

CELLS_PER_TRIANGLE = 16
MOST_CELLS = 1 << 17
ROOM = 0.125
"""How far the lattice goes beyond the tree, in cells."""
LISTED = 8
"""Triangles that a cell can list."""
NONE, ASK = 0xFFFF, 0xFFFE
"""In a list: its end, and in the first place that the tree has to be asked."""


def no_lattice() -> NearbyView:
    """A lattice without cells: the tree is always asked."""
    return _view(np.zeros((0, LISTED), np.uint16), np.zeros(9), np.zeros((0, 6), np.float32))


def _view(listed: Any, lattice: Any, box: Any) -> NearbyView:
    # imported with the first lattice: enabling the extension has to be quick
    from .views import NearbyView

    return NearbyView(listed, lattice, box)


def make_nearby(tree: BvhView) -> NearbyView:
    """List the triangles that can be nearest in each cell around a tree.

    With so many triangles that the cells would be too large for short lists there are none.
    """
    if not 0 < len(tree.triangles) < ASK:
        return no_lattice()
    low, high = tree.box[0, :3].astype(np.float64), tree.box[0, 3:].astype(np.float64)
    extent = high - low
    limit = min(CELLS_PER_TRIANGLE * len(tree.triangles), MOST_CELLS)
    cell = max(float(extent.max()), 1.0e-3) / limit
    while np.prod(np.ceil(extent / cell + ROOM)) > limit:
        cell *= 1.05
    cells = np.ceil(extent / cell + ROOM)
    # agents do not stand exactly on what they follow
    size = (extent + 2.0 * ROOM * cell) / cells
    lattice = np.array([*(low - ROOM * cell), *cells, *(1.0 / size)], np.float64)
    listed = np.empty((int(np.prod(cells)), LISTED), np.uint16)
    parallel_for(_list_rows, len(listed), tree, lattice, listed)
    corners = tree.triangles
    box = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    return _view(listed, lattice, box)


@kernel
def _list_rows(start, stop, bvh, lattice, listed):
    """Fill the lists of cells start to stop, NONE after the last triangle."""
    nx, ny = int(lattice[3]), int(lattice[4])
    size = (1.0 / lattice[6], 1.0 / lattice[7], 1.0 / lattice[8])
    diagonal = length(size)
    guess = -1
    for row in range(start, stop):
        x, y, z = row % nx, row // nx % ny, row // (nx * ny)
        center = (
            lattice[0] + (x + 0.5) * size[0],
            lattice[1] + (y + 0.5) * size[1],
            lattice[2] + (z + 0.5) * size[2],
        )
        guess, _point, distance = walk(
            bvh.box, bvh.link, bvh.order, bvh.triangles, center, np.inf, -1, guess, -1.0
        )
        # twice the half diagonal, and room for rounding
        reach = distance + diagonal + 1.0e-5 * (diagonal + length(center))
        _list_near(bvh.box, bvh.link, bvh.order, bvh.triangles, center, reach * reach, listed, row)


@kernel
def _list_near(box, link, order, triangles, point, reach, listed, row):
    """Write the triangles within a squared distance [m²] of a point to a row."""
    found = 0
    stack = scratch(STACK, 1)
    stack[0, 0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = int(stack[waiting, 0])
        if node_distance(box, node, point) > reach:
            continue
        first, second, count = link[node, 0], link[node, 1], link[node, 2]
        if count == 0:
            stack[waiting, 0], stack[waiting + 1, 0] = first, second
            waiting += 2
            continue
        for k in range(first, first + count):
            chosen, _point, _gap = nearer(triangles, int(order[k]), point, -1.0, -1, point, reach)
            if chosen < 0:
                continue
            if found == LISTED:
                listed[row, 0] = ASK
                return
            listed[row, found] = chosen
            found += 1
    for k in range(found, LISTED):
        listed[row, k] = NONE


@kernel
def cell_of(nearby, point):
    """The row of the lists where a point is, -1 where the tree has to be asked."""
    lattice = nearby.lattice
    x = (point[0] - lattice[0]) * lattice[6]
    y = (point[1] - lattice[1]) * lattice[7]
    z = (point[2] - lattice[2]) * lattice[8]
    nx, ny, nz = lattice[3], lattice[4], lattice[5]
    row = -1
    if len(nearby.listed) > 0 and 0.0 <= x < nx and 0.0 <= y < ny and 0.0 <= z < nz:
        row = (int(z) * int(ny) + int(y)) * int(nx) + int(x)
        if nearby.listed[row, 0] == ASK:
            row = -1
    return row


@kernel
def nearest_listed(bvh, nearby, row, point, max_distance):
    """`bvh.nearest_point`, by the list in a row: see `cell_of`."""
    if row < 0:
        return nearest_point(bvh, point, max_distance)
    return _of_list(bvh.triangles, nearby.box, nearby.listed, row, point, max_distance)


@kernel
def _outside(low, high, value):
    """How far a number is outside of an interval."""
    return max(np.float64(low) - value, value - np.float64(high), 0.0)


@inlined_kernel
def _of_list(triangles, box, listed, row, point, max_distance):
    """The nearest of the triangles in a row.

    Mostly that is the one whose box is nearest, and no other box is as near as that triangle.
    """
    best = max_distance * max_distance
    first, least, second = -1, np.inf, np.inf
    for k in range(LISTED):
        i = int(listed[row, k])
        if i == NONE:
            break
        x = _outside(box[i, 0], box[i, 3], point[0])
        y = _outside(box[i, 1], box[i, 4], point[1])
        z = _outside(box[i, 2], box[i, 5], point[2])
        own = x * x + y * y + z * z
        second = min(second, max(least, own))
        first = i if own < least else first
        least = min(least, own)
    if first < 0:
        return -1, point, max_distance
    a, b, c = load_corners(triangles, first)
    found = on_triangle(a, b, c, point)
    offset = sub(found, point)
    gap = max(dot(offset, offset), least)
    if gap <= best:
        chosen, best = first, gap
    else:
        chosen, found = -1, point
    if second <= best:
        for k in range(LISTED):
            i = int(listed[row, k])
            if i == NONE:
                break
            if i != first:
                chosen, found, best = nearer(triangles, i, point, -1.0, chosen, found, best)
    if chosen < 0:
        return chosen, found, max_distance
    return chosen, found, math.sqrt(best)
