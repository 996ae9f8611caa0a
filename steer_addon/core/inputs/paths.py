"""Paths: polylines that agents follow, drawn as curves or edges, or made by code.

Example:
    >>> path = Path([[0, 0, 0], [10, 0, 0]])
    >>> path.add([10, 10, 0])
    >>> path.cyclic = True
    >>> len(path.segments())
    3
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bounds import bounded
from ..diagnoses import Diagnosis, diagnose
from ..errors import WorldError
from ..numeric.rng import random_purpose, uniform4
from ..views import F32, PathView

PATH = random_purpose("path", 6)


class Path:
    """A line of waypoints that can be edited.

    Attributes:
        cyclic: Whether it continues from the last waypoint to the first.
        name: The user's name for it, used in messages.
    """

    def __init__(self, points: Any = (), *, cyclic: bool = False, name: str = "path") -> None:
        """Start with waypoints [m], shape (point_count, 3).

        Raises:
            WorldError: They have another shape, or one is not finite.
        """
        self.name = name
        self.cyclic = cyclic
        self._points: list[tuple[float, float, float]] = []
        rows = np.asarray(points, np.float64)
        if rows.size and (rows.ndim != 2 or rows.shape[1] != 3):
            raise WorldError(
                f"Path {name!r}: waypoints have shape {rows.shape}: give (point_count, 3)"
            )
        for point in rows.reshape(-1, 3):
            self.add(point)

    @property
    def points(self) -> F32:
        """The waypoints [m], shape (point_count, 3)."""
        return bounded(self._points).reshape(-1, 3)

    def add(self, point: Any) -> None:
        """Add a waypoint [m] at the end.

        Raises:
            WorldError: It is not finite, or not three numbers.
        """
        row = np.asarray(point, np.float64)
        if row.shape != (3,):
            raise WorldError(f"Path {self.name!r}: a waypoint has shape {row.shape}: give (3,)")
        x, y, z = row.tolist()
        if not all(math.isfinite(value) for value in (x, y, z)):
            raise WorldError(
                f"Path {self.name!r}: waypoint {len(self._points)} is at ({x:g}, {y:g}, {z:g}): "
                "give finite coordinates"
            )
        self._points.append((x, y, z))

    def clear(self) -> None:
        """Remove all waypoints."""
        self._points.clear()

    def segments(self) -> list[tuple[F32, F32]]:
        """Start and end [m] of every piece, in order; none has length 0.

        A cyclic path of two waypoints has two: there and back.
        """
        points = self.distinct()
        ends = np.roll(points, -1, axis=0)
        closing = self.cyclic and len(points) > 1
        return [(points[k], ends[k]) for k in range(len(points) if closing else len(points) - 1)]

    def distinct(self) -> F32:
        """The waypoints [m] without repetitions in a row, shape (distinct_count, 3)."""
        points: F32 = self.points
        keep = np.ones(len(points), bool)
        keep[1:] = (points[1:] != points[:-1]).any(axis=1)
        kept: F32 = points[keep]
        if self.cyclic and len(kept) > 1 and (kept[0] == kept[-1]).all():
            kept = kept[:-1]
        return kept

    @classmethod
    def random(
        cls,
        count: int,
        *,
        center: Any = (0.0, 0.0, 0.0),
        inner: float = 5.0,
        outer: float = 10.0,
        bounds: tuple[float, float, float, float] | None = None,
        cyclic: bool = True,
        seed: int = 0,
    ) -> Path:
        """A path around a center, the same for the same seed.

        One waypoint per equal sector of angle, at a radius drawn between two bounds (Cocos2d-x
        tutorial). Where the rectangle leaves less room than the inner radius, it wins: the
        waypoint is on its edge.

        Args:
            count: Number of waypoints ≥ 1.
            center: Middle [m].
            inner: Smallest radius [m].
            outer: Largest radius [m].
            bounds: Rectangle (x_min, y_min, x_max, y_max) [m] that holds center and path, or None.
            cyclic: Whether it is closed.
            seed: Random seed, a whole number from -2⁶³ to 2⁶³ - 1.

        Raises:
            WorldError: A number is out of range.
        """
        middle = np.asarray(center, np.float64).reshape(3)
        _check_random(count, inner, outer, middle, bounds)
        if not -(2**63) <= seed < 2**63:
            raise WorldError(f"A random path with the seed {seed}: give one of up to 18 digits")
        path = cls(cyclic=cyclic, name="random path")
        for k in range(count):
            drawn = uniform4(int(seed), k, 0, PATH)
            angle = 2.0 * math.pi * (k + drawn[0]) / count
            x, y = math.cos(angle), math.sin(angle)
            room = math.inf if bounds is None else _room(middle, (x, y), bounds)
            low, high = min(inner, room), min(outer, room)
            radius = low + (high - low) * drawn[1]
            path.add((middle[0] + radius * x, middle[1] + radius * y, middle[2]))
        return path


def _room(middle: Any, direction: tuple[float, float], bounds: Any) -> float:
    """How far it is from a point in a rectangle to its edge, in a unit direction."""
    ways = [
        ((bounds[k + 2] if direction[k] > 0.0 else bounds[k]) - middle[k]) / direction[k]
        for k in (0, 1)
        if direction[k] != 0.0
    ]
    return float(min(ways))


def _check_random(count: int, inner: float, outer: float, middle: Any, bounds: Any) -> None:
    if count < 1:
        raise WorldError(f"A random path of {count} waypoints: give 1 or more")
    if not 0.0 <= inner <= outer < math.inf:
        raise WorldError(
            f"A random path between the radii {inner:g} and {outer:g} m: "
            "give an inner radius from 0 up and an outer one that is not smaller"
        )
    if bounds is not None and not (bounds[0] <= bounds[2] and bounds[1] <= bounds[3]):
        raise WorldError(
            f"A random path in the rectangle {tuple(bounds)}: give x_min, y_min, x_max, y_max"
        )
    if bounds is not None and not (
        bounds[0] <= middle[0] <= bounds[2] and bounds[1] <= middle[1] <= bounds[3]
    ):
        raise WorldError(
            f"A random path around ({middle[0]:g}, {middle[1]:g}), which is outside of its "
            f"rectangle {tuple(bounds)}: move the center into it, or make it larger"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Paths:
    """Any number of paths as arrays; those of fewer than two points are left out."""

    point: F32
    """Points [m] of all paths, shape (point_count, 3)."""
    along: NDArray[np.float64]
    """Distance of each point from the start of its path [m], shape (point_count,)."""
    first: NDArray[np.int32]
    """Path k has the points first[k] to first[k + 1] - 1, shape (path_count + 1,)."""
    length: NDArray[np.float64]
    """Lengths [m], with the closing piece of cyclic ones, shape (path_count,)."""
    cyclic: NDArray[np.uint8]
    """1 for closed paths, shape (path_count,)."""
    warnings: tuple[Diagnosis, ...] = ()
    """What is wrong with paths that cannot be used."""

    @property
    def count(self) -> int:
        """Number of paths."""
        return len(self.length)

    def ends(self) -> NDArray[np.int64]:
        """Which of the points are the first or the last ones of open paths, shape (end_count,)."""
        still_open = np.flatnonzero(self.cyclic == 0)
        found: NDArray[np.int64] = np.concatenate(
            [self.first[still_open], self.first[still_open + 1] - 1]
        ).astype(np.int64)
        return found

    def with_points(self, point: F32) -> Paths:
        """The same paths with other places of their points [m], shape (point_count, 3)."""
        along, length = self.along.copy(), self.length.copy()
        for k, (low, high) in enumerate(pairwise(self.first.tolist())):
            if (point[low:high] != self.point[low:high]).any():
                along[low:high], length[k] = _measured(point[low:high], bool(self.cyclic[k]))
        return replace(self, point=point, along=along, length=length)

    def view(self) -> PathView:
        """The kernels' view of it."""
        return PathView(self.point, self.along, self.first, self.length, self.cyclic)


