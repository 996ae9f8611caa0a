"""The triangle of a tree that is next to an upright line, by the level distance; the body's sides.

A body on legs is an upright cylinder: what is between its lower and its upper end counts as near as
it looks on a map. Each triangle is cut to these heights; what is left is flat, so that on the map
it is a convex outline, and the place next to the line is on this outline or right at the line.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel, scratch
from .bvh_build import STACK
from .bvh_points import beyond, load_corners

THIN = 1.0e-8
"""A triangle thinner on the map than this share of its length counts as its outline only."""
FAR = 1.0e150
"""Distance [m] beyond all coordinates, whose square is finite."""


@kernel
def cut(a, b, height):
    """Where an edge meets a height; both its ends are not on the same side of it."""
    if b[2] < a[2]:
        a, b = b, a
    share = (height - a[2]) / (b[2] - a[2]) if b[2] > a[2] else 0.0
    return (a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, height)


@kernel
def between(a, b, low, high):
    """The part of an edge between two heights, where it has one: (start, stop)."""
    start, stop = a, b
    if a[2] < low or a[2] > high:
        start = cut(a, b, low if a[2] < low else high)
    if b[2] < low or b[2] > high:
        stop = cut(a, b, low if b[2] < low else high)
    return start, stop


@kernel
def _nearer_on(a, b, x, y, square, found):
    """The nearer one of a place at a squared level distance [m²] and the next one on an edge."""
    along_x, along_y = b[0] - a[0], b[1] - a[1]
    whole = along_x * along_x + along_y * along_y
    share = 0.0
    if whole > 0.0:
        share = ((x - a[0]) * along_x + (y - a[1]) * along_y) / whole
        share = min(max(share, 0.0), 1.0)
    px, py = a[0] + along_x * share, a[1] + along_y * share
    gap = (px - x) * (px - x) + (py - y) * (py - y)
    if gap < square:
        return gap, (px, py, a[2] + (b[2] - a[2]) * share)
    return square, found


@kernel
def _nearer_on_cut(a, b, c, height, x, y, square, found):
    """`_nearer_on` of the line in which a triangle meets a height, if it passes through it."""
    below, above = min(a[2], b[2], c[2]), max(a[2], b[2], c[2])
    if not below < height < above:
        return square, found
    # the corner that is alone on its side
    if (b[2] < height) == (c[2] < height):
        a, b, c = a, b, c
    elif (a[2] < height) == (c[2] < height):
        a, b, c = b, c, a
    else:
        a, b, c = c, a, b
    return _nearer_on(cut(a, b, height), cut(a, c, height), x, y, square, found)


@kernel
def _height_at(a, b, c, x, y):
    """The height of a triangle at a place on the map; nan beside it and where it is too thin."""
    ax, ay, bx, by, cx, cy = a[0] - x, a[1] - y, b[0] - x, b[1] - y, c[0] - x, c[1] - y
    u, v, w = bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx
    if (u < 0.0 or v < 0.0 or w < 0.0) and (u > 0.0 or v > 0.0 or w > 0.0):
        return np.nan
    whole = u + v + w
    side, other = (b[0] - a[0], b[1] - a[1]), (c[0] - a[0], c[1] - a[1])
    longest = side[0] * side[0] + side[1] * side[1] + other[0] * other[0] + other[1] * other[1]
    if abs(whole) <= THIN * longest:
        return np.nan
    return (u * a[2] + v * b[2] + w * c[2]) / whole


@kernel
def flat_on_triangle(a, b, c, x, y, low, high):
    """The place of a triangle between two heights that is next to an upright line on the map.

    The triangle reaches between the heights.

    Returns:
        (squared level distance [m²], place).
    """
    height = _height_at(a, b, c, x, y)
    if low <= height <= high:
        return 0.0, (x, y, height)
    square, found = np.inf, a
    for p, q in ((a, b), (b, c), (c, a)):
        if max(p[2], q[2]) >= low and min(p[2], q[2]) <= high:
            start, stop = between(p, q, low, high)
            square, found = _nearer_on(start, stop, x, y, square, found)
    square, found = _nearer_on_cut(a, b, c, low, x, y, square, found)
    return _nearer_on_cut(a, b, c, high, x, y, square, found)


@kernel
def flat_distance(box, i, x, y, low, high):
    """Squared level distance to box i [m²]; infinite where it is below or above the heights."""
    if box[i, 5] < low or box[i, 2] > high:
        return np.inf
    along = beyond(np.float64(box[i, 0]), np.float64(box[i, 3]), x)
    across = beyond(np.float64(box[i, 1]), np.float64(box[i, 4]), y)
    return along * along + across * across


@kernel
def _own_distance(a, b, c, x, y, low, high):
    """`flat_distance` of the box of a triangle."""
    if max(a[2], b[2], c[2]) < low or min(a[2], b[2], c[2]) > high:
        return np.inf
    along = beyond(min(a[0], b[0], c[0]), max(a[0], b[0], c[0]), x)
    across = beyond(min(a[1], b[1], c[1]), max(a[1], b[1], c[1]), y)
    return along * along + across * across


@kernel
def _nearer(triangles, i, x, y, low, high, chosen, found, best):
    """The better one of the nearest place so far and that of triangle i; `best` is squared [m²]."""
    a, b, c = load_corners(triangles, i)
    own = _own_distance(a, b, c, x, y, low, high)
    if own <= best:
        gap, place = flat_on_triangle(a, b, c, x, y, low, high)
        gap = max(gap, own)
        if gap < best or (gap == best and (i < chosen or chosen < 0)):
            return i, place, gap
    return chosen, found, best


@kernel
def flat_nearest(bvh, point, low, high, reach):
    """The triangle next to an upright line, by the level distance to its part between two heights.

    A triangle that crosses the line is at distance 0, be it a wall, a floor or a table top. What
    only touches an end of the line counts. Of equally near triangles the one with the smaller
    number is taken, whatever the shape of the tree.

    Args:
        bvh: BvhView.
        point: Where the line is (x, y, z) [m]; its z is not used.
        low: Height of its lower end, z like the triangles' [m].
        high: Height of its upper end [m].
        reach: How far to look [m]; may be infinite.

    Returns:
        (triangle, distance [m], nearest place (x, y, z) [m]); (-1, reach, lower end) when nothing
        is within reach.
    """
    box, link = bvh.box, bvh.link
    x, y, reach = float(point[0]), float(point[1]), float(reach)
    chosen, found, best = -1, (x, y, float(low)), min(reach, FAR) * min(reach, FAR)
    if len(link) == 0 or not abs(x) + abs(y) < np.inf or not (reach >= 0.0 and low <= high):
        return chosen, reach, found
    if flat_distance(box, 0, x, y, low, high) > best:
        return chosen, reach, found
    stack = scratch(STACK, 2)
    stack[0, 0], stack[0, 1] = 0, 0.0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        if stack[waiting, 1] > best:
            continue
        node = int(stack[waiting, 0])
        while link[node, 2] == 0:
            near, far = link[node, 0], link[node, 1]
            near_gap = flat_distance(box, near, x, y, low, high)
            far_gap = flat_distance(box, far, x, y, low, high)
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
            chosen, found, best = _nearer(bvh.triangles, i, x, y, low, high, chosen, found, best)
    return chosen, (reach if chosen < 0 else math.sqrt(best)), found
