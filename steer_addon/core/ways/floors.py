"""Floors: rays go down through each column of the lattice, and find all that can be stood on.

A floor is a face that is not too steep, with no other face above it within the height of a body:
so undersides of storeys and the insides of solid things are none.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..geometry.bvh import ray_cast, triangle_normal
from ..geometry.ground import UP_SLACK
from .lattice import MOST_LAYERS

APART = 0.02
"""Faces nearer to one another than this are one floor [m]."""


@kernel
def floors_kernel(start, stop, begin, lattice, ground, span, height, min_up, found, level, rise):
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
        rise: How much a floor rises along x and y, written.
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
                rise[row, count, 0] = -normal[0] / normal[2]
                rise[row, count, 1] = -normal[1] / normal[2]
                count += 1
            above = z
            z -= APART
        found[row] = count


@kernel
def gather_kernel(start, stop, begin, nx, found, level, rise, first, at, z, slope):
    """The floors of columns begin + start to begin + stop as cells, the lowest first."""
    for row in range(start, stop):
        count, cy = int(found[row]), (begin + row) // nx
        for k in range(count):
            cell = first[row] + k
            at[cell, 0], at[cell, 1] = begin + row - cy * nx, cy
            z[cell] = level[row, count - 1 - k]
            slope[cell, 0] = rise[row, count - 1 - k, 0]
            slope[cell, 1] = rise[row, count - 1 - k, 1]
