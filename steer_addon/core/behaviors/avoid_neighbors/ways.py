"""The ways that an agent chooses from: 15° apart, to all sides of its wish."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiled.jit import inlined_kernel
from .rules import RULES

LEFT, NEITHER = 1, 2
"""The sides on which others are passed, as numbers of the choice `side`; 0 is the right."""
SIDES = 4
"""Directions in which flyers turn away: right, left, above, below; walkers have the first two."""
LEVEL_WAYS, ALL_WAYS = 24, 40
"""Places for the ways of walkers and of flyers: whole blocks of what is done at once."""


class Fan(NamedTuple):
    """Ways in the order of their numbers, which is that of their turns; way 0 leads straight on."""

    ahead: NDArray[np.float64]  # unit directions: along the wish,
    right: NDArray[np.float64]  # to the preferred side,
    above: NDArray[np.float64]  # and up
    turn: NDArray[np.int64]  # [steps]
    before: NDArray[np.int64]  # the next way that turns less, and more; the same where that is none
    after: NDArray[np.int64]


def fan(sides: int, places: int) -> Fan:
    """All ways to some sides, each array with that number of places."""
    k = np.arange(places)
    turn, side = (k + sides - 1) // sides, (k - 1) % sides
    angle = [math.sin(RULES.step * steps) for steps in turn]
    out = np.where(side % 2 == 0, angle, np.negative(angle))
    ahead = np.array([math.cos(RULES.step * steps) for steps in turn])
    inside = (turn <= RULES.turns) & (k > 0)
    before, after = np.where(turn > 1, k - sides, 0), np.where(turn < RULES.turns, k + sides, 0)
    after = np.where(turn < RULES.turns, after, before)
    before[0], after[0] = 2, 1
    right, above = np.where(inside & (side < 2), out, 0.0), np.where(inside & (side >= 2), out, 0.0)
    return Fan(np.where(turn <= RULES.turns, ahead, 0.0), right, above, turn, before, after)


LEVEL, SPATIAL = fan(2, LEVEL_WAYS), fan(SIDES, ALL_WAYS)


@inlined_kernel
def way_of(fan, k, sign):
    """Unit direction of way k in the agent's frame; `sign` is -1 where the left is preferred."""
    return (fan.ahead[k], fan.right[k] * sign, fan.above[k] * sign)


@inlined_kernel
def turned_way(fan, k, step, sign):
    """Unit direction of way k turned on by part of a step, in the agent's frame."""
    if step == 0.0:
        return way_of(fan, k, sign)
    angle = RULES.step * (fan.turn[k] + step)
    out = math.sin(angle)
    if fan.above[k] == 0.0:
        return (math.cos(angle), out if fan.right[k] * sign > 0.0 else -out, 0.0)
    return (math.cos(angle), 0.0, out if fan.above[k] * sign > 0.0 else -out)
