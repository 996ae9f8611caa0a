"""Planes of a cell that keep an agent away from the colliders near it.

For a triangle whose nearest point to the agent is x, at the distance d, the plane across the way
to x is moved toward the agent by its radius: the triangle lies behind it, since it is convex. So
the straight way to any place in the cell crosses no triangle. Where the agent is nearer than its
radius already, it may not come any nearer.

The triangles are taken nearest first, and those that lie behind a plane found before add none: a
wall of many faces is one plane.

In a flat crowd bodies are upright: of a triangle that part counts which is between the lower end
of a body's axis, a step above its feet, and its head, and distances are level. So what hangs lower
than the head blocks, and what is no higher than a step does not.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled.jit import kernel, scratch
from ..geometry.bvh_build import STACK
from ..geometry.bvh_flat import between, flat_distance, flat_on_triangle
from ..geometry.bvh_points import (
    load_corners,
    node_distance,
    on_triangle,
    triangle_corners,
)
from ..geometry.bvh_rays import face_normal
from ..numeric.vec import dot, length, scale, sub

WALLS = 12
"""Most walls that one cell takes; with more, the agent goes no farther than to the next one."""
BEHIND = 1.0e-6
"""How far in front of a plane [m] a triangle still counts as behind it."""
MARGIN = 1.0e-4
"""Least distance [m] between a center and a wall."""
ROUNDING = 1.0e-6
"""The same as a share of the coordinates, which have 32 bits."""


@kernel
def wall_margin(point):
    """Least distance [m] from a wall that rounding cannot take away."""
    return MARGIN + ROUNDING * max(abs(point[0]), abs(point[1]), abs(point[2]))


@kernel
def _is_behind(a, b, c, point, plane, first, count):
    """Whether a triangle lies behind one of the planes."""
    a, b, c = sub(a, point), sub(b, point), sub(c, point)
    for k in range(first, count):
        normal = (plane[k, 0], plane[k, 1], plane[k, 2])
        nearest = min(dot(normal, a), dot(normal, b), dot(normal, c))
        if nearest >= plane[k, 5] - BEHIND:
            return True
    return False


@kernel
def _part_is_behind(a, b, c, point, tall, plane, first, count):
    """`_is_behind` of the part of a triangle that a body on legs can meet."""
    if _is_behind(a, b, c, point, plane, first, count):
        return True
    low, high = point[2], point[2] + tall
    if min(a[2], b[2], c[2]) >= low and max(a[2], b[2], c[2]) <= high:
        return False
    for k in range(first, count):
        nearest = np.inf
        for p, q in ((a, b), (b, c), (c, a)):
            if max(p[2], q[2]) >= low and min(p[2], q[2]) <= high:
                for end in between(p, q, low, high):
                    x, y = end[0] - point[0], end[1] - point[1]
                    nearest = min(nearest, plane[k, 0] * x + plane[k, 1] * y)
        if nearest >= plane[k, 5] - BEHIND:
            return True
    return False


@kernel
def _box_distance(box, node, point, flat, tall):
    """Squared distance from a body's center, or its axis, to a box; inf above or below the axis."""
    if flat:
        return flat_distance(box, node, point[0], point[1], point[2], point[2] + tall)
    return node_distance(box, node, point)


@kernel
def _wall(triangles, t, point, flat, tall, best, chosen, plane, first, count):
    """Whether a triangle is nearer than the best: (whether it is, squared distance, place)."""
    a, b, c = load_corners(triangles, t)
    if flat:
        low, high = point[2], point[2] + tall
        if max(a[2], b[2], c[2]) < low or min(a[2], b[2], c[2]) > high:
            return False, best, point
        square, place = flat_on_triangle(a, b, c, point[0], point[1], low, high)
        place = (place[0], place[1], point[2])
    else:
        place = on_triangle(a, b, c, point)
        offset = sub(place, point)
        square = dot(offset, offset)
    if square > best or (square == best and t > chosen):
        return False, best, point
    if flat:
        hidden = _part_is_behind(a, b, c, point, tall, plane, first, count)
    else:
        hidden = _is_behind(a, b, c, point, plane, first, count)
    return not hidden, square, place


@kernel
def next_wall(tree, point, reach, flat, tall, plane, first, count, low, high):
    """The nearest triangle that is not behind any of the planes first to count - 1.

    Only the triangles low to high - 1 are looked at.

    Returns:
        (triangle or -1, its nearest point, distance [m]); reach when there is none.
    """
    best, chosen, found = reach * reach, -1, point
    if len(tree.link) == 0 or _box_distance(tree.box, 0, point, flat, tall) > best:
        return chosen, found, reach
    stack = scratch(STACK, 1)
    stack[0, 0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = int(stack[waiting, 0])
        if _box_distance(tree.box, node, point, flat, tall) > best:
            continue
        size = tree.link[node, 2]
        if size == 0:
            stack[waiting, 0], stack[waiting + 1, 0] = tree.link[node, 1], tree.link[node, 0]
            waiting += 2
            continue
        for k in range(tree.link[node, 0], tree.link[node, 0] + size):
            t = int(tree.order[k])
            if low <= t < high:
                nearer, square, place = _wall(
                    tree.triangles, t, point, flat, tall, best, chosen, plane, first, count
                )
                if nearer:
                    best, chosen, found = square, t, place
    return chosen, found, math.sqrt(best)


@kernel
def _away(tree, triangle, point, place, distance, flat):
    """Unit direction from an agent to a wall; by the face when the agent stands on it."""
    if distance > 1.0e-9:
        return scale(sub(place, point), 1.0 / distance)
    a, b, c = triangle_corners(tree, triangle)
    normal = face_normal(a, b, c)
    inward = (-normal[0], -normal[1], 0.0 if flat else -normal[2])
    size = length(inward)
    return scale(inward, 1.0 / size) if size > 1.0e-6 else (1.0, 0.0, 0.0)


@kernel
def add_walls(tree, point, radius, reach, flat, tall, plane, count, low, high):
    """Append the planes of the walls within reach.

    Args:
        tree: BvhView of the colliders.
        point: The agent's center, or the lower end of its axis in a flat crowd (x, y, z) [m].
        radius: How far from walls the center stays [m] > 0.
        reach: How far it may go [m].
        flat: Whether only level ways count.
        tall: Length of the axis of a flat crowd's body [m].
        plane: The cell's planes, see `cells`; column 4 is how much nearer than the radius the
            wall is, column 5 how far away it is.
        count: How many planes there are.
        low: First triangle that counts.
        high: One more than the last one that does.

    Returns:
        (number of planes, how far the agent may go [m] because of walls that had no room left).
    """
    first = count
    for _wall in range(WALLS):
        triangle, place, distance = next_wall(
            tree, point, radius + reach, flat, tall, plane, first, count, low, high
        )
        if triangle < 0:
            return count, reach
        normal = _away(tree, triangle, point, place, distance, flat)
        plane[count, 0], plane[count, 1], plane[count, 2] = normal
        plane[count, 3] = max(distance - radius, 0.0)
        plane[count, 4] = max(radius - distance, 0.0)
        plane[count, 5] = distance
        count += 1
    triangle, place, distance = next_wall(
        tree, point, radius + reach, flat, tall, plane, first, count, low, high
    )
    return count, reach if triangle < 0 else max(distance - radius, 0.0)
