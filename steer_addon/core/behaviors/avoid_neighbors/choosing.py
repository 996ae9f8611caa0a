"""The way of least cost: the preferred side, and how much neighbors and walls are in a way."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compiled.jit import inlined_kernel, kernel
from ...numeric.vec import EPSILON, dot, length, scale
from .foreseen import AFTER, BEFORE, BEYOND, CARE, RESULT, SOFT, U, V, W, X, Y, Z, largest
from .rules import RULES
from .walls import walled

LEFT, NEITHER = 1, 2  # sides on which others are passed: the choice `side`, where 0 is the right
SIDES = 4  # to which flyers turn: right, left, above, below; walkers have the first two
LEVEL_WAYS, ALL_WAYS = 24, 40  # of walkers and flyers, in whole blocks of what is done at once
NEAR = 7  # ways that turn least
TURN, HARM, KNOWN = range(3)
"""Lines of `costs`, which has a column for each way: the cost of the turn, that of what is in the
way, and what the second one includes at present:"""
NOTHING, OTHERS, ALL = 0.0, 1.0, 2.0


class Fan(NamedTuple):
    """Ways in the order of their numbers, which is that of their turns; way 0 leads straight on."""

    ahead: NDArray[np.float64]  # unit directions: along the wish,
    right: NDArray[np.float64]  # to the preferred side,
    above: NDArray[np.float64]  # and up
    turn: NDArray[np.int64]  # [steps]
    before: NDArray[np.int64]  # the next way that turns less, and more; the same where that is none
    after: NDArray[np.int64]


def _fan(sides: int, places: int) -> Fan:
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


LEVEL, SPATIAL = _fan(2, LEVEL_WAYS), _fan(SIDES, ALL_WAYS)


@inlined_kernel
def way_of(fan, k, sign):
    """Unit direction of way k in the agent's frame; `sign` is -1 where the left is preferred."""
    return (fan.ahead[k], fan.right[k] * sign, fan.above[k] * sign)


@inlined_kernel
def _turned_way(fan, k, step, sign):
    """Unit direction of way k turned on by part of a step, in the agent's frame."""
    if step == 0.0:
        return way_of(fan, k, sign)
    angle = RULES.step * (fan.turn[k] + step)
    out = math.sin(angle)
    if fan.above[k] == 0.0:
        return (math.cos(angle), out if fan.right[k] * sign > 0.0 else -out, 0.0)
    return (math.cos(angle), 0.0, out if fan.above[k] * sign > 0.0 else -out)


@inlined_kernel
def _weigh_turns(fan, own, bias, sign, costs):
    """Fill in the costs of the turns alone; `bias` is the cost of the side not preferred."""
    for k in range(len(fan.ahead)):
        way = way_of(fan, k, sign)
        turn = 1.0 - way[0] - RULES.keep * dot(way, own.velocity) / own.speed - bias * way[1]
        costs[TURN, k], costs[HARM, k], costs[KNOWN, k] = turn, 0.0, NOTHING


@inlined_kernel
def _least_turn(costs):
    """Which of the ways near the wish costs least as long as nothing is in it."""
    least, found = costs[TURN, 0], 0
    for k in range(1, NEAR):
        found = k if costs[TURN, k] < least else found
        least = min(least, costs[TURN, k])
    return found


@inlined_kernel
def _may_be_better(fan, costs, best):
    """Whether some way of which nothing is known may cost no more than the best one."""
    found = 0
    for k in range(len(fan.ahead)):
        found += int((costs[TURN, k] <= best) & (costs[KNOWN, k] == NOTHING))
    return found > 0


@kernel
def _in_way(table, n, own, way):
    """How much one neighbor is in the way: without branches, so that blocks are done at once."""
    x, y, z = table[X, n], table[Y, n], table[Z, n]
    go = scale(way, own.speed)
    u, v, w = go[0] - table[U, n], go[1] - table[V, n], go[2] - table[W, n]
    closing = x * u + y * v + z * w
    room, soft = table[BEYOND, n], table[SOFT, n]
    toward = closing * closing
    found = toward - (u * u + v * v + w * w) * room
    below = closing + math.sqrt(max(found, 0.0))
    time = room / (below if below > 0.0 else 1.0)
    time = time if room > 0.0 else 0.0
    share = toward / soft
    share = share if toward < soft else 1.0
    harm = table[CARE, n] * (1.0 - time / own.horizon) * share
    meets = (closing > 0.0) & ((room <= 0.0) | ((found > 0.0) & (time < own.horizon)))
    return harm if meets else 0.0


