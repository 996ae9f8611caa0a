"""Rays against the triangles of a tree; use it through `bvh`.

Source: Woop, Benthin and Wald 2013, "Watertight Ray/Triangle Intersection", here in 64 bits. Both
triangles at a shared edge compute the same number with opposite signs, so that no ray slips
between them; no tolerance is needed, and faces have no fringe that would catch rays beside them.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel, scratch
from ..numeric.vec import cross, dot, length, load, sub
from .bvh_build import STACK

TINY = 1.0e-60
"""Direction components below this count as zero."""
WHOLE = 1.0e-5
"""How far the winding number of a closed mesh may be from a whole one."""


@kernel
def inverse_of(d):
    """1/d, and a huge number of the same sign for zero: never inf, so that no 0·inf can occur."""
    if abs(d) < TINY:
        return 1.0 / TINY if d >= 0.0 else -1.0 / TINY
    return 1.0 / d


@kernel
def span(x0, y0, z0, x1, y1, z1, before, behind, inverse):
    """Distances at which a ray enters (0 at least) and leaves a box; it misses when out < in.

    `before` and `behind` are the origin moved by the margin along each axis: the box is met as if
    it were that much larger on all sides.
    """
    a = (x0 - behind[0]) * inverse[0]
    b = (x1 - before[0]) * inverse[0]
    enter, leave = (a, b) if a < b else (b, a)
    a = (y0 - behind[1]) * inverse[1]
    b = (y1 - before[1]) * inverse[1]
    if a > b:
        a, b = b, a
    enter = a if a > enter else enter
    leave = b if b < leave else leave
    a = (z0 - behind[2]) * inverse[2]
    b = (z1 - before[2]) * inverse[2]
    if a > b:
        a, b = b, a
    enter = a if a > enter else enter
    leave = b if b < leave else leave
    return enter if enter > 0.0 else 0.0, leave


@kernel
def _node_span(box, i, before, behind, inverse):
    """`span` of a node."""
    return span(
        np.float64(box[i, 0]), np.float64(box[i, 1]), np.float64(box[i, 2]),
        np.float64(box[i, 3]), np.float64(box[i, 4]), np.float64(box[i, 5]),
        before, behind, inverse,
    )  # fmt: skip


@kernel
def _hit(triangles, i, origin, axes, shear):
    """Signed distance at which the line meets triangle i: (met, distance)."""
    x, y, z = axes
    az = np.float64(triangles[i, 0, z]) - origin[z]
    bz = np.float64(triangles[i, 1, z]) - origin[z]
    cz = np.float64(triangles[i, 2, z]) - origin[z]
    ax = np.float64(triangles[i, 0, x]) - origin[x] - shear[0] * az
    bx = np.float64(triangles[i, 1, x]) - origin[x] - shear[0] * bz
    cx = np.float64(triangles[i, 2, x]) - origin[x] - shear[0] * cz
    ay = np.float64(triangles[i, 0, y]) - origin[y] - shear[1] * az
    by = np.float64(triangles[i, 1, y]) - origin[y] - shear[1] * bz
    cy = np.float64(triangles[i, 2, y]) - origin[y] - shear[1] * cz
    u = cx * by - cy * bx
    v = ax * cy - ay * cx
    w = bx * ay - by * ax
    if (u < 0.0 or v < 0.0 or w < 0.0) and (u > 0.0 or v > 0.0 or w > 0.0):
        return False, 0.0
    whole = u + v + w
    if whole == 0.0:
        return False, 0.0
    return True, (u * az + v * bz + w * cz) * shear[2] / whole


@kernel
def _own_span(triangles, i, before, behind, inverse):
    """`span` of the box of triangle i itself."""
    return span(
        np.float64(min(triangles[i, 0, 0], triangles[i, 1, 0], triangles[i, 2, 0])),
        np.float64(min(triangles[i, 0, 1], triangles[i, 1, 1], triangles[i, 2, 1])),
        np.float64(min(triangles[i, 0, 2], triangles[i, 1, 2], triangles[i, 2, 2])),
        np.float64(max(triangles[i, 0, 0], triangles[i, 1, 0], triangles[i, 2, 0])),
        np.float64(max(triangles[i, 0, 1], triangles[i, 1, 1], triangles[i, 2, 1])),
        np.float64(max(triangles[i, 0, 2], triangles[i, 1, 2], triangles[i, 2, 2])),
        before,
        behind,
        inverse,
    )


@kernel
def _ray(origin, direction):
    """What all tests of one ray share: axes and shear of Woop's test, slabs, and the margin."""
    a, b, c = direction
    inverse = (inverse_of(a), inverse_of(b), inverse_of(c))
    if abs(c) >= abs(a) and abs(c) >= abs(b):
        x, y, z = 0, 1, 2
        shear = (a * inverse[2], b * inverse[2], inverse[2])
    elif abs(b) >= abs(a):
        x, y, z = 2, 0, 1
        shear = (c * inverse[1], a * inverse[1], inverse[1])
    else:
        x, y, z = 1, 2, 0
        shear = (b * inverse[0], c * inverse[0], inverse[0])
    # far more than what rounding can do to `_hit`, so that no box hides a hit on its boundary
    margin = 1.0e-9 * (1.0 + max(abs(origin[0]), abs(origin[1]), abs(origin[2])))
    before = (origin[0] - margin, origin[1] - margin, origin[2] - margin)
    behind = (origin[0] + margin, origin[1] + margin, origin[2] + margin)
    return (x, y, z), shear, inverse, before, behind, margin


