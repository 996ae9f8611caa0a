"""Walls: their share of a way, whether one is near, and where they leave a door."""

from __future__ import annotations

import math

from ...compiled.jit import inlined_kernel, kernel
from ...geometry.bvh import nearest_steep
from ...numeric.vec import add_scaled, dot, scale, unit
from ...sensing.sight import first_hit
from .rules import RULES


@inlined_kernel
def in_world(way, frame):
    """A vector of the agent's frame as one of the world."""
    return add_scaled(add_scaled(scale(frame[0], way[0]), frame[1], way[1]), frame[2], way[2])


@kernel
def walled(world, own, way):
    """Share of s·T that walls take from the center and both flanks on a way: 1 at a touch."""
    across = own.frame[1]
    if way[2] == 0.0:
        across = add_scaled(scale(own.frame[0], -way[1]), across, way[0])
    reach = own.horizon * own.speed
    # what is beyond its target, or the next corner of its way, does not stop an agent
    limit = min(reach, own.clear) if way[0] == 1.0 else reach
    direction, free = in_world(way, own.frame), limit
    for side in range(-1, 2):
        start = add_scaled(own.eye, across, RULES.flank * side * own.radius)
        front = own.radius if side == 0 else RULES.flank_round * own.radius
        triangle, distance, _normal = first_hit(world, start, direction, free + front)
        if triangle >= 0:
            free = min(free, max(0.0, distance - front))
    return 0.0 if free == limit else 1.0 - free / reach


@kernel
def beside_wall(world, place, body):
    """Whether a wall is near a body of that radius [m] at eye height; ground does not count."""
    if len(world.colliders.link) == 0:
        return False
    steep = world.min_up if world.flat else math.inf
    wall, _place, _far = nearest_steep(world.colliders, place, RULES.beside * body, steep)
    return wall >= 0


@kernel
def at_door(world, eye, frame):
    """From 0 to 1, how near a wall stands across the wish, ahead or behind, as beside a door."""
    near = 0.0
    for tangent in RULES.door_rays:
        for corner in range(4):
            along = 1.0 if corner < 2 else -1.0
            aside = tangent if corner % 2 == 0 else -tangent
            ray = unit(add_scaled(scale(frame[0], along), frame[1], aside))
            triangle, distance, normal = first_hit(world, eye, ray, RULES.doorway)
            if triangle >= 0 and along * dot(normal, frame[0]) < -RULES.door_wall:
                near = max(near, 1.0 - distance / RULES.doorway)
        if near >= 0.5:
            return 1.0
    return 2.0 * near
