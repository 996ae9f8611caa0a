"""Places inside of a collider, and the nearest place that is outside of all.

A point is inside of a mesh when rays in all of three directions leave it once more than they enter
it, a quick test, and when the mesh winds around it a whole number of times. So an open mesh has no
inside, nor has a mesh whose normals point inward: an agent in there stands in a room. Closed meshes
that overlap are tested one by one.

A walker is held by what its axis is inside of, or cut by: the line upward from a step above its
feet to its head. So nobody stands below a table.

The search for the nearest free place begins on the surface of the collider that holds the point,
one radius away from it or as near as there is room. If another collider holds that place, the
search goes to the surface of that one, and so on; if this leads nowhere, it tries rings around the
point.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel, scratch
from ..geometry.bvh_rays import ray_cast, ray_winding, surrounds
from ..geometry.bvh_sweep import sweep_cast
from ..numeric.vec import add, add_scaled, dot, length, load, scale, store, sub
from .cells import COLUMNS
from .walls import next_wall, wall_margin

_LOOKS = ((0.5377, 0.6234, 0.5677), (-0.7215, 0.3411, 0.6026), (0.1873, -0.8942, -0.4067))
"""Directions of the rays: none lies along the faces and edges that people draw."""
SURFACES = 8
"""Surfaces that are tried, one after the other."""
RINGS, MOST_RINGS = 40, 120
"""Rings that are tried at least; more are until they are as large as the largest collider, since
the rings of bodies without a size begin small."""
GROWTH = 1.15
"""How much larger each ring is than the one before."""
ON_RING = 16
HITS = 32
"""Faces of moving colliders that a way may pass."""
ON = 1.0e-9
"""What is nearer than this [m] to an axis cuts it."""


@kernel
def inside(tree, center, radius, first, collider, point):
    """Whether a point is inside of a collider."""
    offset = sub(point, load(center, collider))
    if dot(offset, offset) > radius[collider] * radius[collider] * 1.0001:
        return False
    low, high = first[collider], first[collider + 1]
    for look in _LOOKS:
        if ray_winding(tree, point, look, low, high) < 1:
            return False
    return surrounds(tree.triangles, low, high, point)


@kernel
def inside_of(tree, center, radius, first, point):
    """The first collider that a point is inside of, or -1."""
    for collider in range(len(radius)):
        if inside(tree, center, radius, first, collider, point):
            return collider
    return -1


@kernel
def holds(tree, center, radius, first, collider, point, tall):
    """Whether an axis from a point up is inside of a collider, or cut by it."""
    if inside(tree, center, radius, first, collider, point):
        return True
    if not tall > 0.0:
        return False
    none = scratch(1, COLUMNS)
    low, high = first[collider], first[collider + 1]
    return next_wall(tree, point, ON, True, tall, none, 0, 0, low, high)[0] >= 0


@kernel
def held_by(tree, center, radius, first, point, tall):
    """The collider that holds an axis from a point up, or -1, and a height at which it does.

    What hangs over the lower end is met from below: right above that place is its inside, if it has
    one.
    """
    collider = inside_of(tree, center, radius, first, point)
    if collider >= 0 or not tall > 0.0:
        return collider, point[2]
    triangle, distance = ray_cast(tree, point, (0.0, 0.0, 1.0), tall)
    if triangle < 0:
        return -1, point[2]
    collider, height = owner(first, triangle), point[2] + distance
    above = height + wall_margin(point)
    within = inside(tree, center, radius, first, collider, (point[0], point[1], above))
    return collider, above if within else height


@kernel
def owner(first, triangle):
    """The collider that a triangle belongs to."""
    low, high = 0, len(first) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if first[middle] <= triangle:
            low = middle
        else:
            high = middle
    return low


@kernel
def meets(tree, first, still, collider, start, stop, tall):
    """Whether an axis moved straight between two places meets a collider, or one that stands still.

    With a collider of -1 the standing ones count, else only that one.
    """
    way = sub(stop, start)
    rest = length(way)
    if rest == 0.0:
        return False
    along = scale(way, 1.0 / rest)
    for _hit in range(HITS):
        triangle, distance = sweep_cast(tree, start, along, rest, tall)
        if triangle < 0:
            return False
        hit = owner(first, triangle)
        if hit == collider or (collider < 0 and still[hit] != 0):
            return True
        beyond = distance + wall_margin(start)
        start, rest = add_scaled(start, along, beyond), rest - beyond
        if rest <= 0.0:
            return False
    return True


@kernel
def crosses(tree, first, still, start, stop, tall):
    """`meets` of the colliders that stand still."""
    return meets(tree, first, still, -1, start, stop, tall)


@kernel
def _onto_surface(tree, center, radius, first, start, room, flat, tall):
    """Follow surfaces out of colliders: (found, place)."""
    none = scratch(1, COLUMNS)
    point = start
    for _surface in range(SURFACES):
        collider, height = held_by(tree, center, radius, first, point, tall)
        if collider < 0:
            return True, point
        at = (point[0], point[1], height)
        low, high = first[collider], first[collider + 1]
        reach = 2.0 * radius[collider] + room
        triangle, place, distance = next_wall(tree, at, reach, flat, 0.0, none, 0, 0, low, high)
        if triangle < 0:
            return False, start
        out = sub(place, at)
        if distance < 1.0e-9:
            return False, start
        out = scale(out, 1.0 / distance)
        margin = wall_margin(place)
        place = (place[0], place[1], point[2] if flat else place[2])
        point = add_scaled(place, out, max(room, margin))
        if room > margin and held_by(tree, center, radius, first, point, tall)[0] >= 0:
            near = add_scaled(place, out, margin)
            if held_by(tree, center, radius, first, near, tall)[0] < 0:
                point = near
    return held_by(tree, center, radius, first, point, tall)[0] < 0, point


@kernel
def _spoke(k, flat):
    """Direction k of a ring, or of a sphere."""
    angle = 2.399963229728653 * k if not flat else 2.0 * math.pi * k / ON_RING
    z = 0.0 if flat else 1.0 - (2.0 * k + 1.0) / ON_RING
    size = math.sqrt(max(1.0 - z * z, 0.0))
    return (size * math.cos(angle), size * math.sin(angle), z)


@kernel
def _is_free(tree, center, radius, first, still, start, place, room, flat, tall):
    """Whether a place is outside, has room around it, and no still wall is on the way."""
    none = scratch(1, COLUMNS)
    if held_by(tree, center, radius, first, place, tall)[0] >= 0:
        return False
    if crosses(tree, first, still, start, place, 0.0):
        return False
    if room <= 0.0:
        return True
    wall, _p, _d = next_wall(tree, place, room, flat, tall, none, 0, 0, 0, len(tree.triangles))
    return wall < 0


@kernel
def _on_rings(tree, center, radius, first, still, start, room, clear, flat, tall):
    """Search around a point for a place with a given room around it: (found, place)."""
    size, enough = max(room, 4.0 * wall_margin(start)), 0.0
    for collider in range(len(radius)):
        enough = max(enough, 2.0 * radius[collider] + room)
    for ring in range(MOST_RINGS):
        if ring >= RINGS and size > enough:
            break
        for k in range(ON_RING):
            place = add(start, scale(_spoke(k, flat), size))
            if _is_free(tree, center, radius, first, still, start, place, clear, flat, tall):
                return True, place
        size *= GROWTH
    return False, start


@kernel
def nearest_free(tree, center, radius, first, still, start, room, flat, tall):
    """The place outside of all colliders nearest to a point inside of one, or below one.

    Args:
        tree: BvhView of the colliders.
        center: Centers of their bounding spheres [m], shape (c, 3).
        radius: Radii of these [m], shape (c,).
        first: First triangle of each, shape (c + 1,).
        still: 1 for colliders that no way may cross, if that can be helped, shape (c,).
        start: The point (x, y, z) [m].
        room: How far from the surface to go [m], where there is room.
        flat: Whether only level ways count.
        tall: Length of the body's axis, from the point up [m]; 0 for a sphere.

    Returns:
        (found, place); the point itself where everything within the search is solid.
    """
    found, place = _onto_surface(tree, center, radius, first, start, room, flat, tall)
    if found and not crosses(tree, first, still, start, place, 0.0):
        return True, place
    for clear in (0.99 * room, 0.0):
        around, other = _on_rings(
            tree, center, radius, first, still, start, room, clear, flat, tall
        )
        if around:
            return True, other
    return found, place


@kernel
def free_kernel(
    begin, stop, tree, center, radius, first, still, eye, room, tall, flat, position, moved
):
    """Put the agents that are inside of colliders to the nearest free place."""
    for i in range(begin, stop):
        x, y, z = load(position, i)
        point = (x, y, z + eye)
        if held_by(tree, center, radius, first, point, tall[i] * 1.0)[0] < 0:
            continue
        found, place = nearest_free(
            tree, center, radius, first, still, point, room[i] * 1.0, flat, tall[i] * 1.0
        )
        if found:
            store(position, i, (place[0], place[1], z if flat else place[2]))
            moved[i] = 1


@kernel
def inside_kernel(begin, stop, tree, center, radius, first, eye, position, inner):
    """Mark the agents that are inside of a collider."""
    for i in range(begin, stop):
        x, y, z = load(position, i)
        inner[i] = inside_of(tree, center, radius, first, (x, y, z + eye)) >= 0
