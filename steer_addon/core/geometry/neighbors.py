"""Neighbors: for each agent the nearest others, found in a uniform grid.

N(i) holds the nearest `max_neighbors` agents q ≠ i with |q - p|² ≤ radius² that lie inside the
field of view, nearest first, ties by id. A coincident agent lies inside any field of view.
Distances are 3D and computed in 64 bits, so they are those of a plain search through all pairs.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel, parallel_for, scratch
from ..numeric.vec import dot, load, pick
from ..views import F32, I64, NeighborView
from .grid import OFF_LATTICE, SLACK, GridView, axis_cells, build_grid, wrap_cell

__all__ = ["NONE", "GridView", "axis_cells", "build_grid", "empty", "find", "wrap_cell"]

MOST = 1024
"""No agent has more neighbors than this."""
# Agents within the radius that are collected before the nearest of them are picked.
_CANDIDATES = 256
# Up to this number they are sorted by counting, which needs no unpredictable branch.
_RANKED = 48
# This number is collected before sorting, where all that is wanted may be among them.
_SETTLED = 24
# In cells: an agent at a place farther from the origin is searched for by the book.
_ORDINARY = 1.0e9
# This number of them is counted at once.
_LANES = 8
# For indices that are known to be right: numba else checks each for being negative.
_INDEX = 0x7FFFFFFF


@kernel
def _gap(value, step, cell, inverse, certain):
    """Least distance [m] from a value to the cell a number of steps away; 0 for its own."""
    if step == 0 or not certain:
        return 0.0
    edge = (math.floor(value * inverse) + step + (1 if step < 0 else 0)) * cell
    return max(abs(edge - value) - 8.0 * SLACK * (abs(value) + cell), 0.0)


@kernel
def _view_cosine(field_of_view):
    """Cosine of half the field of view [deg]; exact at 180, and -1 where all is seen."""
    if field_of_view >= 360.0:
        return -1.0
    return math.sin(math.radians(90.0 - 0.5 * max(field_of_view, 0.0)))


@kernel
def _rank(total, near, near2, ranks, best, best2):
    """Sort candidates into the empty row of the best by counting, where no two are equally far.

    Returns how many they are, or -1 for a tie. Counting needs no branch that could go either way;
    four at once, since each count waits for the one before.
    """
    whole = (total + _LANES - 1) // _LANES * _LANES
    for a in range(total, whole):
        near2[a] = np.inf
    for a in range(whole):
        ranks[a] = 0
    for b in range(0, total, 4):
        p, q, r, s = near2[b], near2[b + 1], near2[b + 2], near2[b + 3]
        for a in range(whole):
            d2 = near2[a]
            ranks[a] += int(p < d2) + int(q < d2) + int(r < d2) + int(s < d2)
    counted = 0
    for a in range(total):
        rank = ranks[a] & _INDEX
        counted += rank
        best[rank] = near[a]
        best2[rank] = near2[a]
    return total if 2 * counted == total * (total - 1) else -1


@kernel
def _insert(total, near, near2, order, ids, found, limit, best, best2):
    """Insert candidates into the row of the best by (d², id); returns the row's new length."""
    for t in range(total):
        slot = near[t]
        d2 = near2[t]
        if found == limit and d2 > best2[limit - 1]:
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
def _in_view(total, near, near2, here, grid, forward, cosine):
    """Drop candidates out of view; a coincident agent stays, as 0 < 0 is false."""
    kept = 0
    for t in range(total):
        slot, d2 = near[t], near2[t]
        offset = (grid.x[slot] - here[0], grid.y[slot] - here[1], grid.z[slot] - here[2])
        near[kept], near2[kept] = slot, d2
        kept += int(not dot(offset, forward) < cosine * math.sqrt(d2))
    return kept


@kernel
def _keep(total, near, near2, ranks, order, ids, found, limit, best, best2):
    """Merge candidates into the row of the best; returns the row's new length."""
    if found == 0 and total <= _RANKED:
        ranked = _rank(total, near, near2, ranks, best, best2)
        if ranked >= 0:
            return min(ranked, limit)
    return _insert(total, near, near2, order, ids, found, limit, best, best2)


