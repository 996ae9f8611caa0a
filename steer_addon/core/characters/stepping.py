"""Turning on the spot for characters made from rigs: two further rows, as built-in people have.

Hardly any rig has an action for it, so it is made of what there is: standing, and the poses of a
walk in which one foot stands and the other one passes it in the air. A body that steps in place
goes to such a pose and back, once for each foot. Meanwhile its legs are turned about the body, the
more the lower they are, as `stepped_round` has it: a planted foot turns back as far as the body
turns, so it stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .contacts import SOLE, turned
from .figures.rounds import NAMES, stepped_round
from .legs import Leg, share_of_turn
from .pose_space import F32, Row
from .rows import Place, Rows, Sample, Steps, origin_of

F64 = NDArray[np.float64]
Sides = Sequence[NDArray[np.bool_]]
"""Which vertices belong to the legs of either side, each of shape (vertex_count,)."""

_ROUND, _DURATION = float(np.radians(70.0)), 0.8
"""Turn of a cycle [rad], and its usual time [s]."""
_WAY = 1.0
"""Way of the outermost sole from pose to pose, over that of walks."""
_WIDEST, _SHORTEST = 0.25, 0.12
"""Shares of the height: feet that stand further from the middle would be swung too far, and so
would those below shorter legs."""
_STEP = 0.5
"""Most share of the walk: in its pose the toes hang down."""
_LIFT = 0.025
"""Share of the height by which a foot that steps is lifted at least: feet of clips that are made
for games often pass below the ground."""


def add_rounds(
    rows: Rows, sample: Sample, place: Place, passing: tuple[float, float], sides: Sides
) -> Steps[None]:
    """Add turning on the spot to the left and to the right, where legs are fit for it.

    Args:
        rows: Where they are added, after all clips.
        sample: Blends of the actions.
        place: Where standing is.
        passing: Times of the walk at which the feet pass each other.
        sides: The legs of both sides; none where they are not known.
    """
    if not sides:
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
    poses, turns, shifts, rises = [], np.zeros(count), np.zeros((count, 3)), np.zeros((2, count))
    for k, (time, share) in enumerate(zip(times.tolist(), shares.tolist(), strict=True)):
        pose = place.put(sample((0.0, share, 0.0), time, 1.0 - share))
        stays = 1 if phases[k] < 0.5 else 0
        pose, turns[k], shifts[k] = body.on_foot(pose, stays)
        rises[:, k] = body.rises(pose, (up[k], down[k]))
        poses.append(body.stepped(pose, (left[k], right[k]), rises[:, k]))
        yield
    # to the right it is the same in reverse
    for name, way in zip(NAMES, (1.0, -1.0), strict=True):
        order = np.arange(count) if way > 0.0 else -np.arange(count) % count
        told = (times[order], shares[order], turns[order], shifts[order])
        legs = body.legs((left[order], right[order]), rises[:, order])
        row = Row(name, rows.pose_count, count, duration=_DURATION, turn=way * _ROUND)
        origin = origin_of((0.0, 1.0, 0.0), place, *told, legs)
        rows.add_further(row, origin, np.stack(poses)[order])


class _Legs:
    """The legs of a body that stands, left ones first.

    Attributes:
        fit: Whether they can be turned about the body.
        reach: How far the sole is from the middle at most [m].
    """

    def __init__(self, stand: F32, sides: Sides) -> None:
        """Find soles, and by how much each vertex turns with its foot."""
        height = float(np.ptp(stand[:, 2]))
        self._order = sorted((0, 1), key=lambda side: -stand[sides[side], 0].mean())
        self._legs = [np.flatnonzero(sides[side]) for side in self._order]
        self._stand, self._soles, self._shares, self._heights = stand, [], [], []
        self.reach, self.fit, self._high = 0.0, True, _LIFT * height
        for leg in self._legs:
            low, top = float(stand[leg, 2].min()), float(stand[leg, 2].max())
            sole = leg[stand[leg, 2] < low + SOLE * height]
            self._soles.append(sole)
            self._heights.append((low, top))
            self._shares.append(share_of_turn(stand[leg, 2], low, top).astype(np.float32))
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

    def rises(self, pose: F32, lifts: tuple[float, float]) -> list[float]:
        """How far the feet of a pose have to be lifted [m].

        Args:
            pose: The pose.
            lifts: How high they are, from 0 to 1.
        """
        lowest = (
            float(pose[leg[share == 1.0], 2].min())
            for leg, share in zip(self._legs, self._shares, strict=True)
        )
        return [
            max(lift * self._high - low, 0.0) if lift > 0.0 else 0.0
            for lift, low in zip(lifts, lowest, strict=True)
        ]

    def stepped(self, pose: F32, yaws: tuple[float, float], rises: F64) -> F32:
        """A pose whose feet are turned about the body and lifted, and its legs with them.

        Args:
            pose: The pose.
            yaws: Turns of both feet to the left [rad].
            rises: How far they are lifted [m].
        """
        result = pose.copy()
        for leg, share, yaw, rise in zip(self._legs, self._shares, yaws, rises, strict=True):
            result[leg] = turned(pose[leg], np.float32(yaw) * share)
            if rise > 0.0:
                result[leg, 2] += np.float32(rise) * share
        return result

    def legs(self, yaws: tuple[F64, F64], rises: F64) -> tuple[Leg, ...]:
        """What was done to the legs over a row, in the order of the sides that were given."""
        found = [
            Leg(*heights, tuple(yaw.tolist()), tuple(rise.tolist()))
            for heights, yaw, rise in zip(self._heights, yaws, rises, strict=True)
        ]
        return tuple(found[self._order.index(side)] for side in range(2))
