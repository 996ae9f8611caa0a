"""Bodies go up and down steps of the ground evenly, where their agents jump.

An agent stands on the ground at each frame, so on stairs it jumps by the height of a step. Its body
stays where it was and makes up for that on its way, as a filter of second order that is damped
critically: the distance e to the ground and the rise c of the stairs change along the way w by
de/dw = -2 e / r - c and dc/dw = e / r² with the reach r. So on even stairs the body is in the
middle between the steps, and its feet are at a slope as steep as the stairs are.

Source: the alpha-beta filter (Benedict and Bordner 1962), by way in place of time.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from .stance import LEAST_UP, LIFT

REACH = 0.3
"""Way in which a body takes up a step [m], of usual size as all below."""
LEAST_STEP, STEEP = 0.02, 0.5
"""Least height of a step [m], and against the way in which it is taken: less is uneven ground."""
MOST_STEP = 0.6
"""Height from which on it is no step, but the agent was put elsewhere [m]."""
TREAD = 0.12
"""Least way from one step to the next [m]: what rises sooner again is ground that moves."""
SLOW = 0.2
"""Speed of bodies that stand, and come to the ground in some time in place of a way [m/s]."""
STAIRS = "stairs"
"""Key, in the memory of agents, of how steep the stairs are on which they go [m/m], and the way on
which no step counts [m], shape (agent_count, 2)."""
_NONE = 1.0e-4


@kernel
def climb(memory, stairs, i, old, new, up, size, dt):
    """How steep the stairs are that a body goes on, up or down; lifts it from the ground there.

    Args:
        memory: Columns of `POSTURE`; read and written.
        stairs: See `STAIRS`; read and written.
        i: The agent.
        old: Place before the step [m].
        new: Place after it [m].
        up: Normal of the ground there.
        size: Size of the body as a share of its character's.
        dt: Length of the step [s].
    """
    x, y = (new[0] - old[0]) / size, (new[1] - old[1]) / size
    way = math.hypot(x, y)
    # beyond the plane of the ground
    height = (new[2] - old[2]) / size + (up[0] * x + up[1] * y) / max(up[2], LEAST_UP)
    lift, steep = memory[i, LIFT] * 1.0, stairs[i, 0] * 1.0
    wait = max(0.0, stairs[i, 1] - way)
    if abs(height) > max(LEAST_STEP, STEEP * way):
        if abs(height) > MOST_STEP:
            lift = steep = 0.0
        elif way > 0.0 and wait == 0.0:
            lift -= height
        wait = TREAD
    if lift != 0.0 or steep != 0.0:
        lift += steep * way
        done = max(way, SLOW * dt) / REACH
        steep -= lift * min(done, 1.0) / REACH
        lift *= math.exp(-2.0 * done)
        if way < SLOW * dt:
            steep *= math.exp(-done)
        if abs(lift) < _NONE and abs(steep) < _NONE:
            lift = steep = 0.0
    memory[i, LIFT] = lift
    stairs[i, 0], stairs[i, 1] = steep, wait
    return steep