@kernel
def _search(me, here, grid, ids, forward, radius, cosine, limit, room):
    """Fill the row of the best for the agent in slot `me`; returns the row's length."""
    near, near2, ranks, best, best2 = room[:5]
    x, y, z, start, order = grid.x, grid.y, grid.z, grid.start, grid.order
    (px, py, pz), inverse, nx = here, grid.inverse, grid.nx
    own_x, down_x, up_x, sure_x = axis_cells(px, radius, inverse, nx)
    own_y, down_y, up_y, sure_y = axis_cells(py, radius, inverse, grid.ny)
    own_z, down_z, up_z, sure_z = axis_cells(pz, radius, inverse, grid.nz)
    bound = radius * radius
    settle = min(max(_SETTLED, 2 * limit), _CANDIDATES - 1)
    found, total = 0, 0
    # The agent's own row of cells first: in a crowd the others then need a short look only.
    for jz in range(down_z + up_z + 1):
        step_z = jz if jz <= up_z else up_z - jz
        layer = wrap_cell(own_z + step_z, grid.nz) * grid.ny
        for jy in range(down_y + up_y + 1):
            step_y = jy if jy <= up_y else up_y - jy
            row = (layer + wrap_cell(own_y + step_y, grid.ny)) * nx
            low, high = own_x - down_x, own_x + up_x + 1
            if found == limit:
                gap_y = _gap(py, step_y, grid.cell, inverse, sure_y)
                gap_z = _gap(pz, step_z, grid.cell, inverse, sure_z)
                rest = bound * (1.0 + 16.0 * SLACK) - gap_y * gap_y - gap_z * gap_z
                if rest < 0.0:
                    continue
                _own, down, up, sure = axis_cells(px, math.sqrt(rest), inverse, nx)
                if sure and sure_x:
                    low, high = own_x - down, own_x + up + 1
            # Cells next to each other along x are one run of slots, or two where it wraps around.
            parts = 2 if low < 0 or high > nx else 1
            for part in range(parts):
                first, last = low, high
                if parts == 2:
                    first = 0 if part == 0 else low + (nx if low < 0 else 0)
                    last = nx if part == 1 else high - (nx if high > nx else 0)
                a, b = start[row + first], start[row + last]
                while a < b:
                    stop = min(b, a + _CANDIDATES - total)
                    # every slot is written, and overwritten unless it counts: no branch at random
                    for slot in range(a, stop):
                        at = slot & _INDEX
                        dx = x[at] - px
                        dy = y[at] - py
                        dz = z[at] - pz
                        d2 = dx * dx + dy * dy + dz * dz
                        near[total & _INDEX] = slot
                        near2[total & _INDEX] = d2
                        total += int((d2 <= bound) & (slot != me))
                    a = stop
                    if total > settle:
                        if cosine > -1.0:
                            total = _in_view(total, near, near2, here, grid, forward, cosine)
                        found = _keep(
                            total, near, near2, ranks, order, ids, found, limit, best, best2
                        )
                        total = 0
                        if found == limit:
                            bound = best2[found - 1]
    if cosine > -1.0:
        total = _in_view(total, near, near2, here, grid, forward, cosine)
    return _keep(total, near, near2, ranks, order, ids, found, limit, best, best2)


@kernel
def _around(own, size):
    """Cells of an axis of the torus in and beside one: (the first of them, how many)."""
    return (0, size) if size < 3 else (own - 1, 3)


