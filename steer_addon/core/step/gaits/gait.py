"""Gaits: what legs, wings and fins do while agents move, one phase and one gait per agent.

A phase counts cycles of the gait: it goes on by way / stride, so that planted feet stay where they
are, or by time where a gait has no stride. The gait goes with the speed; it changes where the feet
pass each other, at phases that are multiples of 1/2, as neighboring gaits look alike there, and
where a step hides the change, see `leaving`. A body that stops lands its foot first, by time, see
`landing`, and one that turns on the spot steps: round, if it has poses of that, see `rounds`, and
else as it walks. One that holds a place and trembles there stands, see `trembling`. Nothing in a
step reads what is here.

Source: Reynolds 1999, section "Locomotion"; the stride as a function of speed is that of the
character.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...agents import Agents
from ...characters.cast import (
    CLOSE,
    COUNT,
    DURATION,
    FROM_STAND,
    LEFT,
    MEMORY,
    POSTURE,
    SPEED,
    STANDS,
    STRIDE,
    WAY,
    Cast,
    leaving_of,
    rolls_of,
    turns_of,
)
from ...characters.pose_space import SLOWEST
from ...compiled import jit
from ...compiled.jit import kernel
from ...crowd.settings import CrowdSettings
from ...crowd.spread import drawn_words
from ...numeric.rng import random_purpose
from ...numeric.vec import cross, dot, length, load, sub, unit
from . import characters, clips
from .beats import beats
from .facing import FACING, TURNING, face, to_left, turn_from_heading
from .first_steps import begun_steps, joined
from .landing import LANDING, LATER, LIMBS, NEAR, SOON, SWING, brought_down, shift, swing_on
from .last_steps import begins, set_down, stops_by
from .leaning import lean
from .leaving import changed, like, part_from
from .rounds import goes_round, gone_round, hold_round
from .stairs import STAIRS, climb
from .stance import CHARACTER, CURVE, GAIT, PHASE, bend, feet_go, hold, roll, tilt
from .trembling import SWAY, trembles

STARTS, STOPS = 0.6, 0.5
"""Shares of the speed of the slowest gait from which agents walk, and below which they stand."""
TURN_REACH = 0.12
"""Way of a step for one radian of a turn on the spot, for a body of usual size [m]."""
MOVED = 0.015
"""How far the planted foot moves at most where a gait changes to a close one after `NEAR` [m]."""
SMALLEST = 1.0e-6
"""Least share of a character's size that a body has."""
_PURPOSE = random_purpose("gait")
_KEPT = {SWAY: 3, LIMBS: 8, STAIRS: 2, FACING: 2, TURNING: 2}
"""What those who walk remember beside their posture, and how many columns of it."""


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
    memory[:, CHARACTER] = characters.chosen(agents, settings)
    speeds = cast.table()[memory[:, CHARACTER].astype(np.int64), :, SPEED]
    wanted = (agents.speed / _sizes(cast, agents, settings))[:, None]
    halves = 0.5 * (speeds[:, 1:] + speeds[:, :-1])
    memory[:, GAIT] = (wanted >= halves).sum(axis=1)
    agents.memory[MEMORY] = memory
    clips.begin(agents, settings)


def advance(before: Agents, after: Agents, settings: CrowdSettings, dt: float) -> None:
    """Let the gaits of a step follow what the agents did in it.

    Args:
        before: The crowd before the step.
        after: The crowd after it; its memory is written.
        settings: Its settings.
        dt: Length of the step [s].
    """
    if not settings.cast:
        for key in (MEMORY, *_KEPT):
            after.memory.pop(key, None)
        return
    begin(before, settings)
    memory = before.memory[MEMORY].copy()
    kept = {key: np.zeros((after.count, width), np.float32) for key, width in _KEPT.items()}
    for key in kept.keys() & before.memory.keys():
        held = before.memory[key]
        # earlier versions remembered less
        kept[key][:, : held.shape[1]] = held
    clips.stand_instead(settings.cast, memory)
    tempo = clips.tempos(before, after, settings)
    jit.parallel_for(
        gait_kernel,
        after.count,
        (before.position, before.velocity, before.heading),
        (after.position, after.velocity, after.heading, after.normal),
        _sizes(settings.cast, after, settings),
        settings.cast.table(),
        (turns_of(settings.cast), leaving_of(settings.cast), rolls_of(settings.cast)),
        settings.cast.uprights(),
        settings.cast.spots(),
        settings.motion.motion == "GROUND",
        tempo,
        float(dt),
        memory,
        tuple(kept.values()),
    )
    after.memory[MEMORY] = memory
    if settings.motion.motion == "GROUND":
        after.memory |= kept
    elif settings.cast.table()[..., STRIDE].any():
        # people in the air bring their feet down as others do
        after.memory[LIMBS] = kept[LIMBS]
    clips.advance(before, after, settings, tempo, dt)


