"""Leaps: how far all cells around a cell are open and in one layer, so that looks pass over them.

The distance of a cell is counted as kings go in chess: up to the nearest cell that is not open, is
not linked to all eight neighbors, or is linked to one in another layer of its column. Two passes
over the cells find it, one from each end.

Source: Rosenfeld, Pfaltz 1966, "Sequential Operations in Digital Picture Processing".
"""

from __future__ import annotations

from ..compiled.jit import kernel
from .lattice import side_step

FARTHEST = 31
"""What distances are counted up to: how many cells around one that changed may change theirs."""
_EVERY_SIDE = 0x11111111
"""A link of 1 at each of the eight sides."""
_BEFORE, _AFTER = (2, 3, 6, 7), (0, 1, 4, 5)


@kernel
def _least(surface, cell, sides, leap):
    """The least distance of the neighbors at some sides, in the cell's own layer."""
    column = int(surface.at[cell, 1]) * surface.nx + int(surface.at[cell, 0])
    layer = cell - int(surface.first[column])
    least = FARTHEST
    for k in range(4):
        dx, dy = side_step(sides[k])
        other = int(surface.first[column + dy * surface.nx + dx]) + layer
        least = min(least, int(leap[other]))
    return least


@kernel
def leap_kernel(cells, surface, state, leap):
    """The distance of some cells, in their order; all others hold theirs already."""
    for row in range(len(cells)):
        cell = cells[row]
        column = int(surface.at[cell, 1]) * surface.nx + int(surface.at[cell, 0])
        layer = cell - int(surface.first[column])
        leap[cell] = 0
        if state[cell] == 2 and int(surface.link[cell]) == (layer + 1) * _EVERY_SIDE:
            leap[cell] = min(_least(surface, cell, _BEFORE, leap) + 1, FARTHEST)
    for row in range(len(cells) - 1, -1, -1):
        cell = cells[row]
        if leap[cell] > 0:
            leap[cell] = min(_least(surface, cell, _AFTER, leap) + 1, int(leap[cell]))
