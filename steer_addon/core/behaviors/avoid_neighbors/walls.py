"""What walls take from a way, where they are near, and where they leave a door.

Between two obstacles that are nearer to each other than its body is wide, no way within 120° of the
wish leads out. An agent that is held up there, with nobody near, goes four bodies' widths to its
side, as if it wished to, and tries again; should that lead back, it goes to the other side the next
time. Source: Lumelsky & Stepanov 1987, "Path-planning strategies for a point mobile automaton
moving amidst unknown obstacles" (following the outline of what is in the way). How far is our own.
"""

from __future__ import annotations

import math

from ...compiled.jit import inlined_kernel, kernel
from ...geometry.bvh import nearest_steep
from ...numeric.vec import add_scaled, dot, scale, unit
from ...sensing.sight import first_hit
from .rules import RULES
from .ways import LEFT

REST = 1.0e-6
"""What stays of a way that is gone [m]: its sign tells to which side it was."""


@inlined_kernel
def in_world(way, frame):
    """A vector of the agent's frame as one of the world."""
    return add_scaled(add_scaled(scale(frame[0], way[0]), frame[1], way[1]), frame[2], way[2])


@kernel
def walled(world, own, way):
    """Share of an agent's reach that walls take from its body on a way: 0 if free, 1 at a touch.

    Three rays: from the center, and from both flanks.
    """
    across = own.frame[1]
    if way[2] == 0.0:
        across = add_scaled(scale(own.frame[0], -way[1]), across, way[0])
    direction, free = in_world(way, own.frame), own.reach
    for side in range(-1, 2):
        start = add_scaled(own.eye, across, RULES.flank * side * own.radius)
        front = own.radius if side == 0 else RULES.flank_round * own.radius
        triangle, distance, _normal = first_hit(world, start, direction, free + front)
        if triangle >= 0:
            free = min(free, max(0.0, distance - front))
    return 1.0 - free / own.reach


@kernel
def beside_wall(world, place, body):
    """Whether a wall is near a body of that radius [m] at eye height; ground does not count."""
    if len(world.colliders.link) == 0:
        return False
    steep = world.min_up if world.flat else math.inf
    wall, _place, _far = nearest_steep(world.colliders, place, RULES.beside * body, steep, -1)
    return wall >= 0


@kernel
def at_door(world, eye, frame):
    """From 0 to 1, how near a door is: a wall on one side that stands across the wish.

    Rays beside the wish look for it, ahead and, for an agent that is through, behind.
    """
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


@kernel
def turned_frame(ahead, right, above, left):
    """The frame of an agent: on its way along walls ahead is where its right, or its left, was."""
    if abs(left) <= REST:
        return ahead, right, above
    if left > 0.0:
        return right, scale(ahead, -1.0), above
    return scale(right, -1.0), ahead, above


@kernel
def along_walls(left, stuck, world, own):
    """What is left of an agent's way along walls [m]; `stuck` if it is held up with nobody near."""
    if abs(left) > REST:
        return math.copysign(max(abs(left) - own.speed * world.dt, REST), left)
    if not stuck or not beside_wall(world, own.eye, own.radius):
        return left
    turns_left = left > 0.0 or (left == 0.0 and own.side == LEFT)
    return -RULES.along * own.radius if turns_left else RULES.along * own.radius
