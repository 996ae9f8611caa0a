"""Lines that streets and paths run along, and places beside them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def rounded_square(side: float, radius: float, pieces: int = 8) -> Any:
    """Points of a square with round corners, counterclockwise around the origin, shape (n, 3) [m].

    Args:
        side: Its whole width [m].
        radius: Of its corners [m].
        pieces: Pieces that a corner consists of.
    """
    middle = side / 2 - radius
    rows = []
    for x, y, start in ((1, -1, -90.0), (1, 1, 0.0), (-1, 1, 90.0), (-1, -1, 180.0)):
        for angle in np.radians(np.linspace(start, start + 90.0, pieces + 1)):
            rows.append(
                (x * middle + radius * math.cos(angle), y * middle + radius * math.sin(angle), 0.0)
            )
    return np.array(rows)


def length_of(line: Any) -> float:
    """Length of an open line [m]."""
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def places(line: Any, along: Any, right: Any) -> tuple[Any, Any]:
    """Places beside a line, and which way it runs there.

    Args:
        line: Its points, shape (n, 3) [m]; the last one ends it.
        along: How far along the line, shape (count,) [m].
        right: How far to the right of it, shape (count,) [m].

    Returns:
        (positions [m], unit directions), each of shape (count, 3).
    """
    steps = np.diff(line, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    starts = np.concatenate([[0.0], np.cumsum(lengths)])
    along = np.asarray(along, np.float64)
    piece = np.clip(np.searchsorted(starts, along, side="right") - 1, 0, len(steps) - 1)
    toward = (steps / lengths[:, None])[piece]
    aside = np.column_stack([toward[:, 1], -toward[:, 0], np.zeros(len(along))])
    positions = line[piece] + toward * (along - starts[piece])[:, None]
    return positions + aside * np.asarray(right, np.float64)[:, None], toward
