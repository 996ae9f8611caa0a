"""The ladder of gaits of a rig: standing, first steps, walks of rising strides, blends to running.

A stride between two actions is measured from the blend itself. Cadence grows as the square root of
the speed, as for people who walk at their ease: a stride of a share w of the walk's goes at w² of
its speed. Agents change to the next gait where the feet pass each other, and see no jump there:
there are as many gaits between a walk and a run as their poses differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .contacts import SOLE, Cycle, row_times, turned
from .pose_space import (
    F32,
    FIRST,
    LAST_POSES,
    LAST_SECONDS,
    LAST_STEPS,
    SLOWEST,
    Row,
    falling,
    last_shares,
)
from .rows import (
    FirstSteps,
    Origin,
    Place,
    Rows,
    Sample,
    Steps,
    Weights,
    dense,
    laid,
    origin_of,
    place_of,
)

_APART = 0.008
"""Share of the height by which the poses of neighboring gaits from walk to run differ at most."""
_HELD = 0.5
"""Share of the way by which planted feet, where feet pass, would move from walk to run, that the
body moves instead: it shifts as far as the feet do."""
_DENSER = 1.4
"""Power of an even share that is that of the run: gaits lie denser where bodies are slow."""
_MIXES = 5, 22
"""Fewest and most gaits from the walk on to the run."""


def add_gaits(
    rows: Rows, sample: Sample, durations: Weights, cycles: Sequence[Cycle] = ()
) -> Steps[Place]:
    """Add standing, walks and runs, slowest first.

    Args:
        rows: Where they are added.
        sample: Blends of the actions, whose phases are aligned.
        durations: Times of one cycle of standing, walking and running [s]; 0 for no run.
        cycles: The walk, and the run if there is one, measured by themselves. Where these have no
            feet, as those of birds and snakes, samples do not say how far they go.

    Returns:
        Where samples stand, for clips.

    Raises:
        CharacterError: Feet are not found, or nothing moves.
    """
    plan, (stand, walk, run) = rows.plan, durations
    like = next((cycle for cycle in cycles[:1] if not cycle.has_feet), None)
    pure = yield from rows.measure(_at(sample, (0.0, 1.0, 0.0)), walk, plan.stride, like)
    known = plan.stride if like is None else pure.stride
    passing = yield from _passing(_at(sample, (0.0, 1.0, 0.0)), pure)
    still = yield from dense(_at(sample, (1.0, 0.0, 0.0)), 8)
    middle = still[..., :2].mean(axis=(0, 1), dtype=np.float64)
    ground = float(np.median(still[..., 2].min(axis=1)))
    place = Place(pure.angle, (float(middle[0]), float(middle[1])), ground)
    yield from rows.add_stand(_at(sample, (1.0, 0.0, 0.0)), stand, place)
    for share in plan.shares():
        weights = (1.0 - share, share, 0.0)
        given = None if known is None else share * known
        cycle = pure
        if share < 1.0:
            cycle = yield from rows.measure(_at(sample, weights), walk, given, pure)
        speed = pure.speed * (cycle.stride / pure.stride) ** 2
        if len(rows.gaits) == 1:
            yield from _add_first_steps(rows, sample, cycle, FIRST * speed, weights, place)
        name = "walk" if share == 1.0 else f"walk {share:.0%}"
        yield from rows.add_gait(name, _at(sample, weights), cycle, speed, weights)
    if run:
        yield from _add_runs(rows, sample, (walk, run), pure, passing, cycles[1:])
    return place


def _add_runs(
    rows: Rows,
    sample: Sample,
    durations: tuple[float, float],
    walk: Cycle,
    passing: F32,
    alone: Sequence[Cycle],
) -> Steps[None]:
    """Add the gaits from the walk on to the run, as many as their poses differ.

    Args:
        rows: Where they are added.
        sample: Blends of the actions.
        durations: Times of one cycle of walking and running [s].
        walk: The cycle of the walk.
        passing: Its poses in which the feet pass each other.
        alone: The run, measured by itself, or nothing.
    """
    soles, pure = _Soles(walk, passing), _at(sample, (0.0, 0.0, 1.0))
    like = next((cycle for cycle in alone if not cycle.has_feet), walk)
    run = yield from rows.measure(pure, durations[1], rows.plan.run_stride, like)
    last = yield from _passing(pure, run)
    run = soles.beside(run, last)
    last = yield from _passing(pure, run)
    apart = float(np.linalg.norm(last - passing, axis=-1).max())
    wanted = int(np.ceil(apart / (_APART * float(np.ptp(passing[..., 2])))))
    even = np.linspace(0.0, 1.0, min(max(wanted, _MIXES[0]), _MIXES[1]) + 1)
    for mix in (even[1:] ** _DENSER).tolist():
        weights, cycle = (0.0, 1.0 - mix, mix), run
        if mix < 1.0:
            time = durations[0] * (durations[1] / durations[0]) ** mix
            given = None if like is walk else (1.0 - mix) * walk.stride + mix * run.stride
            cycle = yield from rows.measure(_at(sample, weights), time, given, walk)
            cycle = soles.beside(cycle, (yield from _passing(_at(sample, weights), cycle)))
        name = "run" if mix == 1.0 else f"run {mix:.0%}"
        yield from rows.add_gait(name, _at(sample, weights), cycle, cycle.speed, weights)


class _Soles:
    """Planted feet where feet pass: how far they are behind the origin, from walk to run."""

    def __init__(self, cycle: Cycle, passing: F32) -> None:
        """Find the vertices of the planted foot in both poses.

        Args:
            cycle: The cycle of the walk.
            passing: Its poses in which the feet pass each other, see `_passing`.
        """
        band = SOLE * float(np.ptp(passing[..., 2]))
        self._soles = []
        for low in passing[:, cycle.planted, 2] if cycle.has_feet else ():
            self._soles.append(cycle.planted[low < low.min() + band])
        self._behind = self._of(passing)

    def _of(self, passing: F32) -> float:
        places = [pose[sole, 1].mean() for pose, sole in zip(passing, self._soles, strict=False)]
        return float(np.mean(places)) if places else 0.0

    def beside(self, cycle: Cycle, passing: F32) -> Cycle:
        """A cycle whose planted feet are nearer to where those of the walk are."""
        away = _HELD * (self._behind - self._of(passing))
        center = cycle.center - turned(np.array([0.0, away]), -cycle.angle)
        return replace(cycle, center=center)


def _passing(sample: Callable[[float], F32], cycle: Cycle) -> Steps[F32]:
    """The two poses in which the feet pass each other, shape (2, vertex_count, 3)."""
    found = []
    for time in row_times(cycle, 2):
        pose = place_of(cycle).put(sample(time))
        turn, aside, back = cycle.moves_at(np.array(time))
        pose = turned(pose, float(turn)) + np.array([aside, back, 0.0], np.float32)
        found.append(np.asarray(pose, np.float32))
        yield
    return np.stack(found)


def _add_first_steps(
    rows: Rows, sample: Sample, cycle: Cycle, speed: float, weights: Weights, place: Place
) -> Steps[None]:
    """Add the way between standing and the slowest walk, see `Row.from_stand`.

    It is standing at phases 0 and 1/2, and the walk where the feet pass between them: in the first
    half where the second foot passes, and then where the first one does.
    """
    passing, halves = row_times(cycle, 2), []
    for start, middle in (passing, passing[::-1]):
        halves.append((yield from _half(rows, sample, cycle, weights, start, middle)))
    yield from rows.add_first_steps("first steps", halves, speed, weights, place)


def _half(
    rows: Rows, sample: Sample, cycle: Cycle, weights: Weights, start: float, middle: float
) -> Steps[FirstSteps]:
    """First steps that stand at one time of a walk, and are as the walk is at another one."""
    even = np.linspace(0.0, 1.0, len(cycle.way))
    first = (middle - start) % 1.0

    def away(time: float) -> float:
        since = (time - start) % 1.0
        half = since / first if since < first else 1.0 + (since - first) / (1.0 - first)
        return float(np.sin(0.5 * np.pi * half) ** 2)

    def first_steps(time: float) -> F32:
        stand, walk, run = weights
        share = away(time)
        return sample((share * stand, share * walk, share * run), time, 1.0 - share)

    found = yield from rows.measure(first_steps, cycle.duration, None, cycle)
    # both halves get as many poses, so that phase 1/2 is where the feet pass
    twice = np.append(even[:-1], even + 1.0)
    gone = np.append(found.way[:-1], found.way + found.stride)
    knots = np.interp([start, start + first, start + 1.0], twice, gone)
    phase = np.interp(np.interp(np.where(even < start, even + 1.0, even), twice, gone), knots,
                      [0.0, 0.5, 1.0]) - (even < start)  # fmt: skip
    way = found.stride * (phase - phase[0])
    moves = found.moves.copy()
    moves[:, 2] += way - found.way
    halved = replace(cycle, stride=found.stride, way=way, moves=moves, origin=float(-phase[0]))
    # none in the pose of standing, those of the walk in its pose
    at_walk = halved.moves_at(np.array(middle)) - cycle.moves_at(np.array(middle))
    shares = np.array([[away(time)] for time in even])
    moves -= (1.0 - shares) * halved.moves_at(np.array(start)) + shares * at_walk
    return FirstSteps(first_steps, halved, away)


def add_last_steps(rows: Rows, sample: Sample, stand: Place) -> Steps[None]:
    """Add last steps, where first ones are known, see `Row.last_steps`; it is the last row of all.

    Args:
        rows: Where they are added, after all others.
        sample: Blends of the actions, whose phases are aligned.
        stand: Where standing is.
    """
    if len(rows.gaits) < 3 or not rows.gaits[1].both_sides:
        return
    slowest, fallen = rows.gait_origins[SLOWEST].place, falling(len(rows.gaits))
    numbers = [*fallen, *[SLOWEST] * (LAST_POSES - 1)]
    halves = [_passed_by(rows.gait_origins[number], slowest) for number in numbers]
    weights, times, turns, shifts = (
        np.array([one[column][half] for half in range(2) for one in halves]) for column in range(4)
    )
    shares = np.tile(np.concatenate([np.ones(len(fallen)), last_shares()]), 2)
    # standing may be turned otherwise, and elsewhere
    turns = shares * turns + (1.0 - shares) * (stand.angle - slowest.angle)
    shifts = shares[:, None] * shifts + (1.0 - shares)[:, None] * stand.beside(slowest)

    def set_down(number: float) -> F32:
        share = shares[int(number)]
        stood, walked, ran = (share * weights[int(number)]).tolist()
        return sample((stood, walked, ran), float(times[int(number)]), float(1.0 - share))

    poses = yield from laid(set_down, slowest, list(range(len(shares))), turns, shifts)
    time = len(poses) * LAST_SECONDS
    row = Row(LAST_STEPS, rows.pose_count, len(poses), duration=time, last_steps=True)
    origin = origin_of(tuple(map(tuple, weights.tolist())), slowest, times, shares, turns, shifts)
    rows.add_further(row, origin, poses)


def _passed_by(gait: Origin, place: Place) -> tuple[Sequence[Any], ...]:
    """Both poses of a gait in which feet pass each other, as of samples at another place.

    Returns:
        Their weights, times, turns and shifts, see `Origin`.
    """
    poses = 0, len(gait.times) // 2
    away = gait.place.beside(place)
    shifts = [gait.shifts[pose] + turned(away, gait.turns[pose]) for pose in poses]
    turns = [gait.place.angle - place.angle + gait.turns[pose] for pose in poses]
    return [gait.weights] * 2, [gait.times[pose] for pose in poses], turns, shifts


def _at(sample: Sample, weights: Weights) -> Callable[[float], F32]:
    return lambda time: sample(weights, time)
