"""Gaits that change wherever a step hides it, see `Row.leaving`."""

from __future__ import annotations

import math

from ...characters.pose_space import LEAVES
from ...compiled.jit import kernel

WAY, PHASES, LANDING_WAY = range(3)
"""Columns of a table of where gaits are left, see `leaving_of`."""
MOST = 2
"""Most changes in a step: each may move vertices by some millimeters that no pose says."""
_ROUNDS = 3
"""Rounds in which the phase of a faster gait is found: each leaves a fraction of the error."""


@kernel
def knots(phase):
    """The even phases before and after a phase, and how far it is from the one to the other."""
    place = (phase - math.floor(phase)) * LEAVES
    knot = min(int(place), LEAVES - 1)
    return knot, (knot + 1) % LEAVES, place - knot


@kernel
def _further(leaving, who, gait, phase):
    """By how much the phase of the gait before is further, where it is most like a gait."""
    before, after, part = knots(phase)
    first, last = leaving[who, gait, before, PHASES], leaving[who, gait, after, PHASES]
    return (1.0 - part) * first + part * last


@kernel
def like(leaving, who, gait, following, phase):
    """Phase at which a neighboring gait is most like a gait.

    Args:
        leaving: Where gaits are left, see `leaving_of`.
        who: Number of the character.
        gait: The gait.
        following: The one before it, or after.
        phase: Cycles of the gait.
    """
    if following < gait:
        return phase + _further(leaving, who, gait, phase)
    found = phase
    for _ in range(_ROUNDS):
        found = phase - _further(leaving, who, following, found)
    return found


@kernel
def changed(leaving, who, phase, gait, wanted, way, lands):
    """Phase and gait of a body: it changes through as many gaits as its step hides, up to `MOST`.

    Args:
        leaving: Where gaits are left, see `leaving_of`.
        who: Number of the character.
        phase: Cycles until now.
        gait: The gait until now.
        wanted: The gait for its speed.
        way: Way of the step, as a share of the body's size [m].
        lands: Whether the body has stopped, and brings its feet down.
    """
    column = LANDING_WAY if lands else WAY
    for _ in range(MOST):
        if gait == wanted:
            break
        following = gait - 1 if wanted < gait else gait + 1
        faster = max(gait, following)
        if leaving[who, faster, 0, WAY] == math.inf:
            break
        found = like(leaving, who, gait, following, phase)
        before, after, _part = knots(phase if faster == gait else found)
        least = max(leaving[who, faster, before, column], leaving[who, faster, after, column])
        if least > way:
            break
        way -= least
        phase, gait = found, following
    return phase, gait
