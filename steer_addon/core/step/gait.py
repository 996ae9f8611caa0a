"""Gaits: what legs, wings and fins do while agents move, one phase and one gait per agent.

A phase counts cycles of the gait: it goes on by way / stride, so that planted feet stay where they
are, or by time where a gait has no stride. The gait goes with the speed; it changes only where the
feet pass each other, at phases that are multiples of 1/2, as neighboring gaits look alike there. A
body that stops lands its foot first, by time, and one that turns on the spot steps. Nothing in a
step reads what is here.

Source: Reynolds 1999, section "Locomotion"; the stride as a function of speed is that of the
character.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..characters.cast import (
    CLOSE,
    DURATION,
    FROM_STAND,
    GIVEN,
    INDEX,
    MEMORY,
    POSTURE,
    RANDOM,
    SPEED,
    STRIDE,
    Cast,
    turns_of,
)
from ..characters.pose_space import KNOTS
from ..compiled import jit
from ..compiled.jit import kernel
from ..crowd.settings import CrowdSettings
from ..crowd.spread import drawn_words
from ..numeric.node_random import random_floats
from ..numeric.rng import random_purpose
from ..numeric.vec import cross, dot, length, load, scale, sub
from . import clips
from .integrate import GRAVITY

(
    PHASE, GAIT, CHARACTER, SLOPE_AHEAD, SLOPE_SIDE, LEAN_AHEAD, LEAN_SIDE, TWIST, SHIFT_AHEAD,
    SHIFT_SIDE, CURVE,
) = range(len(POSTURE))  # fmt: skip
"""Columns of that memory, in the order of `POSTURE`."""

STARTS, STOPS = 0.6, 0.5
"""Shares of the speed of the slowest gait from which agents walk, and below which they stand."""
TURN_REACH = 0.12
"""Way of a step for one radian of a turn on the spot, for a body of usual size [m]."""
LANDING = 0.34
"""Speed at which the feet of a body that stands still go on until both are down [m/s]: so they slip
by 14 mm a frame at 24 frames a second."""
NEAR = 0.06
"""Way behind the place where feet pass, on which gaits still look alike [m]: on it, the gait of a
body that slows down falls by one in each step."""
LATER, MOVED = 0.15, 0.015
"""Part of a cycle behind that place in which a gait still changes to a close one in each step, if
that moves the planted foot by no more than so much [m]."""
SETTLING = 0.2
"""Delay with which a body takes up slopes, and leans [s]."""
LEAN, MOST_LEAN = 0.5, 0.2
"""Share of the acceleration that a body leans into, and the tangent of the most that it leans."""
MOST_TURN = 1.5
"""Most turn within one cycle of which feet take notice [rad]."""
SMALLEST = 1.0e-6
"""Least share of a character's size that a body has."""
CLIMB = 2.0
"""Speed along the way that a flyer's climbing at 1 m/s counts for."""
LEAST_UP = 0.1
"""Least upward part of a normal: steeper slopes count as this one."""

_PURPOSE = random_purpose("gait")


def begin(agents: Agents, settings: CrowdSettings) -> None:
    """Give agents their characters, and gaits for their speeds, where they have none.

    Args:
        agents: The crowd; its memory is written.
        settings: Its settings.
    """
    cast = settings.cast
    if not cast or MEMORY in agents.memory:
        return
    memory = np.zeros((agents.count, len(POSTURE)), np.float32)
    memory[:, PHASE] = drawn_words(settings.seed, agents.id, _PURPOSE)[0] / 2.0**32
    memory[:, CHARACTER] = _characters(cast, agents)
    speeds = cast.table()[memory[:, CHARACTER].astype(np.int64), :, SPEED]
    wanted = (agents.speed / _sizes(cast, agents, settings))[:, None]
    halves = 0.5 * (speeds[:, 1:] + speeds[:, :-1])
    memory[:, GAIT] = (wanted >= halves).sum(axis=1)
    agents.memory[MEMORY] = memory


