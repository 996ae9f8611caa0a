"""Where bodies leave a gait for the slower one before it, without a vertex that jumps.

Two neighboring gaits differ by some way at each phase. A body whose vertices move by as much in a
step may change between them and looks no different. So each row keeps, at even phases, the phase of
the slower gait that is most like it, and from which way of a step on a body may change to it: no
vertex moves by more than twice what its poses say then. One that is planted says nothing, so the
body is shifted by as much as planted feet would move, and leans by as much as its trunk and head
would, both back by and by. A body that has stopped and brings its feet down hides less, as it does
not go along: where it may change while it lands is kept beside that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import parallel_for
from .hiding import hidden_kernel
from .pose_space import LEAVES, PoseSpace, Row
from .steadying import BAND, bearing

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Poses = NDArray[np.floating[Any]]
Leaving = tuple[tuple[float, float], ...]
"""Ways and phases, see `Row.leaving`."""
Parting = tuple[tuple[float, float, float], ...]
"""Shifts, and how far vertices are apart, see `Row.parting`."""
Leaning = tuple[tuple[float, float], ...]
"""Leans, see `Row.leaning`."""

_FLOOR = 0.0033
"""Share of the height by which a vertex of a body on its way may move although its pose says
nothing."""
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
    gaits: list[Row] = []
    slower = None
    for row in space.gaits:
        gait = Gait(points, row, height) if row.stride > 0.0 and not row.from_stand else None
        if gait is not None and slower is not None:
            change = Change(gait, slower, height)
            found, parting, leaning = change.leaving()
            lands = change.landing(found)
            row = replace(row, leaving=found, landing=lands, parting=parting, leaning=leaning)
        gaits.append(row)
        slower = gait
    return PoseSpace(space.positions, tuple(gaits), space.clips)


class Gait:
    """A gait, and what its poses say.

    Attributes:
        row: Its row.
        points: Vertices of its poses [m], shape (pose_count, vertex_count, 3).
        bears: How much they bear, see `bearing`.
        said: What the poses say of a body that goes along, and of one that stands, see `_said`.
    """

    def __init__(self, points: Poses, row: Row, height: float) -> None:
        """Find them.

        Args:
            points: Vertices of the poses of all rows [m].
            row: Its row.
            height: Height of the body [m].
        """
        self.row = row
        self.points = np.asarray(points[row.first : row.first + row.count], np.float32)
        self.bears = bearing(self.points, BAND * height)
        self.said = _said(self.points, row.stride, 1.0), _said(self.points, row.stride, 0.0)


class Change:
    """The change from a gait to the one before it."""

    def __init__(self, gait: Gait, slower: Gait, height: float) -> None:
        """Begin.

        Args:
            gait: The gait.
            slower: The one before it.
            height: Height of the body [m].
        """
        self._gaits, self._floor = (gait, slower), _FLOOR * height

    def leaving(self) -> tuple[Leaving, Parting, Leaning]:
        """Where bodies leave the gait, and how, see `Row.leaving`, `parting` and `leaning`."""
        found = self._hidden(0, np.tile(_ASIDE, (LEAVES, 1)), self._floor)
        costs = found[..., 0] + found[..., 1] + _SHIFT * np.linalg.norm(found[..., 2:4], axis=-1)
        numbers = _steady(costs)
        least, apart, x, y, lean_x, lean_y = found[np.arange(LEAVES), numbers].T
        ways = np.round(np.column_stack([least, _ASIDE[numbers]]), 5)
        # ahead is along -y
        moves = np.round(np.column_stack([y, x, apart]), 5)
        leans = np.round(np.column_stack([lean_y, lean_x]), 5)
        return (
            tuple((float(way), float(further)) for way, further in ways),
            tuple((float(ahead), float(right), float(most)) for ahead, right, most in moves),
            tuple((float(ahead), float(right)) for ahead, right in leans),
        )

    def landing(self, found: Leaving) -> tuple[tuple[float], ...]:
        """Where bodies leave it as they land, see `Row.landing`, at the phases that were found."""
        aside = np.array(found)[:, 1:]
        # several changes in a row lead to where feet pass: together they would be seen
        leasts = self._hidden(1, aside, 0.0)[:, 0, 0]
        return tuple((round(float(least), 5),) for least in leasts)

    def _hidden(self, stands: int, aside: F64, floor: float) -> F64:
        """From which ways of a step on changes are hidden.

        Args:
            stands: 0 for a body that goes along, 1 for one that stands.
            aside: Phases of the slower gait that are tried, less those of the gait, each at an even
                phase, shape (LEAVES, n).
            floor: How far a vertex may move although its pose says nothing [m].

        Returns:
            What `hidden_kernel` finds of all steps, shape (LEAVES, n, 6).
        """
        gait, slower = self._gaits
        at = np.broadcast_to((np.arange(LEAVES) / LEAVES)[:, None], aside.shape)
        numbers = _numbers(gait.row.count, at), _numbers(slower.row.count, at + aside)
        pairs = np.stack(numbers, axis=-1).reshape(-1, 2)
        found = np.empty((len(pairs), 6 + len(_STEPS)))
        parallel_for(
            hidden_kernel,
            len(pairs),
            (gait.points, slower.points),
            (gait.bears, slower.bears),
            (gait.said[stands], slower.said[stands]),
            (gait.said[1], slower.said[1]),
            pairs,
            np.array(_STEPS) * gait.row.stride,
            floor,
            found,
            chunk=64,
        )
        return found[:, :6].reshape(*aside.shape, 6)


def _steady(costs: F64) -> list[int]:
    """The column to take in each row: least in sum, with steps of at most `_FURTHER` between rows.

    The last row is before the first one.
    """
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


def _numbers(count: int, phase: F64) -> NDArray[np.int64]:
    """Numbers of the poses of a cycle at some phases."""
    found: NDArray[np.int64] = np.round(phase * count).astype(np.int64) % count
    return found


def _said(points: F32, stride: float, goes: float) -> F32:
    """How fast each vertex goes, at most, in poses up to each of `_STEPS` before and after one.

    What goes slower than `_SLOWEST` counts as that.

    Args:
        points: Vertices of the poses of a cycle [m], shape (pose_count, vertex_count, 3).
        stride: Way of the cycle [m].
        goes: Way of the body for a way of the feet of 1: 1, or 0 if it stands.

    Returns:
        Ways of vertices for a way of the feet of 1, shape (pose_count, vertex_count, step_count).
    """
    count = len(points)
    moved = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    moved *= np.float32(count / (2.0 * stride))
    moved[..., 1] -= np.float32(goes)
    speeds: F32 = np.sqrt(np.einsum("pvk,pvk->pv", moved, moved))
    said = np.empty((*speeds.shape, len(_STEPS)), np.float32)
    most = np.full_like(speeds, _SLOWEST)
    for k, step in enumerate(_STEPS):
        away = round(step * count)
        for shown in (np.roll(speeds, -away, axis=0), np.roll(speeds, away, axis=0)):
            np.maximum(most, shown, out=most)
        said[..., k] = most
    return said
