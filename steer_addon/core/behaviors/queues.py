"""People who queue: all near want the same, for `avoid_neighbors`.

Who queues near a wall tells by where both turn to which of two goes first: beside a door some walk
along the wall, and are not before those in the opening, though they are nearer to the goal behind
it. In the open, and among others with another wish, bodies turn to and fro, so that there the
wishes tell.

Those in a queue also set off together: the gap ahead counts as it will be in a moment.
"""

from __future__ import annotations

import math

from ..bvh import nearest_steep
from ..jit import inlined_kernel, kernel
from ..vec import dot
from .sight import eye

WITHOUT = 0.003
"""Up to so much of another wish (from 0 to 1, and how near) a crowd is a queue."""
ELSEWHERE = 0.7
"""Cosine between wish and heading below which the heading tells where somebody goes: 45°."""
BESIDE = 3.0
"""Walls within so many radii are near."""
RESPONSE = 0.25
"""The gap ahead is foreseen by so much time [s], less a step: that comes anyway."""


@kernel
def beside_wall(i, agents, world):
    """Whether a wall is near, at eye height; ground does not count."""
    if len(world.colliders.link) == 0:
        return False
    steep = world.min_up if world.flat else math.inf
    most = BESIDE * agents.radius[i]
    wall, _place, _far = nearest_steep(world.colliders, eye(i, agents, world), most, steep, -1)
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
