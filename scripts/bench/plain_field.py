"""A field of next corners on a plain lattice, as the ways of crowds are compared with.

Lazy Theta* as it is written down, in compiled Python: one layer, cells that are free or not, one
look a cell, and the same heap. Source: Nash, Koenig, Tovey 2010, "Lazy Theta*: Any-Angle Path
Planning and Path Length Analysis in 3D".
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from steer_addon.core.ways import heap as ours

rise, take = njit(ours.rise.function), njit(ours.take.function)


@njit
def _sees(free, nx, cell, corner):
    """Whether all cells on the line between two cells are free."""
    x, y, to_x, to_y = cell % nx, cell // nx, corner % nx, corner // nx
    wide, high = abs(to_x - x), abs(to_y - y)
    step_x, step_y = (1 if to_x > x else -1), (1 if to_y > y else -1)
    error, left = wide - high, wide + high
    while left > 0:
        if error > 0:
            x += step_x
            error -= 2 * high
            left -= 1
        elif error < 0:
            y += step_y
            error += 2 * wide
            left -= 1
        else:
            if not (free[y * nx + x + step_x] and free[(y + step_y) * nx + x]):
                return False
            x += step_x
            y += step_y
            error += 2 * wide - 2 * high
            left -= 2
        if not free[y * nx + x]:
            return False
    return True


@njit
def _settle(free, nx, ny, cell, corner, distance, done):
    if corner[cell] == cell or _sees(free, nx, cell, corner[cell]):
        return
    best, least = -1, np.inf
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            x, y = cell % nx + dx, cell // nx + dy
            if 0 <= x < nx and 0 <= y < ny and done[y * nx + x]:
                way = distance[y * nx + x] + math.sqrt(dx * dx + dy * dy)
                if way < least:
                    best, least = y * nx + x, way
    corner[cell], distance[cell] = best, least


@njit
def _fill(free, nx, ny, goal, corner, distance, done, heap, keys, place):
    corner[:], distance[:], done[:], place[:] = -1, np.inf, False, -1
    corner[goal], distance[goal] = goal, 0.0
    size = rise(goal, 0.0, 0, heap, keys, place)
    while size > 0:
        cell, size = take(size, heap, keys, place)
        _settle(free, nx, ny, cell, corner, distance, done)
        done[cell] = True
        cx, cy, far = cell % nx, cell // nx, corner[cell]
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                x, y = cx + dx, cy + dy
                other = y * nx + x
                if not (0 <= x < nx and 0 <= y < ny) or done[other] or not free[other]:
                    continue
                if not (free[cy * nx + x] and free[y * nx + cx]):
                    continue
                way = distance[far] + math.sqrt((x - far % nx) ** 2 + (y - far // nx) ** 2)
                if way < distance[other]:
                    distance[other], corner[other] = way, far
                    size = rise(other, way, size, heap, keys, place)


def plain_field(
    free: NDArray[np.bool_], goal: int
) -> tuple[Callable[[], object], NDArray[np.float32]]:
    """What fills a field to a goal, and the lengths of its ways [cells] once it has run.

    Args:
        free: Cells that can be walked, shape (rows, columns).
        goal: Number of the cell of the goal, row by row.
    """
    ny, nx = free.shape
    numbers = np.zeros((3, free.size), np.int32)
    lengths = np.zeros((2, free.size), np.float32)
    done = np.zeros(free.size, np.bool_)

    def fill() -> None:
        options = numbers[0], lengths[0], done, numbers[1], lengths[1], numbers[2]
        _fill(free.ravel(), nx, ny, goal, *options)

    return fill, lengths[0]
