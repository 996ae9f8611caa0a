"""Floors: rays go down through each column of the lattice, and find all that can be stood on.

A floor is a face that is not too steep, with no other face above it within the height of a body:
so undersides of storeys and the insides of solid things are none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.jit import kernel, parallel_for
from ..geometry.bvh import ray_cast, triangle_normal
from ..geometry.ground import UP_SLACK
from .lattice import MOST_LAYERS, VOID, middle_of

APART = 0.02
"""Faces nearer to one another than this are one floor [m]."""
SAMPLES = 64
"""Columns along the longer side of a ground in which its floors are counted."""
LIFT = 0.05
"""How far above a floor rays start that look for its face [m]."""


@kernel
def face_under(surface, ground, cell):
    """The face of the ground in the middle of a cell; -1 for none."""
    if surface.z[cell] == VOID:
        return -1
    x, y = middle_of(surface, cell)
    eye = (x, y, surface.z[cell] + LIFT)
    return ray_cast(ground, eye, (0.0, 0.0, -1.0), 2.0 * LIFT)[0]


@kernel
def slope_at(surface, ground, cell):
    """How much the ground rises along x and along y in the middle of a cell."""
    face = face_under(surface, ground, cell)
    if face < 0:
        return 0.0, 0.0
    normal = triangle_normal(ground, face)
    return -normal[0] / normal[2], -normal[1] / normal[2]


@kernel
def slopes_kernel(start, stop, cells, surface, ground, slope):
    """`slope_at` of some of the cells."""
    for row in range(start, stop):
        slope[row, 0], slope[row, 1] = slope_at(surface, ground, cells[row])


@kernel
def floors_kernel(start, stop, begin, lattice, ground, span, height, min_up, found, level):
    """Floors of columns begin + start to begin + stop, the highest first.

    Args:
        start: First row.
        stop: Row after the last one.
        begin: Column of row 0.
        lattice: (low x, low y, cell size, columns along x) [m].
        ground: The terrain.
        span: Heights at which rays start and end [m].
        height: Height of a body [m].
        min_up: Cosine of the steepest walkable slope.
        found: Number of floors of each column, written.
        level: Their heights [m], written.
    """
    low_x, low_y, size, nx = lattice
    for row in range(start, stop):
        cy = (begin + row) // nx
        x = low_x + (begin + row - cy * nx + 0.5) * size
        y = low_y + (cy + 0.5) * size
        z, above, count = span[0], span[0] + height, 0
        while count < MOST_LAYERS and z > span[1]:
            face, distance = ray_cast(ground, (x, y, z), (0.0, 0.0, -1.0), z - span[1])
            if face < 0:
                break
            z -= distance
            normal = triangle_normal(ground, face)
            up = abs(normal[2])
            if up >= min_up - UP_SLACK and above - z >= height:
                level[row, count] = z
                count += 1
            above = z
            z -= APART
        found[row] = count


def mean_floors(ground: Any, low: Any, high: Any, body: tuple[float, float, float, float]) -> float:
    """How many floors a column of a ground has in the mean, by some of its columns.

    Args:
        ground: BvhView of the ground.
        low: Its low corner [m], shape (3,).
        high: Its high corner.
        body: See `clearance.clearance_at`.
    """
    size = max(float((high - low)[:2].max()) / SAMPLES, APART)
    along, across = (max(1, int(count)) for count in np.ceil((high - low)[:2] / size))
    found = np.zeros(along * across, np.int32)
    level = np.zeros((len(found), MOST_LAYERS), np.float32)
    lattice = float(low[0]), float(low[1]), size, along
    span = float(high[2]) + 1.0, float(low[2]) - 1.0
    options = 0, lattice, ground, span, body[1], body[2], found, level
    parallel_for(floors_kernel, len(found), *options)
    return float(found.mean())