@kernel
def face_normal(a, b, c):
    """Unit normal of a triangle, by the right hand; the zero vector for one without area."""
    p, q = sub(b, a), sub(c, a)
    normal = cross(p, q)
    size = math.sqrt(dot(normal, normal))
    # what rounding alone makes of three points on a line is no normal
    if size <= 1.0e-12 * (dot(p, p) + dot(q, q)) or size < TINY:
        return (0.0, 0.0, 0.0)
    return (normal[0] / size, normal[1] / size, normal[2] / size)


@kernel
def _stops(triangles, i, direction, min_up):
    """Whether triangle i stops a walker: it is steep, or is met from below like a low ceiling."""
    corners = triangles[i]
    a = load(corners, 0)
    normal = face_normal(a, load(corners, 1), load(corners, 2))
    if abs(normal[2]) < min_up:
        return normal[0] != 0.0 or normal[1] != 0.0
    return dot(normal, direction) * normal[2] > 1.0e-6


@kernel
def _cast_at_leaf(triangles, order, start, stop, origin, direction, ray, min_up, chosen, best):
    """The better one of the best hit so far and the hits in a leaf."""
    axes, shear, inverse, before, behind, margin = ray
    for k in range(start, stop):
        i = int(order[k])
        met, distance = _hit(triangles, i, origin, axes, shear)
        if met and -margin <= distance <= best:
            enter, leave = _own_span(triangles, i, before, behind, inverse)
            distance = min(max(distance, enter), leave)
            if enter > leave or not (distance < best or i < chosen or chosen < 0):
                continue
            if distance <= best and (min_up < 0.0 or _stops(triangles, i, direction, min_up)):
                best, chosen = distance, i
    return chosen, best


@kernel
def ray_cast(bvh, origin, direction, max_distance):
    """The first triangle that a ray meets, from either side.

    A ray that starts on a face meets it at distance 0; one that lies in the plane of a face, or has
    no direction, does not meet it.

    Args:
        bvh: BvhView.
        origin: Start (x, y, z) [m].
        direction: Unit direction (x, y, z).
        max_distance: Length of the ray [m]; may be infinite.

    Returns:
        (triangle, distance [m]); (-1, max_distance) when nothing is met.
    """
    return _cast(bvh, origin, direction, float(max_distance), -1.0)


@kernel
def ray_cast_stops(bvh, origin, direction, max_distance, min_up):
    """The first triangle that would stop a walker: `ray_cast` through all other ones.

    Steep faces do, |normal.z| < min_up, and those that the ray meets from below: a ceiling that
    comes down. Arguments and result are those of `ray_cast`.
    """
    return _cast(bvh, origin, direction, float(max_distance), max(float(min_up), 0.0))


@kernel
def _cast(bvh, origin, direction, max_distance, min_up):
    """The loop of both casts; min_up < 0 takes every triangle."""
    box, link = bvh.box, bvh.link
    best, chosen = max_distance, -1
    reach = max(abs(direction[0]), abs(direction[1]), abs(direction[2]))
    finite = abs(origin[0]) + abs(origin[1]) + abs(origin[2]) < np.inf
    if len(link) == 0 or not finite or not TINY < reach < np.inf or not best >= 0.0:
        return chosen, best
    ray = _ray(origin, direction)
    _axes, _shear, inverse, before, behind, _margin = ray
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
            near_in, near_out = _node_span(box, near, before, behind, inverse)
            far_in, far_out = _node_span(box, far, before, behind, inverse)
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
        start, stop = link[node, 0], link[node, 0] + link[node, 2]
        chosen, best = _cast_at_leaf(
            bvh.triangles, bvh.order, start, stop, origin, direction, ray, min_up, chosen, best
        )
    return chosen, best


@kernel
def ray_winding(bvh, origin, direction, low, high):
    """How often the triangles low to high - 1 wind around a point, as one ray tells.

    Faces that the ray leaves through count 1, those that it enters through -1: for a closed mesh
    with normals outward the sum is 1 inside and 0 outside, for one inside out -1 and 0.
    """
    winding = 0
    if len(bvh.link) == 0:
        return winding
    axes, shear, inverse, before, behind, _margin = _ray(origin, direction)
    box, link, order, triangles = bvh.box, bvh.link, bvh.order, bvh.triangles
    stack = scratch(STACK, 1)
    stack[0, 0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = int(stack[waiting, 0])
        enter, leave = _node_span(box, node, before, behind, inverse)
        if enter > leave:
            continue
        if link[node, 2] == 0:
            stack[waiting, 0], stack[waiting + 1, 0] = link[node, 0], link[node, 1]
            waiting += 2
            continue
        for k in range(link[node, 0], link[node, 0] + link[node, 2]):
            i = int(order[k])
            if low <= i < high:
                met, distance = _hit(triangles, i, origin, axes, shear)
                if met and distance > 0.0:
                    corners = triangles[i]
                    a, b, c = load(corners, 0), load(corners, 1), load(corners, 2)
                    facing = dot(face_normal(a, b, c), direction)
                    winding += 1 if facing > 0.0 else (-1 if facing < 0.0 else 0)
    return winding


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
