"""How bodies turn on curves while their feet stay: a turn and a shift of the body at each phase.

A body that goes along a curve turns with it, and would turn its planted feet too. People do not:
they turn about the foot that stands, and hardly at all while both do. So a pose is turned by some
more or less than its agent, and shifted, as a function of the phase and in proportion to the
curvature. It is fitted to the planted vertices of a row, so that they slip as little as possible.

To first order in the curvature, a vertex that is `a` ahead and `l` to the left of the root stands
still where a + (t·a)' + s' = 0 (to the left) and f' - l - (t·l)' = 0 (ahead), with the turn t, the
shifts s and f per curvature, and ' for the change per way of the root. These are changes over a
frame at the speed of the gait, in which a runner goes further than from one knot to the next. All
three are 0 where feet pass each other, since gaits change there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .lifting import BAND
from .pose_space import KNOTS, PoseSpace, Row
from .steadying import bends, hats

F64 = NDArray[np.float64]
Turning = tuple[tuple[float, float, float], ...]
"""Turn and shifts at even phases, see `Row.turning`."""

_FPS = 24.0
"""Frames in a second: what counts is how far planted feet move from one to the next."""
_WITH_GROUND = 0.1
"""Share of the way of the ground by which that of a planted vertex differs from it at most: those
that slip further do so on any curve."""
_SAMPLES = 6000
"""Steps of planted vertices to which a row is fitted at most; more change nothing."""
_ROUNDS = 2
"""Rounds in which larger slips count less: with them the median slip falls, not only the mean."""
_USUAL = 0.1
"""Slip per way and curvature below which it counts in full [m]."""
_ALIKE = 0.08
"""Weight, against that of slips, of differences from the slower gait, where they are to be alike.
With more, planted feet slip further on curves; with less, far hands jump as gaits change there."""
_SMOOTH = 0.05
"""Weight of the bends against that of slips: it decides where nothing is planted. With more, bodies
turn too little in runs, whose feet are planted for a short time."""


def with_turning(space: PoseSpace, alike: bool = False) -> PoseSpace:
    """A pose space whose gaits know how bodies turn on curves.

    Args:
        space: The poses.
        alike: Whether neighboring gaits turn alike, where their feet leave it open: bodies that
            change between them anywhere do not turn suddenly.
    """
    height = float(np.ptp(space.positions[0, :, 2]))
    gaits: list[Row] = []
    before: Turning = ()
    for row in space.gaits:
        points = space.positions[row.first : row.first + row.count]
        fitted = turning(points, row, height, before) if row.stride > 0.0 else ()
        before = fitted if alike and not row.from_stand else ()
        reach = round(float(np.abs(points[..., 0]).max()), 3) if alike else 0.0
        gaits.append(replace(row, turning=fitted, reach=reach))
    return PoseSpace(space.positions, tuple(gaits), space.clips)


def turning(points: NDArray[np.float32], row: Row, height: float, before: Turning = ()) -> Turning:
    """The turn and the shifts of a gait at `KNOTS` even phases, see `Row.turning`.

    Args:
        points: Vertices of its poses [m], shape (pose_count, vertex_count, 3).
        row: The gait.
        height: Height of the body [m].
        before: The same of the slower gait; none where it may differ.

    Returns:
        Turn to the left [rad m], shift ahead and shift to the right [m²] at each, all per
        curvature; nothing where no vertex is planted.
    """
    count = len(points)
    frame = max(1, round(row.speed / _FPS / row.stride * count))
    way = frame * row.stride / count
    step, vertex = _planted(points, frame, way, height)
    if not len(step):
        return ()
    first, last = (
        _End(points[number, vertex], hats(number / count, KNOTS) / way)
        for number in (step, (step + frame) % count)
    )
    rates, none = last.shares - first.shares, np.zeros_like(first.shares)
    to_left = np.hstack([last.to_left - first.to_left, none, rates])
    to_front = np.hstack([last.to_front - first.to_front, rates, none])
    ahead, left = 0.5 * (first.ahead + last.ahead), 0.5 * (first.left + last.left)
    fitted = _fitted((to_left, -ahead, to_front, left), row, before)
    return tuple(
        (float(a), float(b), float(c)) for a, b, c in np.round(fitted * [1.0, 1.0, -1.0], 6)
    )


class _End:
    """Planted vertices at one end of a frame, and how the values at knots move them.

    Attributes:
        ahead: How far they are ahead [m].
        left: How far they are to the left [m].
        shares: Shares of the knots there, per way of the frame [1/m].
        to_left: How far the turns at knots move them to the left, likewise.
        to_front: How far those move them ahead.
    """

    def __init__(self, points: NDArray[np.float32], shares: F64) -> None:
        """Find them."""
        self.ahead, self.left = -points[:, 1].astype(np.float64), points[:, 0].astype(np.float64)
        self.shares = shares
        self.to_left = shares * self.ahead[:, None]
        self.to_front = -shares * self.left[:, None]


def _planted(
    points: NDArray[np.float32], frame: int, way: float, height: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Poses and vertices that stand on the ground for a frame."""
    lowest = np.flatnonzero(points[..., 2].min(axis=0) < BAND * height)
    points = points[:, lowest]
    later = np.roll(points, -frame, axis=0)
    down = np.maximum(points[..., 2], later[..., 2]) < BAND * height
    slip = (later - points)[..., :2] - np.array([0.0, way], np.float32)
    down &= np.hypot(slip[..., 0], slip[..., 1]) < _WITH_GROUND * way
    step, vertex = np.nonzero(down)
    every = 1 + len(step) // _SAMPLES
    return step[::every], lowest[vertex[::every]]


def _fitted(slips: tuple[F64, F64, F64, F64], row: Row, before: Turning) -> F64:
    """Least slips: solutions at the knots, shape (KNOTS, 3); 0 where feet pass each other."""
    to_left, left, to_front, front = slips
    rate, free = KNOTS / row.stride, np.ones((3, KNOTS), np.bool_)
    free[:, :: KNOTS // (4 if row.both_sides else 2)] = False
    kept = free.ravel()
    held: Any = np.kron(np.eye(3), bends(KNOTS) * _SMOOTH * rate)[:, kept]
    one, other = to_left[:, kept], to_front[:, kept]
    weights, solution = np.ones(len(left)), np.zeros(int(kept.sum()))
    like = (np.array(before) * [1.0, 1.0, -1.0]).T.ravel()[kept] if before else 0.0 * solution
    hold = (_ALIKE if before else 0.0) * rate**2
    for _ in range(_ROUNDS + 1):
        square = one.T @ (one * weights[:, None]) + other.T @ (other * weights[:, None])
        usual = len(left) / KNOTS * float(weights.mean())
        square += usual * (held.T @ held + hold * np.eye(len(solution)))
        found = one.T @ (left * weights) + other.T @ (front * weights) + usual * hold * like
        solution = np.linalg.solve(square, found)
        slip = np.hypot(one @ solution - left, other @ solution - front)
        weights = 1.0 / np.maximum(slip, _USUAL)
    result = np.zeros(3 * KNOTS)
    result[kept] = solution
    fitted: F64 = result.reshape(3, KNOTS).T
    return fitted
