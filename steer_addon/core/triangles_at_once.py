"""Nearest points of many triangles, each for a place of its own, computed side by side.

A column of the table holds a triangle and a place. Without branches a loop over the columns becomes
instructions that take several at once; the bits are those of `bvh_points.on_triangle`.
"""

from __future__ import annotations

import numpy as np

from .jit import inlined_kernel, kernel
from .vec import add, add_scaled, dot, scale, sub

CORNERS, PLACE, FOUND, SQUARE, LINES = 0, 9, 12, 15, 16
"""Lines of the table: three corners [m], the place [m], and what is found for them: the point of
the triangle next to the place [m], and the squared distance [m²] that `bvh_points.nearer` takes."""


@kernel
def put_corners(table, n, triangles, i):
    """Write the corners of triangle i to a column."""
    for corner in range(3):
        for axis in range(3):
            table[CORNERS + 3 * corner + axis, n] = np.float64(triangles[i, corner, axis])


@kernel
def three(table, line, n):
    """Three lines of a column."""
    return table[line, n], table[line + 1, n], table[line + 2, n]


@kernel
def put_three(table, line, n, v):
    """Write three lines of a column."""
    table[line, n], table[line + 1, n], table[line + 2, n] = v


@inlined_kernel
def _chosen(condition, a, b):
    """a where the condition holds, else b."""
    return (
        a[0] if condition else b[0],
        a[1] if condition else b[1],
        a[2] if condition else b[2],
    )


@inlined_kernel
def _on_segment(a, b, point):
    """`bvh_points.on_segment` without branches."""
    along = sub(b, a)
    whole = dot(along, along)
    share = dot(sub(point, a), along) / (whole if whole > 0.0 else 1.0)
    share = min(max(share, 0.0), 1.0)
    return _chosen(whole <= 0.0, a, add_scaled(a, along, share))


@inlined_kernel
def _nearer(best, other, point):
    """The one of two points that is nearer to a place."""
    p, q = sub(best, point), sub(other, point)
    return _chosen(dot(q, q) < dot(p, p), other, best)


@inlined_kernel
def _on_triangle(a, b, c, point):
    """`bvh_points.on_triangle` without branches."""
    ab, ac, ap = sub(b, a), sub(c, a), sub(point, a)
    bp, cp = sub(point, b), sub(point, c)
    d1, d2, d3 = dot(ab, ap), dot(ac, ap), dot(ab, bp)
    d4, d5, d6 = dot(ac, bp), dot(ab, cp), dot(ac, cp)
    wa, wb, wc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    whole = wa + wb + wc
    longest = dot(ab, ab) + dot(ac, ac)
    outside = (wa <= 0.0) | (wb <= 0.0) | (wc <= 0.0) | (whole <= 1.0e-20 * longest * longest)
    whole = whole if whole > 0.0 else 1.0
    inside = add(add_scaled(a, ab, wb / whole), scale(ac, wc / whole))
    edge = _nearer(_on_segment(a, b, point), _on_segment(b, c, point), point)
    edge = _nearer(edge, _on_segment(c, a, point), point)
    found = _chosen(outside, edge, inside)
    found = _chosen((d6 >= 0.0) & (d5 <= d6), c, found)
    found = _chosen((d3 >= 0.0) & (d4 <= d3), b, found)
    return _chosen((d1 <= 0.0) & (d2 <= 0.0), a, found)


@inlined_kernel
def _gap(a, b, c, value):
    """How far a number is outside of the interval that three others span."""
    low, high = min(a, b, c), max(a, b, c)
    below, above = low - value, value - high
    return below if value < low else (above if value > high else 0.0)


@kernel
def nearest_at_once(table, count):
    """Find the point of each triangle that is next to its place, in the first `count` columns."""
    for n in range(count):
        a, b, c = (
            three(table, CORNERS, n),
            three(table, CORNERS + 3, n),
            three(table, CORNERS + 6, n),
        )
        point = three(table, PLACE, n)
        found = _on_triangle(a, b, c, point)
        offset = sub(found, point)
        x = _gap(a[0], b[0], c[0], point[0])
        y = _gap(a[1], b[1], c[1], point[1])
        z = _gap(a[2], b[2], c[2], point[2])
        put_three(table, FOUND, n, found)
        table[SQUARE, n] = max(dot(offset, offset), x * x + y * y + z * z)
