"""Shapes that a display can draw as lines, for all that an agent read. World space, meters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

ROLES = {
    "PERCEPTION": "How far, and how wide, neighbors are seen",
    "NEIGHBOR": "A neighbor that counts",
    "RAY": "A feeler or ray that met nothing",
    "HIT": "A feeler or ray up to the place where it met something",
    "TARGET": "The way to the target",
    "PLACE": "The place that is wanted: of a target that moves, where it will be",
    "PATH": "The path, with the next waypoint",
    "WANDER": "The circle of wandering, with the point on it",
    "REGION": "A container that agents stay in, or a sphere that they avoid",
    "WAY": "The way to the target round corners, where agents find their ways",
}
"""Meaning of a shape, in plain words."""

PERCEPTION, NEIGHBOR, RAY, HIT, TARGET, PLACE, PATH, WANDER, REGION, WAY = ROLES

ROUND = 48
"""Pieces of a full circle."""


@dataclass(frozen=True, eq=False)
class Shape:
    """Something that can be drawn as lines."""

    role: str
    """One of ROLES."""

    def segments(self) -> F32:
        """Ends of straight lines [m], shape (line_count, 2, 3)."""
        raise NotImplementedError


def joined(points: F64, closed: bool = False) -> F32:
    """Lines from point to point, shape (line_count, 2, 3)."""
    if closed:
        points = np.concatenate([points, points[:1]])
    lines: F32 = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
    return lines


@dataclass(frozen=True, eq=False)
class Line(Shape):
    """Points in a row."""

    points: F64
    """Shape (point_count, 3)."""
    closed: bool = False

    def segments(self) -> F32:
        """A line between each two points."""
        return joined(self.points, self.closed)


@dataclass(frozen=True, eq=False)
class Route(Line):
    """A way, from corner to corner."""

    length: float = 0.0
    """How long it is [m]."""


@dataclass(frozen=True, eq=False)
class Cross(Shape):
    """A place."""

    place: F64
    size: float = 0.1
    """Half its width [m]."""

    def segments(self) -> F32:
        """Three short lines through the place."""
        arms = np.eye(3) * self.size
        return np.stack([self.place - arms, self.place + arms], axis=1).astype(np.float32)


def frame_of(normal: F64, ahead: F64 | None = None) -> tuple[F64, F64]:
    """Two unit vectors square to a normal, the first as near to `ahead` as can be."""
    for guess in (ahead, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])):
        if guess is not None:
            first = guess - normal * float(normal @ guess)
            size = float(np.linalg.norm(first))
            if size > 1.0e-3:
                return first / size, np.cross(normal, first / size)
    return np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Arc(Shape):
    """A circle, or a part of one with the two lines to its middle."""

    center: F64
    radius: float
    normal: F64
    ahead: F64 | None = None
    """Middle of the part."""
    angle: float = 360.0
    """How much of the circle there is [deg]."""

    def segments(self) -> F32:
        """The rim, and where a part is missing its sides."""
        first, second = frame_of(self.normal, self.ahead)
        half = math.radians(min(max(self.angle, 0.0), 360.0)) * 0.5
        steps = np.linspace(-half, half, max(2, int(ROUND * half / math.pi) + 1))
        rim = np.outer(np.cos(steps), first) + np.outer(np.sin(steps), second)
        points = self.center + self.radius * rim
        if self.angle >= 360.0:
            return joined(points)
        return joined(np.concatenate([self.center[None], points]), closed=True)


@dataclass(frozen=True, eq=False)
class Ball(Shape):
    """A sphere."""

    center: F64
    radius: float

    def segments(self) -> F32:
        """Three circles."""
        rims = [Arc(self.role, self.center, self.radius, axis).segments() for axis in np.eye(3)]
        return np.concatenate(rims)


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box."""

    center: F64
    axes: F64
    """Unit rows, shape (3, 3)."""
    half: F64
    """Half its size along the axes [m], shape (3,)."""

    def segments(self) -> F32:
        """Its twelve edges."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        corners = self.center + (signs * self.half) @ self.axes
        edges = [(a, a | bit) for bit in (1, 2, 4) for a in range(8) if not a & bit]
        lines: F32 = corners[np.array(edges)].astype(np.float32)
        return lines
