"""How often a mesh winds around a point, by the solid angles of its faces."""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from ..numeric.vec import cross, dot, length, load, sub

WHOLE = 1.0e-5
"""How far the winding number of a closed mesh may be from a whole one."""


@kernel
def winding(triangles, first, last, point):
    """How often triangles first to last - 1 wind around a point: ±1 inside a closed mesh, else 0.

    The sum of the solid angles over 4π. Source: Jacobson et al. 2013, "Robust Inside-Outside
    Segmentation using Generalized Winding Numbers"; the solid angle of a triangle: Van Oosterom and
    Strackee 1983.
    """
    total = 0.0
    for i in range(first, last):
        a = sub(load(triangles[i], 0), point)
        b = sub(load(triangles[i], 1), point)
        c = sub(load(triangles[i], 2), point)
        la, lb, lc = length(a), length(b), length(c)
        above = dot(a, cross(b, c))
        below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
        total += 2.0 * math.atan2(above, below)
    return total / (4.0 * math.pi)


@kernel
def surrounds(triangles, first, last, point):
    """Whether a point is inside of a closed mesh with normals outward; open ones have no inside."""
    turns = winding(triangles, first, last, point)
    return turns > 0.5 and abs(turns - round(turns)) < WHOLE
