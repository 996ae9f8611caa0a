"""Rays: what an agent sees along them, shared by every behavior that casts them."""

from __future__ import annotations

from ..compiled.jit import inlined_kernel, kernel
from ..geometry.bvh import ray_cast, ray_cast_stops, triangle_corners, triangle_normal
from ..geometry.bvh_flat import flat_on_triangle
from ..geometry.bvh_sweep import sweep_cast
from ..geometry.ground import SLACK, UP_SLACK
from ..numeric.vec import EPSILON, add_scaled, cross, dot, length, load, scale, unit
from .targeting import on_ground, side_axis

LEVEL = 0.9
"""Faces with a normal of more than this upward have a rim that is met from the side."""
BEFORE = 0.05
"""How far [m] before a steep face the ground is looked for from which it would be climbed."""
BACK = 1.0e-3
"""How far [m] before such a rim a body is when it tells where the rim is."""


@kernel
def _rim(world, triangle, origin, direction, distance, normal):
    """Unit direction away from the rim of a face that an upright body meets from the side."""
    x, y, z = add_scaled(origin, direction, max(distance - BACK, 0.0))
    a, b, c = triangle_corners(world.colliders, triangle)
    low, high = min(a[2], b[2], c[2]), max(a[2], b[2], c[2])
    _square, place = flat_on_triangle(a, b, c, x, y, low, high)
    away = unit((x - place[0], y - place[1], 0.0))
    return away if length(away) > 0.5 else normal


@kernel
def _is_step(world, hit, direction):
    """Whether a steep face of the ground is a step for who comes to it in a direction.

    From the ground before it a knee goes over it, as in `geometry.ground`.
    """
    ahead = unit((direction[0], direction[1], 0.0))
    x, y, z = add_scaled(hit, ahead, -BEFORE)
    floor, depth = ray_cast(world.ground, (x, y, z), (0.0, 0.0, -1.0), 2.0 * world.eye_height)
    if floor < 0:
        return False
    knee = (x, y, z - depth + world.eye_height + SLACK)
    return ray_cast_stops(world.ground, knee, ahead, 2.0 * BEFORE, world.min_up - UP_SLACK)[0] < 0


@kernel
def first_hit(world, origin, direction, reach):
    """Nearest obstacle on a ray: (triangle, distance, normal against the ray).

    Walkers see what hangs above the ray, up to the height of their bodies, as on the ray. Steps of
    the ground that they climb do not count, and hide the ground behind them.

    The triangle is a collider's, len(colliders) for steep ground, and -1 for a miss.
    """
    triangle, distance = sweep_cast(world.colliders, origin, direction, reach, world.tall)
    if world.tall > 0.0 and triangle >= 0 and distance <= 0.0:
        # who stands under it, or in it, already looks along the ray
        triangle, distance = ray_cast(world.colliders, origin, direction, reach)
    normal = (0.0, 0.0, 0.0)
    if triangle >= 0:
        normal = triangle_normal(world.colliders, triangle)
        if world.tall > 0.0 and abs(normal[2]) > LEVEL:
            normal = _rim(world, triangle, origin, direction, distance, normal)
    if world.flat and len(world.ground.link) > 0:
        ground_triangle, ground_distance = ray_cast(world.ground, origin, direction, reach)
        if ground_triangle >= 0 and (triangle < 0 or ground_distance < distance):
            ground_normal = triangle_normal(world.ground, ground_triangle)
            steep = abs(ground_normal[2]) < world.min_up - UP_SLACK
            hit = add_scaled(origin, direction, ground_distance)
            if steep and not _is_step(world, hit, direction):
                triangle = len(world.colliders.triangles)
                distance, normal = ground_distance, ground_normal
    if dot(normal, direction) > 0.0:
        normal = scale(normal, -1.0)
    return triangle, distance, normal


@kernel
def eye(i, agents, world):
    """Where agent i's rays start [m]: walkers look from step height above their feet."""
    return add_scaled(load(agents.position, i), (0.0, 0.0, 1.0), world.eye_height)


@kernel
def way(i, agents, world, velocity):
    """Unit direction in which agent i goes, its heading when it stands, level with its ground.

    `velocity` is the agent's, level with its ground already.
    """
    if length(velocity) >= EPSILON:
        return unit(velocity)
    return unit(on_ground(i, agents, world, load(agents.heading, i)))


@inlined_kernel
def sides(ahead, up, flat):
    """Unit vectors to the right of a unit direction and above it: (right, above).

    `up` is the normal of the ground, not used by flyers.
    """
    if flat:
        return unit(cross(ahead, up)), up
    right = side_axis(ahead, (0.0, 0.0, 1.0))
    return right, cross(right, ahead)


@kernel
def tangent_by_id(i, agents, normal):
    """Unit direction along a wall for an agent without a preference: its id decides."""
    tangent = unit(cross(load(agents.normal, i), normal))
    if length(tangent) < 0.5:
        tangent = unit(cross((1.0, 0.0, 0.0), normal))
    return tangent if agents.id[i] % 2 == 0 else scale(tangent, -1.0)
