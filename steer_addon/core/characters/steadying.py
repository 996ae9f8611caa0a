"""How bodies are turned and shifted at each time of a cycle, so that both feet that are down stay.

Hips turn in walks (the pelvic rotation of Saunders, Inman & Eberhart 1953, "The major determinants
in normal and pathological gait", some 4 degrees to each side). Where a clip leaves that out, or
takes both feet back at speeds of their own, one of two planted feet slips. So all of the body is
turned a little while both are down, about both, and back while one is, about that one. It is fitted
to the planted vertices, so that their way back differs as little as possible at each time, and is
next to nothing for clips in which it does not.

To first order, a vertex at (x, y) that goes by (p, q) in a step stays on a straight way where
p - t'·y - t·q + s' = 0 and q + t'·x + t·p is the same for all, with the turn t and the shift s to
the side, and ' for their change in the step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

BAND = 0.03
"""Share of the height below which a vertex may be planted."""
_KNOTS = 24
"""Even times of a cycle between which turn and shift go evenly."""
_BENDS, _SIZE = 0.4, 0.4
"""Weights, against that of slips, of how turn and shift bend from knot to knot, and of their size
in meters: they decide where nothing is planted, and where turning helps by little."""
_LEVER = 0.12
"""Share of the height at which a turn counts as large as the way that it moves a point."""
_ROUNDS, _USUAL = 3, 0.05
"""Rounds in which larger slips count less, and the share of the usual way of a step below which a
slip counts in full: with them most frames hardly slip, not only the mean."""
_SAMPLES = 20000
"""Steps of planted vertices to which a cycle is fitted at most; more change nothing."""
_LANDING = 0.05
"""Part of the cycle in which a foot that lands takes over the load of one that lifts."""


def loads(planted: NDArray[np.bool_]) -> F64:
    """Weights of planted vertices: what has just landed, or lifts soon, bears little.

    Args:
        planted: Whether each vertex is planted in each step of a cycle, shape (steps, vertices).

    Returns:
        Weights from 0 to 1, of the same shape; 0 for those that are not planted.
    """
    count = len(planted)
    most = max(round(_LANDING * count), 1)
    result = np.full(planted.shape, float(most))
    for order in (range(count), range(count - 1, -1, -1)):
        down, runs = np.zeros(planted.shape[1]), np.empty(planted.shape)
        # in the second round it is known how long they were down when the cycle began
        for step in (*order, *order):
            down = np.where(planted[step], down + 1.0, 0.0)
            runs[step] = down
        result = np.minimum(result, runs)
    return result / most


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


def hats(at: F64, knots: int) -> F64:
    """Shares of the two knots beside each place of a cycle, shape (place_count, knots).

    Args:
        at: Places, as parts of the cycle from 0 on.
        knots: Number of even knots.
    """
    place = at * knots
    knot = np.floor(place).astype(np.int64)
    shares = np.zeros((len(at), knots))
    number = np.arange(len(at))
    shares[number, knot % knots] = 1.0 - (place - knot)
    shares[number, (knot + 1) % knots] += place - knot
    return shares


def bends(knots: int) -> F64:
    """How much values at even knots of a cycle bend at each of them, as a matrix of these."""
    one = np.eye(knots)
    result: F64 = 2.0 * one - np.roll(one, 1, 0) - np.roll(one, -1, 0)
    return result


def steadied(low: F64, load: F64, height: float) -> F64:
    """Turn to the left [rad] and shift to the left [m] at the times of samples, of mean 0.

    Args:
        low: Vertices of the feet, in place, so that the way goes along -y, at even times of the
            cycle, both ends included, shape (steps + 1, vertices, 3).
        load: Weights of vertices, see `loads`, shape (steps, vertices).
        height: Height of the body [m].

    Returns:
        Both, shape (steps + 1, 2).
    """
    some = np.flatnonzero(load.any(axis=0))
    some = some[:: 1 + np.count_nonzero(load) // _SAMPLES]
    step, vertex = np.nonzero(load[:, some])
    count, starts = len(load), np.flatnonzero(np.diff(step, prepend=-1))
    ends = low[:, some, :2]
    # ways per cycle, and the places halfway
    aside, back = (count * (ends[step + 1, vertex] - ends[step, vertex])).T
    x, y = (0.5 * (ends[step + 1, vertex] + ends[step, vertex])).T
    at = np.linspace(0.0, 1.0, count + 1)
    first, last = hats(at[:-1], _KNOTS)[step], hats(at[1:], _KNOTS)[step]
    share, rate = 0.5 * (first + last), count * (last - first)
    to_left = np.hstack([-rate * y[:, None] - share * back[:, None], rate])
    to_back = np.hstack([rate * x[:, None] + share * aside[:, None], 0.0 * rate])
    own = load[:, some][step, vertex]
    own = own / np.add.reduceat(own, starts)[np.searchsorted(step[starts], step)]
    usual = _USUAL * float(np.median(back))
    solution = _fitted(to_left, -aside, to_back, -back, own, starts, usual, _LEVER * height)
    found: F64 = hats(at, _KNOTS) @ solution.reshape(2, _KNOTS).T
    return found


def _fitted(
    to_left: F64,
    left: F64,
    to_back: F64,
    back: F64,
    own: F64,
    starts: Any,
    usual: float,
    lever: float,
) -> F64:
    """Least slips to the left, and differences back in a step: turns, then shifts, of knots."""
    sizes = np.repeat([lever, 1.0], _KNOTS)
    bent: Any = np.kron(np.eye(2), bends(_KNOTS)) * sizes
    means: Any = np.kron(np.eye(2), np.ones((1, _KNOTS))) * sizes
    held = _BENDS * bent.T @ bent + np.diag(_SIZE * sizes**2) + len(left) * means.T @ means
    counts = np.diff(starts, append=len(left))
    own = own / own.mean()
    weights, solution = own, np.zeros(2 * _KNOTS)
    for _ in range(_ROUNDS + 1):
        sums = np.add.reduceat(weights, starts)
        mean = np.add.reduceat(to_back * weights[:, None], starts) / sums[:, None]
        apart = to_back - np.repeat(mean, counts, axis=0)
        rest = back - np.repeat(np.add.reduceat(back * weights, starts) / sums, counts)
        square = to_left.T @ (to_left * weights[:, None]) + apart.T @ (apart * weights[:, None])
        found = to_left.T @ (left * weights) + apart.T @ (rest * weights)
        solution = np.linalg.solve(square + weights.sum() / _KNOTS * held, found)
        slips = np.hypot(to_left @ solution - left, apart @ solution - rest)
        weights = own / np.maximum(slips / usual, 1.0)
    return solution
