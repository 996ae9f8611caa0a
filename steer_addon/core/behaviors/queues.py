"""People who queue: all near want the same, for `avoid_neighbors`.

Who queues near a wall tells by where both turn to which of two goes first: beside a door some walk
along the wall, and are not before those in the opening, though they are nearer to the goal behind
it. In the open, and among others with another wish, bodies turn to and fro, so that there the
wishes tell.

Those in a queue also set off together: the gap ahead counts as it will be in a moment.

At a door people follow more closely than in a corridor, and it passes more of them for its width:
they bear the others for the moment in which walls narrow the way. Those who are through still do,
or the ones behind would wait for them in the opening.

Source: Liddle et al. 2011, "Microscopic insights into pedestrian motion through a bottleneck" (the
larger flow through short ones). How much more closely, and where, is our own.
"""

from __future__ import annotations

import math

from ..compiled.jit import inlined_kernel, kernel
from ..geometry.bvh import nearest_steep
from ..numeric.vec import add_scaled, dot, scale, unit
from ..sensing.sight import first_hit

WITHOUT = 0.03
"""Up to so much of another wish (from 0 to 1, and how near) a crowd is a queue: the ways of many
to one door differ. With a tenth of it those at narrow doors were none, and locked for good."""
ELSEWHERE = 0.7
"""Cosine between wish and heading below which the heading tells where somebody goes: 45°."""
BESIDE = 2.2
"""Walls within so many radii are near, for those who walk along them."""
RESPONSE = 0.25
"""The gap ahead is foreseen by so much time [s], less a step: that comes anyway."""
CLOSER = 0.65
"""Share of the headway that is given up at a door."""
DOORWAY = 5.0
"""Walls beside a door count within this distance [m], in full within half of it."""
FACING_WALL = 0.5
"""Cosine between the wish and the way into a wall from which on the wall narrows the way."""
ASKEW_RAYS = (0.5, 2.0, 4.5)
"""Tangents of the angles beside the wish at which walls are looked for: 27°, 63° and 77°."""


@kernel
def beside_wall(world, place, body):
    """Whether a wall is near a place at eye height; ground does not count.

    Args:
        world: WorldView.
        place: Between two agents, so that both find the same [m].
        body: Mean radius of the two [m].
    """
    if len(world.colliders.link) == 0:
        return False
    steep = world.min_up if world.flat else math.inf
    wall, _place, _far = nearest_steep(world.colliders, place, BESIDE * body, steep, -1)
    return wall >= 0


@inlined_kernel
def goes_to(wish, heading):
    """Unit direction in which somebody goes: its wish, or where it turned to instead.

    Args:
        wish: Unit direction, or 0 for one who wishes nothing.
        heading: In the same plane.
    """
    elsewhere = dot(wish, wish) > 0.0 and dot(wish, heading) < ELSEWHERE
    return heading if elsewhere else wish


@inlined_kernel
def response(opposed, dt):
    """By how much time the gaps to those ahead are foreseen [s]: none but in a queue.

    Args:
        opposed: From 0 to 1, how near someone with another wish is.
        dt: Length of a step [s].
    """
    return max(0.0, RESPONSE - dt) if opposed <= WITHOUT else 0.0


@kernel
def at_door(world, origin, ahead, right):
    """From 0 to 1, how near a door is: a wall on one side that stands across the way.

    Rays askew look for it, ahead and, for those who are through, behind.

    Args:
        world: WorldView.
        origin: Where rays start [m].
        ahead: Unit direction of the wish.
        right: Unit direction square to it.
    """
    near = 0.0
    for tangent in ASKEW_RAYS:
        for corner in range(4):
            along = 1.0 if corner < 2 else -1.0
            aside = tangent if corner % 2 == 0 else -tangent
            ray = unit(add_scaled(scale(ahead, along), right, aside))
            triangle, distance, normal = first_hit(world, origin, ray, DOORWAY)
            if triangle >= 0 and along * dot(normal, ahead) < -FACING_WALL:
                near = max(near, 1.0 - distance / DOORWAY)
        if near >= 0.5:
            return 1.0
    return 2.0 * near
