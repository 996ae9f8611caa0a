"""Meetings: whether bodies of two crowds overlap, as those do that do not see each other."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np

from .frames import Frame

_BESIDE = tuple(product((-1, 0, 1), repeat=2))
"""Steps to columns of cells; three cells of a column have numbers in a row."""
_FINEST = 2.0**-20
"""Share of the extent that a cell has at least: numbers of cells then stay within 64 bits."""
_WIDER = 1.0 + 1.0e-6
"""Cells are larger than bodies reach by this factor, for what rounding adds."""
_LARGE = 4.0
"""Bodies whose radius is larger than that of most by this factor have larger cells."""
_BLOCK = 200_000
"""Number of pairs that are compared at once, unless one body alone has more."""


Box = tuple[tuple[float, float], ...]
"""Least and largest coordinate [m] along each axis."""


def box(frame: Frame) -> Box:
    """The box around the bodies of a crowd."""
    reach = float(frame.radius.max())
    return tuple((float(x.min()) - reach, float(x.max()) + reach) for x in frame.position.T)


def come_near(a: Box, b: Box) -> bool:
    """Whether two boxes overlap: only then bodies in them may."""
    return all(p[0] <= q[1] and q[0] <= p[1] for p, q in zip(a, b, strict=True))


def overlap(a: Frame, b: Frame, *, turn: int = 0, most: int = sys.maxsize) -> bool:
    """Whether a living body of one crowd overlaps one of the other.

    Args:
        a: A crowd.
        b: The other one, at the same frame.
        turn: Number of the look: with each one other bodies of `a` are looked at.
        most: Largest number of bodies of `a` that are looked at.
    """
    step = -(-len(a.radius) // most)
    some = slice(turn % step, None, step) if step > 1 else slice(None)
    sorts = _by_size(b, slice(None))
    return any(_overlap(*p, *q) for p in _by_size(a, some) for q in sorts)


def _by_size(frame: Frame, rows: slice) -> list[tuple[Any, Any]]:
    """Living bodies: most of them, and those that are much larger.

    Positions have shape (3, body_count), as each axis is read by itself.
    """
    alive = frame.alive[rows] != 0
    p, r = frame.position[rows].T[:, alive].astype(np.float64), frame.radius[rows][alive]
    r = r.astype(np.float64)
    large = r > _LARGE * np.median(r) if len(r) else alive[:0]
    return [(p[:, ~large], r[~large]), (p[:, large], r[large])] if large.any() else [(p, r)]


def _overlap(p: Any, r: Any, q: Any, s: Any) -> bool:
    reach = float(r.max(initial=0.0)) + float(s.max(initial=0.0))
    p, r = _inside(p, r, q, reach)
    q, s = _inside(q, s, p, reach)
    if not (len(r) and len(s) and reach > 0.0):
        return False
    low = np.minimum(p.min(axis=1), q.min(axis=1))
    extent = np.maximum(p.max(axis=1), q.max(axis=1)) - low
    size = max(reach * _WIDER, float(extent.max()) * _FINEST)
    # a border of empty cells keeps neighbors apart that are not beside each other
    rows = (extent / size).astype(np.int64) + 3
    q, s, cell = _sorted(q, s, low, size, rows)
    p, r, own = _sorted(p, r, low, size, rows)
    return any(_meet(p, r, q, s, cell, own + (x * rows[1] + y) * rows[2]) for x, y in _BESIDE)


def _sorted(p: Any, r: Any, low: Any, size: float, rows: Any) -> tuple[Any, Any, Any]:
    """Bodies in the order of their cells, and the numbers of these."""
    x, y, z = ((p - low[:, None]) * (1.0 / size)).astype(np.int64) + 1
    cell = (x * rows[1] + y) * rows[2] + z
    order = np.argsort(cell)
    return p[:, order], r[order], cell[order]


def _meet(p: Any, r: Any, q: Any, s: Any, cell: Any, wanted: Any) -> bool:
    """Whether a body overlaps one of the others in the cells around a wanted one of a column."""
    first = np.searchsorted(cell, wanted - 1, "left")
    count = np.searchsorted(cell, wanted + 1, "right") - first
    done = np.cumsum(count)
    begin = 0
    while begin < len(r):
        before = done[begin] - count[begin]
        end = max(begin + 1, int(np.searchsorted(done, before + _BLOCK, "right")))
        part = count[begin:end]
        one = np.repeat(np.arange(begin, end), part)
        ahead = done[begin:end] - part - before
        other = np.arange(len(one)) + np.repeat(first[begin:end] - ahead, part)
        square = ((p[:, one] - q[:, other]) ** 2).sum(axis=0)
        if (square < (r[one] + s[other]) ** 2).any():
            return True
        begin = end
    return False


def _inside(p: Any, r: Any, q: Any, reach: float) -> tuple[Any, Any]:
    """Those bodies that come within reach of the box around the others."""
    if not q.size:
        return p[:, :0], r[:0]
    low, high = q.min(axis=1) - reach, q.max(axis=1) + reach
    near = ((p >= low[:, None]) & (p <= high[:, None])).all(axis=0)
    return (p, r) if near.all() else (p[:, near], r[near])