def _measured(line: F32, cyclic: bool) -> tuple[NDArray[np.float64], float]:
    """How far along a path its points are [m], shape (point_count,), and how long it is [m]."""
    count = len(line) if cyclic else len(line) - 1
    steps = [math.dist(line[k], line[(k + 1) % len(line)]) for k in range(count)]
    return np.concatenate([[0.0], np.cumsum(steps)])[: len(line)], math.fsum(steps)


def make_paths(paths: Sequence[Path]) -> Paths:
    """The arrays of paths that can be followed, and what is wrong with each of the others."""
    points, along, first, length, cyclic = [], [], [0], [], []
    warnings: list[Diagnosis] = []
    for path in paths:
        line = path.distinct()
        if len(line) < 2:
            warnings.append(diagnose("PATH_TOO_SHORT", path.name))
            continue
        points.append(line)
        first.append(first[-1] + len(line))
        places, whole = _measured(line, path.cyclic)
        along.append(places)
        length.append(whole)
        cyclic.append(path.cyclic)
    return Paths(
        np.ascontiguousarray(np.concatenate([np.zeros((0, 3)), *points]), dtype=np.float32),
        np.concatenate([np.zeros(0), *along]),
        np.array(first, np.int32),
        np.array(length, np.float64),
        np.array(cyclic, np.uint8),
        tuple(warnings),
    )


NO_PATHS = make_paths(())
