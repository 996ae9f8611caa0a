"""Portals: lines from one place of the walkable surface to another, with the time they take."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...bounds import bounded, lengths
from ...errors import WorldError, short

F32 = NDArray[np.float32]

MOST_PORTALS = 1000
"""Portals of a world."""
MOST_SECONDS = 3600.0
"""Longest time that a portal takes [s]."""
SHORTEST = 0.01
"""Least distance between the ends of a portal [m]."""
_BITS = 0x7FFFFF
"""Numbers up to this, and their negatives, are exact where agents remember them."""


@dataclass(frozen=True, eq=False, repr=False)
class Portal:
    """One portal.

    Attributes:
        name: Its name.
        points: The line from its first end to its last [m], shape (n, 3), two points at least.
        seconds: How long it takes [s]; 0 for as long as agents need at their maximum speed.
        both_ways: Whether agents go from the last end to the first too.
        group: Groups of agents that it is for, as behaviors name them; empty for all.
    """

    name: str
    points: F32
    seconds: float
    both_ways: bool
    group: str

    @cached_property
    def key(self) -> int:
        """What agents know it by that go through it, > 0; backward it is negative."""
        return (zlib.crc32(self.name.encode("utf-8", "surrogateescape")) & _BITS) or 1


def long(line: F32) -> float:
    """Length of a line [m]."""
    return float(lengths(np.diff(line, axis=0)).sum())


def make_portal(
    points: Any, name: str, *, seconds: float = 0.0, both_ways: bool = True, group: str = ""
) -> Portal:
    """Make a portal.

    Args:
        points: The line from its first end to its last [m], shape (n, 3).
        name: Its name.
        seconds: How long it takes, waiting included, from 0 to an hour [s]; 0 for as long as
            agents need for its length at their maximum speed.
        both_ways: Whether agents go from the last end to the first too.
        group: Groups of agents that it is for, with commas between; empty for all.

    Raises:
        WorldError: It has no two points, its ends are at one place, or the time is out of range.
    """
    rows = np.asarray(points, np.float64)
    if rows.ndim != 2 or rows.shape[1:] != (3,) or len(rows) < 2:
        raise WorldError(
            f"The portal {name!r} is no line: give it an edge, or a curve, from end to end"
        )
    line: F32 = bounded(rows)
    if not np.isfinite(line).all():
        raise WorldError(f"The portal {name!r} is not at a finite place: move it into the scene")
    if math.dist(line[0].tolist(), line[-1].tolist()) < SHORTEST:
        raise WorldError(f"The portal {name!r} has both ends at one place: move them apart")
    if not 0.0 <= seconds <= MOST_SECONDS:
        raise WorldError(
            f"The portal {name!r} takes {short(seconds)} s: give 0 to {MOST_SECONDS:g}"
        )
    return Portal(name, line, float(seconds), bool(both_ways), group)