@inlined_kernel
def _weigh_three(table, columns, own, fan, first, sign, costs):
    """Fill in the cost of neighbors on a way and on those beside it, all three at once."""
    before, after = fan.before[first], fan.after[first]
    less, way, more = way_of(fan, before, sign), way_of(fan, first, sign), way_of(fan, after, sign)
    for n in range(columns):
        table[BEFORE, n] = _in_way(table, n, own, less)
        table[RESULT, n] = _in_way(table, n, own, way)
        table[AFTER, n] = _in_way(table, n, own, more)
    costs[HARM, before] = RULES.crowd * largest(table, BEFORE, columns)
    costs[HARM, first] = RULES.crowd * largest(table, RESULT, columns)
    costs[HARM, after] = RULES.crowd * largest(table, AFTER, columns)
    costs[KNOWN, before], costs[KNOWN, first], costs[KNOWN, after] = OTHERS, OTHERS, OTHERS


@inlined_kernel
def _cost(world, own, table, columns, fan, k, sign, most, costs):
    """Cost of way k; walls are not looked for where it is more than `most` already."""
    way = way_of(fan, k, sign)
    if costs[KNOWN, k] == NOTHING:
        for n in range(columns):
            table[RESULT, n] = _in_way(table, n, own, way)
        costs[HARM, k], costs[KNOWN, k] = RULES.crowd * largest(table, RESULT, columns), OTHERS
    if own.walls and costs[KNOWN, k] != ALL and costs[TURN, k] + costs[HARM, k] <= most:
        wall = RULES.wall * walled(world, own, way)
        costs[HARM, k], costs[KNOWN, k] = max(costs[HARM, k], wall), ALL
    return costs[TURN, k] + costs[HARM, k]


@kernel
def _side_cost(world, own, others):
    """Cost of the side that is not preferred, negative to prefer the left; -1 for that, else 1."""
    if own.side == NEITHER:
        return 0.0, 1.0
    cost = -RULES.side if own.side == LEFT else RULES.side
    cost *= max(others.differ, min(1.0, RULES.slowed * (1.0 - length(own.velocity) / own.speed)))
    cost *= 1.0 + RULES.around * min(1.0, RULES.crossing * others.crossing)
    sign = -1.0 if cost < 0.0 else 1.0
    if own.walls and others.opposed < 1.0:
        # before a wall the side counts only as much as another wish is near
        for k in (0, 5, 11):  # straight on, and to the preferred side by 45° and 90°
            if walled(world, own, way_of(LEVEL, k, sign)) > 0.0:
                return cost * others.opposed, sign
    return cost, sign


@kernel
def choose(world, own, others, table, costs):
    """The way of least cost, as a unit direction in the agent's frame; `costs` is its scratch."""
    bias, sign = _side_cost(world, own, others)
    if world.flat:
        fan, sides = LEVEL, 2
        _weigh_turns(LEVEL, own, bias, sign, costs)
    else:
        fan, sides = SPATIAL, SIDES
        _weigh_turns(SPATIAL, own, bias, sign, costs)
    # most often the one of least cost is free; it and those beside it are looked at together
    first = _least_turn(costs)
    _weigh_three(table, others.columns, own, fan, first, sign, costs)
    likely, best, chosen = (first, fan.before[first], fan.after[first]), math.inf, 0
    for n in range(3 + 1 + RULES.turns * sides):
        if n == 3 and not (own.walls or _may_be_better(fan, costs, best)):
            break
        k = likely[n] if n < 3 else n - 3
        if costs[TURN, k] <= best:
            cost = _cost(world, own, table, others.columns, fan, k, sign, best, costs)
            if cost < best or (cost == best and k < chosen):
                best, chosen = cost, k
    before, after = fan.before[chosen], fan.after[chosen]
    if chosen == 0 or before == after:
        return way_of(fan, chosen, sign)
    for k in (before, after):
        most = math.inf
        costs[TURN, k] = _cost(world, own, table, others.columns, fan, k, sign, most, costs)
    less, more = costs[TURN, before], costs[TURN, after]
    bend = less + more - 2.0 * best
    step = 0.0 if bend < EPSILON else 0.5 * (less - more) / bend
    return _turned_way(fan, chosen, min(RULES.refined, max(-RULES.refined, step)), sign)
