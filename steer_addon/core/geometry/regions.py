"""Boxes, spheres and closed meshes as regions to stay in: places inside, mirrors, far sides.

A step inside a region starts at the nearest place inside it, follows the displacement, and at the
surface either mirrors the rest of it (bounce) or continues it at the far side (wrap). The result
is never outside: all surfaces are taken a trifle farther inside (MARGIN), so that rounding to
32 bits cannot carry a place out.

Box and sphere work on offsets from their center.
"""

from __future__ import annotations

import math

import numpy as np

from ..bounds import LARGEST
from ..compiled.jit import kernel
from ..numeric.vec import add, add_scaled, cross, dot, length, load, scale, sub, truncate, unit
from .bvh import nearest_point, ray_cast, triangle_corners, triangle_normal

MOST_HITS = 16
"""How often one step may meet the surface; the rest of it then ends there."""
MARGIN = 2.5e-7
"""How much farther inside surfaces are taken, as a share of the largest coordinate."""
FREE = 1.0e30
"""Half size of a box along an axis that does not count."""
TINY = 1.0e-12


@kernel
def level(v):
    """The horizontal part of a vector."""
    return (v[0], v[1], 0.0)


@kernel
def mirrored(v, normal):
    """A vector mirrored at a plane with this unit normal."""
    return add_scaled(v, normal, -2.0 * dot(v, normal))


@kernel
def rounded(v):
    """A point as 32-bit arrays keep it, see `vec.store`."""
    return (
        np.float64(np.float32(min(max(v[0], -LARGEST), LARGEST))),
        np.float64(np.float32(min(max(v[1], -LARGEST), LARGEST))),
        np.float64(np.float32(min(max(v[2], -LARGEST), LARGEST))),
    )


@kernel
def largest(v):
    """The largest size of a component."""
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@kernel
def box_frame(axes, half, margin, flat):
    """Three square unit axes of a box and its half sizes along them: (axes, half sizes [m]).

    In a flat crowd the box is set upright: its steepest axis becomes the vertical one, along which
    it has no ends, and the others are turned level.
    """
    first, second, third = 0, 1, 2
    if flat:
        for k in range(3):
            if abs(axes[k, 2]) > abs(axes[third, 2]):
                third = k
        first, second = (third + 1) % 3, (third + 2) % 3
    size_a = max(half[first] - margin, 0.0)
    size_b = max(half[second] - margin, 0.0)
    size_c = max(half[third] - margin, 0.0)
    a, b = load(axes, first), load(axes, second)
    if flat:
        a, b, size_c = level(a), level(b), FREE
    a = unit(a)
    b = unit(add_scaled(b, a, -dot(a, b)))
    return (a, b, cross(a, b)), (size_a, size_b, size_c)


@kernel
def _clamped(value, half):
    return min(max(value, -half), half)


@kernel
def into_box(offset, frame, half):
    """The place in a box that is nearest to an offset from its center."""
    a, b, c = frame
    place = scale(a, _clamped(dot(offset, a), half[0]))
    place = add_scaled(place, b, _clamped(dot(offset, b), half[1]))
    return add_scaled(place, c, _clamped(dot(offset, c), half[2]))


@kernel
def _folded(value, half, wrap):
    """A coordinate mirrored or wrapped at ±half until it is between: (coordinate, its sign)."""
    if abs(value) <= half:
        return value, 1.0
    whole = 2.0 * half if wrap else 4.0 * half
    if whole < TINY:
        return 0.0, 1.0 if wrap else -1.0
    rest = (value + half) % whole
    if wrap or rest <= 2.0 * half:
        return _clamped(rest - half, half), 1.0
    return _clamped(3.0 * half - rest, half), -1.0


@kernel
def step_in_box(start, move, velocity, frame, half, wrap):
    """A step inside a box: (offset after it, velocity)."""
    place = (0.0, 0.0, 0.0)
    for k in range(3):
        axis = frame[k]
        from_here = _clamped(dot(start, axis), half[k])
        coordinate, sign = _folded(from_here + dot(move, axis), half[k], wrap)
        place = add_scaled(place, axis, coordinate)
        if sign < 0.0:
            velocity = mirrored(velocity, axis)
    return place, velocity


@kernel
def _wrapped_in_sphere(start, move, radius):
    """The place after a step that leaves a sphere: on along the same chord, from its other end.

    All rounds at once. A grazing step goes round a short chord often: its length counts, not how
    often, and the limit is the place where it touches.
    """
    ahead = scale(move, 1.0 / length(move))
    along = dot(start, ahead)
    middle = add_scaled(start, ahead, -along)
    half = math.sqrt(max(radius * radius - dot(middle, middle), 0.0))
    there, _sign = _folded(along + length(move), half, True)
    return truncate(add_scaled(middle, ahead, there), radius)


@kernel
def step_in_sphere(start, move, velocity, radius, wrap):
    """A step inside a sphere: (offset after it, velocity).

    The far side is where the line of motion, followed backward, leaves the sphere.
    """
    start = truncate(start, radius)
    if wrap and length(move) > TINY and length(add(start, move)) > radius:
        return _wrapped_in_sphere(start, move, radius), velocity
    for _hit in range(MOST_HITS):
        square = dot(move, move)
        if length(add(start, move)) <= radius or square < TINY * TINY:
            break
        along = dot(start, move)
        gap = max(radius * radius - dot(start, start), 0.0)
        share = (math.sqrt(along * along + square * gap) - along) / square
        share = min(max(share, 0.0), 1.0)
        start = add_scaled(start, move, share)
        out = unit(start)
        move = mirrored(scale(move, 1.0 - share), out)
        velocity = mirrored(velocity, out)
    return truncate(add(start, move), radius), velocity


