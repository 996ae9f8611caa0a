"""The ways that are looked at beside a wish, for `avoid_neighbors`: 15° apart, to all sides."""

from __future__ import annotations

import math

import numpy as np

from ..jit import kernel
from ..vec import EPSILON, add_scaled, scale

TURNS = 8
STEP = math.radians(15.0)
COSINES = np.array([math.cos(STEP * turn) for turn in range(TURNS + 1)])
SINES = np.array([math.sin(STEP * turn) for turn in range(TURNS + 1)])
SIDES = 4
"""Directions in which flyers turn away: right, left, above, below; walkers have the first two."""
WAYS = 1 + TURNS * SIDES


@kernel
def way_of(turn, side, side_sign):
    """Unit direction after so many steps to a side, in the agent's frame."""
    out = SINES[turn] * (side_sign if side % 2 == 0 else -side_sign)
    if side < 2:
        return (COSINES[turn], out, 0.0)
    return (COSINES[turn], 0.0, out)


@kernel
def in_world(way, frame):
    """A direction of the agent's frame as one of the world."""
    return add_scaled(add_scaled(scale(frame[0], way[0]), frame[1], way[1]), frame[2], way[2])


@kernel
def numbered(k, several):
    """How many steps way k turns, and to which side."""
    if k == 0:
        return 0, 0
    # two or four sides: dividing takes longer than all the rest
    if several == 2:
        return (k + 1) >> 1, (k - 1) & 1
    return (k + 3) >> 2, (k - 1) & 3


@kernel
def beside(turn, side, several):
    """Numbers of the ways on both sides of one; the same twice where it is the outermost."""
    if turn == 0:
        return 2, 1
    before = 1 + (turn - 2) * several + side if turn > 1 else 0
    return before, before if turn == TURNS else 1 + turn * several + side


@kernel
def refined(before, best, after):
    """Where between three costs the least one lies, in steps from -0.5 to 0.5."""
    bend = before + after - 2.0 * best
    if bend < EPSILON:
        return 0.0
    return min(0.5, max(-0.5, 0.5 * (before - after) / bend))
