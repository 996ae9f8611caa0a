"""Vector fields: directions on a surface, along lines, or at points, looked up at the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bounds import bounded
from ..errors import WorldError
from ..geometry import bvh
from ..views import F32, BvhView, FieldView
from .paths import Path


@dataclass(frozen=True, eq=False, repr=False)
class Field:
    """A vector field."""

    tree: BvhView
    """Triangles; lines are those with two equal corners, points those with three."""
    vector: F32
    """Vectors at the corners, any unit: only directions count, shape (triangle_count, 3, 3)."""

    def view(self) -> FieldView:
        """The kernels' view of it."""
        return FieldView(self.tree, self.vector)


def make_field(points: Any, vectors: Any, *, faces: Any = (), edges: Any = ()) -> Field:
    """Make a field from points with vectors.

    Args:
        points: Positions [m], shape (point_count, 3).
        vectors: Vectors there, same shape.
        faces: Triangles between the points, rows of shape (triangle_count, 3).
        edges: Lines between the points, rows of shape (edge_count, 2). Points in neither stand
            for themselves.

    Raises:
        WorldError: Shapes differ, a number is not finite, or a face or edge has no such point.
    """
    places, arrows = _rows("points", points), _rows("vectors", vectors)
    if places.shape != arrows.shape:
        raise WorldError(f"Field vectors have shape {arrows.shape}: give {places.shape}")
    good = np.isfinite(places).all(axis=1) & np.isfinite(arrows).all(axis=1)
    if not good.all():
        row = int(good.argmin())
        raise WorldError(
            f"A flow field has its point {row} at {tuple(places[row].tolist())} with the vector "
            f"{tuple(arrows[row].tolist())}, which is not finite: move or delete this point"
        )
    triangles = np.asarray(faces, np.int64).reshape(-1, 3)
    lines = np.asarray(edges, np.int64).reshape(-1, 2)
    for rows in (triangles, lines):
        if rows.size and not 0 <= rows.min() <= rows.max() < len(places):
            raise WorldError(
                f"A flow field of {len(places)} points has a face or edge with the points "
                f"{rows.min()} to {rows.max()}: give numbers from 0 to {len(places) - 1}"
            )
    alone = np.setdiff1d(np.arange(len(places)), np.concatenate([triangles.ravel(), lines.ravel()]))
    rows = np.concatenate([triangles, lines[:, [0, 1, 1]], np.repeat(alone[:, None], 3, axis=1)])
    return Field(bvh.build(places[rows]), np.ascontiguousarray(arrows[rows]))


def _rows(what: str, values: Any) -> F32:
    rows: F32 = bounded(values)
    if rows.size == 0:
        return np.zeros((0, 3), np.float32)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise WorldError(f"Field {what} have shape {rows.shape}: give (point_count, 3)")
    return rows


def field_of_curves(curves: Sequence[tuple[Any, bool]]) -> Field:
    """The directions along curves; those of fewer than two points have none.

    At a corner both directions count. Where a curve turns straight back they cancel out, so its
    very tip has no direction. A cyclic curve of two points counts as open.

    Args:
        curves: Points [m] of each, shape (point_count, 3), and whether it is cyclic.

    Raises:
        WorldError: A point is not finite.
    """
    places, arrows, edges = [], [], []
    total = 0
    for points, cyclic in curves:
        line = Path(points, cyclic=cyclic, name="guide curve").distinct().astype(np.float64)
        count = len(line)
        if count < 2:
            continue
        closed = cyclic and count > 2
        ahead = _directions(np.roll(line, -1, axis=0) - line)
        behind = np.roll(ahead, 1, axis=0)
        if not closed:
            ahead[-1], behind[0] = behind[-1], ahead[0]
        places.append(line)
        arrows.append(_directions(ahead + behind))
        edges += [(total + k, total + (k + 1) % count) for k in range(count - (not closed))]
        total += count
    if not places:
        return NO_FIELD
    return make_field(np.concatenate(places), np.concatenate(arrows), edges=edges)


def _directions(rows: Any) -> Any:
    """Rows of length 1; those shorter than 1e-12 become zero."""
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(size < 1.0e-12, 0.0, rows / np.maximum(size, 1.0e-12))


NO_FIELD = make_field(np.zeros((0, 3)), np.zeros((0, 3)))
