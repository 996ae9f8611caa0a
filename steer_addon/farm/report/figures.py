"""Figures of a report: what is drawn of a run, thinned out to what can be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .gather import Outcome, Track

F64 = NDArray[np.float64]

MOST_PATHS = 400
MOST_MOMENTS = 240
"""Paths, and moments of them, that a picture shows."""
CELLS = 48
"""Cells of the maps along the longer side."""
_LISTED = 4
"""Numbers of curves that are listed where their ends lie on one another."""


class Extent(NamedTuple):
    """A rectangle seen from above, the same for all variations of a report [m]."""

    low: F64
    high: F64

    @property
    def size(self) -> float:
        """Size of a cell of the maps [m]."""
        return float((self.high - self.low).max()) / CELLS

    @property
    def edges(self) -> tuple[F64, F64]:
        """Edges of the cells along x and along y [m]."""
        count = np.maximum(np.ceil((self.high - self.low) / self.size - 1e-9), 1).astype(int)
        x, y = (self.low[k] + self.size * np.arange(count[k] + 1) for k in range(2))
        return x, y


class Maps(NamedTuple):
    """Means over the time of a run, in cells: rows along y, columns along x."""

    density: F64
    """People per square meter."""
    flow: F64
    """Mean of density times velocity [1/(m·s)], shape (rows, columns, 2)."""


class Curve(NamedTuple):
    """Speeds over time [s], [m/s]: the mean, and between which half of the agents are."""

    time: F64
    mean: F64
    low: F64
    high: F64


def view_of(outcomes: Sequence[Outcome]) -> Extent:
    """The rectangle that holds all places of all runs."""
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for track in (track for one in outcomes for track in one.tracks):
        for moment in _moments(len(track.numbers), MOST_MOMENTS):
            # columns apart: numpy takes ten times as long along rows of two or three
            x, y, _z = track.positions[moment].T
            there = track.alive[moment] & np.isfinite(x) & np.isfinite(y)
            if there.any():
                each = x[there], y[there]
                low = np.minimum(low, [values.min() for values in each])
                high = np.maximum(high, [values.max() for values in each])
    if not np.isfinite(low).all():
        low, high = np.zeros(2), np.ones(2)
    pad = 0.03 * float((high - low).max()) + 0.5
    return Extent(low.astype(np.float64) - pad, high.astype(np.float64) + pad)


def paths(track: Track) -> F64:
    """Ways of some agents, as many as can be told apart, shape (paths, moments, 2) [m].

    Where an agent is not there, nan.
    """
    agents = _moments(track.positions.shape[1], MOST_PATHS)
    moments = _moments(len(track.numbers), MOST_MOMENTS)
    found = track.positions[moments][:, agents, :2].astype(np.float64)
    found[~track.alive[moments][:, agents]] = np.nan
    return found.swapaxes(0, 1)


def maps(tracks: Sequence[Track], view: Extent) -> Maps:
    """Density and flow, as means over all frames."""
    x, y = view.edges
    shape = np.array([len(y) - 1, len(x) - 1])
    found, size = np.zeros((3, shape.prod())), view.size
    for track in tracks:
        moments = _moments(len(track.numbers), MOST_MOMENTS)
        share = 1.0 / (len(moments) * size * size)
        for moment in moments:
            x, y, _z = track.positions[moment].T.astype(np.float64)
            column, row = (x - view.low[0]) / size, (y - view.low[1]) / size
            # false where a place is no number
            there = track.alive[moment] & (row >= 0.0) & (row < shape[0])
            there &= (column >= 0.0) & (column < shape[1])
            number = row[there].astype(np.int64) * shape[1] + column[there].astype(np.int64)
            u, v, _w = track.velocities[moment].T
            for total, weights in zip(found, (None, u[there], v[there]), strict=True):
                total += share * np.bincount(number, weights, len(total))
    density, *flow = found.reshape(3, *shape)
    return Maps(density, np.stack(flow, axis=2))


def speeds(tracks: Sequence[Track]) -> Curve:
    """Speeds of all agents that are there, over time."""
    longest = max(tracks, key=lambda track: len(track.numbers))
    moments = _moments(len(longest.numbers), MOST_MOMENTS)
    rows = []
    for number in longest.numbers[moments]:
        each = [np.zeros(0)]
        for track in tracks:
            moment = int(np.searchsorted(track.numbers, number))
            if moment < len(track.numbers) and track.numbers[moment] == number:
                u, v, w = track.velocities[moment].T
                each.append(np.sqrt(u * u + v * v + w * w)[track.alive[moment]])
        rows.append(np.concatenate(each))
    counts = np.array([len(row) for row in rows])
    # nobody is there yet: nan, which is not drawn
    found = np.full((3, len(rows)), np.nan)
    for count in np.unique(counts[counts > 0]):
        # quantiles of one row take as long as those of many
        same = counts == count
        values = np.stack([rows[k] for k in np.flatnonzero(same)])
        found[0, same] = values.mean(axis=1)
        found[1:, same] = np.quantile(values, (0.25, 0.75), axis=1)
    return Curve(longest.times[moments], *found)


def arrivals(track: Track) -> tuple[F64, F64] | None:
    """How many have arrived, over time [s]; None where it was not counted."""
    counts = track.metrics.get("arrivals")
    if not isinstance(counts, list) or len(counts) != len(track.numbers):
        return None
    if not all(isinstance(n, int) for n in counts):
        return None
    return track.times, np.array(counts, np.float64)


COLUMNS = {
    "agents": "agents",
    "arrived": "arrived",
    "time": "mean time to arrive [s]",
    "end": "last arrival [s]",
    "path": "mean path [m]",
    "stuck": "stuck",
    "penetrations": "through walls",
    "collisions": "collisions an agent",
    "reversals": "turns back an agent",
}
"""Figures of a variation, as `core.results.metrics.Figures` names them, and what they mean."""


def row_of(metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures of a variation, of those of its crowds: sums of counts, means of the rest."""
    rows = [row for row in metrics if row]
    found: dict[str, Any] = {}
    for name in COLUMNS:
        values = [row.get(name) for row in rows]
        numbers = [v for v in values if isinstance(v, (int, float)) and np.isfinite(v)]
        if not numbers:
            found[name] = None
        elif name in ("agents", "arrived", "stuck", "penetrations"):
            found[name] = sum(numbers)
        elif name == "end":
            found[name] = max(numbers)
        else:
            weights = _weights(rows, name)
            found[name] = float(np.average(numbers, weights=weights))
    return found


