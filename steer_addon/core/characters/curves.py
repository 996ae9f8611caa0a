"""How bodies turn on curves while their feet stay: a turn and a shift of the body at each phase.

A body that goes along a curve turns with it, and would turn its planted feet too. People do not:
they turn about the foot that stands, and hardly at all while both do. So a pose is turned by some
more or less than its agent, and shifted, as a function of the phase and in proportion to the
curvature. It is fitted to the planted vertices of a row, so that they slip as little as possible.

To first order in the curvature, a vertex that is `a` ahead and `l` to the left of the root stands
still where a + t'·a - t + s' = 0 (to the left) and f' - l - t'·l = 0 (ahead), with the turn t, the
shifts s and f per curvature, and ' for the change per way of the root. All three are 0 where feet
pass each other, since gaits change there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .pose_space import KNOTS, PoseSpace, Row
from .steadying import bends, hats

F64 = NDArray[np.float64]
Turning = tuple[tuple[float, float, float], ...]
"""Turn and shifts at even phases, see `Row.turning`."""

_LOW = 0.014
"""Share of the height below which vertices may be planted."""
_WITH_GROUND = 0.22
"""Share of the way of the ground by which the step of a planted vertex differs from it at most."""
_SAMPLES = 3000
"""Steps of planted vertices to which a row is fitted at most; more change nothing."""
_ROUNDS = 2
"""Rounds in which larger slips count less: with them the median slip falls, not only the mean."""
_USUAL = 0.02
"""Slip per way and curvature below which it counts in full [m]."""
_ALIKE = 0.003
"""Weight, against that of slips, of differences from the slower gait, where they are to be alike.
With more, planted feet slip further on curves; with less, far hands jump as gaits change there."""
_SMOOTH = 0.02
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
        cycles = 2 if row.both_sides else 1
        points = space.positions[row.first : row.first + row.count]
        fitted: Turning = ()
        if row.stride > 0.0:
            fitted = turning(points, row.stride, height, cycles, before)
        before = fitted if alike and not row.from_stand else ()
        reach = round(float(np.abs(points[..., 0]).max()), 3) if alike else 0.0
        gaits.append(replace(row, turning=fitted, reach=reach))
    return PoseSpace(space.positions, tuple(gaits), space.clips)


def turning(
    points: NDArray[np.float32],
    stride: float,
    height: float,
    cycles: int = 1,
    before: Turning = (),
) -> Turning:
    """The turn and the shifts of a gait at `KNOTS` even phases, see `Row.turning`.

    Args:
        points: Vertices of its poses [m], shape (pose_count, vertex_count, 3).
        stride: Way of one cycle [m].
        height: Height of the body [m].
        cycles: Cycles of steps in it: so often, twice, feet pass each other.
        before: The same of the slower gait; none where it may differ.

    Returns:
        Turn to the left [rad m], shift ahead and shift to the right [m²] at each, all per
        curvature; nothing where no vertex is planted.
    """
    step, vertex = _planted(points, stride / len(points), height)
    if not len(step):
        return ()
    middle = 0.5 * (points[step, vertex] + points[(step + 1) % len(points), vertex])
    ahead, left = -middle[:, 1].astype(np.float64), middle[:, 0].astype(np.float64)
    at = (step + 0.5) / len(points)
    shares, knot = hats(at, KNOTS), (at * KNOTS).astype(np.int64)
    number, rates = np.arange(len(at)), np.zeros((len(at), KNOTS))
    rates[number, knot], rates[number, (knot + 1) % KNOTS] = -KNOTS / stride, KNOTS / stride
    none = np.zeros_like(rates)
    to_left = np.hstack([rates * ahead[:, None] - shares, none, rates])
    to_front = np.hstack([-rates * left[:, None], rates, none])
    bend = _SMOOTH * KNOTS / stride
    fitted = _fitted((to_left, -ahead, to_front, left), bend, stride, cycles, before)
    return tuple(
        (float(a), float(b), float(c)) for a, b, c in np.round(fitted * [1.0, 1.0, -1.0], 6)
    )


def _planted(
    points: NDArray[np.float32], way: float, height: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Poses and vertices that stand on the ground until the next pose."""
    lowest = np.flatnonzero(points[..., 2].min(axis=0) < _LOW * height)
    points = points[:, lowest]
    later = np.roll(points, -1, axis=0)
    down = np.maximum(points[..., 2], later[..., 2]) < _LOW * height
    slip = (later - points)[..., :2] - np.array([0.0, way], np.float32)
    down &= np.hypot(slip[..., 0], slip[..., 1]) < _WITH_GROUND * way
    step, vertex = np.nonzero(down)
    every = 1 + len(step) // _SAMPLES
    return step[::every], lowest[vertex[::every]]


def _fitted(
    slips: tuple[F64, F64, F64, F64], bent: float, stride: float, cycles: int, before: Turning
) -> F64:
    """Least slips: solutions at the knots, shape (KNOTS, 3); 0 where feet pass each other."""
    to_left, left, to_front, front = slips
    free = np.ones((3, KNOTS), np.bool_)
    free[:, :: KNOTS // (2 * cycles)] = False
    kept = free.ravel()
    held: Any = np.kron(np.eye(3), bends(KNOTS) * bent)[:, kept]
    one, other = to_left[:, kept], to_front[:, kept]
    weights, solution = np.ones(len(left)), np.zeros(int(kept.sum()))
    like = (np.array(before) * [1.0, 1.0, -1.0]).T.ravel()[kept] if before else 0.0 * solution
    hold = (_ALIKE if before else 0.0) * (KNOTS / stride) ** 2
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
