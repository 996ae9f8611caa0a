"""Pieces of floor plans: walls with gaps, and ways through a door."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steer_addon.core.geometry.meshes import Mesh

from .scenario import Route, Stage, block, on_floor

THICK = 0.2
"""Thickness of walls [m]."""
BEYOND = 1.0
"""Distance past a door at which an agent has left [m]."""
ROOM_TO_PASS = 0.25
"""Largest distance of a body's center from the middle of a door of 1 m [m]."""
FAR = 5.0
"""Distance behind a door of the place to which leaving agents continue [m]."""

Gap = tuple[float, float]


def wall_x(y: float, start: float, stop: float, *gaps: Gap, outward: float = 1.0) -> list[Mesh]:
    """A wall along x, solid on the side y + outward·THICK, with gaps (from, to) [m] in it."""
    low, high = sorted((y, y + outward * THICK))
    return [
        block(f"wall y={y:g} x={a:g}", (a, low), (b, high)) for a, b in _solid(start, stop, gaps)
    ]


def wall_y(x: float, start: float, stop: float, *gaps: Gap, outward: float = 1.0) -> list[Mesh]:
    """A wall along y, solid on the side x + outward·THICK, with gaps (from, to) [m] in it."""
    low, high = sorted((x, x + outward * THICK))
    return [
        block(f"wall x={x:g} y={a:g}", (low, a), (high, b)) for a, b in _solid(start, stop, gaps)
    ]


def _solid(start: float, stop: float, gaps: Sequence[Gap]) -> list[Gap]:
    ends = [start, *(end for gap in sorted(gaps) for end in gap), stop]
    return [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True) if b > a]


def through(doors: Sequence[Sequence[float]], outward: Sequence[Sequence[float]]) -> Route:
    """The way out by one of some doors of 1 m: through it, and on.

    Args:
        doors: Middles of the doors (x, y) [m].
        outward: Unit directions out of them.
    """
    middle, ahead = np.asarray(doors, float), np.asarray(outward, float)
    return (
        Stage(on_floor(middle), ROOM_TO_PASS, via=True, ahead=on_floor(ahead)),
        Stage(on_floor(middle + FAR * ahead), FAR - BEYOND),
    )