@kernel
def _corners_of(tree):
    """The lower and the upper corner of a mesh's box [m]."""
    box = tree.box
    return (
        (np.float64(box[0, 0]), np.float64(box[0, 1]), np.float64(box[0, 2])),
        (np.float64(box[0, 3]), np.float64(box[0, 4]), np.float64(box[0, 5])),
    )


@kernel
def mesh_margin(tree):
    """How far inside [m] the surface of a mesh is taken."""
    low, high = _corners_of(tree)
    return MARGIN * max(largest(low), largest(high))


@kernel
def mesh_outward(tree):
    """1 where the normals of a closed mesh point out, -1 where in: a ray from outside tells."""
    low, high = _corners_of(tree)
    size = sub(high, low)
    # odd shares, so that the ray meets no edge of a regular mesh
    eye = sub(low, (0.51 * size[0] + 1.0, 0.73 * size[1] + 1.0, 0.94 * size[2] + 1.0))
    a, b, c = triangle_corners(tree, 0)
    ahead = unit(sub(scale(add(add(a, b), c), 1.0 / 3.0), eye))
    triangle, _distance = ray_cast(tree, eye, ahead, np.inf)
    if triangle >= 0 and dot(triangle_normal(tree, triangle), ahead) > 0.0:
        return -1.0
    return 1.0


@kernel
def look_in_mesh(tree, outward, point, ahead):
    """What a ray tells about a point: (inside, distance to the surface [m], normal against it).

    The surface shows its back to those inside, whatever its shape: one ray is enough. It has to be
    closed. A ray that meets nothing starts outside.
    """
    triangle, distance = ray_cast(tree, point, ahead, np.inf)
    if triangle < 0:
        return False, np.inf, (0.0, 0.0, 0.0)
    normal = triangle_normal(tree, triangle)
    facing = dot(normal, ahead)
    if facing > 0.0:
        normal = scale(normal, -1.0)
    return facing * outward > 0.0, distance, normal


@kernel
def _toward_inside(tree, outward, point, flat):
    """Unit directions from a point outside that lead in: by the nearest face, and to the middle.

    The first one aims below the face, away from its edges, since a mesh is thin beside these.
    """
    triangle, nearest, _distance = nearest_point(tree, point, np.inf)
    a, b, c = triangle_corners(tree, triangle)
    aside = scale(sub(scale(add(add(a, b), c), 1.0 / 3.0), nearest), 0.01)
    depth = max(length(aside), 1.0e-3 * length(sub(b, a)))
    aim = add_scaled(add(nearest, aside), triangle_normal(tree, triangle), -outward * depth)
    low, high = _corners_of(tree)
    middle = scale(add(low, high), 0.5)
    short, straight = sub(aim, point), sub(middle, point)
    if flat:
        short, straight = level(short), level(straight)
    return unit(short), unit(straight)


@kernel
def into_mesh(tree, outward, point, margin, flat):
    """A place just inside a mesh, near a point outside: (found, place).

    In a flat crowd it is as high as the point, and there is none where the mesh is not that high.
    """
    short, straight = _toward_inside(tree, outward, point, flat)
    for ahead in (short, straight):
        _inside, distance, _normal = look_in_mesh(tree, outward, point, ahead)
        if distance < np.inf:
            place = rounded(add_scaled(point, ahead, distance + 4.0 * margin))
            if look_in_mesh(tree, outward, place, ahead)[0]:
                return True, place
    return False, point


@kernel
def step_in_mesh(tree, outward, margin, start, move, velocity, forward, wrap, flat):
    """A step inside a closed mesh: (whether it can be held inside, place after it, velocity).

    The far side is where the line of motion, followed backward, leaves the mesh. In a flat crowd
    `start` and `move` are level, and so are all reflections.
    """
    size = length(move)
    ahead = scale(move, 1.0 / size) if size > TINY else forward
    inside, reach, normal = look_in_mesh(tree, outward, start, ahead)
    if not inside:
        inside, start = into_mesh(tree, outward, start, margin, flat)
        if not inside:
            return False, start, velocity
        inside, reach, normal = look_in_mesh(tree, outward, start, ahead)
    if reach > size + margin:
        return True, add(start, move), velocity
    safe, first = start, ahead
    for _hit in range(MOST_HITS):
        back = max(min(reach - margin, size), 0.0)
        start = add_scaled(start, ahead, back)
        size -= back
        if wrap:
            _inside, behind, _normal = look_in_mesh(tree, outward, start, scale(ahead, -1.0))
            if behind < np.inf:
                start = add_scaled(start, ahead, min(4.0 * margin - behind, 0.0))
        else:
            normal = unit(level(normal)) if flat else normal
            ahead, velocity = mirrored(ahead, normal), mirrored(velocity, normal)
        inside, reach, normal = look_in_mesh(tree, outward, start, ahead)
        if not inside:
            break
        if reach > size + margin:
            start = add_scaled(start, ahead, size)
            break
    start = rounded(start)
    if look_in_mesh(tree, outward, start, first)[0]:
        return True, start, velocity
    return True, safe, velocity
