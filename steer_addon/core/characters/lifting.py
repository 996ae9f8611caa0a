"""How upright bodies keep their feet where they are on slopes, although these rise and sink.

An upright body lifts its feet straight up, and on a slope that is a part along the ground. The feet
of real clips are never quite still while they are planted: they land and lift by centimeters within
the ground that counts as theirs, 10 mm in walks and up to 100 in runs. So the body is shifted along
the slope against it, as far as the planted foot is high at each phase. That is fitted to the
planted vertices of a row, of which the lower ones count more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .pose_space import KNOTS, PoseSpace
from .steadying import bends, hats

F64 = NDArray[np.float64]

BAND = 0.03
"""Share of the height below which a vertex may be planted; steps in which none is below half of it
are left out."""
_SAMPLES = 20000
"""Steps of planted vertices to which a row is fitted at most; more change nothing."""
_ROUNDS, _USUAL = 3, 0.2
"""Rounds in which vertices that rise otherwise count less, and by what share of the usual rise."""
_SMOOTH = 0.001
"""Weight of the bends against that of the vertices: it decides where nothing is planted."""


def with_lifts(space: PoseSpace) -> PoseSpace:
    """A pose space whose gaits know how high the planted foot is at each phase."""
    height = float(np.ptp(space.positions[0, :, 2]))
    gaits = []
    for row in space.gaits:
        cycles = 2 if row.both_sides else 1
        points = space.positions[row.first : row.first + row.count]
        fitted = () if row.stride <= 0.0 else lifts(points, height, cycles)
        gaits.append(replace(row, lifts=fitted))
    return PoseSpace(space.positions, tuple(gaits), space.clips)


def lifts(points: NDArray[np.float32], height: float, cycles: int = 1) -> tuple[tuple[float], ...]:
    """How high the planted foot of a gait is at `KNOTS` even phases, see `Row.lifts`.

    Args:
        points: Vertices of its poses [m], shape (pose_count, vertex_count, 3).
        height: Height of the body [m].
        cycles: Cycles of steps in it; in each, feet pass each other twice.

    Returns:
        Heights above that at which feet pass each other [m]; nothing where no vertex is planted.
    """
    step, vertex, own = _planted(points, BAND * height)
    if not len(step):
        return ()
    rise = (points[(step + 1) % len(points), vertex] - points[step, vertex])[:, 2].astype(float)
    even = np.arange(len(points) + 1) / len(points)
    rates = np.diff(hats(even, KNOTS), axis=0)[step]
    free = np.ones(KNOTS, np.bool_)
    free[:: KNOTS // (2 * cycles)] = False
    bent: Any = bends(KNOTS)[:, free] * (KNOTS / len(points))
    held, rates = _SMOOTH / KNOTS * own.sum() * bent.T @ bent, rates[:, free]
    usual = max(_USUAL * float(np.median(np.abs(rise))), 1.0e-6)
    weights, found = own, np.zeros(int(free.sum()))
    for _ in range(_ROUNDS + 1):
        square = rates.T @ (rates * weights[:, None]) + held
        found = np.linalg.solve(square, rates.T @ (weights * rise))
        weights = own / np.maximum(np.abs(rates @ found - rise) / usual, 1.0)
    result = np.zeros(KNOTS)
    result[free] = np.round(found, 5)
    return tuple((float(one),) for one in result)


def _planted(
    points: NDArray[np.float32], band: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], F64]:
    """Poses, and vertices that are planted until the next one, each with its weight."""
    lowest = np.flatnonzero(points[..., 2].min(axis=0) < band)
    bear = bearing(points[:, lowest], band)
    # a vertex bears more than 1/4 below half of the band
    step, vertex = np.nonzero(bear * (bear > 0.25).any(axis=1)[:, None])
    every = 1 + len(step) // _SAMPLES
    step, vertex = step[::every], vertex[::every]
    own = bear[step, vertex]
    # all steps count alike, however many vertices are down
    sums = np.maximum(np.bincount(step, own, len(points)), 1.0e-12)
    return step, lowest[vertex], own / sums[step]


def bearing(points: NDArray[np.floating[Any]], band: float) -> F64:
    """How much vertices bear until the next pose, shape (pose_count, vertex_count).

    They are on the ground, and go back.

    Args:
        points: Vertices of the poses of a cycle [m], shape (pose_count, vertex_count, 3).
        band: Height from which on they bear nothing [m].
    """
    band = max(band, 1.0e-9)
    later = np.roll(points, -1, axis=0)
    high = np.maximum(points[..., 2], later[..., 2])
    moved = later - points
    down = (high < band) & (moved[..., 1] > np.abs(moved[..., 0]))
    bear: F64 = np.where(down, np.square(1.0 - np.maximum(high, 0.0).astype(float) / band), 0.0)
    return bear
