"""Where bodies leave a gait for the slower one before it, without a vertex that jumps.

Two neighboring gaits differ by some way at each phase. A body whose vertices move by as much in a
step may change between them and looks no different. So each row keeps, at even phases, the phase of
the slower gait that is most like it, and from which way of a step on a body may change to it: no
vertex moves by more than twice what its poses say then. One that is planted says nothing, so it
stays. A body that has stopped and brings its feet down hides less, as it does not go along: where
it may change while it lands is kept beside that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .pose_space import LEAVES, PoseSpace, Row

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Poses = NDArray[np.floating[Any]]

_FLOOR = 0.0035
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


def with_leaving(space: PoseSpace) -> PoseSpace:
    """A pose space whose gaits know where bodies leave them."""
    floor = _FLOOR * float(np.ptp(space.positions[0, :, 2]))
    points = space.positions[:, :: 1 + space.positions.shape[1] // _VERTICES]
    gaits = list(space.gaits)
    for number in range(1, len(gaits)):
        slower, row = gaits[number - 1], gaits[number]
        if slower.stride > 0.0 and not slower.from_stand:
            found = leaving(points, row, slower, floor)
            lands = landing(points, row, slower, _MORE * floor, found)
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
    speeds = _speeds(points, row, 1.0), _speeds(points, slower, 1.0)
    for knot in range(LEAVES):
        leasts[knot], aparts[knot] = _hidden(
            points, (row, slower), speeds, floor, knot / LEAVES, _ASIDE
        )
    numbers = _steady(leasts + aparts)
    found = leasts[np.arange(LEAVES), numbers], _ASIDE[numbers]
    pairs = np.round(np.column_stack(found), 5)
    return tuple((float(way), float(further)) for way, further in pairs)


def landing(
    points: Poses, row: Row, slower: Row, floor: float, found: tuple[tuple[float, float], ...]
) -> tuple[tuple[float], ...]:
    """Where bodies leave a gait as they land, see `Row.landing`, at the phases that were found."""
    speeds = _speeds(points, row, 0.0), _speeds(points, slower, 0.0)
    leasts = [
        _hidden(points, (row, slower), speeds, floor, knot / LEAVES, np.array([aside]))[0][0]
        for knot, (_, aside) in enumerate(found)
    ]
    return tuple((round(float(least), 5),) for least in leasts)


def _hidden(
    points: Poses,
    rows: tuple[Row, Row],
    speeds: tuple[F32, F32],
    floor: float,
    phase: float,
    aside: F64,
) -> tuple[F64, F64]:
    """From which ways of a step on changes are hidden, and how far vertices are apart then [m].

    Args:
        points: Vertices of all poses [m], shape (pose_count, vertex_count, 3).
        rows: The gait, and the one before it.
        speeds: What the poses of both say, see `_speeds`.
        floor: How far a vertex may move although its pose says nothing [m].
        phase: Phase of the gait.
        aside: Phases of the slower one that are tried, less that.
    """
    (row, slower), at = rows, np.array([phase])
    after = at + aside
    poses = points[slower.first + _numbers(slower, after)]
    apart = np.linalg.norm(poses - points[row.first + _numbers(row, at)], axis=-1)
    moved = np.maximum(apart - floor, 0.0)
    said = np.maximum(_said(speeds[0], row, at), _said(speeds[1], slower, after))
    least = (moved[:, None] / np.maximum(said, _SLOWEST)).max(axis=-1)
    ways = np.array(_STEPS) * row.stride
    return np.maximum(least, ways).min(axis=-1), apart.max(axis=-1)


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


def _said(speeds: F32, row: Row, phase: F64) -> F32:
    """The most that poses say within each of the steps from some phases.

    Shape (phase_count, step_count, vertex_count).
    """
    away = np.multiply.outer(np.array(_STEPS), [-1.0, 1.0])
    numbers = _numbers(row, phase[:, None, None] + away)
    said: F32 = np.maximum(speeds[numbers[..., 0]], speeds[numbers[..., 1]])
    for step in range(1, len(_STEPS)):
        np.maximum(said[:, step], said[:, step - 1], out=said[:, step])
    return said


def _speeds(points: Poses, row: Row, goes: float) -> F32:
    """Ways of vertices for a way of the feet of 1, shape (pose_count, vertex_count).

    The body goes along by `goes`, 1 or 0.
    """
    poses = points[row.first : row.first + row.count].astype(np.float64)
    moved = np.roll(poses, -1, axis=0) - np.roll(poses, 1, axis=0)
    moved *= row.count / (2.0 * row.stride)
    moved[..., 1] -= goes
    speeds: F32 = np.linalg.norm(moved, axis=-1).astype(np.float32)
    return speeds
