"""How the points of a crowd were placed, so that a new number of agents stands in the same way.

The arrangement of a crowd is kept in its file as text. Lengths are in the crowd object's space.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from . import path_curves
from .distribute import (
    Draw,
    FloatArray,
    ball_of_points,
    disc_draw,
    disc_points,
    grid_points,
    near,
    not_in,
    outside,
    throw_darts,
)

GRID, DISC, BALL, LANES, SURFACE, TERRAIN = "GRID", "DISC", "BALL", "LANES", "SURFACE", "TERRAIN"
KINDS = (GRID, DISC, BALL, LANES, SURFACE, TERRAIN)
ON_MESH = (SURFACE, TERRAIN)
"""Kinds whose places come from the ground mesh."""
_SPARE = 60
"""Places beyond those that are needed, as some are taken by obstacles."""
_FILES = (-1.0, 0.0, 1.0)


@dataclass(frozen=True)
class Places:
    """Start positions of agents."""

    points: FloatArray
    """Positions [m], shape (agent_count, 3)."""
    headings: Any = (0.0, -1.0, 0.0)
    """Unit headings, shape (agent_count, 3) or (3,); None for those of the agents before."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Other point attributes by name, each of shape (agent_count,)."""


@dataclass(frozen=True)
class Arrangement:
    """How agents are placed.

    Attributes:
        kind: GRID, DISC, BALL, LANES (in three files along an oval), SURFACE (anywhere on the
            ground mesh) or TERRAIN (on the ground mesh, around the center).
        spacing: Distance on a grid; elsewhere the smallest distance of two agents [m].
        radius: Radius of a disc or ball, or of the oval along X [m].
        share: The radius is multiplied by this, and by a power of the number of agents.
        growth: That power; 0 for none.
        least: Smallest radius [m].
        center: Middle of the arrangement [m].
        seed: Random seed.
        avoid: Centers and radii of balls that no agent starts in [m].
        body: Body radius, which the width of files follows [m].
        max_slope: Steepest faces that are used [deg].
    """

    kind: str
    spacing: float = 0.0
    radius: float = 0.0
    share: float = 1.0
    growth: float = 0.0
    least: float = 0.0
    center: tuple[float, ...] = (0.0, 0.0, 0.0)
    seed: int = 0
    avoid: tuple[tuple[float, ...], ...] = ()
    body: float = 0.25
    max_slope: float = 45.0

    def reach(self, count: int) -> float:
        """Radius that a number of agents takes [m]."""
        wide: float = self.radius * (self.share * count**self.growth)
        return max(wide, self.least)

    def places(self, count: int, draw: Draw | None = None) -> Places:
        """Places for a number of agents; fewer where there is no room for more.

        Args:
            count: Number of agents.
            draw: Gives random points of the ground mesh; needed for the kinds `ON_MESH`.
        """
        if self.kind == LANES:
            return self._lanes(count)
        if self.kind in ON_MESH:
            assert draw is not None
            return Places(throw_darts(outside(draw, self.avoid), count, self.spacing))
        if self.kind == GRID:
            points = grid_points(count, self.spacing)
        elif self.kind == DISC:
            points = disc_points(count + _SPARE, self.reach(count), self.spacing, self.seed)
        else:
            points = ball_of_points(count, self.reach(count), self.seed)
        center: Any = np.array(self.center, np.float64 if self.kind == BALL else np.float32)
        points = not_in(points + center, self.avoid)[:count].astype(np.float32)
        if len(points) < count and self.avoid:
            draw = outside(self._draw(0, count), self.avoid)
            points = throw_darts(draw, count, self.spacing, points)
        return Places(points)

    def resized(
        self, points: FloatArray, count: int, draw: Draw | None = None
    ) -> tuple[Places, int]:
        """Places for another number of agents, where some stand already.

        Grids and files that nobody has edited are made anew; elsewhere the first agents stay.

        Args:
            points: Where agents stand now [m], shape (n, 3).
            count: Number of agents wanted.
            draw: As for `places`.

        Returns:
            The places of all agents, and how many of the first ones stay where they are.
        """
        stand = len(points)
        if self.kind in (GRID, LANES):
            # files are at the height of the terrain
            axes = 2 if self.kind == LANES else 3
            made = self.places(stand).points
            if np.allclose(points[:, :axes], made[:, :axes], atol=1e-4):
                return self.places(count), 0
        if count <= stand:
            return Places(points[:count]), count
        if self.kind == LANES:
            return self._joined(points, self.places(count)), stand
        draw = outside(draw or self._draw(stand, count), self.avoid)
        return Places(throw_darts(draw, count, 0.999 * self.spacing, points)), stand

    def _joined(self, points: FloatArray, places: Places) -> Places:
        """Points, and those places after them that are clear of them, seen from above."""
        flat = np.array([1.0, 1.0, 0.0])
        free = ~near(places.points * flat, points * flat, 2.0 * self.body)
        free[: len(points)] = True
        found = replace(
            places,
            points=places.points[free],
            headings=places.headings[free],
            attributes={name: values[free] for name, values in places.attributes.items()},
        )
        found.points[: len(points)] = points
        return found

    def _draw(self, number: int, count: int) -> Draw:
        """Draws points for the agents from a number on."""
        center, reach = np.array(self.center), self.reach(count)
        if self.kind == GRID:
            # four places of the grid may be too near to an agent that was moved
            grid = iter(grid_points(5 * count, self.spacing) + center)
            return lambda size: np.array([*islice(grid, size)]).reshape(-1, 3)
        random = np.random.default_rng((self.seed, number))
        if self.kind == BALL:
            return lambda size: ball_of_points(size, reach, random) + center
        draw = disc_draw(reach, random)
        return lambda size: draw(size) + center

    def _lanes(self, count: int) -> Places:
        """Three files along the oval, from its head at +X."""
        line = path_curves.oval(self.radius, self.center)
        closed = np.concatenate([line, line[:1]])
        rows = -(-count // len(_FILES))
        total = path_curves.length_of(closed)
        step = min(6.0 * self.body, 0.95 * total / max(rows, 1))
        along = np.repeat(step * np.arange(rows), len(_FILES))[:count]
        lane = 4.0 * self.body * np.tile(_FILES, rows)[:count]
        points, headings = path_curves.places(closed, along, lane)
        return Places(np.asarray(points, np.float32), headings, {"lane": lane})

    def to_text(self) -> str:
        """The text that a file keeps."""
        return json.dumps(asdict(self))


def arrangement_of(text: str) -> Arrangement | None:
    """The arrangement that a text describes; None for an empty text and for any other one."""
    try:
        made = Arrangement(**json.loads(text))
        numbers: dict[str, Any] = {
            name: float(getattr(made, name))
            for name in ("spacing", "radius", "share", "growth", "least", "body", "max_slope")
        }
        center = tuple(float(value) for value in made.center)
        avoid = tuple(tuple(float(value) for value in ball) for ball in made.avoid)
        seed = abs(int(made.seed))
    except (ValueError, TypeError, OverflowError):
        return None
    finite = all(map(math.isfinite, [*numbers.values(), *center, *chain(*avoid)]))
    shaped = len(center) == 3 and all(len(ball) == 4 for ball in avoid)
    if made.kind not in KINDS or not finite or not shaped:
        return None
    return replace(made, **numbers, center=center, avoid=avoid, seed=seed)
