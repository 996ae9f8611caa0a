"""Motions that lie or face elsewhere, as those cut from one session, or have several cycles.

Actions that are blended have to face one way and stand at one place. How one pose lies against
another one is the turn and way that bring its vertices nearest to those of the other, seen from
above: the plane case of Kabsch, "A solution for the best rotation to relate two sets of vectors"
(1976).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .contacts import Cycle, turned
from .pose_space import F32

F64 = NDArray[np.float64]
_OTHERWISE = np.radians(50.0)
"""Turn from which on a body faces elsewhere; stances of fighters are turned by less."""
_ASIDE = 0.75
"""Share of the height from which on a body stands elsewhere; who sits or lies is nearer."""
_WAYS = np.radians(20.0)
"""Difference of two ways from which on a body that goes along one of them is turned."""
_EXPLAINED = 0.6
"""A turn leaves at most this share of how far poses are apart; otherwise they are other poses."""
_ROUND = 0.3
"""What a motion that looks the same after a cycle is apart from itself then, at most, as a share of
what it was apart at some time before."""
_NEAREST = 0.1
"""By how much more of that it may be apart where it looks the same after several times."""
_MOST_ROUNDS = 12
_ALIKE, _SPIN = 0.01, np.radians(1.0)
"""Share of the height by which the ends of a cycle differ at most once its turn is taken out, and
the least turn that is."""


@dataclass(frozen=True)
class Facing:
    """How a motion is turned and moved: by an angle about a center, which comes to a place.

    Attributes:
        angle: Turn to the left at its start [rad].
        spin: Turn to the left that the motion has in a cycle, and that is taken out [rad].
        center: What it is turned about, x and y.
        place: Where the center comes to.
    """

    angle: float = 0.0
    spin: float = 0.0
    center: tuple[float, float] = (0.0, 0.0)
    place: tuple[float, float] = (0.0, 0.0)

    def scaled(self, factor: float) -> Facing:
        """The same in other units."""
        center, place = ((factor * x, factor * y) for x, y in (self.center, self.place))
        return Facing(self.angle, self.spin, center, place)

    def matrix(self, time: float) -> F64:
        """What moves a pose at a share of the duration, shape (4, 4)."""
        result = np.eye(4)
        result[:2, :2] = turned(np.eye(2), self.angle - self.spin * time).T
        result[:2, 3] = self.place - result[:2, :2] @ self.center
        return result


AHEAD = Facing()
"""A motion that stays as it is."""


def _turn(points: F32, others: F32) -> tuple[float, float, float]:
    """The turn that brings points nearest to others, and how far apart they are before and after.

    All is about their centers, and seen from above.
    """
    a, b = (p[:, :2] - p[:, :2].mean(axis=0, dtype=np.float64) for p in (points, others))
    angle = float(np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum()))
    before, after = (
        float(np.sqrt(((p - b) ** 2).sum(axis=1).mean())) for p in (a, turned(a, angle))
    )
    return angle, before, after


def facing_of(points: F32, others: F32) -> Facing:
    """What lets a pose face and stand as another one does; `AHEAD` where it nearly does so.

    Args:
        points: Vertices of the pose, shape (vertex_count, 3).
        others: Those of the other one, the same shape.
    """
    angle, before, after = _turn(points, others)
    mine, theirs = (p[:, :2].mean(axis=0, dtype=np.float64) for p in (points, others))
    faces = abs(angle) > _OTHERWISE and after < _EXPLAINED * before
    height = float(np.ptp(others[:, 2]))
    if not faces and np.hypot(*(theirs - mine)) < _ASIDE * height:
        return AHEAD
    (x, y), (u, v) = mine.tolist(), theirs.tolist()
    return Facing(angle if faces else 0.0, 0.0, (x, y), (u, v))


def spin_of(first: F32, last: F32) -> Facing:
    """What takes the turn out of a cycle; `AHEAD` where it has none.

    Args:
        first: Vertices of its first pose, shape (vertex_count, 3).
        last: Those of its last pose, the same shape.
    """
    angle, _before, after = _turn(first, last)
    if abs(angle) < _SPIN or after > _ALIKE * float(np.ptp(first[:, 2])):
        return AHEAD
    start, end = (p[:, :2].mean(axis=0, dtype=np.float64) for p in (first, last))
    # the one place that the turn leaves where it is
    moved = turned(np.eye(2), angle).T
    x, y = np.linalg.solve(np.eye(2) - moved, end - moved @ start).tolist()
    return Facing(0.0, angle, (x, y), (x, y))


def along(cycle: Cycle, other: Cycle) -> Facing:
    """What lets a cycle go the way of another one; `AHEAD` where it nearly does so."""
    angle = (cycle.angle - other.angle + np.pi) % (2.0 * np.pi) - np.pi
    if abs(angle) < _WAYS:
        return AHEAD
    (x, y), (u, v) = cycle.center.tolist(), other.center.tolist()
    return Facing(float(angle), 0.0, (x, y), (u, v))


def rounds_of(poses: F32) -> int:
    """How many cycles a motion has, as takes of many steps do.

    Args:
        poses: Vertices at even times from the start to the end of the motion, both included, in
            place, shape (steps + 1, vertex_count, 3).
    """
    steps = len(poses) - 1
    apart = np.array([_away(poses, lag) for lag in range(steps)])
    before = np.maximum.accumulate(apart)
    lags = np.rint(steps / np.arange(2, _MOST_ROUNDS + 1)).astype(int)
    found = apart[lags] / np.maximum(before[lags], 1.0e-12)
    if found.min() > _ROUND:
        return 1
    return 2 + int(np.flatnonzero(found <= found.min() + _NEAREST)[-1])


def _away(poses: F32, lag: int) -> float:
    """How far the poses of a cycle are from those a lag later, in the mean."""
    once = poses[:-1]
    return float(np.linalg.norm(once - np.roll(once, -lag, axis=0), axis=-1).mean())
