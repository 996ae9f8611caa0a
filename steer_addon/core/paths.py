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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import WorldError
from .rng import PATH, uniform4
from .views import F32, PathView


class Path:
    """A line of waypoints that can be edited.

    Attributes:
        cyclic: Whether it goes on from the last waypoint to the first.
        name: What the user calls it; messages name it so.
    """

    def __init__(self, points: Any = (), *, cyclic: bool = False, name: str = "path") -> None:
        """Start with waypoints [m], shape (point_count, 3)."""
        self.name = name
        self.cyclic = cyclic
        self._points: list[tuple[float, float, float]] = []
        for point in np.asarray(points, np.float64).reshape(-1, 3):
            self.add(point)

    @property
    def points(self) -> F32:
        """The waypoints [m], shape (point_count, 3)."""
        return np.array(self._points, np.float32).reshape(-1, 3)

    def add(self, point: Any) -> None:
        """Add a waypoint [m] at the end.

        Raises:
            WorldError: It is not finite.
        """
        x, y, z = (float(value) for value in np.asarray(point, np.float64).reshape(3))
        if not all(math.isfinite(np.float32(value)) for value in (x, y, z)):
            raise WorldError(
                f"Path {self.name!r}: waypoint {len(self._points)} is at ({x:g}, {y:g}, {z:g}): "
                "give finite coordinates"
            )
        self._points.append((x, y, z))

    def clear(self) -> None:
        """Remove all waypoints."""
        self._points.clear()

    def segments(self) -> list[tuple[F32, F32]]:
        """Start and end [m] of every piece, in order; none has length 0."""
        points = self._distinct()
        ends = np.roll(points, -1, axis=0)
        last = len(points) if self._closes(points) else len(points) - 1
        return [(points[k], ends[k]) for k in range(max(0, last))]

    def _distinct(self) -> F32:
        """The waypoints without repetitions in a row."""
        points: F32 = self.points
        if len(points) < 2:
            return points
        keep = np.ones(len(points), bool)
        keep[1:] = (points[1:] != points[:-1]).any(axis=1)
        distinct: F32 = points[keep]
        if self.cyclic and len(distinct) > 1 and (distinct[0] == distinct[-1]).all():
            distinct = distinct[:-1]
        return distinct

    def _closes(self, points: F32) -> bool:
        return self.cyclic and len(points) > 1

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
        tutorial), then moved into the rectangle.

        Args:
            count: Number of waypoints ≥ 1.
            center: Middle [m].
            inner: Smallest radius [m].
            outer: Largest radius [m].
            bounds: Rectangle (x_min, y_min, x_max, y_max) [m] that holds it, or None.
            cyclic: Whether it is closed.
            seed: Random seed.

        Raises:
            WorldError: A number is out of range.
        """
        _check_random(count, inner, outer, bounds)
        middle = np.asarray(center, np.float64).reshape(3)
        path = cls(cyclic=cyclic, name="random path")
        for k in range(count):
            drawn = uniform4(int(seed), k, 0, PATH)
            angle = 2.0 * math.pi * (k + drawn[0]) / count
            radius = inner + (outer - inner) * drawn[1]
            x = middle[0] + radius * math.cos(angle)
            y = middle[1] + radius * math.sin(angle)
            if bounds is not None:
                x, y = np.clip([x, y], bounds[:2], bounds[2:])
            path.add((x, y, middle[2]))
        return path


def _check_random(count: int, inner: float, outer: float, bounds: Any) -> None:
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
    warnings: tuple[str, ...] = ()
    """A sentence for each path that cannot be used."""

    @property
    def count(self) -> int:
        """Number of paths."""
        return len(self.length)

    def view(self) -> PathView:
        """What kernels read."""
        return PathView(self.point, self.along, self.first, self.length, self.cyclic)


def make_paths(paths: Sequence[Path]) -> Paths:
    """The arrays of paths that can be followed, and a warning for each of the others."""
    points, along, first, length, cyclic = [], [], [0], [], []
    warnings = []
    for path in paths:
        line = path._distinct()
        if len(line) < 2:
            warnings.append(
                f"Path {path.name!r} has fewer than two different points and is ignored: "
                "draw at least two"
            )
            continue
        steps = [math.dist(a, b) for a, b in path.segments()]
        points.append(line)
        along.append(np.concatenate([[0.0], np.cumsum(steps)])[: len(line)])
        first.append(first[-1] + len(line))
        length.append(math.fsum(steps))
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
