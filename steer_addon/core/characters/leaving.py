"""Where bodies leave a gait for the slower one before it, without a vertex that jumps.

Two neighboring gaits differ by some way at each phase. A body whose vertices move by as much in a
step may change between them and looks no different. So each row keeps, at even phases, the phase of
the slower gait that is most like it, and from which way of a step on a body may change to it: no
vertex moves by more than twice what its poses say then. One that is planted says nothing, so the
body is shifted by as much as planted feet would move, and back by and by as it goes on. A body that
has stopped and brings its feet down hides less, as it does not go along: where it may change while
it lands is kept beside that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .lifting import BAND, bearing
from .pose_space import LEAVES, PoseSpace, Row

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Poses = NDArray[np.floating[Any]]
Leaving = tuple[tuple[float, float], ...]
"""Ways and phases, see `Row.leaving`."""
Parting = tuple[tuple[float, float, float], ...]
"""Shifts, and how far vertices are apart, see `Row.parting`."""

_FLOOR = 0.0033
"""Share of the height by which a vertex may move although its pose says nothing."""
_MORE = 1.6
"""How much more that is for a body that lands: else it would show gaits of a run for long."""
_SLOWEST = 0.03
"""Least way of a vertex for a way of the body of 1 that counts: less is none."""
_STEPS = 0.0, 0.01, 0.02, 0.03, 0.045, 0.06
"""Parts of a cycle by which a step may lead on: what the poses there say counts, too."""
_ASIDE = np.linspace(-0.08, 0.08, 33)
"""Phases of the slower gait that are tried, less that of the gait."""
_FURTHER = 2
"""Number of these phases by which the one that is taken differs at most from knot to knot."""
_VERTICES = 700
"""Number of vertices that are looked at; more change next to nothing."""
_SHIFT = 0.5
"""Weight of the shift of the body against how far vertices are apart."""


def with_leaving(space: PoseSpace) -> PoseSpace:
    """A pose space whose gaits know where bodies leave them."""
    height = float(np.ptp(space.positions[0, :, 2]))
    points = space.positions[:, :: 1 + space.positions.shape[1] // _VERTICES]
    gaits = list(space.gaits)
    for number in range(1, len(gaits)):
        slower, row = gaits[number - 1], gaits[number]
        if slower.stride > 0.0 and not slower.from_stand:
            change = Change(points, row, slower, height)
            found, parting = change.leaving()
            gaits[number] = replace(
                row, leaving=found, landing=change.landing(found), parting=parting
            )
    return PoseSpace(space.positions, tuple(gaits), space.clips)


class Change:
    """The change from a gait to the one before it."""

    def __init__(self, points: Poses, row: Row, slower: Row, height: float) -> None:
        """Find what is planted in both.

        Args:
            points: Vertices of all poses [m], shape (pose_count, vertex_count, 3).
            row: The gait.
            slower: The gait before it.
            height: Height of the body [m].
        """
        self._row, self._slower, self._floor = row, slower, _FLOOR * height
        self._points = points
        self._bear = [
            bearing(points[one.first : one.first + one.count], BAND * height)
            for one in (row, slower)
        ]

    def leaving(self) -> tuple[Leaving, Parting]:
        """Where bodies leave the gait, and how, see `Row.leaving` and `Row.parting`."""
        leasts, aparts = np.empty((2, LEAVES, len(_ASIDE)))
        shifts, said = np.empty((LEAVES, len(_ASIDE), 2)), self._said(1.0)
        for knot in range(LEAVES):
            leasts[knot], aparts[knot], shifts[knot] = self._hidden(
                said, self._floor, knot / LEAVES, _ASIDE
            )
        numbers = _steady(leasts + aparts + _SHIFT * np.linalg.norm(shifts, axis=-1))
        at = np.arange(LEAVES), numbers
        ways = np.round(np.column_stack([leasts[at], _ASIDE[numbers]]), 5)
        # ahead is along -y
        moves = np.round(np.column_stack([shifts[at][:, ::-1], aparts[at]]), 5)
        return (
            tuple((float(way), float(further)) for way, further in ways),
            tuple((float(ahead), float(right), float(apart)) for ahead, right, apart in moves),
        )

    def landing(self, found: Leaving) -> tuple[tuple[float], ...]:
        """Where bodies leave it as they land, see `Row.landing`, at the phases that were found."""
        said, floor = self._said(0.0), _MORE * self._floor
        leasts = [
            self._hidden(said, floor, knot / LEAVES, np.array([aside]))[0][0]
            for knot, (_, aside) in enumerate(found)
        ]
        return tuple((round(float(least), 5),) for least in leasts)

    def _said(self, goes: float) -> tuple[F32, F32]:
        return _said(self._points, self._row, goes), _said(self._points, self._slower, goes)

    def _hidden(
        self, said: tuple[F32, F32], floor: float, phase: float, aside: F64
    ) -> tuple[F64, F64, F64]:
        """From which ways of a step on changes are hidden.

        Args:
            said: What the poses of both say, see `_said`.
            floor: How far a vertex may move although its pose says nothing [m].
            phase: Phase of the gait.
            aside: Phases of the slower one that are tried, less that.

        Returns:
            The ways, how far vertices are apart then at most, and how far planted ones of the
            slower gait are along x and y from those of the gait, by which the body is shifted [m].
        """
        row, slower, at = self._row, self._slower, np.array([phase])
        after = at + aside
        one, others = _numbers(row, at), _numbers(slower, after)
        away = self._points[slower.first + others] - self._points[row.first + one]
        both = np.minimum(self._bear[0][one], self._bear[1][others])
        sums = np.maximum(both.sum(axis=1), 1.0e-9)[:, None]
        shift = np.einsum("av,avk->ak", both, away[..., :2]) / sums
        away[..., :2] -= shift[:, None]
        apart = np.linalg.norm(away, axis=-1)
        moved = np.maximum(apart - floor, 0.0)
        most = np.maximum(said[0][one], said[1][others])
        least = (moved[:, None] / most).max(axis=-1)
        ways = np.array(_STEPS) * row.stride
        return np.maximum(least, ways).min(axis=-1), apart.max(axis=-1), shift


def _steady(costs: F64) -> list[int]:
    """Numbers of the columns of least sum, round and round, that change by few from row to row."""
    count = costs.shape[1]
    apart = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    further = np.where(apart <= _FURTHER, 0.0, np.inf)
    total, came = np.zeros(count), []
    for cost in np.concatenate([costs] * 3):
        sums = total[:, None] + further
        came.append(sums.argmin(axis=0))
        total = sums.min(axis=0) + cost
    number, found = int(total.argmin()), []
    for before in reversed(came):
        found.append(number)
        number = int(before[number])
    # the middle round knows neither where the way begins nor where it ends
    return found[::-1][len(costs) : 2 * len(costs)]


def _numbers(row: Row, phase: F64) -> NDArray[np.int64]:
    """Numbers of the poses at some phases."""
    found: NDArray[np.int64] = np.round(phase * row.count).astype(np.int64) % row.count
    return found


def _said(points: Poses, row: Row, goes: float) -> F32:
    """The most that poses say within each of the steps from each of them, `_SLOWEST` at least.

    Args:
        points: Vertices of all poses [m], shape (pose_count, vertex_count, 3).
        row: The row of the poses.
        goes: Way of the body for a way of the feet of 1: 1, or 0 if it stands.

    Returns:
        Ways of vertices for a way of the feet of 1, shape (poses of the row, steps, vertex_count).
    """
    poses = points[row.first : row.first + row.count].astype(np.float64)
    moved = np.roll(poses, -1, axis=0) - np.roll(poses, 1, axis=0)
    moved *= row.count / (2.0 * row.stride)
    moved[..., 1] -= goes
    speeds: F32 = np.linalg.norm(moved, axis=-1).astype(np.float32)
    away = np.multiply.outer(np.array(_STEPS), [-1.0, 1.0])
    numbers = _numbers(row, (np.arange(row.count) / row.count)[:, None, None] + away)
    said: F32 = np.maximum(speeds[numbers[..., 0]], speeds[numbers[..., 1]])
    np.maximum.accumulate(said, axis=1, out=said)
    return np.maximum(said, np.float32(_SLOWEST))
