"""Where bodies face: along the heading of their agents, but slow ones turn on their way only.

In a queue agents are pushed to either side, and head there at once. The angle d between a body and
its heading shrinks along the way w by dd/dw = -d / r, where the reach r is shorter the faster the
body is: at a walk it faces where it goes. Along a curve that goes on for some way it turns as its
heading does. The angle is `MOST` at most, and who is headed back, by more than a right angle, turns
as the agent does.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from .stance import SHIFT_AHEAD, SHIFT_SIDE, TWIST

REACH = 0.125
"""Reach r of a body that hardly moves [m], of usual size."""
WALKS = 1.4
"""Speed from which bodies face where they go [m/s], likewise."""
STILL = 0.1
"""Speed below which they turn on the spot, as their agents do [m/s], likewise."""
MOST = 0.5
"""Most that a body is turned from its heading [rad]."""
GOES_ON, CURVE = 0.6, 0.7
"""Way over which curvatures are averaged [m], and most that a body foresees [1/m], likewise."""
FACING = "facing"
"""Key, in the memory of agents, of the turn of the body to the left of its heading [rad], and the
curvature of its way to the left over some time [1/m], shape (agent_count, 2)."""


@kernel
def face(facing, i, turned, way, dt):
    """The turn of a body to the left in a step [rad], which is held back while it is slow.

    Args:
        facing: See `FACING`; read and written.
        i: The agent.
        turned: Turn of its heading to the left in the step [rad].
        way: Way of the step, of usual size [m].
        dt: Length of the step [s].
    """
    before = facing[i, 0] * 1.0
    if way < STILL * dt:
        return turned
    curve = min(CURVE, max(-CURVE, facing[i, 1]))
    facing[i, 1] += (turned - facing[i, 1] * way) / (way + GOES_ON)
    away, after = before - turned + curve * way, 0.0
    if abs(away) < 0.5 * math.pi:
        reach = REACH * max(0.0, 1.0 - way / (WALKS * dt))
        after = min(MOST, max(-MOST, away * reach / (way + reach)))
    else:
        facing[i, 1] = 0.0
    facing[i, 0] = after
    return after - before + turned


@kernel
def turn_from_heading(memory, i, angle):
    """Turn a body from the heading of its agent, with its shifts, which are those as it faces.

    Args:
        memory: Columns of `POSTURE`; read and written.
        i: The agent.
        angle: How far it is turned to the left [rad].
    """
    if angle == 0.0:
        return
    cosine, sine = math.cos(angle), math.sin(angle)
    ahead, side = memory[i, SHIFT_AHEAD] * 1.0, memory[i, SHIFT_SIDE] * 1.0
    memory[i, TWIST] += angle
    memory[i, SHIFT_AHEAD] = cosine * ahead + sine * side
    memory[i, SHIFT_SIDE] = cosine * side - sine * ahead
