"""The speed on the chosen way, without the part that presses on agents that go first.

At a door people follow more closely than in a corridor, and it passes more of them for its width.
People that are through still do, or the next ones would wait for them in the opening.
Source: Liddle et al. 2011, "Microscopic insights into pedestrian motion through a bottleneck" (the
larger flow through short ones). How much more closely, and where, is our own.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import add, add_scaled, dot, length, scale, sub, truncate, unit
from .foreseen import ALIKE, FACING, FIRST, RESULT, SQUARE, TOUCH, U, X, largest, three
from .rules import NOWHERE, RULES
from .walls import at_door, walled


@kernel
def room_ahead(table, columns, way, velocity, response):
    """Least gap [m] on a way to neighbors ahead with a like wish; inf for none.

    Gaps count as they will be after the response time [s], and beside the way by 1/cos² longer;
    a neighbor is ahead when it is so by the mean of the way and its own heading.
    """
    for n in range(columns):
        offset, moves = three(table, X, n), sub(three(table, U, n), velocity)
        along, square = dot(offset, way), table[SQUARE, n]
        below, distance = along * along, math.sqrt(square)
        gap = distance - table[TOUCH, n]
        gap += response * dot(offset, moves) / (distance if distance > 0.0 else 1.0)
        room = gap * square / (below if below > 0.0 else 1.0)
        ahead = (along > 0.0) & (below >= RULES.askew * square) & (along + table[FACING, n] > 0.0)
        ahead = ahead & (table[FIRST, n] >= 0.0) & (table[ALIKE, n] > 0.0)
        table[RESULT, n] = -room if ahead else -math.inf
    return -largest(table, RESULT, columns, -math.inf)


@kernel
def pace(world, own, others, table, way):
    """The speed [m/s] that the room ahead leaves on a way, and the headway [s] kept in it."""
    queues = others.opposed <= RULES.another
    response = max(0.0, RULES.response - world.dt) if queues else 0.0
    room = room_ahead(table, others.columns, way, own.velocity, response) - own.spare
    headway = own.headway
    if own.walls and queues and room < headway * own.speed:
        headway *= 1.0 - RULES.closer * at_door(world, own.eye, own.frame)
    effort = RULES.pressing + min(1.0 - RULES.pressing, length(own.velocity) / own.speed)
    return min(own.speed, max(room / headway, others.opposed * effort * own.speed)), headway


@kernel
def yielded(table, columns, velocity, headway, everybody, left):
    """A velocity [m/s] that closes gaps to agents that go first, or to all, in a headway [s].

    Only agents with a like wish count; `left` is the part of a gap that stays [m].
    """
    count = 0  # without branches: most often it is none
    for n in range(columns):
        count += int((table[ALIKE, n] > RULES.like) & (everybody | (table[FIRST, n] > 0.0)))
    if count == 0 or velocity == NOWHERE:
        return velocity
    for _sweep in range(RULES.sweeps):
        most = 0.0
        for n in range(columns):
            if table[ALIKE, n] <= RULES.like or not (everybody or table[FIRST, n] > 0.0):
                continue
            offset = three(table, X, n)
            toward, distance = unit(offset), math.sqrt(dot(offset, offset))
            gap = max(distance - table[TOUCH, n] - left, 0.0)
            over = dot(toward, velocity) - gap / headway
            if over > 0.0:
                velocity = add_scaled(velocity, toward, -over)
                most = max(most, over)
        if most < RULES.settled:
            break
    return velocity


@kernel
def _backed_out(world, own, others, table):
    """The velocity [m/s] out of the personal space of agents that go first."""
    back = scale(others.back, 1.0 / own.headway)
    gentle = yielded(table, others.columns, back, own.headway, True, own.spare)
    if back == gentle:
        return back
    share = others.opposed
    if own.walls and share < RULES.presses:
        wall = walled(world, own, (1.0, 0.0, 0.0))
        share = max(share, RULES.presses * min(1.0, RULES.walled * wall))
    share = max(share, RULES.presses * min(1.0, RULES.converge * others.differ))
    return add_scaled(gentle, sub(back, gentle), share)


@kernel
def velocity_on(world, own, others, table, way, pace, headway):
    """The velocity [m/s] at a pace on a way, without the part that presses on others."""
    go = yielded(table, others.columns, scale(way, pace), headway, False, 0.0)
    back = _backed_out(world, own, others, table)
    return add(add(go, back), truncate(others.pressed, own.speed))
