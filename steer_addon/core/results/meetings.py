"""Meetings: whether bodies of two crowds overlap, as those do that do not see each other."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .frames import Frame

_BESIDE = tuple(product((-1, 0, 1), repeat=3))
_FINEST = 2.0**-20
"""Share of the extent that a cell has at least: numbers of cells then stay within 64 bits."""


def overlap(a: Frame, b: Frame) -> bool:
    """Whether a living body of one crowd overlaps one of the other.

    Args:
        a: A crowd.
        b: The other one, at the same frame.
    """
    (p, r), (q, s) = _living(a), _living(b)
    reach = float(r.max(initial=0.0)) + float(s.max(initial=0.0))
    p, r = _inside(p, r, q, reach)
    q, s = _inside(q, s, p, reach)
    if not (len(p) and len(q) and reach > 0.0):
        return False
    low = np.minimum(p.min(axis=0), q.min(axis=0))
    extent = np.maximum(p.max(axis=0), q.max(axis=0)) - low
    size = max(reach, float(extent.max()) * _FINEST)
    # a border of empty cells keeps neighbors apart that are not beside each other
    rows = (extent // size).astype(np.int64) + 3
    cell = _numbers((q - low) // size + 1.0, rows)
    order = np.argsort(cell)
    cell, q, s = cell[order], q[order], s[order]
    own = (p - low) // size + 1.0
    return any(_meet(p, r, q, s, cell, _numbers(own + step, rows)) for step in _BESIDE)


def _meet(p: Any, r: Any, q: Any, s: Any, cell: Any, wanted: Any) -> bool:
    """Whether a body overlaps one of the others in the cell that it wants to see."""
    first = np.searchsorted(cell, wanted, "left")
    count = np.searchsorted(cell, wanted, "right") - first
    one = np.repeat(np.arange(len(p)), count)
    other = np.arange(len(one)) + np.repeat(first - np.cumsum(count) + count, count)
    square = ((p[one] - q[other]) ** 2).sum(axis=1)
    return bool((square < (r[one] + s[other]) ** 2).any())


def _numbers(place: Any, rows: Any) -> NDArray[np.int64]:
    """Numbers of cells by their places along the axes."""
    x, y, z = place.astype(np.int64).T
    found: NDArray[np.int64] = (x * rows[1] + y) * rows[2] + z
    return found


def _living(frame: Frame) -> tuple[Any, Any]:
    """Positions [m] and radii [m] of those that live."""
    alive = frame.alive != 0
    return frame.position[alive].astype(np.float64), frame.radius[alive].astype(np.float64)


def _inside(p: Any, r: Any, q: Any, reach: float) -> tuple[Any, Any]:
    """Those bodies that come within reach of the box around the others."""
    if not len(q):
        return p[:0], r[:0]
    near = ((p >= q.min(axis=0) - reach) & (p <= q.max(axis=0) + reach)).all(axis=1)
    return p[near], r[near]