@kernel
def _gather(c, grid, room):
    """Collect the slots of a cell and of all around it.

    Returns:
        (how many, -1 when they are too many; where those of the cell itself begin).
    """
    slots, x, y, z = room[5:9]
    first_x, many_x = _around(c % grid.nx, grid.nx)
    first_y, many_y = _around(c // grid.nx % grid.ny, grid.ny)
    first_z, many_z = _around(c // (grid.nx * grid.ny), grid.nz)
    # cells next to each other along x are one run of slots, but where it wraps around
    wraps = first_x < 0 or first_x + many_x > grid.nx
    runs, long = (many_x, 1) if wraps else (1, many_x)
    total, begin = 0, 0
    for jz in range(many_z):
        layer = wrap_cell(first_z + jz, grid.nz) * grid.ny
        for jy in range(many_y):
            row = (layer + wrap_cell(first_y + jy, grid.ny)) * grid.nx
            for jx in range(runs):
                cell = row + wrap_cell(first_x + jx, grid.nx)
                low, high = grid.start[cell], grid.start[cell + long]
                # rows are never negative, but compilers copy several at once only if they know it
                if total + high - low > _CANDIDATES or low < 0 or total < 0:
                    return -1, 0
                if cell <= c < cell + long:
                    begin = total + grid.start[c] - low
                for k in range(high - low):
                    at, to = low + k, total + k
                    slots[to] = at
                    x[to], y[to], z[to] = grid.x[at], grid.y[at], grid.z[at]
                total += high - low
    return total, begin


@kernel
def _collect(own, here, bound, gathered, room):
    """Of those around a cell the ones near an agent, which is number `own`; how many they are."""
    near, near2 = room[:2]
    slots, x, y, z, squares = room[5:]
    px, py, pz = here
    for t in range(gathered):
        dx, dy, dz = x[t] - px, y[t] - py, z[t] - pz
        squares[t] = dx * dx + dy * dy + dz * dz
    squares[own] = np.inf
    total = 0
    # every one is written, and overwritten unless it counts: see `_search`
    for t in range(gathered):
        near[total & _INDEX] = t
        total += int(squares[t] <= bound)
    for k in range(total):
        t = near[k] & _INDEX
        near[k], near2[k] = slots[t], squares[t]
    return total


@kernel
def _is_ordinary(me, here, grid):
    """Whether the cell of a place, and those around it, are beyond doubt those of a slot."""
    if here[0] != grid.x[me] or here[1] != grid.y[me] or here[2] != grid.z[me]:
        return False
    return max(abs(here[0]), abs(here[1]), abs(here[2])) * grid.inverse < _ORDINARY


@kernel
def _sure(here, grid):
    """Distance [m] from a place to the last of the cells around its own; see `_gather`."""
    sure = np.inf
    for axis in range(3):
        if (grid.nx, grid.ny, grid.nz)[axis] >= 3:
            for step in (-2, 2):
                sure = min(sure, _gap(here[axis], step, grid.cell, grid.inverse, True))
    return sure


@kernel
def _find_one(me, own, here, forward, cosine, reach, limit, gathered, grid, ids, room):
    """Fill the row of the best for the agent in slot `me`; returns the row's length.

    In a crowd the nearest are most often found around the cell: all of them, if the row is full.
    """
    near, near2, ranks, best, best2 = room[:5]
    close, found = min(reach, grid.cell / OFF_LATTICE), 0
    if gathered >= 0 and _is_ordinary(me, here, grid):
        # seldom too few are as near as all cells reach beyond their own: then as far as this place
        # is from the last of them
        for more in range(2):
            if more > 0:
                close = min(reach, _sure(here, grid))
            total = _collect(own, here, close * close, gathered, room)
            if cosine > -1.0:
                total = _in_view(total, near, near2, here, grid, forward, cosine)
            found = _keep(total, near, near2, ranks, grid.order, ids, 0, limit, best, best2)
            if found == limit or close == reach:
                return found
    return _search(me, here, grid, ids, forward, reach, cosine, limit, room)


@kernel
def _find_kernel(
    first, last, grid, moved, position, heading, ids, radius, most, view, count, index, distance
):
    """Rows of the agents in the slots first to last - 1: neighbors in memory are so in space.

    `moved` says that they are not where the grid has them.
    """
    # each on its own: compilers know then that writing to one changes none of the others
    near2, squares = scratch(1, _CANDIDATES)[0], scratch(1, _CANDIDATES)[0]
    x, y, z = scratch(1, _CANDIDATES)[0], scratch(1, _CANDIDATES)[0], scratch(1, _CANDIDATES)[0]
    best, best2 = scratch(1, MOST)[0].view(np.int64), scratch(1, MOST)[0]
    near = scratch(1, _CANDIDATES)[0].view(np.int64)
    ranks = scratch(1, _CANDIDATES)[0].view(np.int64)
    slots = scratch(1, _CANDIDATES)[0].view(np.int64)
    room = (near, near2, ranks, best, best2, slots, x, y, z, squares)
    width = min(index.shape[1], MOST)
    c = np.searchsorted(grid.start, first, "right") - 1
    at = first
    while at < last:
        while at >= grid.start[c + 1]:
            c += 1
        gathered, begin = _gather(c, grid, room)
        own = begin + at - grid.start[c]
        stop = min(last, int(grid.start[c + 1]))
        for me in range(at, stop):
            i = grid.order[me] & _INDEX
            limit, reach = min(width, int(pick(most, i))), pick(radius, i)
            found = 0
            if limit > 0 and reach >= 0.0:
                # what is in memory at random is read only where it is needed
                here, forward = (grid.x[me], grid.y[me], grid.z[me]), (0.0, 0.0, 0.0)
                if moved:
                    here = load(position, i)
                cosine = _view_cosine(pick(view, i))
                if cosine > -1.0:
                    forward = load(heading, i)
                found = _find_one(
                    me, own + me - at, here, forward, cosine, reach, limit, gathered, grid, ids,
                    room,
                )  # fmt: skip
            count[i] = found
            for j in range(found):
                distance[i, j] = math.sqrt(best2[j])
            for j in range(found):
                index[i, j] = grid.order[best[j] & _INDEX]
            for j in range(found, index.shape[1]):
                index[i, j] = -1
                distance[i, j] = 0.0
        at = stop


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
        k: Columns of the result; no agent gets more neighbors than that, nor than MOST. None takes
            the largest of `max_neighbors`, but no more than there are other agents.

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
    moved = position is not grid.source
    parallel_for(_find_kernel, n, grid, moved, position, *options, *view)
    return view


def empty(n: int) -> NeighborView:
    """Empty neighbor lists of n agents, for behaviors that need none: no columns."""
    return NeighborView(
        np.zeros(n, np.int32), np.empty((n, 0), np.int32), np.empty((n, 0), np.float32)
    )


NONE = empty(0)
"""The neighbor lists of no agents."""