def advance(before: Agents, after: Agents, settings: CrowdSettings, dt: float) -> None:
    """Let the gaits of a step follow what the agents did in it.

    Args:
        before: The crowd before the step.
        after: The crowd after it; its memory is written.
        settings: Its settings.
        dt: Length of the step [s].
    """
    if not settings.cast:
        after.memory.pop(MEMORY, None)
        return
    begin(before, settings)
    memory = before.memory[MEMORY].copy()
    clips.stand_instead(settings.cast, memory)
    tempo = clips.tempos(before, after, settings)
    jit.parallel_for(
        gait_kernel,
        after.count,
        (before.position, before.velocity, before.heading),
        (after.position, after.velocity, after.heading, after.normal),
        _sizes(settings.cast, after, settings),
        settings.cast.table(),
        turns_of(settings.cast),
        settings.motion.motion == "GROUND",
        tempo,
        float(dt),
        memory,
    )
    after.memory[MEMORY] = memory
    clips.advance(before, after, settings, tempo, dt)


def _sizes(cast: Cast, agents: Agents, settings: CrowdSettings) -> NDArray[np.float64]:
    """Size of each body as a share of its character's, shape (agent_count,)."""
    sizes, usual = np.full(agents.count, cast.scale), settings.agents.radius
    if cast.sized and usual > 0.0:
        sizes *= agents.radius / usual
    return np.maximum(sizes, SMALLEST)


def _characters(cast: Cast, agents: Agents) -> NDArray[np.int64]:
    """Number of each agent's character, shape (agent_count,)."""
    none = np.zeros(agents.count, np.float32)
    chosen: NDArray[Any]
    if GIVEN in agents.attributes:
        chosen = np.floor(agents.attributes[GIVEN] + np.float32(0.5))
    elif cast.choice == RANDOM:
        limits = cast.limits()
        drawn = random_floats(agents.id, cast.seed) * limits[-1]
        chosen = np.searchsorted(limits, drawn, side="right")
    else:
        chosen = agents.id if cast.choice == INDEX else agents.attributes.get(cast.choice, none)
    return chosen.astype(np.int64) % len(cast.gaits)


@kernel
def _wanted(table, who, gait, speed):
    """The gait for a speed: it changes where the speed is nearer to that of another one."""
    wanted = 0
    for g in range(1, table.shape[1]):
        share = 0.5
        if g == 1 and table[who, 1, STRIDE] > 0.0:
            share = STARTS if gait == 0 else STOPS
        low, high = table[who, g - 1, SPEED], table[who, g, SPEED]
        if speed >= low + share * (high - low):
            wanted = g
    return wanted


@kernel
def _way(old, new, faced, ahead, size, on_ground):
    """Way of a step along the heading, with that of steps for a turn.

    Returns:
        The way [m], whether it leads back, and the turn to the left [rad] as far as the body goes
        along: one on the spot has no curve.
    """
    move = sub(new, old)
    turn = 0.0
    if on_ground:
        move = (move[0], move[1], 0.0)
        turn = math.atan2(cross(faced, ahead)[2], dot(faced, ahead))
    way = length(move)
    steps = max(way, TURN_REACH * size * abs(turn))
    return steps, dot(move, ahead) < -0.5 * way, turn * way / max(steps, 1.0e-9)


@kernel
def _next(table, who, gait, wanted, half):
    """The gait after a place where feet pass, half a cycle of number `half`: a neighbor at most.

    First steps are as standing at whole cycles, and as the next gait between them: there they are
    as at its even and its odd halves in turn if they have both sides, and at the odd ones else.
    """
    after = gait
    if wanted > gait:
        after = gait + 1
    elif wanted < gait:
        after = gait - 1
    sides = table[who, 1, FROM_STAND]
    if sides > 1.0 and gait == 2 and after == 1:
        return after
    if sides > 0.0 and min(gait, after) <= 1 and after != gait:
        whole = half % 2.0 == 0.0
        if whole != (min(gait, after) == 0):
            return gait
    return after


