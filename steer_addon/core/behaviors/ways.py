"""The ways that are looked at beside a wish, for `avoid_neighbors`: 15° apart, to all sides."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import inlined_kernel
from ..numeric.vec import EPSILON, add_scaled, dot, scale

TURNS = 8
STEP = math.radians(15.0)
COSINES = np.array([math.cos(STEP * turn) for turn in range(TURNS + 1)])
SINES = np.array([math.sin(STEP * turn) for turn in range(TURNS + 1)])
SIDES = 4
"""Directions in which flyers turn away: right, left, above, below; walkers have the first two."""
WAYS = 1 + TURNS * SIDES
NEAR = 7
"""The first of them, which turn least."""
ROOM = (WAYS + 7) // 8 * 8
LEVEL_ROOM = (1 + 2 * TURNS + 7) // 8 * 8
"""Ways that there is room for, of all and of walkers: whole blocks of what is done at once."""
LEFT, NONE = 1, 2
"""On which side others are passed; 0 is the right."""
NOTHING, OTHERS, ALL = 0.0, 1.0, 2.0
"""What the harm on a way knows of: neither others nor walls, others, or both."""


def _directions(several: int) -> NDArray[np.float64]:
    """Unit directions of the ways to so many sides, shape (3, ROOM): ahead, preferred, above."""
    turn, side = np.divmod(np.arange(TURNS * several), several)
    out = np.where(side % 2 == 0, SINES[turn + 1], -SINES[turn + 1])
    found = np.zeros((3, ROOM))
    found[0, 0] = 1.0
    found[:, 1 : 1 + len(turn)] = COSINES[turn + 1], out * (side < 2), out * (side >= 2)
    return found


LEVEL, SPATIAL = _directions(2), _directions(SIDES)
"""Directions of all ways in the order of their numbers, for walkers and for flyers."""


@inlined_kernel
def way_of(turn, side, side_sign):
    """Unit direction after so many steps to a side, in the agent's frame."""
    out = SINES[turn] * (side_sign if side % 2 == 0 else -side_sign)
    if side < 2:
        return (COSINES[turn], out, 0.0)
    return (COSINES[turn], 0.0, out)


@inlined_kernel
def in_world(way, frame):
    """A direction of the agent's frame as one of the world."""
    return add_scaled(add_scaled(scale(frame[0], way[0]), frame[1], way[1]), frame[2], way[2])


@inlined_kernel
def in_frame(vector, frame, flat):
    """A vector of the world as one of the agent's frame."""
    return dot(vector, frame[0]), dot(vector, frame[1]), 0.0 if flat else dot(vector, frame[2])


@inlined_kernel
def numbered(k, several):
    """How many steps way k turns, and to which side."""
    if k == 0:
        return 0, 0
    # two or four sides: dividing takes longer than all the rest
    if several == 2:
        return (k + 1) >> 1, (k - 1) & 1
    return (k + 3) >> 2, (k - 1) & 3


@inlined_kernel
def numbered_way(k, several, side_sign):
    """Unit direction of way k, in the agent's frame."""
    turn, side = numbered(k, several)
    return way_of(turn, side, side_sign)


@inlined_kernel
def weigh_turns(ways, count, velocity, speed, keep, bias, side_sign, costs):
    """Write what ways cost whoever is in them to the first line of `costs`.

    Args:
        ways: LEVEL or SPATIAL.
        count: How many of them, in whole blocks.
        velocity: In the agent's frame [m/s].
        speed: Wished speed [m/s] > 0.
        keep: How dear it is to leave the way of the velocity.
        bias: How dear the sides are that are not preferred.
        side_sign: 1 to prefer the right side, -1 the left.
        costs: Shape (3, ROOM): cost of the turn, harm, and what that knows of: nothing yet.
    """
    for k in range(count):
        way = (ways[0, k], ways[1, k] * side_sign, ways[2, k] * side_sign)
        costs[0, k] = 1.0 - way[0] - keep * dot(way, velocity) / speed - bias * way[1]
        costs[1, k], costs[2, k] = 0.0, NOTHING


@inlined_kernel
def cheapest(costs):
    """Which of the ways near the wish costs least."""
    least, found = costs[0, 0], 0
    for k in range(1, NEAR):
        found = k if costs[0, k] < least else found
        least = min(least, costs[0, k])
    return found


@inlined_kernel
def any_cheaper(costs, flat, best):
    """Whether some way of which nothing is known may cost no more than the best one."""
    found = 0
    for k in range(LEVEL_ROOM if flat else ROOM):
        found += int((costs[0, k] <= best) & (costs[2, k] == NOTHING))
    return found > 0


@inlined_kernel
def beside(k, several):
    """Numbers of the ways on both sides of one; the same twice where it is the outermost."""
    turn, side = numbered(k, several)
    if turn == 0:
        return 2, 1
    before = 1 + (turn - 2) * several + side if turn > 1 else 0
    return before, before if turn == TURNS else 1 + turn * several + side


@inlined_kernel
def refined(before, best, after):
    """Where between three costs the least one lies, in steps from -0.5 to 0.5."""
    bend = before + after - 2.0 * best
    if bend < EPSILON:
        return 0.0
    return min(0.5, max(-0.5, 0.5 * (before - after) / bend))


@inlined_kernel
def turned_way(k, several, step, side_sign):
    """Unit direction of way k turned on by part of a step, in the agent's frame."""
    turn, side = numbered(k, several)
    if step == 0.0:
        return way_of(turn, side, side_sign)
    angle = STEP * (turn + step)
    out = math.sin(angle) * (side_sign if side % 2 == 0 else -side_sign)
    if side < 2:
        return (math.cos(angle), out, 0.0)
    return (math.cos(angle), 0.0, out)