def _sizes(cast: Cast, agents: Agents, settings: CrowdSettings) -> NDArray[np.float64]:
    """Size of each body as a share of its character's, shape (agent_count,)."""
    sizes, usual = np.full(agents.count, cast.scale), settings.agents.radius
    if cast.sized and usual > 0.0:
        sizes *= agents.radius / usual
    return np.maximum(sizes, SMALLEST)


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
def _headed(faced, ahead, on_ground):
    """Where a body is headed after a step, and the turn there from before to the left [rad]."""
    if not on_ground:
        return ahead, 0.0
    # headings rise with the ground, against which slopes are measured
    faced, ahead = unit((faced[0], faced[1], 0.0)), unit((ahead[0], ahead[1], 0.0))
    return ahead, math.atan2(cross(faced, ahead)[2], dot(faced, ahead))


@kernel
def _way(old, new, turned, ahead, size, on_ground):
    """Way of a step along where the body faces, with that of steps for a turn.

    Returns:
        The way of a body of usual size [m], whether it leads back, and the turn to the left [rad]
        as far as the body goes along: one on the spot has no curve.
    """
    move = sub(new, old)
    if on_ground:
        move = (move[0], move[1], 0.0)
    way = length(move)
    steps = max(way, TURN_REACH * size * abs(turned))
    return steps / size, dot(move, ahead) < -0.5 * way, turned * way / max(steps, 1.0e-9)


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
def _by_time(table, who, phase, gait, wanted, way, dt, faster):
    """Phase and gait after a step of a gait that goes on by time, see `_moved`."""
    after = phase + dt * faster / table[who, gait, DURATION]
    if wanted == gait:
        return after, gait
    following = gait + 1 if wanted > gait else gait - 1
    if table[who, following, STRIDE] > 0.0:
        # it starts with the feet beside each other
        begun, ready = math.ceil(2.0 * phase) / 2.0, True
        stands = table[who, following, STANDS]
        if table[who, following, FROM_STAND] > 0.0:
            begun, ready = begun_steps(phase, table[who, following, FROM_STAND] / stands, dt)
        if not ready:
            return begun, gait
        return begun / stands + way / table[who, following, STRIDE], following
    if math.floor(2.0 * after) == math.floor(2.0 * phase):
        return after, gait
    return after, following


@kernel
def _moved(table, leaving, curved, stops, who, phase, gait, way, back, speed, dt, faster, limbs, i):
    """Phase and gait after a step.

    Args:
        table: Gaits of the characters, see `Cast.table`.
        leaving: Where gaits are left, see `leaving_of`.
        curved: How it turns on a curve, see `changed`.
        stops: Row of its last steps, and the gait from which they lead, see `stops_by`.
        who: Number of the character.
        phase: Cycles until now.
        gait: The gait until now.
        way: Way of the step, as a share of the body's size [m].
        back: Whether it leads back.
        speed: Speed that decides on the gait, likewise [m/s].
        dt: Length of the step [s].
        faster: How much faster the body does what goes by time; steps do not.
        limbs: Memory of the limbs, see `LIMBS`; read and written.
        i: The agent.
    """
    # first steps of both sides are two cycles of steps
    sides = max(1.0, table[who, gait, FROM_STAND])
    stride = table[who, gait, STRIDE] / sides
    wanted = _wanted(table, who, gait, speed)
    if stride <= 0.0:
        return _by_time(table, who, phase, gait, wanted, way, dt, faster)
    if 0 < wanted == gait - 1 and way > limbs[i, SWING] * dt:
        # a body that speeds up is soon as fast as its gait
        wanted = gait
    last, highest = stops
    lands = wanted == 0 and way < LANDING * dt
    if wanted == 0:
        way, back = brought_down(
            table, who, gait, highest, phase * sides, stride, way, back, limbs, i, dt
        )
    swing_on(limbs, i, way, dt)
    done, phase = way / stride, phase * sides
    after = phase - done if back else phase + done
    border = math.floor(2.0 * after)
    half = border + 1.0 if after < phase else border * 1.0
    crosses = border != math.floor(2.0 * phase)
    ends = lands and SLOWEST <= gait <= highest
    if ends and crosses:
        return half / 2.0 + begins(highest, gait), last
    if ends and gait == SLOWEST:
        return after, gait
    following = _next(table, who, gait, wanted, half)
    away = abs(after - 0.5 * half)
    latest = SOON if table[who, following, FROM_STAND] > 0.0 else LATER
    alike = not ends and 0 < following < gait and away <= latest and away * stride <= NEAR
    knows = leaving[who, max(gait, following), 0, WAY] < math.inf
    # a body that speeds up soon comes to where a step hides the change
    speeds_up = knows and wanted > gait
    if table[who, max(gait, following), CLOSE] > 0.0 and not (ends or back or speeds_up):
        moved = away * abs(table[who, following, STRIDE] - stride)
        alike = alike or (away <= LATER and moved <= MOVED)
    if following == gait or not (crosses or alike):
        place = who, after / sides, gait
        return changed(table, leaving, curved, *place, wanted, way, lands, limbs, i, dt)
    if knows:
        found = like(leaving, who, gait, following, after)
        part_from(leaving, who, gait, following, after if following < gait else found, limbs, i)
        return found, following
    begun = joined(table, who, gait, following, half / 2.0, after < phase)
    next_stride = table[who, following, STRIDE]
    if next_stride <= 0.0:
        return begun, following
    return begun + (after - half / 2.0) * stride / next_stride, following


