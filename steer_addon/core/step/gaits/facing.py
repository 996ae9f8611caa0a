"""Where bodies face: along the heading of their agents, but calmer.

In a queue agents are pushed to either side, and head there at once. The angle d between a body and
its heading shrinks along the way w by dd/dw = -d / r, where the reach r is shorter the faster the
body is: at a walk it faces where it goes. Along a curve that goes on for some way it turns as its
heading does. The angle is `MOST` at most. A body whose heading turns by more than a right angle in
a step turns with it.

A heading that turns to and fro is not followed. The share of its turns that leads nowhere is
f = 1 - |m| / s, with the mean m of the rate of turn, and the mean s of its size, over some time: 0
on any curve, and nearly 1 where the heading trembles. A body that walks follows with a delay of f
times `CALM`, and one that stands takes 1 - f of each turn.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from .stance import LEAN_AHEAD, SHIFT_AHEAD, TWIST

REACH = 0.125
"""Reach r of a body that hardly moves [m], of usual size."""
WALKS = 1.4
"""Speed from which bodies face where they go [m/s], likewise."""
STILL = 0.1
"""Speed below which they stand [m/s], likewise."""
MOST = 0.5
"""Most that a body that walks is turned from its heading [rad]."""
FASTEST = 6.0
"""Fastest that one turns back which was turned further while it stood [rad/s]."""
GOES_ON, CURVE = 0.6, 0.7
"""Way over which curvatures are averaged [m], and most that a body foresees [1/m], likewise."""
SEEN, CALM = 0.3, 0.15
"""Time over which turns are averaged, and most delay of a body whose heading trembles [s]."""
FACING = "facing"
"""Key, in the memory of agents, of the turn of the body to the left of its heading [rad], and the
curvature of its way to the left over some time [1/m], shape (agent_count, 2)."""
TURNING = "turning"
"""Key, in the memory of agents, of the means of the rate at which headings turn to the left, and of
its size [rad/s], shape (agent_count, 2)."""


@kernel
def _to_and_fro(turning, i, turned, dt):
    """The part f of the turns of a heading that leads nowhere, see above; takes one into the means.

    A turn by more than a right angle is to either side.
    """
    taken, rate = 1.0 - math.exp(-dt / SEEN), abs(turned) / dt
    to_left = turned / dt if abs(turned) < 0.5 * math.pi else 0.0
    turning[i, 0] += taken * (to_left - turning[i, 0])
    turning[i, 1] += taken * (rate - turning[i, 1])
    size = turning[i, 1] * 1.0
    return max(0.0, 1.0 - abs(turning[i, 0]) / size) if size > 0.0 else 0.0


@kernel
def _shorter(angle):
    """A turn by any angle as that by the shorter way [rad]."""
    if abs(angle) <= math.pi:
        return angle
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


@kernel
def _away(before, away, way, reach, delay, dt):
    """The angle of a body that walks to its heading after a step, see `face` [rad]."""
    if abs(before) > MOST:
        away = _shorter(away)
        return math.copysign(max(0.0, abs(away) - FASTEST * dt), away)
    share = max(reach / (way + reach), delay / (dt + delay))
    return min(MOST, max(-MOST, away * share))


@kernel
def face(facing, turning, i, turned, way, stands, dt):
    """The turn of a body to the left in a step [rad], which is held back while it is slow.

    Args:
        facing: See `FACING`; read and written.
        turning: See `TURNING`; read and written.
        i: The agent.
        turned: Turn of its heading to the left in the step [rad].
        way: Way of the step, of usual size [m].
        stands: Whether the body stands, although its agent moves to and fro.
        dt: Length of the step [s].
    """
    before, part = facing[i, 0] * 1.0, _to_and_fro(turning, i, turned, dt)
    if stands or way < STILL * dt:
        facing[i, 0] = _shorter(before - part * turned)
        return (1.0 - part) * turned
    curve = min(CURVE, max(-CURVE, facing[i, 1]))
    facing[i, 1] += (turned - facing[i, 1] * way) / (way + GOES_ON)
    away, after = before - turned + curve * way, 0.0
    if abs(turned) < 0.5 * math.pi:
        reach = REACH * max(0.0, 1.0 - way / (WALKS * dt))
        after = _away(before, away, way, reach, CALM * part, dt)
    else:
        facing[i, 1] = 0.0
    facing[i, 0] = after
    return _shorter(after - before + turned)


@kernel
def to_left(vector, angle):
    """A vector turned to the left, seen from above, by an angle [rad]."""
    cosine, sine = math.cos(angle), math.sin(angle)
    x, y, z = vector
    return cosine * x - sine * y, sine * x + cosine * y, z


@kernel
def turn_from_heading(memory, i, angle):
    """Turn a body from the heading of its agent, with its leans and shifts, which are its own.

    Args:
        memory: Columns of `POSTURE`; read and written.
        i: The agent.
        angle: How far it is turned to the left [rad].
    """
    if angle == 0.0:
        return
    memory[i, TWIST] += angle
    for k in (LEAN_AHEAD, SHIFT_AHEAD):
        turned = to_left((memory[i, k] * 1.0, memory[i, k + 1] * 1.0, 0.0), -angle)
        memory[i, k], memory[i, k + 1] = turned[0], turned[1]
