"""Where bodies leave a gait for the slower one before it, without a vertex that jumps.

Two neighboring gaits differ by some way at each phase. A body whose vertices move by as much in a
step may change between them and looks no different. So each row keeps, at even phases, the phase of
the slower gait that is most like it, and from which way of a step on a body may change to it: no
vertex moves by more than twice what its poses say then. One that is planted says nothing, so it
stays. A body that has stopped and brings its feet down shows less, as it does not go along: where it
may change while it lands is kept beside that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .pose_space import LEAVES, PoseSpace, Row

F64 = NDArray[np.float64]
Poses = NDArray[np.floating[Any]]

_FLOOR = 0.0035
"""Share of the height by which a vertex may move although its pose says nothing."""
_SLOWEST = 0.03
"""Least way of a vertex for a way of the body of 1 that counts: less is none."""
_STEPS = 0.0, 0.01, 0.02, 0.03, 0.045, 0.06
"""Parts of a cycle by which a step may lead on: what the poses there say counts, too."""
_ASIDE = np.linspace(-0.08, 0.08, 33)
"""Phases of the slower gait that are tried, less that of the gait."""
_FURTHER = 2
"""Number of these phases by which the one that is taken differs at most from knot to knot."""
_NEVER = 1.0e6
"""Way that no step has [m]."""
_VERTICES = 700
"""Number of vertices that are looked at; more change next to nothing."""


def with_leaving(space: PoseSpace) -> PoseSpace:
    """A pose space whose gaits know where bodies leave them."""
    floor = _FLOOR * float(np.ptp(space.positions[0, :, 2]))
    points = space.positions[:, :: 1 + space.positions.shape[1] // _VERTICES]
    gaits = list(space.gaits)
    for number in range(1, len(gaits)):
        slower, row = gaits[number - 1], gaits[number]
        if slower.stride > 0.0 and not slower.from_stand:
            found = leaving(points, row, slower, floor)
            lands = landing(points, row, slower, floor, found)
            gaits[number] = replace(row, leaving=found, landing=lands)
    return PoseSpace(space.positions, tuple(gaits), space.clips)


def leaving(points: Poses, row: Row, slower: Row, floor: float) -> tuple[tuple[float, float], ...]:
    """Where bodies leave a gait, see `Row.leaving`.

    Args:
        points: Vertices of all poses [m], shape (pose_count, vertex_count, 3).
        row: The gait.
        slower: The gait before it.
        floor: How far a vertex may move although its pose says nothing [m].
    """
    leasts, aparts = np.empty((2, LEAVES, len(_ASIDE)))
    hidden = _Hidden(points, row, slower, floor, 1.0)
    for knot in range(LEAVES):
        for number, aside in enumerate(_ASIDE):
            leasts[knot, number], aparts[knot, number] = hidden.at(knot / LEAVES, aside)
    numbers = _steady(leasts + aparts)
    ways, aside = leasts[np.arange(LEAVES), numbers], _ASIDE[numbers]
    pairs = np.round(np.column_stack([ways, aside]), 5)
    return tuple((float(way), float(further)) for way, further in pairs)


def landing(
    points: Poses, row: Row, slower: Row, floor: float, found: tuple[tuple[float, float], ...]
) -> tuple[tuple[float], ...]:
    """Where bodies leave a gait as they land, see `Row.landing`; `found` is what `leaving` found."""
    hidden = _Hidden(points, row, slower, floor, 0.0)
    leasts = [hidden.at(knot / LEAVES, aside)[0] for knot, (_, aside) in enumerate(found)]
    return tuple((round(min(least, _NEVER), 5),) for least in leasts)


class _Hidden:
    """From which way of a step on a change between two gaits is hidden."""

    def __init__(
        self, points: Poses, row: Row, slower: Row, floor: float, goes: float
    ) -> None:
        """See `leaving`; the body goes along by `goes` for a way of its feet of 1."""
        self._points, self._row, self._slower, self._floor = points, row, slower, floor
        self._speeds, self._slower_speeds = (_speeds(points, one, goes) for one in (row, slower))

    def at(self, phase: float, aside: float) -> tuple[float, float]:
        """Least way at a phase of the gait [m], and how far vertices are from the slower gait then.

        Args:
            phase: Phase of the gait.
            aside: Phase of the slower one, less that.
        """
        row, slower, after = self._row, self._slower, phase + aside
        there = self._points[slower.first + _number(slower, after)]
        apart = np.linalg.norm(there - self._points[row.first + _number(row, phase)], axis=-1)
        said, least = np.full(len(apart), _SLOWEST), np.inf
        moved = np.maximum(apart - self._floor, 0.0)
        for step in _STEPS:
            for away in (-step, step):
                said = np.maximum(said, self._speeds[_number(row, phase + away)])
                said = np.maximum(said, self._slower_speeds[_number(slower, after + away)])
            least = min(least, max(float((moved / said).max()), step * row.stride))
        return least, float(apart.max())


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


def _number(row: Row, phase: float) -> int:
    return round(float(phase) * row.count) % row.count


def _speeds(points: Poses, row: Row, goes: float) -> F64:
    """Ways of vertices for a way of the feet of 1, shape (pose_count, vertex_count)."""
    poses = points[row.first : row.first + row.count].astype(np.float64)
    moved = np.roll(poses, -1, axis=0) - np.roll(poses, 1, axis=0)
    moved *= row.count / (2.0 * row.stride)
    moved[..., 1] -= goes
    speeds: F64 = np.linalg.norm(moved, axis=-1)
    return speeds