@kernel
def gait_kernel(
    start,
    stop,
    before,
    after,
    size,
    table,
    fitted,
    upright,
    spots,
    on_ground,
    tempo,
    dt,
    memory,
    kept,
):
    """Advance phases and gaits, and let bodies take up slopes and curves, and lean.

    Args:
        start: First agent.
        stop: Agent after the last.
        before: Position, velocity and heading before the step, see `Agents`.
        after: Position, velocity, heading and normal after it.
        size: Size of each body as a share of its character's, shape (n,).
        table: Gaits of the characters, see `Cast.table`.
        fitted: How bodies turn on curves, see `turns_of`, where they leave gaits, see `leaving_of`,
            and what their planted feet need as they lean, see `rolls_of`.
        upright: Share of slopes by which bodies of each character are not tilted.
        spots: What bodies do on the spot, see `Cast.spots`.
        on_ground: Whether agents walk.
        tempo: How much faster than its character each body does what goes by time, shape (n,).
        dt: Length of the step [s].
        memory: Columns of `POSTURE`, shape (n, 12); read and written.
        kept: What else bodies remember: `SWAY`, shape (n, 3), `LIMBS`, (n, 8), `STAIRS`, (n, 2),
            `FACING`, (n, 2), and `TURNING`, (n, 2); read and written.
    """
    turns, leaves, rolls = fitted
    sway, limbs, stairs, facing, turning = kept
    for i in range(start, stop):
        ahead, turned = _headed(load(before[2], i), load(after[2], i), on_ground)
        old, new = load(before[0], i), load(after[0], i)
        level = length((new[0] - old[0], new[1] - old[1], 0.0)) / size[i]
        who, gait, phase = int(memory[i, CHARACTER]), int(memory[i, GAIT]), memory[i, PHASE] * 1.0
        still = on_ground and trembles(sway, i, table, who, gait, old, new, size[i], dt)
        body = ahead
        if on_ground:
            turned = face(facing, turning, i, turned, level, still, dt)
            body = to_left(ahead, facing[i, 0] * 1.0)
        way, back, turn = _way(old, new, turned, body, size[i], on_ground)
        steps_round = on_ground and spots[who, LEFT] >= 0.0
        speed = level / dt if steps_round else way / dt
        speed = speed if on_ground else beats(table, who, speed, new[2] - old[2], size[i], dt)
        if still and (steps_round or way <= level):
            # not where it walks for a turn on the spot: then the steps of the turn are longer
            speed, back = 0.0, False
        stops = stops_by(spots, who, on_ground)
        wanted, on_spot = _wanted(table, who, 0, speed), gait == stops[0]
        if on_spot:
            phase, gait = set_down(table, spots, who, phase, wanted, limbs, i, dt)
        elif steps_round and (gait == 0 or goes_round(spots, who, gait)):
            phase, gait, on_spot = gone_round(spots, who, phase, gait, wanted > 0, turned, dt)
        if not on_spot:
            curved = turns, turn, memory[i, CURVE] * 1.0
            goes, on = way * feet_go(memory, i, upright[who]), (table, leaves, curved, stops, who)
            phase, gait = _moved(*on, phase, gait, goes, back, speed, dt, tempo[i], limbs, i)
        memory[i, PHASE], memory[i, GAIT] = phase, gait
        if on_ground:
            up = load(after[3], i)
            steep = climb(memory, stairs, i, old, new, up, size[i], dt)
            tilt(memory, i, load(after[1], i), ahead, up, steep, dt)
            lean(memory, limbs, i, load(after[1], i), load(before[1], i), body, size[i], dt)
            walked = 0 if gait == stops[0] or goes_round(spots, who, gait) else gait
            stride = table[who, walked, STRIDE] / max(1.0, table[who, walked, FROM_STAND])
            bend(memory, i, stride, turns[who, walked], turn, -way if back else way, dt)
            hold(memory, i, table[who, walked, STRIDE], table[who, walked, COUNT])
            shift(memory, limbs, i, way, turn, dt)
            turn_from_heading(memory, i, facing[i, 0] * 1.0)
            roll(memory, i, rolls[who, walked], upright[who])
            if goes_round(spots, who, gait):
                hold_round(memory, i, spots, who, gait)
