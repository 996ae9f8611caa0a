"""Leaps: how far all cells around a cell are open and in one layer, so that looks pass over them.

The distance of a cell is counted as kings go in chess: up to the nearest cell that is not open, is
not linked to all eight neighbors, or is linked to one in another layer of its column. Two passes
over the cells find it, one from each end.

Source: Rosenfeld, Pfaltz 1966, "Sequential Operations in Digital Picture Processing".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel
from ..views import SurfaceView
from .lattice import LAYERED, cell_in, column_of, layer_of, side_step, wide_of
from .surface import bands

U8 = NDArray[np.uint8]

FARTHEST = 31
"""What distances are counted up to: how many cells around one that changed may change theirs."""
_EVERY_SIDE = 0x11111111
"""A link of 1 at each of the eight sides."""
_BEFORE, _AFTER = (2, 3, 6, 7), (0, 1, 4, 5)


@kernel
def _least(surface, cell, sides, leap):
    """The least distance of the neighbors at some sides, in the cell's own layer."""
    column = column_of(surface, cell)
    layer = layer_of(surface, cell, column)
    least = FARTHEST
    for k in range(4):
        dx, dy = side_step(sides[k])
        other = cell_in(surface, column + dy * surface.nx + dx, layer)
        least = min(least, int(leap[other]))
    return least


@kernel
def _in_one_layer(surface, cell):
    """Whether a cell is linked to all eight neighbors, which are in its own layer."""
    bits = int(surface.link[cell])
    if bits != LAYERED:
        return bits == 0xFF
    layer = layer_of(surface, cell, column_of(surface, cell))
    return int(surface.wide[wide_of(surface, cell)]) == (layer + 1) * _EVERY_SIDE


@kernel
def leap_kernel(cells, surface, state, leap):
    """The distance of some cells by those before them, in their order."""
    for row in range(len(cells)):
        cell = cells[row]
        leap[cell] = 0
        if state[cell] == 2 and _in_one_layer(surface, cell):
            leap[cell] = min(_least(surface, cell, _BEFORE, leap) + 1, FARTHEST)


@kernel
def leap_back_kernel(cells, surface, leap):
    """The distance of some cells by those after them, from the last of them on."""
    for row in range(len(cells) - 1, -1, -1):
        cell = cells[row]
        if leap[cell] > 0:
            leap[cell] = min(_least(surface, cell, _AFTER, leap) + 1, int(leap[cell]))


def find_leaps(
    surface: SurfaceView, state: U8, leap: U8, cells: NDArray[np.int64] | None = None
) -> None:
    """Find the distances of some cells; all others hold theirs already.

    Args:
        surface: The cells.
        state: Their states, see `room`.
        leap: Their distances, written.
        cells: Which of them; None for all.
    """
    for band in bands(cells, len(leap)):
        leap_kernel(band, surface, state, leap)
    for band in bands(cells, len(leap), backward=True):
        leap_back_kernel(band, surface, leap)
