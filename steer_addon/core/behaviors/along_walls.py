"""Who is held up by walls alone goes along them, for `avoid_neighbors`.

Between two obstacles that are nearer to each other than its body is wide, no way within 120° of the
wish leads out. Who stands there for as long as others are borne, and with nobody near, goes four
bodies' widths to its side, as if it wished to, and tries again; should that lead back, it goes to
the other side the next time.

Source: Lumelsky & Stepanov 1987, "Path-planning strategies for a point mobile automaton moving
amidst unknown obstacles" (following the outline of what is in the way). How far is our own.
"""

from __future__ import annotations

import math

from ..compiled.jit import inlined_kernel, kernel
from ..numeric.vec import scale
from .queues import beside_wall

FAR = 8.0
"""So many radii it goes along walls."""
REST = 1.0e-6
"""What stays in the memory of a way that is gone [m]: its sign tells to which side it was."""


@inlined_kernel
def goes_along(left):
    """Whether an agent is on such a way; see `along_walls`."""
    return abs(left) > REST


@kernel
def turned_frame(ahead, right, above, left):
    """The frame of an agent: on its way along walls ahead is where its right, or its left, was."""
    if not goes_along(left):
        return ahead, right, above
    if left > 0.0:
        return right, scale(ahead, -1.0), above
    return scale(right, -1.0), ahead, above


@kernel
def along_walls(left, stuck, world, origin, radius, speed, to_left):
    """What is left of an agent's way along walls [m], negative for one to the left.

    Args:
        left: The same before.
        stuck: Whether it is held up, with nobody near.
        world: WorldView.
        origin: The agent, at eye height [m].
        radius: Of its body [m].
        speed: Its wished speed [m/s].
        to_left: Whether its first way leads to the left.
    """
    if goes_along(left):
        return math.copysign(max(abs(left) - speed * world.dt, REST), left)
    if not stuck or not beside_wall(world, origin, radius):
        return left
    turns_left = left > 0.0 or (left == 0.0 and to_left)
    return -FAR * radius if turns_left else FAR * radius