@kernel
def _begun(phase, sides):
    """Phase at which a body that stands begins its first steps.

    With both sides, the foot goes first that stands with less weight on it, as standing begins with
    the weight on the left foot, and has it on the right one after half of its cycle.
    """
    begun = math.ceil(phase) * 1.0
    if sides > 1.0:
        begun = math.floor(2.0 * phase + 0.5) / 2.0
        if begun < phase:
            begun += 1.0
    return begun


@kernel
def _joined(table, who, gait, following, crossing, back):
    """Phase of the following gait where feet pass each other, as the gait has it.

    Args:
        table: Gaits of the characters, see `Cast.table`.
        who: Number of the character.
        gait: The gait until now.
        following: The one after it.
        crossing: Cycles of steps until there, in the gait.
        back: Whether the way leads back: phases fall then, and rise otherwise.
    """
    if table[who, 1, FROM_STAND] <= 1.0:
        return crossing
    if gait == 1:
        crossing = 0.5 * crossing
        if following == 0:
            return crossing
        return crossing - 0.75 if back else crossing + 0.25
    if following == 1:
        return crossing - 0.25 if back else crossing + 0.75
    return crossing


@kernel
def _by_time(table, who, phase, gait, wanted, way, dt):
    """Phase and gait after a step of a gait that goes on by time, see `_moved`."""
    after = phase + dt / table[who, gait, DURATION]
    if wanted == gait:
        return after, gait
    following = gait + 1 if wanted > gait else gait - 1
    if table[who, following, STRIDE] > 0.0:
        # it starts with the feet beside each other
        begun = math.ceil(2.0 * phase) / 2.0
        if table[who, following, FROM_STAND] > 0.0:
            begun = _begun(phase, table[who, following, FROM_STAND])
        return begun + way / table[who, following, STRIDE], following
    if math.floor(2.0 * after) == math.floor(2.0 * phase):
        return after, gait
    return after, following


@kernel
def _moved(table, who, phase, gait, way, back, speed, dt):
    """Phase and gait after a step.

    Args:
        table: Gaits of the characters, see `Cast.table`.
        who: Number of the character.
        phase: Cycles until now.
        gait: The gait until now.
        way: Way of the step, as a share of the body's size [m].
        back: Whether it leads back.
        speed: Speed that decides on the gait, likewise [m/s].
        dt: Length of the step [s].
    """
    # first steps of both sides are two cycles of steps
    sides = max(1.0, table[who, gait, FROM_STAND])
    stride = table[who, gait, STRIDE] / sides
    wanted = _wanted(table, who, gait, speed)
    if stride <= 0.0:
        return _by_time(table, who, phase, gait, wanted, way, dt)
    if wanted == 0:
        # a foot in the air comes down
        back = back and way > LANDING * dt
        way = max(way, LANDING * dt)
    done, phase = way / stride, phase * sides
    after = phase - done if back else phase + done
    if wanted == 0 and table[who, gait, CLOSE] > 0.0:
        # a body that stands leaves its run at once: its feet are in the air for most of it
        return after / sides, gait - 1
    border = math.floor(2.0 * after)
    half = border + 1.0 if after < phase else border * 1.0
    crosses = border != math.floor(2.0 * phase)
    following = _next(table, who, gait, wanted, half)
    away = abs(after - 0.5 * half)
    alike = 0 < following < gait and away * stride <= NEAR
    if table[who, max(gait, following), CLOSE] > 0.0 and not back:
        moved = away * abs(table[who, following, STRIDE] - stride)
        alike = alike or (away <= LATER and moved <= MOVED)
    if following == gait or not (crosses or alike):
        return after / sides, gait
    begun = _joined(table, who, gait, following, half / 2.0, after < phase)
    next_stride = table[who, following, STRIDE]
    if next_stride <= 0.0:
        return begun, following
    return begun + (after - half / 2.0) * stride / next_stride, following


