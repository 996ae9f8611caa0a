"""Bodies that stop: how their feet come down, and how soon they show a slower gait.

Legs do not stop as suddenly as a body that meets a wall: the speed s at which they swing falls to
that of the body as s·exp(-t/T). As long as it is well above, a body falls through the gaits of a
run by what limbs may move in a step. Where it stands, a foot in the air is set down by the shorter
way: ahead, or back beside the other one.

Symbols: t time, T 0.25 s.
Source: ours.
"""

from __future__ import annotations

import math

from ...characters.cast import FROM_STAND
from ...characters.pose_space import SLOWEST
from ...compiled.jit import kernel
from .stance import SHIFT_AHEAD, TWIST

AHEAD, RIGHT, SWING, LEANED, RATE, TURNED = 0, 1, 2, 3, 5, 7
"""Columns of `LIMBS`; `LEANED` and `RATE` are the first of two, ahead and to the right."""
LIMBS = "a swing"
"""Key, in the memory of agents, of how far a body is shifted ahead and to the right since its gait
changed, so that planted feet stay [m], of the speed at which its limbs swing [m/s], both for a body
of usual size, of the tangents of how far it leans, with their rates [1/s], and of the turn of
the body about its planted feet [rad], shape (agent_count, 8)."""
SLOWING = 0.25
"""Time in which limbs slow down to a share of 1/e [s]."""
HARD = 2.0
"""How much faster limbs swing than a body goes that falls through gaits."""
FARTHEST, FADES = 0.12, 0.5
"""The most that a body is shifted, and the way on which a share of 1 - 1/e of it is taken back [m].
"""
OFTEN, FASTEST = 2.0, 0.3
"""Fastest that a body turns about its planted feet: twice as fast as its agent, and 0.3 rad/s more.
A runner turns back in the air by all that it has not turned while it stood; faster, far hands would
jump where both feet are down for a moment, and where gaits turn otherwise."""
LANDING = 0.36
"""Speed at which the feet of a body that stands still go on until both are down [m/s]: so they slip
by 15 mm a frame at 24 frames a second."""
GAINS = 1.5
"""How fast feet get to that speed, where they go slower before [m/s²]."""
TAKES_BACK = 0.06
"""Speed at which shifts are taken back meanwhile, whatever feet do [m/s]."""
RETURNS = 0.4
"""Part of half a cycle, since feet passed, in which a foot in the air is set back."""
NEAR = 0.06
"""Way behind the place where feet pass, on which gaits still look alike [m]: on it, the gait of a
body that slows down falls by one in each step."""
LATER, SOON = 0.15, 0.12
"""Part of a cycle behind that place in which a gait still changes; the same for first steps, which
soon are near to standing."""


@kernel
def _nearer(table, who, gait, highest, phase, stride, least):
    """Way of the feet in a step of a body that stands, and whether it leads back.

    Where there are poses of last steps, feet go to the nearer place where they pass each other.
    """
    if table[who, gait, FROM_STAND] > 0.0:
        return least, False
    part = 2.0 * phase - math.floor(2.0 * phase)
    if SLOWEST <= gait <= highest:
        return least, part < (0.5 if gait == SLOWEST else RETURNS)
    latest = LATER if gait > 2 else SOON
    falls = gait > 2 or table[who, 1, FROM_STAND] > 1.0
    if falls and 0.5 * part <= latest and 0.5 * part * stride <= NEAR:
        # the foot waits in the air while the gait falls
        return 0.0, False
    return least, gait > 2 and part < RETURNS


@kernel
def brought_down(table, who, gait, highest, phase, stride, way, back, limbs, i, dt):
    """Way of the feet in a step of a body that is to stand, and whether it leads back.

    Planted feet would slip by what that differs from the way of the body, so much of the shift is
    taken back by it.

    Args:
        table: Gaits of the characters, see `Cast.table`.
        who: Number of the character.
        gait: The gait until now.
        highest: The fastest gait from which last steps lead, -1 for none.
        phase: Cycles of steps until now.
        stride: Way of one of them [m].
        way: Way of the body, as a share of its size [m].
        back: Whether the way of the body leads back.
        limbs: Memory of the limbs, see `LIMBS`; read and written.
        i: The agent.
        dt: Length of the step [s].
    """
    least = min(LANDING, limbs[i, SWING] + GAINS * dt) * dt
    if way > least:
        return way, back
    feet, feet_back = _nearer(table, who, gait, highest, phase, stride, least)
    goes = feet * 1.0
    if SLOWEST <= gait <= highest:
        # no further than to where they pass each other, as last steps begin there
        part = 2.0 * phase - math.floor(2.0 * phase)
        goes = min(feet, 0.5 * stride * (part if feet_back else 1.0 - part))
    slip = (-goes if feet_back else goes) + (way if back else -way)
    if slip > 0.0:
        limbs[i, AHEAD] = min(limbs[i, AHEAD] + slip, max(limbs[i, AHEAD], 0.0))
    else:
        limbs[i, AHEAD] = max(limbs[i, AHEAD] + slip, min(limbs[i, AHEAD], 0.0))
    for k in (AHEAD, RIGHT):
        limbs[i, k] -= min(max(limbs[i, k], -TAKES_BACK * dt), TAKES_BACK * dt)
    return feet, feet_back


@kernel
def swing_on(limbs, i, way, dt):
    """Let limbs swing as fast as a body goes, or slow down."""
    limbs[i, SWING] = max(way / dt, limbs[i, SWING] * math.exp(-dt / SLOWING))


@kernel
def shift(memory, limbs, i, way, turn, dt):
    """Shift a body so that its feet stay where they were as its gait changed, and by and by less.

    About them it turns no faster than `OFTEN` and `FASTEST` say.

    Args:
        memory: Columns of `POSTURE`, after `bend`; read and written.
        limbs: Memory of the limbs, see `LIMBS`; read and written.
        i: The agent.
        way: Way of the body in the step, as a share of its size [m].
        turn: Turn of the agent to the left in the step [rad].
        dt: Length of the step [s].
    """
    most, before = OFTEN * abs(turn) + FASTEST * dt, limbs[i, TURNED] * 1.0
    limbs[i, TURNED] = min(before + most, max(before - most, memory[i, TWIST] * 1.0))
    memory[i, TWIST] = limbs[i, TURNED]
    left = math.exp(-way / FADES)
    for k in range(2):
        limbs[i, k] = left * min(max(limbs[i, k], -FARTHEST), FARTHEST)
        memory[i, SHIFT_AHEAD + k] += limbs[i, k]
