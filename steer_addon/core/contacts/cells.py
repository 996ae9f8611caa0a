"""The place in a convex cell that is nearest to a wished one, exactly.

A cell is the set of offsets y with nₖ·y ≤ bₖ for all of its planes, nₖ unit and bₖ ≥ 0: it holds
the origin, where the agent is. Planes are rows of a scratch array.

The planes are taken one after the other. When the best place so far is beyond a plane, the best one
lies on that plane: the same problem with one dimension less, with the planes before it.

Source: Seidel 1991, "Small-dimensional linear programming and convex hulls made easy"; van den Berg
et al. 2011, "Reciprocal n-Body Collision Avoidance", use it for half-planes of velocities.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel, scratch
from ..numeric.vec import add, add_scaled, cross, dot, scale

PLANES = 48
"""Rows of a cell's array: others and walls."""
COLUMNS = 6
"""Of a row: normal x, y, z, bound [m], how far the plane ought to be behind the agent [m], and how
far away the wall is [m]."""
PARALLEL = 1.0e-9
"""Sine of an angle below which planes count as parallel."""
SWEEPS = 3
"""How often the solver goes through the planes of overlapping bodies."""
LOOSE = 1.0e-12
"""A place less than this far [m] beyond a plane counts as on it."""


@kernel
def _on_line(plane, count, nx, ny, bound, x, y):
    """The place on a line nx·x + ny·y = bound next to (x, y), within planes before it."""
    low, high = -np.inf, np.inf
    for k in range(count):
        across = plane[k, 1] * nx - plane[k, 0] * ny
        rest = plane[k, 3] - (plane[k, 0] * nx + plane[k, 1] * ny) * bound
        if across > PARALLEL:
            high = min(high, rest / across)
        elif across < -PARALLEL:
            low = max(low, rest / across)
    if low > high:
        return False, 0.0, 0.0
    along = min(max(y * nx - x * ny, low), high)
    return True, nx * bound - ny * along, ny * bound + nx * along


@kernel
def _in_polygon(plane, count, x, y):
    """(found, x, y) of the place in a cell without the third axis."""
    best_x, best_y = x, y
    for k in range(count):
        nx, ny, bound = plane[k, 0], plane[k, 1], plane[k, 3]
        if nx * best_x + ny * best_y > bound + LOOSE:
            found, best_x, best_y = _on_line(plane, k, nx, ny, bound, x, y)
            if not found:
                return False, 0.0, 0.0
    return True, best_x, best_y


@kernel
def _on_plane(plane, count, normal, bound, wish):
    """The place on a plane next to a wish, within the planes before it: (found, place)."""
    side = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.6 else (0.0, 1.0, 0.0)
    a = cross(normal, side)
    a = scale(a, 1.0 / math.sqrt(dot(a, a)))
    b = cross(normal, a)
    lines = scratch(PLANES, 4)
    used = 0
    for k in range(count):
        other = (plane[k, 0], plane[k, 1], plane[k, 2])
        p, q = dot(other, a), dot(other, b)
        size = math.sqrt(p * p + q * q)
        if size > PARALLEL:
            rest = plane[k, 3] - dot(other, normal) * bound
            lines[used, 0], lines[used, 1], lines[used, 3] = p / size, q / size, rest / size
            used += 1
    found, p, q = _in_polygon(lines, used, dot(wish, a), dot(wish, b))
    return found, add(scale(normal, bound), add_scaled(scale(a, p), b, q))


@kernel
def _shortened(plane, count, place):
    """A place drawn toward the origin until rounding has left none of it outside of the cell."""
    share = 1.0
    for k in range(count):
        reach = plane[k, 0] * place[0] + plane[k, 1] * place[1] + plane[k, 2] * place[2]
        if reach > plane[k, 3] + LOOSE:
            share = min(share, max(plane[k, 3], 0.0) / reach)
    return place if share == 1.0 else scale(place, share)


@kernel
def nearest_in_cell(plane, count, wish, flat):
    """The place in a cell next to a wished one.

    Args:
        plane: The planes, shape (PLANES, COLUMNS).
        count: How many of them there are.
        wish: Wished offset (x, y, z) [m].
        flat: Whether all is level: normals and wish have no z.
    """
    best = wish
    if flat:
        found, x, y = _in_polygon(plane, count, wish[0], wish[1])
        return _shortened(plane, count, (x, y, 0.0)) if found else (0.0, 0.0, 0.0)
    for k in range(count):
        normal, bound = (plane[k, 0], plane[k, 1], plane[k, 2]), plane[k, 3]
        if dot(normal, best) > bound + LOOSE:
            found, best = _on_plane(plane, k, normal, bound, wish)
            if not found:
                return (0.0, 0.0, 0.0)
    return _shortened(plane, count, best)


@kernel
def add_plane(plane, count, normal, bound, excess):
    """Append a plane; returns the new number of planes."""
    plane[count, 0], plane[count, 1], plane[count, 2] = normal
    plane[count, 3], plane[count, 4] = max(bound, 0.0), excess
    return count + 1


@kernel
def backed_out(plane, count, wish):
    """A wished offset moved out of overlaps, as far as the bodies give way to one another."""
    for _sweep in range(SWEEPS):
        for k in range(count):
            if plane[k, 4] > 0.0:
                normal = (plane[k, 0], plane[k, 1], plane[k, 2])
                over = dot(normal, wish) + plane[k, 4]
                if over > 0.0:
                    wish = add_scaled(wish, normal, -over)
    return wish
