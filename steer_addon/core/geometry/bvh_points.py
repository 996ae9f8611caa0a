"""Nearest surface points on the triangles of a tree; use it through `bvh`.

Source: Ericson 2005, "Real-Time Collision Detection", 5.1.5.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel, scratch
from ..numeric.vec import add, add_scaled, dot, load, scale, sub
from .bvh_build import STACK
from .bvh_rays import face_normal


@kernel
def load_corners(triangles, i):
    """The three corners of triangle i [m]."""
    corners = triangles[i]
    return load(corners, 0), load(corners, 1), load(corners, 2)


@kernel
def triangle_corners(bvh, triangle):
    """The three corners of a triangle [m]."""
    return load_corners(bvh.triangles, triangle)


@kernel
def triangle_normal(bvh, triangle):
    """Unit normal of a triangle, by the right hand; the zero vector for one without area."""
    a, b, c = triangle_corners(bvh, triangle)
    return face_normal(a, b, c)


@kernel
def on_segment(a, b, point):
    """The point of a segment next to a point."""
    along = sub(b, a)
    whole = dot(along, along)
    if whole <= 0.0:
        return a
    return add_scaled(a, along, min(max(dot(sub(point, a), along) / whole, 0.0), 1.0))


@kernel
def _on_edges(a, b, c, point):
    """The point of a triangle's outline next to a point."""
    best = on_segment(a, b, point)
    for start, stop in ((b, c), (c, a)):
        other = on_segment(start, stop, point)
        p, q = sub(best, point), sub(other, point)
        if dot(q, q) < dot(p, p):
            best = other
    return best


@kernel
def on_triangle(a, b, c, point):
    """The point of a triangle next to a point."""
    ab, ac, ap = sub(b, a), sub(c, a), sub(point, a)
    d1, d2 = dot(ab, ap), dot(ac, ap)
    if d1 <= 0.0 and d2 <= 0.0:
        return a
    bp = sub(point, b)
    d3, d4 = dot(ab, bp), dot(ac, bp)
    if d3 >= 0.0 and d4 <= d3:
        return b
    cp = sub(point, c)
    d5, d6 = dot(ab, cp), dot(ac, cp)
    if d6 >= 0.0 and d5 <= d6:
        return c
    wa, wb, wc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    whole = wa + wb + wc
    longest = dot(ab, ab) + dot(ac, ac)
    # outside of an edge, or so thin that the sides cannot be told: the outline decides
    if wa <= 0.0 or wb <= 0.0 or wc <= 0.0 or whole <= 1.0e-20 * longest * longest:
        return _on_edges(a, b, c, point)
    return add(add_scaled(a, ab, wb / whole), scale(ac, wc / whole))


@kernel
def beyond(low, high, value):
    """How far a number is outside of an interval."""
    if value < low:
        return low - value
    return value - high if value > high else 0.0


@kernel
def node_distance(box, i, point):
    """Squared distance from a point to box i [m²]."""
    x = beyond(np.float64(box[i, 0]), np.float64(box[i, 3]), point[0])
    y = beyond(np.float64(box[i, 1]), np.float64(box[i, 4]), point[1])
    z = beyond(np.float64(box[i, 2]), np.float64(box[i, 5]), point[2])
    return x * x + y * y + z * z


@kernel
def _box_distance(a, b, c, point):
    """Squared distance from a point to the box of a triangle [m²]."""
    x = beyond(min(a[0], b[0], c[0]), max(a[0], b[0], c[0]), point[0])
    y = beyond(min(a[1], b[1], c[1]), max(a[1], b[1], c[1]), point[1])
    z = beyond(min(a[2], b[2], c[2]), max(a[2], b[2], c[2]), point[2])
    return x * x + y * y + z * z


@kernel
def _is_steep(a, b, c, min_up):
    """Whether a triangle has |normal.z| < min_up; one without area has no slope and is not."""
    normal = face_normal(a, b, c)
    return abs(normal[2]) < min_up and (normal[0] != 0.0 or normal[1] != 0.0)


@kernel
def _nearer(triangles, i, point, min_up, best_triangle, found, best):
    """The better one of the nearest point so far and that of triangle i; `best` is squared [m²]."""
    a, b, c = load_corners(triangles, i)
    # most triangles of a leaf are too far away, and their boxes tell
    own = _box_distance(a, b, c, point)
    if own <= best:
        candidate = on_triangle(a, b, c, point)
        offset = sub(candidate, point)
        gap = max(dot(offset, offset), own)
        better = gap < best or (gap == best and (i < best_triangle or best_triangle < 0))
        if better and (min_up < 0.0 or _is_steep(a, b, c, min_up)):
            best_triangle, found, best = i, candidate, gap
    return best_triangle, found, best


@kernel
def nearest_point(bvh, point, max_distance):
    """The point of the surface next to a point.

    Args:
        bvh: BvhView.
        point: Where to look from (x, y, z) [m].
        max_distance: How far to look [m]; may be infinite.

    Returns:
        (triangle, (x, y, z) [m], distance [m]); (-1, point, max_distance) when nothing is near.
    """
    return _search(bvh, point, float(max_distance), -1, -1.0)


@kernel
def nearest_other(bvh, point, max_distance, skip):
    """`nearest_point` that leaves out triangle `skip`."""
    return _search(bvh, point, float(max_distance), skip, -1.0)


@kernel
def nearest_steep(bvh, point, max_distance, min_up):
    """`nearest_point` on steep triangles only, |normal.z| < min_up: walls, not floors."""
    return _search(bvh, point, float(max_distance), -1, max(float(min_up), 0.0))


@kernel
def _search(bvh, point, max_distance, skip, min_up):
    """`nearest_point` without triangle `skip`; with min_up ≥ 0 only steep triangles count."""
    box, link = bvh.box, bvh.link
    found = (float(point[0]), float(point[1]), float(point[2]))
    best, best_triangle = max_distance * max_distance, -1
    finite = abs(point[0]) + abs(point[1]) + abs(point[2]) < np.inf
    if len(link) == 0 or not finite or not max_distance >= 0.0:
        return best_triangle, found, max_distance
    stack = scratch(STACK, 2)
    stack[0, 0], stack[0, 1] = 0, node_distance(box, 0, point)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        if stack[waiting, 1] > best:
            continue
        node = int(stack[waiting, 0])
        while link[node, 2] == 0:
            near, far = link[node, 0], link[node, 1]
            near_gap = node_distance(box, near, point)
            far_gap = node_distance(box, far, point)
            if far_gap < near_gap:
                near, far, near_gap, far_gap = far, near, far_gap, near_gap
            if near_gap > best:
                break
            if far_gap <= best:
                stack[waiting, 0], stack[waiting, 1] = far, far_gap
                waiting += 1
            node = near
        for k in range(link[node, 0], link[node, 0] + link[node, 2]):
            i = int(bvh.order[k])
            if i != skip:
                best_triangle, found, best = _nearer(
                    bvh.triangles, i, point, min_up, best_triangle, found, best
                )
    if best_triangle < 0:
        return best_triangle, found, max_distance
    return best_triangle, found, math.sqrt(best)
