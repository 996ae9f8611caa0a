"""How a body stands at its agent: on slopes, and turned about its planted feet on curves.

How a body turns on curves is fitted to its planted feet, see `characters/curves.py`. A body shows
the pose nearest to its phase, some millimeters of way before or behind it; a part of them is taken
by the body, so that its planted feet slip by the rest only, see `characters/holding.py`.
"""

from __future__ import annotations

import math

from ...characters.cast import POSTURE
from ...characters.holding import held_back
from ...compiled.jit import kernel
from ...numeric.vec import dot, scale, unit

(
    PHASE, GAIT, CHARACTER, SLOPE_AHEAD, SLOPE_SIDE, LEAN_AHEAD, LEAN_SIDE, TWIST, SHIFT_AHEAD,
    SHIFT_SIDE, LIFT, CURVE,
) = range(len(POSTURE))  # fmt: skip
"""Columns of the posture in the memory of agents, in the order of `POSTURE`."""

SETTLING = 0.2
"""Delay with which a body takes up slopes and curves [s]."""
STEEPEST = 1.2
"""Most angle of slopes along which feet go; steeper ones count as this one [rad]."""
MOST_TURN = 2.5
"""Most turn within one cycle of which feet take notice [rad]."""
MOST_CURVE = 1.0
"""Most curvature likewise, for a body of usual size [1/m]: on a tighter curve hands would jump by
what bodies turn about their feet, and those who start or stop while they turn have curves of some
centimeters."""
LEAST_UP = 0.1
"""Least upward part of a normal: steeper slopes count as this one."""


@kernel
def knots(phase, count):
    """The even phases before and after a phase, and how far it is from the one to the other.

    Args:
        phase: Cycles of a gait.
        count: Number of even phases of a cycle.
    """
    place = (phase - math.floor(phase)) * count
    knot = min(int(place), count - 1)
    return knot, (knot + 1) % count, place - knot


@kernel
def mixed(table, phase, column):
    """A column of a table at a phase, mixed from the even phases before and after it.

    Args:
        table: Values at even phases of a cycle, one row for each.
        phase: Cycles of a gait.
        column: Number of the column.
    """
    before, after, part = knots(phase, len(table))
    return (1.0 - part) * table[before, column] + part * table[after, column]


@kernel
def tilt(memory, i, velocity, ahead, up, stairs, dt):
    """Take up the slope of the ground with some delay.

    Args:
        memory: Columns of `POSTURE`; read and written.
        i: The agent.
        velocity: Velocity after the step [m/s].
        ahead: Where the body is headed, level.
        up: Normal of the ground.
        stairs: How steep the steps of the ground are along the velocity [m/m], see `climb`.
        dt: Length of the step [s].
    """
    steep = max(up[2], LEAST_UP)
    right = (ahead[1], -ahead[0], 0.0)
    along = scale(unit((velocity[0], velocity[1], 0.0)), stairs)
    wished = (
        dot(along, ahead) - dot(up, ahead) / steep,
        dot(along, right) - dot(up, right) / steep,
    )
    taken = 1.0 - math.exp(-dt / SETTLING)
    for k in range(2):
        held = memory[i, SLOPE_AHEAD + k]
        memory[i, SLOPE_AHEAD + k] = held + taken * (wished[k] - held)


@kernel
def bend(memory, i, stride, turns, turn, way, dt):
    """Take up the curvature of the way with some delay, and turn the body about its planted feet.

    Args:
        memory: Columns of `POSTURE`; read and written.
        i: The agent.
        stride: Way of a cycle of steps [m]; 0 if it has none.
        turns: Turns and shifts of the gait at even phases, see `Row.turning`.
        turn: Turn to the left in the step, as far as the body goes along [rad].
        way: Way of the step, below 0 where it leads back [m].
        dt: Length of the step [s].
    """
    taken = 1.0 - math.exp(-dt / SETTLING)
    wished = min(MOST_CURVE, max(-MOST_CURVE, turn / way)) if way != 0.0 else 0.0
    curve = memory[i, CURVE] + taken * (wished - memory[i, CURVE])
    memory[i, CURVE] = curve
    if stride <= 0.0:
        memory[i, TWIST] = memory[i, SHIFT_AHEAD] = memory[i, SHIFT_SIDE] = 0.0
        return
    most = MOST_TURN / stride
    counted = min(most, max(-most, curve))
    for k in range(3):
        memory[i, TWIST + k] = counted * mixed(turns, memory[i, PHASE] * 1.0, k)
    # to the second order: a body that goes straight on, as its foot stands, stays behind the curve
    memory[i, SHIFT_AHEAD] += 2.0 / 3.0 * memory[i, TWIST] * memory[i, SHIFT_SIDE]
    # a step leads along the heading at its end, which so is half a turn behind the curve there
    memory[i, TWIST] += 0.5 * counted * way


@kernel
def hold(memory, i, stride, count):
    """Shift the body toward where its planted feet stay although the nearest pose is shown.

    Args:
        memory: Columns of `POSTURE`, after `bend`; read and written.
        i: The agent.
        stride: Way of all poses of the gait [m]; 0 if it has none.
        count: Number of its poses.
    """
    memory[i, SHIFT_AHEAD] -= held_back(memory[i, PHASE] * 1.0, stride, count)


@kernel
def feet_go(memory, i, upright):
    """Way that the feet of a body go on a slope for a way of 1 of the body, seen from above.

    A body that tilts takes its feet along the slope, which is a longer way up or down.

    Args:
        memory: Columns of `POSTURE`.
        i: The agent.
        upright: Share of the slope by which its body is not tilted, 0 to 1.
    """
    ahead, side = memory[i, SLOPE_AHEAD], memory[i, SLOPE_SIDE]
    square = ahead * ahead + side * side
    if upright >= 1.0 or square == 0.0:
        return 1.0
    steep = min(math.atan(math.sqrt(square)), STEEPEST)
    more = math.cos(steep * upright) / math.cos(steep) - 1.0
    return 1.0 + more * ahead * ahead / square


@kernel
def roll(memory, i, rolls, upright):
    """Turn and shift a body that leans or is on a slope, so that feet stay as they roll under it.

    Args:
        memory: Columns of `POSTURE`, after `bend` and `lean`; read and written.
        i: The agent.
        rolls: What planted feet need at even phases, see `Row.rolling`.
        upright: Share of the slope by which its body is not tilted, 0 to 1.
    """
    ahead, side = memory[i, SLOPE_AHEAD], memory[i, SLOPE_SIDE]
    rise, share = math.hypot(ahead, side), 0.0
    if rise > 0.0:
        leans = min(math.atan(rise), STEEPEST) * upright
        share = math.sin(leans) * math.cos(leans) / rise
    to_side, to_front = share * side + memory[i, LEAN_SIDE], share * ahead + memory[i, LEAN_AHEAD]
    phase = memory[i, PHASE] * 1.0
    for k in range(3):
        memory[i, TWIST + k] += to_side * mixed(rolls, phase, k)
        memory[i, TWIST + k] += to_front * mixed(rolls, phase, 3 + k)
