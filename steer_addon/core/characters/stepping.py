"""Turning on the spot for characters made from rigs: two further rows, as built-in people have.

Hardly any rig has an action for it, so it is made of what there is: standing, and the poses of a
walk in which one foot stands and the other one passes it in the air. A body that steps in place
goes to such a pose and back, once for each foot. Meanwhile its legs are turned about the body, the
more the lower they are, as `stepped_round` has it: a planted foot turns back as far as the body
turns, so it stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contacts import turned
from .figures.rounds import NAMES, stepped_round
from .pose_space import F32, Row
from .rows import Origin, Place, Rows, Sample, Steps

F64 = NDArray[np.float64]
Sides = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Which vertices belong to the legs of either side, each of shape (vertex_count,)."""

_ROUND, _DURATION = float(np.radians(70.0)), 0.8
"""Turn of a cycle [rad], and its usual time [s]."""
_WAY = 1.0
"""Way of the outermost sole from pose to pose, over that of walks."""
_SOLE = 0.015
"""Share of the height: what is within it above the lowest vertex of a foot is its sole."""
_WIDEST, _SHORTEST = 0.25, 0.12
"""Shares of the height: feet that stand further from the middle would be swung too far, and so
would those below shorter legs."""
_RIGID = 0.35
"""Share of a leg from the ground up that turns as far as its foot."""
_STEP = 0.5
"""Most share of the walk: in its pose the toes hang down."""
_LIFT = 0.025
"""Share of the height by which a foot that steps is lifted at least: feet of clips that are made
for games often pass below the ground."""


def add_rounds(
    rows: Rows, sample: Sample, place: Place, passing: tuple[float, float], sides: Sides | None
) -> Steps[None]:
    """Add turning on the spot to the left and to the right, where legs are fit for it.

    Args:
        rows: Where they are added, after all clips.
        sample: Blends of the actions.
        place: Where standing is.
        passing: Times of the walk at which the feet pass each other.
        sides: The legs of both sides; None where they are not known.
    """
    if sides is None or not rows.plan.blends:
        return
    stand = place.put(sample((0.0, 0.0, 0.0), 0.0, 1.0))
    yield
    body = _Legs(stand, sides)
    if not body.fit:
        return
    if (yield from body.lifts_right(sample, place, passing[0])):
        passing = passing[::-1]
    count = 2 * int(np.ceil(0.5 * _ROUND * body.reach / (_WAY * rows.plan.tolerance)))
    phases = np.arange(count) / count
    (left, up), (right, down) = (stepped_round(phases, late, _ROUND) for late in (False, True))
    shares, times = _STEP * np.maximum(up, down), np.where(phases < 0.5, *passing)
    poses, turns, shifts = [], np.zeros(count), np.zeros((count, 3))
    for k, (time, share) in enumerate(zip(times.tolist(), shares.tolist(), strict=True)):
        pose = place.put(sample((0.0, share, 0.0), time, 1.0 - share))
        stays = 1 if phases[k] < 0.5 else 0
        pose, turns[k], shifts[k] = body.on_foot(pose, stays)
        poses.append(body.stepped(pose, (left[k], right[k]), (up[k], down[k])))
        yield
    # to the right it is the same in reverse
    for name, way in zip(NAMES, (1.0, -1.0), strict=True):
        order = np.arange(count) if way > 0.0 else -np.arange(count) % count
        told = (times[order], shares[order], turns[order], shifts[order])
        row = Row(name, rows.pose_count, count, duration=_DURATION, turn=way * _ROUND)
        rows.add_further(row, _origin(place, *told), np.stack(poses)[order])


def _origin(place: Place, times: F64, shares: F64, turns: F64, shifts: F64) -> Origin:
    moved: Any = tuple(map(tuple, shifts.tolist()))
    parts = (tuple(values.tolist()) for values in (times, shares, turns))
    when, part, angles = parts
    return Origin((0.0, 1.0, 0.0), when, place, part, angles, moved)


class _Legs:
    """The legs of a body that stands, left ones first.

    Attributes:
        fit: Whether they can be turned about the body.
        reach: How far the sole is from the middle at most [m].
    """

    def __init__(self, stand: F32, sides: Sides) -> None:
        """Find soles, and by how much each vertex turns with its foot."""
        height = float(np.ptp(stand[:, 2]))
        self._legs = sorted((np.flatnonzero(s) for s in sides), key=lambda s: -stand[s, 0].mean())
        self._stand, self._soles, self._shares = stand, [], []
        self.reach, self.fit, self._high = 0.0, True, _LIFT * height
        for leg in self._legs:
            low, top = float(stand[leg, 2].min()), float(stand[leg, 2].max())
            sole = leg[stand[leg, 2] < low + _SOLE * height]
            part = np.clip((top - stand[leg, 2]) / max((1.0 - _RIGID) * (top - low), 1.0e-9), 0, 1)
            self._soles.append(sole)
            self._shares.append((part * part * (3.0 - 2.0 * part)).astype(np.float32))
            self.reach = max(self.reach, float(np.hypot(*stand[sole, :2].T).max()))
            self.fit = self.fit and top - low >= _SHORTEST * height
        self.fit = self.fit and self.reach <= _WIDEST * height

    def lifts_right(self, sample: Sample, place: Place, time: float) -> Steps[bool]:
        """Whether the right foot is in the air at a time of the walk, and not the left one."""
        pose = place.put(sample((0.0, 1.0, 0.0), time))
        yield
        left, right = (float(pose[sole, 2].mean()) for sole in self._soles)
        return right > left

    def on_foot(self, pose: F32, stays: int) -> tuple[F32, float, F64]:
        """A pose that stands on one foot where that stands in the pose of standing.

        Args:
            pose: The pose.
            stays: The foot: 0 for the left one, 1 for the right one.

        Returns:
            The pose, its turn to the left [rad], and how it was moved after that [m].
        """
        sole = self._soles[stays]
        now, then = (points[sole].astype(np.float64) for points in (pose, self._stand))
        x, y = (now - now.mean(axis=0))[:, :2].T
        u, v = (then - then.mean(axis=0))[:, :2].T
        turn = float(np.arctan2((x * v - y * u).sum(), (x * u + y * v).sum()))
        shift: F64 = (then - turned(now, turn)).mean(axis=0)
        return turned(pose, turn) + shift.astype(np.float32), turn, shift

    def stepped(self, pose: F32, yaws: tuple[float, float], lifts: tuple[float, float]) -> F32:
        """A pose whose feet are turned about the body and lifted, and its legs with them.

        Args:
            pose: The pose.
            yaws: Turns of both feet to the left [rad].
            lifts: How high they are, from 0 to 1.
        """
        result = pose.copy()
        for leg, share, yaw, lift in zip(self._legs, self._shares, yaws, lifts, strict=True):
            result[leg] = turned(pose[leg], np.float32(yaw) * share)
            if lift > 0.0:
                lowest = float(pose[leg[share == 1.0], 2].min())
                result[leg, 2] += max(lift * self._high - lowest, 0.0) * share
        return result
