"""Where the feet of a cycle are planted: its stride, its direction, its ground, its way.

A planted foot stands still, so a body in place goes as fast as its planted feet go back. Clips are
not even: the feet of a real walk go back at 0.5 to 2.2 m/s within one step, so the way along the
cycle is measured, and poses are taken at equal steps of it. Where feet stop for a moment, limbs
would rush on: there the way goes on, and the body is shifted by the difference, 10 to 30 mm. Where
two feet are down and go back unevenly, the body is turned a little, see `steadying`, and the foot
that bears more load counts.

A foot counts as planted while it is near the ground and goes back: in clips made for games the
swinging foot often passes below the ground, on its way ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CharacterError
from .steadying import loads, steadied

F64 = NDArray[np.float64]
Points = NDArray[np.floating[Any]]

_BAND = 0.03
"""Share of the height: what is within it above the ground is near the ground."""
SOLE = 0.015
"""Share of the height: what is within it above the lowest vertex of a foot is its sole."""
_SLOWEST = 0.3
"""Share of the mean speed below which no part of the way falls."""
_EVEN = 1.0 / 96.0
"""Part of the cycle over which the speed of the way is evened out."""
_STILL = 0.02
"""Share of the height: a cycle whose feet go less far does not walk."""
_MORE_BACK = 1.05
"""Feet near the ground go back for longer than ahead, at least by this ratio."""
_MOST_POSES = 2000
"""Poses of one row: at a stride of 12 m they still lie 6 mm apart."""
_GAP = 0.12
"""Share of the height: feet that lie as far apart along the body are a pair of their own."""


@dataclass(frozen=True, eq=False)
class Cycle:
    """A cycle of a gait, in place, and the way that it goes.

    Attributes:
        duration: Time of one cycle [s].
        stride: Way of one cycle [m].
        angle: Turn about z that makes the way go along -y [rad].
        ground: Height of the planted feet [m].
        way: Way since the start at even times [m], shape (steps + 1,), rising from 0 to `stride`.
        moves: Turn to the left [rad] and shifts to the left and back [m] of the body at even times,
            so that planted feet stay, shape (steps + 1, 3); the mean of each is 0.
        drift: Way that the samples went by root motion, per cycle [m], x and y.
        origin: Part of the stride at which phase 0 lies: the feet pass each other.
        center: Mean place of the body over the cycle, before the turn [m], x and y.
        planted: Numbers of the vertices that stand on the ground at some time.
    """

    duration: float
    stride: float
    angle: float
    ground: float
    way: F64
    moves: F64
    drift: F64
    origin: float
    center: F64
    planted: NDArray[np.intp]

    @property
    def speed(self) -> float:
        """Natural speed [m/s]."""
        return self.stride / self.duration

    @property
    def has_feet(self) -> bool:
        """Whether feet were found: birds and snakes have none."""
        return len(self.planted) > 0

    def moves_at(self, times: F64) -> F64:
        """What `moves` are at times of the cycle from 0 to 1, shape (time_count, 3)."""
        even = np.linspace(0.0, 1.0, len(self.moves))
        return np.stack([np.interp(times, even, column) for column in self.moves.T], axis=-1)


def turned(points: Points, angle: float | F64) -> Points:
    """Points turned about z by an angle, or each by its own; shape (..., 2 or 3)."""
    cosine, sine = np.cos(angle), np.sin(angle)
    result = points.copy()
    result[..., 0] = cosine * points[..., 0] - sine * points[..., 1]
    result[..., 1] = sine * points[..., 0] + cosine * points[..., 1]
    return result


def measure_cycle(
    samples: Points,
    duration: float,
    stride: float | None = None,
    feet: NDArray[np.bool_] | None = None,
    like: Cycle | None = None,
) -> Cycle:
    """Measure how a cycle goes along.

    Args:
        samples: Vertices at even times from the start to the end of the cycle, both included [m],
            z up, shape (steps + 1, vertex_count, 3).
        duration: Time of the cycle [s].
        stride: Way of the cycle [m], if it is known; it is measured otherwise.
        feet: Which vertices belong to feet, shape (vertex_count,); None for all that come near the
            ground.
        like: A cycle of the same body, of which this one is a blend: its feet are known. One
            without feet says how far this one goes, and where to.

    Returns:
        The cycle.

    Raises:
        CharacterError: Nothing moves, or no feet are found and no stride is given.
    """
    _check(samples, duration)
    if like is not None and like.has_feet:
        feet = np.zeros(samples.shape[1], np.bool_)
        feet[like.planted] = True
    center, drift, picked, height = _in_place(samples, feet)
    if not len(picked) or like is not None and not like.has_feet:
        return _without_feet(samples, duration, stride, drift, center, like)
    even = np.linspace(0.0, 1.0, len(samples))[:, None]
    low = samples[:, picked].astype(np.float64)
    low[:, :, :2] -= center + (even * drift)[:, None]
    contacts = _Contacts(low, height, drift, None if like is None else like.angle)
    if not contacts.found:
        return _without_feet(samples, duration, stride, drift, center, like)
    way, shift = contacts.way()
    measured = float(way[-1])
    given = measured if stride is None else stride
    return Cycle(
        duration,
        given,
        contacts.angle,
        contacts.ground,
        way * (given / measured),
        np.column_stack([contacts.turn_aside, shift]),
        drift,
        contacts.origin(way),
        center,
        picked[contacts.planted.any(axis=0)],
    )


def _check(samples: Points, duration: float) -> None:
    if len(samples) < 3 or not duration > 0.0:
        raise CharacterError(
            "The action of a gait lasts one frame: give an action with two steps, one of each foot"
        )
    if not np.isfinite(samples[0]).all():
        raise CharacterError("The action moves vertices to places that are not finite: repair it")


def _in_place(
    samples: Points, feet: NDArray[np.bool_] | None
) -> tuple[F64, F64, NDArray[np.intp], float]:
    """Center, root motion, the vertices that may be those of feet, and the height."""
    horizontal = samples[:, :, :2].mean(axis=1, dtype=np.float64)
    drift = horizontal[-1] - horizontal[0]
    lowest = samples[:, :, 2].min(axis=0)
    height = float(np.ptp(samples[:, :, 2], axis=1).max())
    if not height > 0.0 or float(np.ptp(samples, axis=0).max()) <= 1.0e-4 * max(height, 1.0e-6):
        raise CharacterError(
            "The action moves no vertex: choose an action that moves the character, or an object "
            "with another Frame Start and End"
        )
    if np.hypot(*drift) < _STILL * height:
        drift = np.zeros(2)
    even = np.linspace(0.0, 1.0, len(samples))[:, None]
    center = (horizontal - even * drift)[:-1].mean(axis=0)
    if feet is None:
        near = lowest < lowest.min() + 3.0 * _BAND * height
    else:
        near = feet & (lowest < lowest[feet].min() + 3.0 * _BAND * height)
    picked = np.flatnonzero(near)
    # feet of a body that is all near the ground cannot be told from it
    return center, drift, picked[: 0 if near.all() else None], height


def _without_feet(
    samples: Points,
    duration: float,
    stride: float | None,
    drift: F64,
    center: F64,
    like: Cycle | None,
) -> Cycle:
    """A cycle that goes on evenly, by its root motion or by the stride that was given."""
    length, angle = float(np.hypot(*drift)), 0.0
    if length > 0.0:
        angle = -np.pi / 2 - np.arctan2(drift[1], drift[0])
    elif like is not None and not like.has_feet:
        length, angle = like.stride, like.angle
    if stride is None and length == 0.0:
        raise CharacterError(
            "No feet that go back on the ground are found in the action: choose one that walks, "
            "with the character upright, Z up; or type in its Stride, the way of one cycle in "
            "meters, as for all that flies, swims or rolls"
        )
    steps = len(samples) - 1
    given = length if stride is None else stride
    return Cycle(
        duration,
        given,
        float(angle),
        float(samples[:, :, 2].min()),
        np.linspace(0.0, given, steps + 1),
        np.zeros((steps + 1, 3)),
        drift,
        0.0,
        center,
        np.empty(0, np.intp),
    )


def pose_count(stride: float, tolerance: float) -> int:
    """Number of poses of a cycle; it is even, so that a pose lies at phase 1/2.

    Args:
        stride: Way of the cycle [m].
        tolerance: Way between two poses [m].

    Raises:
        CharacterError: They are too many.
    """
    count = 2 * int(np.ceil(stride / tolerance / 2.0))
    if count > _MOST_POSES:
        raise CharacterError(
            f"The stride of {stride:g} m takes {count} poses at a Way per Pose of "
            f"{tolerance:g} m, and a gait has at most {_MOST_POSES}: raise Way per Pose to "
            f"{1.01 * stride / _MOST_POSES:.3g} m"
        )
    return count


def row_times(cycle: Cycle, count: int) -> list[float]:
    """Times of poses at equal steps of the way, from phase 0 on, as shares of the duration."""
    part = (np.arange(count) / count + cycle.origin) % 1.0
    even = np.linspace(0.0, 1.0, len(cycle.way))
    return [float(time) for time in np.interp(part * cycle.stride, cycle.way, even)]


def passing_times(cycle: Cycle) -> tuple[float, float]:
    """Times at which the feet pass each other, as shares of the duration; the first one is 0."""
    first, second = row_times(cycle, 2)
    return 0.0, (second - first) % 1.0


class _Contacts:
    """Contacts of the vertices that come near the ground, turned so that the way goes along -y."""

    def __init__(self, low: F64, height: float, drift: F64, angle: float | None) -> None:
        """Find ground and direction, each from the other.

        Args:
            low: Vertices near the ground, in place, shape (steps + 1, vertex_count, 3).
            height: Height of the body [m].
            drift: Root motion of the samples [m], x and y.
            angle: Turn of a cycle of the same feet [rad]; None where nothing is known of them.
        """
        self._band, self._known = _BAND * height, angle is not None
        bottom = low[:, :, 2].min(axis=1)
        self.ground = float(np.percentile(bottom, 25.0))
        self.angle = 0.0
        self._turned = low
        moves = np.diff(low[:, :, :2], axis=0)
        self.found = float(np.hypot(moves[..., 0], moves[..., 1]).sum(axis=0).max()) > (
            2.0 * _STILL * height
        )
        if not self.found:
            return
        ahead = drift if drift.any() else self._first_direction(low, moves)
        if angle is not None:
            ahead = np.array([-np.sin(angle), -np.cos(angle)])
        for _ in range(4):
            self.angle = float(-np.pi / 2 - np.arctan2(ahead[1], ahead[0]))
            self._turned = turned(low, self.angle)
            self._find_planted()
            if not self.planted.any():
                self.found = False
                return
            back = np.median(moves[self.planted], axis=0)
            ahead = ahead if drift.any() else -back
            self.ground = self._ground()
        self._feet = self._split(height)
        self._loads = loads(self.planted)
        self.turn_aside = steadied(self._turned, self._loads, height)
        self._turned = turned(self._turned, self.turn_aside[:, :1])
        self._turned[..., 0] += self.turn_aside[:, 1:]
        self.found = float(self.way()[0][-1]) > _STILL * height

    def _first_direction(self, low: F64, moves: F64) -> F64:
        """The direction against which what is near the ground goes for most of the time."""
        near = low[..., 2] < self.ground + self._band
        both = near[1:] & near[:-1]
        lengths = np.hypot(moves[..., 0], moves[..., 1])
        fast = lengths > 0.05 * lengths.max()
        units = (moves / np.maximum(lengths, 1.0e-12)[..., None])[both & fast]
        if not len(units):
            return np.array([0.0, -1.0])
        # the mean of unit vectors counts times, not ways: stances last longer than swings
        axis = np.linalg.eigh(units.T @ units)[1][:, -1]
        along = units @ axis
        balance = float(along.sum())
        return -axis if balance > 0.0 else axis

    def _find_planted(self) -> None:
        """Vertices that are near the ground and go back in a step, shape (steps, vertices)."""
        near = self._turned[..., 2] < self.ground + self._band
        back = np.diff(self._turned[..., 1], axis=0) > 0.0
        both = near[1:] & near[:-1]
        self.planted = both & back
        # wings and tails come near the ground and leave it the same way
        if not self._known and self.planted.sum() < _MORE_BACK * (both & ~back).sum():
            self.planted[:] = False

    def _ground(self) -> float:
        """Height of planted feet: the lower quartile, over time, of the lowest planted vertex."""
        heights = np.where(self.planted, self._turned[1:, :, 2], np.inf).min(axis=1)
        return float(np.percentile(heights[np.isfinite(heights)], 25.0))

    def _split(self, height: float) -> list[NDArray[np.intp]]:
        """Vertices of each foot: left and right, and pairs that lie apart along the body."""
        middle = self._turned[:-1].mean(axis=0)
        ever = self.planted.any(axis=0)
        side = middle[:, 0] > np.median(middle[ever, 0])
        order = np.argsort(middle[:, 1])
        apart = np.diff(middle[order, 1]) > _GAP * height
        pair = np.empty(len(order), int)
        pair[order] = np.concatenate(([0], np.cumsum(apart)))
        feet = [np.flatnonzero((pair == p) & (side == s)) for p in np.unique(pair) for s in (0, 1)]
        return [foot for foot in feet if ever[foot].any()]

    def way(self) -> tuple[F64, F64]:
        """Way since the start, rising, and shift of the body, both of shape (steps + 1,)."""
        gone = _filled(_medians(np.diff(self._turned[..., 1], axis=0), self._loads))
        steps = _evened(np.maximum(gone, _SLOWEST * gone.mean()))
        steps *= gone.sum() / steps.sum()
        way, stands = (np.concatenate(([0.0], np.cumsum(one))) for one in (steps, gone))
        shift = way - stands
        return way, shift - shift[:-1].mean()

    def origin(self, way: F64) -> float:
        """Part of the stride at which the feet of both sides pass each other."""
        if len(self._feet) < 2:
            return 0.0
        left = np.concatenate(self._feet[1::2])
        right = np.concatenate(self._feet[0::2])
        apart = self._turned[:, left, 1].mean(axis=1) - self._turned[:, right, 1].mean(axis=1)
        apart = apart - apart[:-1].mean()
        part = way / way[-1]
        crossings = []
        for rising in (1.0, -1.0):
            at = np.flatnonzero((rising * apart[:-1] < 0.0) & (rising * apart[1:] >= 0.0))
            if not len(at):
                return 0.0
            first = at[0]
            share = apart[first] / (apart[first] - apart[first + 1])
            crossings.append(part[first] + share * (part[first + 1] - part[first]))
        # both passings lie as near to phases 0 and 1/2 as one origin allows
        gap = (crossings[1] - crossings[0]) % 1.0
        return float((crossings[0] + 0.5 * (gap - 0.5)) % 1.0)


def _medians(values: F64, weights: F64) -> F64:
    """Weighted median of each row; missing where it has no weight."""
    result = np.full(len(values), np.nan)
    for row in np.flatnonzero(weights.any(axis=1)):
        some = np.flatnonzero(weights[row])
        some = some[np.argsort(values[row, some], kind="stable")]
        below = np.cumsum(weights[row, some])
        halfway = below - 0.5 * weights[row, some]
        result[row] = np.interp(0.5 * below[-1], halfway, values[row, some])
    return result


def _filled(values: F64) -> F64:
    """A cyclic row whose missing values lie on lines between their neighbors."""
    known = np.flatnonzero(np.isfinite(values))
    count = len(values)
    around = np.concatenate((known - count, known, known + count))
    return np.interp(np.arange(count), around, np.tile(values[known], 3))


def _evened(steps: F64) -> F64:
    """A cyclic row that is evened out by a bell-shaped kernel."""
    count = len(steps)
    away = np.minimum(np.arange(count), count - np.arange(count)) / (_EVEN * count)
    kernel = np.exp(-0.5 * away * away)
    return np.fft.irfft(np.fft.rfft(steps) * np.fft.rfft(kernel / kernel.sum()), count)
