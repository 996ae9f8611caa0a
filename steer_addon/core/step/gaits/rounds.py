"""Turning on the spot: bodies that have poses of it step round, as far as they turn.

The phase goes on by turn / turn of a cycle, so planted feet stay where they are however fast it is.
It starts where a body stands, and ends there: feet that are apart when the turn is over, or when
the body walks off, come together by time. A turn to the other side is the same in reverse, so a
body that turns back goes on with the row of that side at the same pose.
"""

from __future__ import annotations

import math

from ...characters.cast import ANGLE, LEFT, POSES
from ...characters.holding import held_back
from ...compiled.jit import kernel
from .stance import PHASE, TWIST

BEGINS, GOES_ON = 0.4, 0.2
"""Rates of the turn from which bodies step round, and below which they end it [rad/s]."""
CLOSING = 1.5
"""Cycles in a second at which feet that are apart come together: so they slip by up to 12 mm a
frame at 24 frames a second."""
ALIKE = 1.0e-4
"""Part of a cycle after whose begin the body still stands."""


@kernel
def goes_round(spots, who, gait):
    """Whether a gait is a turn on the spot."""
    left = spots[who, LEFT]
    return left >= 0.0 and left <= gait <= left + 1.0


@kernel
def gone_round(spots, who, phase, gait, walks, turn, dt):
    """Phase and gait after a step of a body that stands, or turns on the spot.

    Args:
        spots: What bodies do on the spot, see `Cast.spots`.
        who: Number of the character.
        phase: Cycles until now.
        gait: The gait until now: standing, or turning on the spot.
        walks: Whether the body walks off.
        turn: Turn to the left in the step [rad].
        dt: Length of the step [s].

    Returns:
        Both, and whether the body turns on the spot; if not, they are as before, or those of
        standing.
    """
    left, angle = int(spots[who, LEFT]), spots[who, ANGLE]
    done, rate, to_right = abs(turn) / angle, abs(turn) / dt, int(turn < 0.0)
    if gait == 0:
        if walks or rate < BEGINS:
            return phase, gait, False
        return math.ceil(phase) + done, left + to_right, True
    side, whole = gait - left, math.floor(phase)
    part = phase - whole
    goes_on = not walks and rate >= GOES_ON
    if not goes_on and part < ALIKE:
        return whole * 1.0, 0, False
    if (goes_on and side != to_right) or (not goes_on and part < 0.5):
        side, phase = 1 - side, whole + 1.0 - part
    if not goes_on:
        done = CLOSING * dt
        if phase + done >= math.floor(phase) + 1.0:
            return math.floor(phase) + 1.0, 0, False
    return phase + done, left + side, True


@kernel
def hold_round(memory, i, spots, who, gait):
    """Turn the body toward where its planted feet stay although the nearest pose is shown.

    Args:
        memory: Columns of `POSTURE`, of a body without a curve; read and written.
        i: The agent.
        spots: What bodies do on the spot, see `Cast.spots`.
        who: Number of the character.
        gait: The turn on the spot.
    """
    held = held_back(memory[i, PHASE] * 1.0, spots[who, ANGLE], spots[who, POSES])
    memory[i, TWIST] += held if gait > spots[who, LEFT] else -held
