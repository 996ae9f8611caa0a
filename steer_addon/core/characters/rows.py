"""Rows of poses from actions: standing, walks of rising strides, blends to running, clips.

A row of a gait is sampled at equal steps of the way that its planted feet go back, so they stay
where they are when an agent goes on by as much. Which gaits there are is in `ladder`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import CharacterError
from ..numeric.easing import smoothstep
from .contacts import Cycle, measure_cycle, pose_count, row_times, turned
from .curves import with_turning
from .leaving import with_leaving
from .legs import Leg
from .pose_space import F32, PoseSpace, Row

F64 = NDArray[np.float64]
Weights = tuple[float, float, float]
"""Shares of standing, walking and running in a blend; their sum is 1."""
Shift = tuple[float, float, float]
"""How a pose is moved, so that planted feet stay [m]."""
Result = TypeVar("Result")
Steps = Generator[None, None, Result]
"""Work that stops after each sample, so that it can be shown and ended; it returns its result."""


class Sample(Protocol):
    """What gives all vertices of blends, in place."""

    def __call__(self, weights: Weights, time: float, held: float = 0.0) -> F32:
        """All vertices [m], shape (vertex_count, 3).

        Args:
            weights: Shares of the blend; with `held` their sum is 1.
            time: Phase of its time, from 0 to 1.
            held: Share of the pose in which standing begins.
        """


WAYS_PER_POSE = 1.0e-4, 1.0
"""Least and greatest way between two poses [m]."""
RUN_STEP = 1.6
"""Spacing of runs over that of walks."""
_FASTER, _FASTER_CLOSE = 1.02, 1.002
"""Ratio by which a gait is at least faster than the one before, and one of many to a run is."""
_SLOWER_CLOSE = 0.95
"""Ratio to that down to which one of many to a run is kept, and is as fast as that: bodies would
pop where it is missing."""
_SHARES_APART = 2.89
"""Difference of neighboring shares of the walk in blends with standing, over the square of what
their ratio is above 1: the arms of rigs swing far, and with more they would pop as a body comes to
rest. Ladders that are meant to be rough stay so."""
_EASE = 0.4
"""Time in which standing becomes a clip, and a clip standing [s]."""


@dataclass(frozen=True)
class Plan:
    """What rows a character gets.

    Attributes:
        tolerance: Way between two poses of walks [m]; runs, whose feet are down for a moment
            only, have 1.6 times as much.
        ratio: Ratio of neighboring strides.
        slowest: Smallest stride, as a share of the walk's.
        steps: Samples of a cycle from which its way is measured.
        seconds: Time between two poses of rows without a stride [s].
        stride: Stride of the walk [m]; None to measure it.
        run_stride: Stride of the run [m]; None to measure it.
    """

    tolerance: float = 0.005
    ratio: float = 1.15
    slowest: float = 0.25
    steps: int = 192
    seconds: float = 1.0 / 24.0
    stride: float | None = None
    run_stride: float | None = None

    def __post_init__(self) -> None:
        """Check the range of each value."""
        if not WAYS_PER_POSE[0] <= self.tolerance <= WAYS_PER_POSE[1]:
            raise CharacterError(
                f"Way per Pose is {self.tolerance:g} m: give 0.0001 to 1 m, such as 0.005"
            )

    def shares(self) -> list[float]:
        """Rising shares of the walk in blends with standing; the last one is 1."""
        shares, apart = [1.0], _SHARES_APART * (self.ratio - 1.0) ** 2
        while shares[-1] > self.slowest:
            shares.append(max(shares[-1] / self.ratio, shares[-1] - apart))
        stretched = np.log(self.slowest) / np.log(shares[-1])
        return [float(share**stretched) for share in reversed(shares)]


@dataclass(frozen=True)
class Place:
    """How samples are moved so that poses stand in place: a turn, a center, a ground.

    Attributes:
        angle: Turn about z [rad].
        center: Center before the turn [m], x and y.
        ground: Height of the ground [m].
    """

    angle: float
    center: tuple[float, float]
    ground: float

    def put(self, points: F32) -> F32:
        """Points at their place in the pose space."""
        moved = points - np.array([*self.center, self.ground], np.float32)
        return np.asarray(turned(moved, self.angle), np.float32)

    def beside(self, other: Place) -> NDArray[np.float64]:
        """How far points that stand at the other place are moved to this one, if turned alike."""
        mine, others = (np.array([*place.center, place.ground]) for place in (self, other))
        return turned(others - mine, self.angle)


def place_of(cycle: Cycle) -> Place:
    """Where the samples of a cycle stand."""
    return Place(cycle.angle, (float(cycle.center[0]), float(cycle.center[1])), cycle.ground)


@dataclass(frozen=True)
class FirstSteps:
    """One half of first steps: one foot goes first in it, the other one in the second half.

    Attributes:
        sample: Its poses at a time.
        cycle: How it goes along; phase 0 is standing.
        away: How far it is from standing at a time, as shares from 0 to 1.
    """

    sample: Callable[[float], F32]
    cycle: Cycle
    away: Callable[[float], float]


@dataclass(frozen=True)
class Origin:
    """What the poses of a row were sampled from, by which a rig shows them again.

    Attributes:
        weights: Shares of standing, walking and running; all are 0 for a clip. Last steps have them
            for each pose.
        times: Time of each pose as a share of the duration of its actions.
        place: How the samples were moved.
        shares: Share of a clip, or of first steps, at each pose, against standing; none where it is
            1 throughout.
        turns: How each pose was turned to the left after that [rad]; none where it was not.
        shifts: How each pose was moved after that [m]; none where it was not.
        legs: How both legs were turned after that; none where they were not.
    """

    weights: Weights | tuple[Weights, ...]
    times: tuple[float, ...]
    place: Place
    shares: tuple[float, ...] = ()
    turns: tuple[float, ...] = ()
    shifts: tuple[Shift, ...] = ()
    legs: tuple[Leg, ...] = ()


@dataclass(frozen=True)
class ClipPlan:
    """How an action becomes a clip that begins and ends where standing begins.

    Attributes:
        length: Time of the action [s].
        loops: Whether it goes round and round; ways in and out are added to it then. Otherwise its
            own begin and end are blended with standing.
    """

    length: float
    loops: bool

    @property
    def ease(self) -> float:
        """Time in which standing becomes the action, and the action standing [s]."""
        return _EASE if self.loops else min(_EASE, self.length / 3.0)

    @property
    def duration(self) -> float:
        """Time of the clip [s]."""
        return self.length + (2.0 * self.ease if self.loops else 0.0)

    def at(self, part: float) -> tuple[float, float]:
        """Time in the action, from 0 to 1, and the share of the action against standing.

        Args:
            part: Time in the clip, from 0 to 1.
        """
        time = part * self.duration
        near = min(time, self.duration - time) / self.ease
        inside = ((time - self.ease) / self.length) % 1.0 if self.loops else part
        return inside, float(smoothstep(near))


class Rows:
    """Rows that are made one after another."""

    def __init__(self, plan: Plan, feet: NDArray[np.bool_] | None = None) -> None:
        """Begin with no rows.

        Args:
            plan: What rows are made.
            feet: Which vertices belong to feet, shape (vertex_count,); None to find them.
        """
        self.plan, self.feet = plan, feet
        self.gaits: list[Row] = []
        self.clips: list[Row] = []
        self.gait_origins: list[Origin] = []
        self.clip_origins: list[Origin] = []
        self._poses: list[F32] = []

    @property
    def origins(self) -> list[Origin]:
        """What each row was sampled from: those of gaits, then those of clips."""
        return [*self.gait_origins, *self.clip_origins]

    def space(self) -> PoseSpace:
        """All rows as a pose space."""
        poses = np.concatenate(self._poses)
        space = PoseSpace(poses, tuple(self.gaits), tuple(self.clips))
        return with_leaving(with_turning(space, rig=True))

    @property
    def pose_count(self) -> int:
        """Number of the poses until now."""
        return sum(len(poses) for poses in self._poses)

    def measure(
        self,
        sample: Callable[[float], F32],
        duration: float,
        stride: float | None,
        like: Cycle | None = None,
    ) -> Steps[Cycle]:
        """Measure a cycle by samples at even times; that of a blend by the feet of another one."""
        samples = yield from dense(sample, self.plan.steps)
        return measure_cycle(samples, duration, stride, self.feet, like)

    def add_stand(
        self, sample: Callable[[float], F32], duration: float, place: Place
    ) -> Steps[None]:
        """Add standing, which goes on by time; an action without motion gives one pose."""
        poses, times = yield from self._timed(sample, duration, place, loops=True)
        still = len(poses) == 1 or float(np.abs(poses - poses[0]).max()) < 1.0e-4
        poses = poses[:1] if still else poses
        row = Row("stand", self.pose_count, len(poses), duration=duration)
        self._add(row, Origin((1.0, 0.0, 0.0), times[: len(poses)], place), poses)

    def add_clip(
        self, name: str, sample: Callable[[float], F32], plan: ClipPlan, place: Place
    ) -> Steps[None]:
        """Add a clip by its name; samples are taken by its plan."""
        poses, parts = yield from self._timed(sample, plan.duration, place, loops=False)
        row = Row(
            name,
            self.pose_count,
            len(poses),
            duration=plan.duration,
            loops=False,
            round_from=plan.ease / plan.duration if plan.loops else 0.0,
            round_to=1.0 - plan.ease / plan.duration if plan.loops else 0.0,
        )
        times, shares = zip(*map(plan.at, parts), strict=True)
        self.add_further(row, Origin((0.0, 0.0, 0.0), times, place, shares), poses)

    def add_further(self, row: Row, origin: Origin, poses: F32) -> None:
        """Add a row that is no gait, after all gaits."""
        self.clips.append(row)
        self.clip_origins.append(origin)
        self._poses.append(poses)

    def add_gait(
        self,
        name: str,
        sample: Callable[[float], F32],
        cycle: Cycle,
        speed: float,
        weights: Weights = (0.0, 1.0, 0.0),
    ) -> Steps[None]:
        """Add a gait at equal steps of its way; one that is no faster than the last is left out."""
        close = weights[2] > 0.0
        if self.gaits:
            least = self.gaits[-1].speed * (_FASTER_CLOSE if close else _FASTER)
            if speed <= least * (_SLOWER_CLOSE if close else 1.0):
                return
            speed = max(speed, least)
        step = self.plan.tolerance * (RUN_STEP if close else 1.0)
        times = row_times(cycle, pose_count(cycle.stride, step))
        turns, *level = cycle.moves_at(np.array(times)).T
        shifts = np.stack([*level, np.zeros(len(times))], axis=1)
        poses = yield from laid(sample, place_of(cycle), times, turns, shifts)
        row = Row(name, self.pose_count, len(times), speed, cycle.stride, cycle.stride / speed)
        origin = origin_of(weights, place_of(cycle), times, (), turns, shifts)
        self._add(replace(row, close=close), origin, poses)

    def add_first_steps(
        self,
        name: str,
        halves: Sequence[FirstSteps],
        speed: float,
        weights: Weights,
        stand: Place,
    ) -> Steps[None]:
        """Add the way between standing and the next gait, first with one foot, then the other.

        Args:
            name: Name of the row.
            halves: Both, which have the same place.
            speed: Its speed [m/s].
            weights: The blend that it leads to.
            stand: Where standing is.
        """
        stride = sum(half.cycle.stride for half in halves)
        count, place = pose_count(0.5 * stride, self.plan.tolerance), place_of(halves[0].cycle)
        found = []
        for half in halves:
            times = row_times(half.cycle, count)
            shares = np.array([half.away(time) for time in times])
            turns, *level = half.cycle.moves_at(np.array(times)).T
            # standing may be turned otherwise, and elsewhere
            turns = turns + (1.0 - shares) * (stand.angle - place.angle)
            shifts = np.stack([*level, np.zeros(count)], axis=1)
            shifts += (1.0 - shares)[:, None] * stand.beside(place)
            poses = yield from laid(half.sample, place, times, turns, shifts)
            found.append((times, shares, turns, shifts, poses))
        when, part, angles, moved, poses = map(np.concatenate, zip(*found, strict=True))
        row = Row(name, self.pose_count, len(poses), speed, stride, stride / speed)
        origin = origin_of(weights, place, when, part, angles, moved)
        known = replace(row, from_stand=True, both_sides=True, begins_twice=True)
        self._add(known, origin, poses)

    def _add(self, row: Row, origin: Origin, poses: F32) -> None:
        self.gaits.append(row)
        self.gait_origins.append(origin)
        self._poses.append(poses)

    def _timed(
        self, sample: Callable[[float], F32], duration: float, place: Place, loops: bool
    ) -> Steps[tuple[F32, tuple[float, ...]]]:
        count = max(1, round(duration / self.plan.seconds))
        times = np.arange(count) / count if loops else np.linspace(0.0, 1.0, count + 1)
        parts = tuple(times.tolist())
        return (yield from _each(lambda time: place.put(sample(time)), parts)), parts


def dense(sample: Callable[[float], F32], steps: int) -> Steps[F32]:
    """Samples at even times, both ends included, shape (steps + 1, vertex_count, 3)."""
    return _each(sample, (time / steps for time in range(steps + 1)))


def _each(sample: Callable[[float], F32], times: Iterable[float]) -> Steps[F32]:
    found = []
    for time in times:
        found.append(sample(time))
        yield
    return np.stack(found)


def laid(
    sample: Callable[[float], F32], place: Place, times: Iterable[float], turns: F64, shifts: F64
) -> Steps[F32]:
    """Samples at their place, turned and moved."""
    poses = yield from _each(lambda time: place.put(sample(time)), times)
    poses = turned(poses, turns[:, None].astype(np.float32)) + shifts[:, None].astype(np.float32)
    return np.asarray(poses, np.float32)


def origin_of(
    weights: Weights | tuple[Weights, ...],
    place: Place,
    times: Iterable[float],
    shares: Iterable[float],
    turns: F64,
    shifts: F64,
    legs: tuple[Leg, ...] = (),
) -> Origin:
    """What poses that were turned and moved were sampled from, see `Origin`."""
    when, part = (tuple(map(float, values)) for values in (times, shares))
    moved = tuple((x, y, z) for x, y, z in shifts.tolist())
    return Origin(weights, when, place, part, tuple(turns.tolist()), moved, legs)
