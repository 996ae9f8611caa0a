"""Random free places in a rectangle, which touch no body and no wall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steer_addon.core.errors import WorldError
from steer_addon.core.geometry import bvh
from steer_addon.core.views import BvhView

F64 = NDArray[np.float64]

TRIES = 400
"""Number of random tries per agent; afterwards all are put on a lattice."""
_AIR = 1.0e-3


class Room:
    """A floor on which places are taken, one after the other."""

    def __init__(self, walls: BvhView | None = None, height: float = 0.35) -> None:
        """Start with an empty floor.

        Args:
            walls: Walls that bodies must not touch; None for none.
            height: Height above the floor at which bodies are held against walls [m].
        """
        self.walls = bvh.empty() if walls is None else walls
        self.height = height
        self._cell = 1.0
        self._grid: dict[tuple[int, int], list[tuple[float, float, float]]] = {}

    def take(self, x: float, y: float, radius: float) -> None:
        """Mark a place as taken by a body."""
        if radius > self._cell / 2.0:
            self._regrid(2.0 * radius)
        key = (int(np.floor(x / self._cell)), int(np.floor(y / self._cell)))
        self._grid.setdefault(key, []).append((x, y, radius))

    def _regrid(self, cell: float) -> None:
        taken = [body for bodies in self._grid.values() for body in bodies]
        self._cell, self._grid = cell, {}
        for body in taken:
            self.take(*body)

    def is_free(self, x: float, y: float, radius: float) -> bool:
        """Whether a body would touch none that stands there."""
        if radius > self._cell / 2.0:
            self._regrid(2.0 * radius)
        cx, cy = int(np.floor(x / self._cell)), int(np.floor(y / self._cell))
        for i in (cx - 1, cx, cx + 1):
            for j in (cy - 1, cy, cy + 1):
                for ox, oy, other in self._grid.get((i, j), ()):
                    if (ox - x) ** 2 + (oy - y) ** 2 < (radius + other + _AIR) ** 2:
                        return False
        return True

    def clear_of_walls(self, points: F64, radius: float) -> NDArray[np.bool_]:
        """Which places (x, y), shape (m, 2), are outside of walls and touch none."""
        if not len(self.walls.triangles):
            return np.ones(len(points), bool)
        eyes = np.column_stack([points, np.full(len(points), self.height)])
        near, _place, _distance = bvh.nearest_many(self.walls, eyes, radius + _AIR)
        up = np.tile([0.0, 0.0, 1.0], (len(points), 1))
        above, _reach = bvh.ray_cast_many(self.walls, eyes, up)
        return (near < 0) & (above < 0)

    def fill(
        self,
        low: Sequence[float],
        high: Sequence[float],
        radius: F64,
        rng: np.random.Generator,
        what: str = "the area",
    ) -> F64:
        """Find random places in a rectangle for bodies, whole ones inside.

        Where darts find no room, bodies are put on a lattice as wide as it can be.

        Args:
            low: Lower corner (x, y) [m].
            high: Upper corner (x, y) [m].
            radius: Radii [m], shape (n,).
            rng: Random generator of the places.
            what: Name of the rectangle in messages.

        Returns:
            Places [m], shape (n, 2).

        Raises:
            WorldError: There is not enough room.
        """
        found = np.empty((len(radius), 2))
        for row in np.argsort(-radius, kind="stable"):
            place = self.dart(low, high, float(radius[row]), rng)
            if place is None:
                return self._lattice(low, high, radius, what)
            found[row] = place
            self.take(*place, float(radius[row]))
        return found

    def dart(
        self, low: Sequence[float], high: Sequence[float], radius: float, rng: np.random.Generator
    ) -> tuple[float, float] | None:
        """A random free place in a rectangle, without taking it; None if none is found."""
        inner_low = np.asarray(low, float) + radius
        inner_high = np.maximum(np.asarray(high, float) - radius, inner_low)
        for _batch in range(8):
            darts = rng.uniform(inner_low, inner_high, (TRIES // 8, 2))
            for x, y in darts[self.clear_of_walls(darts, radius)]:
                if self.is_free(x, y, radius):
                    return float(x), float(y)
        return None

    def _lattice(self, low: Sequence[float], high: Sequence[float], radius: F64, what: str) -> F64:
        body = float(radius.max())
        places = hexagons(low, high, body, len(radius))
        if places is None:
            raise WorldError(
                f"{len(radius)} agents of radius {body:g} m find no room in {what}: "
                "give fewer, smaller ones or a larger area"
            )
        self._grid = {}
        for x, y in places:
            self.take(float(x), float(y), body)
        return places


def hexagons(low: Sequence[float], high: Sequence[float], radius: float, count: int) -> F64 | None:
    """Places for a number of equal bodies on a triangular lattice, stretched to fit a rectangle.

    Returns:
        Places [m], shape (count, 2), spread evenly; None where they have no room.
    """
    width, depth = (float(b - a) - 2.0 * radius for a, b in zip(low, high, strict=True))
    best: tuple[float, F64] | None = None
    for rows in range(1, count + 1):
        columns = -(-count // rows)
        step_y = depth / (rows - 1) if rows > 1 else depth
        step_x = width / max(columns - 0.5, 0.5)
        spacing = step_x
        if rows > 1:
            spacing = min(step_x, float(np.hypot(step_x / 2.0, step_y)))
        if rows > 2:
            spacing = min(spacing, 2.0 * step_y)
        if best is not None and spacing <= best[0]:
            continue
        number = np.arange(count)
        row, column = number % rows, number // rows
        x = low[0] + radius + (column + 0.5 * (row % 2)) * step_x
        y = low[1] + radius + row * step_y
        best = spacing, np.column_stack([x, y])
    if best is None or width < 0.0 or depth < 0.0 or best[0] < 2.0 * radius - 1.0e-9:
        return None
    return best[1]
