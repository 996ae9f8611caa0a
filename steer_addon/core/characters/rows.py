"""Rows of poses from actions: standing, walks of rising strides, blends to running, clips.

A row of a gait is sampled at equal steps of the way that its planted feet go back, so they stay
where they are when an agent goes on by as much. A stride between two actions is measured from the
blend itself. Cadence grows as the square root of the speed, as for people who walk at their ease: a
stride of a share w of the walk's goes at w² of its speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import CharacterError
from .contacts import Cycle, measure_cycle, turned
from .pose_space import F32, PoseSpace, Row

Weights = tuple[float, float, float]
"""Shares of standing, walking and running in a blend; their sum is 1."""
Sample = Callable[[Weights, float], F32]
"""All vertices [m] of a blend at a phase of its time, from 0 to 1, in place, (vertex_count, 3)."""
Report = Callable[[float], None]
"""It takes the share of the work that is done, 0 to 1, and may raise to cancel."""

_RUN_STEP = 1.5
"""Spacing of runs over that of walks."""
_MOST_POSES = 2000
"""Poses of one row: at a stride of 12 m they still lie 6 mm apart."""


@dataclass(frozen=True)
class Plan:
    """What rows a character gets.

    Attributes:
        tolerance: Way between two poses of walks [m]; runs, whose feet are down for a moment
            only, have 1.5 times as much.
        ratio: Ratio of neighboring strides.
        slowest: Smallest stride, as a share of the walk's.
        steps: Samples of a cycle from which its way is measured.
        seconds: Time between two poses of rows without a stride [s].
        blends: Whether the actions can be blended.
        stride: Stride of the walk [m]; None to measure it.
        run_stride: Stride of the run [m]; None to measure it.
    """

    tolerance: float = 0.005
    ratio: float = 1.25
    slowest: float = 0.25
    steps: int = 192
    seconds: float = 1.0 / 24.0
    blends: bool = True
    stride: float | None = None
    run_stride: float | None = None

    def __post_init__(self) -> None:
        """Check the range of each value."""
        if not 1.0e-4 <= self.tolerance <= 1.0:
            raise CharacterError(
                f"Way per Pose is {self.tolerance:g} m: give 0.0001 to 1 m, such as 0.005"
            )

    def shares(self) -> list[float]:
        """Rising shares of the walk in blends with standing; the last one is 1."""
        if not self.blends:
            return [1.0]
        count = int(np.ceil(np.log(1.0 / self.slowest) / np.log(self.ratio)))
        return list(np.geomspace(self.slowest, 1.0, count + 1))


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


class Rows:
    """Rows that are made one after another."""

    def __init__(self, plan: Plan) -> None:
        """Begin with no rows."""
        self.plan = plan
        self.gaits: list[Row] = []
        self.clips: list[Row] = []
        self._poses: list[F32] = []

    def space(self) -> PoseSpace:
        """All rows as a pose space."""
        return PoseSpace(np.concatenate(self._poses), tuple(self.gaits), tuple(self.clips))

    def _first(self) -> int:
        return sum(len(poses) for poses in self._poses)

    def add_stand(self, sample: Callable[[float], F32], duration: float, place: Place) -> None:
        """Add standing, which goes on by time; an action without motion gives one pose."""
        poses = self._timed(sample, duration, place, loops=True)
        still = len(poses) == 1 or float(np.abs(poses - poses[0]).max()) < 1.0e-4
        poses = poses[:1] if still else poses
        self.gaits.append(Row("stand", self._first(), len(poses), duration=duration))
        self._poses.append(poses)

    def add_clip(
        self,
        name: str,
        sample: Callable[[float], F32],
        duration: float,
        place: Place,
        loops: bool = True,
    ) -> None:
        """Add a clip by its name."""
        poses = self._timed(sample, duration, place, loops)
        row = Row(name, self._first(), len(poses), duration=duration, loops=loops)
        self.clips.append(row)
        self._poses.append(poses)

    def add_gait(
        self,
        name: str,
        sample: Callable[[float], F32],
        cycle: Cycle,
        speed: float,
        runs: bool = False,
    ) -> None:
        """Add a gait at equal steps of its way; one that is no faster than the last is left out."""
        if self.gaits and speed <= self.gaits[-1].speed * 1.02:
            return
        times = row_times(cycle, self.plan.tolerance * (_RUN_STEP if runs else 1.0))
        place = Place(cycle.angle, (cycle.center[0], cycle.center[1]), cycle.ground)
        poses = np.stack([place.put(sample(time)) for time in times])
        row = Row(name, self._first(), len(times), speed, cycle.stride, cycle.stride / speed)
        self.gaits.append(row)
        self._poses.append(poses)

    def _timed(
        self, sample: Callable[[float], F32], duration: float, place: Place, loops: bool
    ) -> F32:
        count = max(1, round(duration / self.plan.seconds))
        times = np.arange(count) / count if loops else np.linspace(0.0, 1.0, count + 1)
        return np.stack([place.put(sample(float(time))) for time in times])


def row_times(cycle: Cycle, tolerance: float) -> list[float]:
    """Times of poses at equal steps of the way, from phase 0 on.

    Args:
        cycle: The measured cycle.
        tolerance: Way between two poses of walks [m]; runs, whose feet are down for a moment
            only, have 1.5 times as much.

    Returns:
        Shares of the duration; their number is even, so that a pose lies at phase 1/2.
    """
    count = 2 * int(np.ceil(cycle.stride / tolerance / 2.0))
    if count > _MOST_POSES:
        raise CharacterError(
            f"The stride of {cycle.stride:g} m takes {count} poses at a Way per Pose of "
            f"{tolerance:g} m, and a gait has at most {_MOST_POSES}: raise Way per Pose to "
            f"{cycle.stride / _MOST_POSES:.2g} m"
        )
    part = (np.arange(count) / count + cycle.origin) % 1.0
    even = np.linspace(0.0, 1.0, len(cycle.way))
    return [float(time) for time in np.interp(part * cycle.stride, cycle.way, even)]


def dense(sample: Callable[[float], F32], steps: int) -> F32:
    """Samples at even times, both ends included, shape (steps + 1, vertex_count, 3)."""
    return np.stack([sample(time / steps) for time in range(steps + 1)])


def add_gaits(
    rows: Rows, sample: Sample, durations: Weights, report: Report = lambda share: None
) -> Place:
    """Add standing, walks and runs, slowest first.

    Args:
        rows: Where they are added.
        sample: Blends of the actions, whose phases are aligned.
        durations: Times of one cycle of standing, walking and running [s]; 0 for no run.
        report: Progress.

    Returns:
        Where samples stand, for clips.

    Raises:
        CharacterError: Feet are not found, or nothing moves.
    """
    plan, (stand, walk, run) = rows.plan, durations
    pure = _measure(plan, sample, (0.0, 1.0, 0.0), walk, plan.stride)
    still = dense(lambda time: sample((1.0, 0.0, 0.0), time), 8)
    middle = still[..., :2].mean(axis=(0, 1), dtype=np.float64)
    ground = float(np.median(still[..., 2].min(axis=1)))
    place = Place(pure.angle, (float(middle[0]), float(middle[1])), ground)
    rows.add_stand(lambda time: sample((1.0, 0.0, 0.0), time), stand, place)
    shares = plan.shares()
    mixes = list(np.linspace(0.0, 1.0, 4)[1:]) if run and plan.blends else [1.0] if run else []
    total = len(shares) + len(mixes)
    for number, share in enumerate(shares):
        report(number / total)
        weights = (1.0 - share, share, 0.0)
        given = None if plan.stride is None else share * plan.stride
        cycle = pure if share == 1.0 else _measure(plan, sample, weights, walk, given)
        speed = pure.speed * (cycle.stride / pure.stride) ** 2
        name = "walk" if share == 1.0 else f"walk {share:.0%}"
        rows.add_gait(name, _at(sample, weights), cycle, speed)
    for number, mix in enumerate(mixes):
        report((len(shares) + number) / total)
        weights, time = (0.0, 1.0 - mix, mix), walk * (run / walk) ** mix
        given = plan.run_stride if mix == 1.0 else None
        cycle = _measure(plan, sample, weights, time, given)
        name = "run" if mix == 1.0 else f"run {mix:.0%}"
        rows.add_gait(name, _at(sample, weights), cycle, cycle.speed, runs=True)
    report(1.0)
    return place


def _at(sample: Sample, weights: Weights) -> Callable[[float], F32]:
    return lambda time: sample(weights, time)


def _measure(
    plan: Plan, sample: Sample, weights: Weights, duration: float, stride: float | None
) -> Cycle:
    return measure_cycle(dense(_at(sample, weights), plan.steps), duration, stride)