def arrived_in_words(row: Mapping[str, Any]) -> str:
    """How many have arrived; empty where nobody measured."""
    return f"{row['arrived'] or 0} of {row['agents']} arrived" if row["agents"] else ""


def in_words(row: Mapping[str, Any]) -> str:
    """The figures that tell variations apart, in a line; empty where nobody measured."""
    told = [arrived_in_words(row)]
    if row["time"] is not None and row["arrived"]:
        told[0] += f", in {row['time']:.1f} s in the mean"
    for name in ("stuck", "penetrations"):
        if row[name]:
            told.append(f"{row[name]} {COLUMNS[name]}")
    return "; ".join(told)


def _weights(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    by = "arrived" if name in ("time", "path") else "agents"
    having = [row for row in rows if isinstance(row.get(name), (int, float))]
    return [float(row.get(by) or 0) or 1e-9 for row in having]


def _moments(count: int, most: int) -> NDArray[np.int64]:
    """Numbers below a count, evenly apart: the first, the last, and no more than `most`."""
    found: NDArray[np.int64] = np.unique(np.linspace(0, max(count - 1, 0), min(count, most)))
    return found.round().astype(np.int64)


def named_ends(
    ends: Sequence[tuple[int, float, float]], wide: float, high: float
) -> list[tuple[str, float, float]]:
    """Names of curves at their ends, one for all that would lie on one another.

    Args:
        ends: Number of each curve, and x and y where it ends.
        wide: Width of a name on the scale of x.
        high: Its height on that of y.
    """
    groups: list[list[tuple[int, float, float]]] = []
    for end in sorted(ends, key=lambda end: end[2]):
        near = (g for g in groups if abs(g[0][1] - end[1]) < wide and end[2] - g[0][2] < high)
        group = next(near, None)
        if group is None:
            groups.append([end])
        else:
            group.append(end)
    return [(_listed([end[0] for end in group]), *group[0][1:]) for group in groups]


def _listed(numbers: list[int]) -> str:
    """Some numbers, in order; of many the first ones."""
    first = ", ".join(map(str, sorted(numbers)[:_LISTED]))
    left = len(numbers) - _LISTED
    return f"{first} and {left} more" if left > 0 else first
