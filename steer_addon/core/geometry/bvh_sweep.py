"""What an upright line meets that moves straight: a body's axis among the triangles of a tree.

Seen from the moving line, triangles are sheared along the way so that it stays at one height. What
it can meet of a triangle is its section with the upright plane of the way, a straight line, cut to
the heights of the line. Edges that two triangles share give both the same section, so nothing slips
between them.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel, scratch
from ..numeric.vec import load
from .bvh_build import STACK
from .bvh_rays import inverse_of, ray_cast, span


@kernel
def _seen(triangles, i, k, origin, way):
    """Corner k of triangle i as the moving line sees it: beside the way, along it, above."""
    along_x, along_y, slope = way
    x, y, z = load(triangles[i], k)
    x, y = x - origin[0], y - origin[1]
    along = along_x * x + along_y * y
    return along_x * y - along_y * x, along, z - origin[2] - slope * along


@kernel
def _in_plane(p, q):
    """Where an edge passes through the plane of the way; its ends are not on one side of it."""
    if q[0] < p[0]:
        p, q = q, p
    share = p[0] / (p[0] - q[0]) if q[0] > p[0] else 0.0
    return (p[1] + (q[1] - p[1]) * share, p[2] + (q[2] - p[2]) * share)


@kernel
def _cut_along(a, b, height):
    """How far along the way a section is at a height; its ends are not on one side of it."""
    if b[1] < a[1]:
        a, b = b, a
    share = (height - a[1]) / (b[1] - a[1]) if b[1] > a[1] else 0.0
    return a[0] + (b[0] - a[0]) * share


@kernel
def _met(a, b, c, tall):
    """Where the line begins to meet a triangle: (whether it does, how far along the way)."""
    one_side = max(a[0], b[0], c[0]) < 0.0 or min(a[0], b[0], c[0]) > 0.0
    if one_side or (a[0] == 0.0 and b[0] == 0.0 and c[0] == 0.0):
        return False, 0.0
    start, stop, known, size = (0.0, 0.0), (0.0, 0.0), False, 0.0
    for p, q in ((a, b), (b, c), (c, a)):
        if (p[0] < 0.0 and q[0] < 0.0) or (p[0] > 0.0 and q[0] > 0.0):
            continue
        flat = p[0] == q[0]
        first = (p[1], p[2]) if flat else _in_plane(p, q)
        for place in (first, (q[1], q[2]) if flat else first):
            if not known:
                start, stop, known = place, place, True
            along, above = place[0] - start[0], place[1] - start[1]
            if along * along + above * above > size:
                stop, size = place, along * along + above * above
    if max(start[1], stop[1]) < 0.0 or min(start[1], stop[1]) > tall:
        return False, 0.0
    begin, end = start[0], stop[0]
    if start[1] < 0.0 or start[1] > tall:
        begin = _cut_along(start, stop, 0.0 if start[1] < 0.0 else tall)
    if stop[1] < 0.0 or stop[1] > tall:
        end = _cut_along(start, stop, 0.0 if stop[1] < 0.0 else tall)
    return True, min(begin, end)


@kernel
def _box_span(box, i, tall, before, behind, inverse):
    """`span` of a node that reaches down by the height of the line, whose lower end is the ray."""
    return span(
        np.float64(box[i, 0]), np.float64(box[i, 1]), np.float64(box[i, 2]) - tall,
        np.float64(box[i, 3]), np.float64(box[i, 4]), np.float64(box[i, 5]),
        before, behind, inverse,
    )  # fmt: skip


@kernel
def _own_span(triangles, i, tall, before, behind, inverse):
    """`_box_span` of the box of a triangle."""
    a, b, c = load(triangles[i], 0), load(triangles[i], 1), load(triangles[i], 2)
    return span(
        min(a[0], b[0], c[0]), min(a[1], b[1], c[1]), min(a[2], b[2], c[2]) - tall,
        max(a[0], b[0], c[0]), max(a[1], b[1], c[1]), max(a[2], b[2], c[2]),
        before, behind, inverse,
    )  # fmt: skip


@kernel
def _meet_leaf(bvh, node, origin, tall, ray, chosen, best):
    """The better one of the best meeting so far and those in a leaf."""
    way, level, inverse, before, behind, margin = ray
    for k in range(bvh.link[node, 0], bvh.link[node, 0] + bvh.link[node, 2]):
        i = int(bvh.order[k])
        a = _seen(bvh.triangles, i, 0, origin, way)
        b = _seen(bvh.triangles, i, 1, origin, way)
        c = _seen(bvh.triangles, i, 2, origin, way)
        met, along = _met(a, b, c, tall)
        distance = along / level
        if met and -margin <= distance <= best:
            enter, leave = _own_span(bvh.triangles, i, tall, before, behind, inverse)
            distance = min(max(distance, enter), leave)
            if enter <= leave and (distance < best or (distance == best and i < chosen)):
                best, chosen = distance, i
            elif enter <= leave and distance == best and chosen < 0:
                chosen = i
    return chosen, best


@kernel
def _sweep(origin, direction, level):
    """What all tests of one line share: its way, how level it is, slabs, and the margin."""
    way = (direction[0] / level, direction[1] / level, direction[2] / level)
    inverse = (inverse_of(direction[0]), inverse_of(direction[1]), inverse_of(direction[2]))
    # as for rays, far more than what rounding can do
    margin = 1.0e-9 * (1.0 + max(abs(origin[0]), abs(origin[1]), abs(origin[2])))
    before = (origin[0] - margin, origin[1] - margin, origin[2] - margin)
    behind = (origin[0] + margin, origin[1] + margin, origin[2] + margin)
    return way, level, inverse, before, behind, margin


@kernel
def sweep_cast(bvh, origin, direction, max_distance, tall):
    """The first triangle that an upright line meets that moves straight, from either side.

    Triangles that cross the line where it starts are not met: a body leaves what it stands in.

    Args:
        bvh: BvhView.
        origin: Start of the lower end of the line (x, y, z) [m].
        direction: Unit direction (x, y, z) in which it moves.
        max_distance: Length of its way [m]; may be infinite.
        tall: Length of the line [m]; with 0 it is a ray, and all is as `ray_cast` has it.

    Returns:
        (triangle, distance [m]); (-1, max_distance) when nothing is met.
    """
    level = math.sqrt(direction[0] * direction[0] + direction[1] * direction[1])
    if not tall > 0.0:
        return ray_cast(bvh, origin, direction, max_distance)
    if not level > 1.0e-9:
        up = tall if direction[2] > 0.0 else 0.0
        end = (origin[0], origin[1], origin[2] + up)
        return ray_cast(bvh, end, direction, max_distance)
    box, link = bvh.box, bvh.link
    best, chosen = float(max_distance), -1
    finite = abs(origin[0]) + abs(origin[1]) + abs(origin[2]) + tall < np.inf
    if len(link) == 0 or not finite or not level < np.inf or not best >= 0.0:
        return chosen, best
    ray = _sweep(origin, direction, level)
    _way, _level, inverse, before, behind, _margin = ray
    enter, leave = _box_span(box, 0, tall, before, behind, inverse)
    if enter > leave or enter > best:
        return chosen, best
    stack = scratch(STACK, 2)
    stack[0, 0], stack[0, 1] = 0, enter
    waiting = 1
    while waiting > 0:
        waiting -= 1
        if stack[waiting, 1] > best:
            continue
        node = int(stack[waiting, 0])
        while link[node, 2] == 0:
            near, far = link[node, 0], link[node, 1]
            near_in, near_out = _box_span(box, near, tall, before, behind, inverse)
            far_in, far_out = _box_span(box, far, tall, before, behind, inverse)
            near_met = near_in <= near_out and near_in <= best
            far_met = far_in <= far_out and far_in <= best
            if not (near_met or far_met):
                break
            if near_met and far_met:
                if far_in < near_in:
                    near, far, far_in = far, near, near_in
                stack[waiting, 0], stack[waiting, 1] = far, far_in
                waiting += 1
            node = near if near_met else far
        if link[node, 2] > 0:
            chosen, best = _meet_leaf(bvh, node, origin, tall, ray, chosen, best)
    return chosen, best
