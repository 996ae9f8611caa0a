"""Emitters: the points, edges and faces at which agents are born.

A source has a weight, and each of its parts a share of it: by area for faces, by length for edges,
and the same for points, times the weight of the part. Where all weights are 0, nobody is born.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..bounds import bounded, lengths

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

POINT, EDGE, FACE = 1, 2, 3
"""Corners that differ, of the parts of a source."""


@dataclass(frozen=True, eq=False, repr=False)
class Emitters:
    """Parts of sources, one after another."""

    corner: F32
    """Corners of each part [m], shape (part_count, 3, 3): an edge has its second one twice."""
    share: F64
    """Shares of the births of each part and all before it, rising to 1, shape (part_count,)."""
    ahead: F32
    """Unit vectors in which each source faces, shape (part_count, 3)."""
    normal: F32
    """Unit normals of faces, and level ones to the right of edges, shape (part_count, 3); as
    `ahead` where there is none."""
    along: F32
    """Unit directions of the edges, shape (part_count, 3); as `ahead` for points."""

    @property
    def count(self) -> int:
        """Number of parts at which agents may be born."""
        return len(self.share)


class Source(NamedTuple):
    """A source, see `Emitters`; its shares add up to its weight."""

    corner: F32
    share: F64
    ahead: F64
    normal: F64
    along: F64


def make_emitter(
    corner: Any, *, weight: Any = None, total: float = 1.0, ahead: Any = None
) -> Source:
    """Make a source.

    Args:
        corner: Corners of its parts [m], shape (part_count, k, 3): points have k = 1, edges 2, and
            triangles 3.
        weight: Weights of the parts, times their size, shape (part_count,); None for equal ones.
        total: Weight of the source among others.
        ahead: Direction in which it faces, shape (3,); None for -Y.
    """
    places = bounded(corner)
    kind = places.shape[1] if places.ndim == 3 else POINT
    places = places.reshape(-1, kind, 3)
    full = places[:, [0, min(1, kind - 1), kind - 1]]
    first, second = full[:, 1] - full[:, 0], full[:, 2] - full[:, 0]
    cross: F64 = np.cross(first.astype(np.float64), second.astype(np.float64))
    size = {POINT: np.ones(len(full)), EDGE: lengths(second), FACE: lengths(cross) / 2.0}[kind]
    if weight is not None:
        size = size * np.maximum(np.asarray(weight, np.float64), 0.0)
    size = np.where(np.isfinite(size) & np.isfinite(full).all(axis=(1, 2)), size, 0.0)
    whole = float(size.sum())
    share = size * (max(float(total), 0.0) / whole if whole > 0.0 else 0.0)
    front = np.tile(
        _unit(np.array([[0.0, -1.0, 0.0]] if ahead is None else [ahead])), (len(full), 1)
    )
    right = np.cross(second.astype(np.float64), [0.0, 0.0, 1.0])
    normal = front if kind == POINT else _unit(cross if kind == FACE else right, front)
    along = _unit(second if kind != FACE else first, front) if kind != POINT else front
    return Source(full, share, front, normal, along)


def joined(sources: Sequence[Source]) -> Emitters | None:
    """Emitters of several sources; None where nobody can be born."""
    if not sources:
        return None
    corner, share, ahead, normal, along = (np.concatenate(p) for p in zip(*sources, strict=True))
    rows = np.flatnonzero(share > 0.0)
    if not len(rows):
        return None
    sums = np.cumsum(share[rows])
    return Emitters(
        np.ascontiguousarray(corner[rows], np.float32),
        sums / sums[-1],
        *(np.ascontiguousarray(a[rows], np.float32) for a in (ahead, normal, along)),
    )


def _unit(rows: Any, otherwise: Any = None) -> F64:
    wide: F64 = np.asarray(rows, np.float64)
    size = lengths(wide)[:, None]
    fallback = np.array([0.0, -1.0, 0.0]) if otherwise is None else otherwise
    found: F64 = np.where(size > 1.0e-12, wide / np.maximum(size, 1.0e-12), fallback)
    return found