@kernel
def _settle(memory, i, velocity, old_velocity, ahead, up, dt):
    """Take up the slope of the ground, and lean into the acceleration, both with some delay."""
    steep = max(up[2], LEAST_UP)
    right = (ahead[1], -ahead[0], 0.0)
    pull = scale(sub(velocity, old_velocity), LEAN / (GRAVITY * dt))
    wished = (
        -dot(up, ahead) / steep,
        -dot(up, right) / steep,
        min(MOST_LEAN, max(-MOST_LEAN, dot(pull, ahead))),
        min(MOST_LEAN, max(-MOST_LEAN, dot(pull, right))),
    )
    taken = 1.0 - math.exp(-dt / SETTLING)
    for k in range(4):
        held = memory[i, SLOPE_AHEAD + k]
        memory[i, SLOPE_AHEAD + k] = held + taken * (wished[k] - held)


@kernel
def _bend(memory, i, stride, turns, turn, way, dt):
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
    wished = turn / way if way != 0.0 else 0.0
    curve = memory[i, CURVE] + taken * (wished - memory[i, CURVE])
    memory[i, CURVE] = curve
    if stride <= 0.0:
        memory[i, TWIST] = memory[i, SHIFT_AHEAD] = memory[i, SHIFT_SIDE] = 0.0
        return
    most = MOST_TURN / stride
    counted = min(most, max(-most, curve))
    place = (memory[i, PHASE] - math.floor(memory[i, PHASE])) * KNOTS
    knot = min(int(place), KNOTS - 1)
    after, part = (knot + 1) % KNOTS, place - knot
    for k in range(3):
        memory[i, TWIST + k] = counted * ((1.0 - part) * turns[knot, k] + part * turns[after, k])
    # a step leads along the heading at its end, which so is half a turn behind the curve there
    memory[i, TWIST] += 0.5 * counted * way


@kernel
def gait_kernel(start, stop, before, after, size, table, turns, on_ground, tempo, dt, memory):
    """Advance phases and gaits, and let bodies take up slopes and curves, and lean.

    Args:
        start: First agent.
        stop: Agent after the last.
        before: Position, velocity and heading before the step, see `Agents`.
        after: Position, velocity, heading and normal after it.
        size: Size of each body as a share of its character's, shape (n,).
        table: Gaits of the characters, see `Cast.table`.
        turns: How bodies turn on curves, see `turns_of`.
        on_ground: Whether agents walk.
        tempo: How much faster than its character each body does what goes by time, shape (n,).
        dt: Length of the step [s].
        memory: Columns of `POSTURE`, shape (n, 11); read and written.
    """
    for i in range(start, stop):
        ahead = load(after[2], i)
        old, new = load(before[0], i), load(after[0], i)
        way, back, turn = _way(old, new, load(before[2], i), ahead, size[i], on_ground)
        way = way / size[i]
        speed = way / dt
        if not on_ground:
            # climbing takes strong beats, sinking takes none
            speed = max(0.0, speed + CLIMB * (new[2] - old[2]) / (size[i] * dt))
        who, gait = int(memory[i, CHARACTER]), int(memory[i, GAIT])
        own_dt = dt * tempo[i]
        phase, gait = _moved(table, who, memory[i, PHASE] * 1.0, gait, way, back, speed, own_dt)
        memory[i, PHASE], memory[i, GAIT] = phase, gait
        if on_ground:
            velocity, old_velocity = load(after[1], i), load(before[1], i)
            _settle(memory, i, velocity, old_velocity, ahead, load(after[3], i), dt)
            stride = table[who, gait, STRIDE] / max(1.0, table[who, gait, FROM_STAND])
            _bend(memory, i, stride, turns[who, gait], turn, -way if back else way, dt)
