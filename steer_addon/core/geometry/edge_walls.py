"""Walls drawn as lines: a floor plan of edges stands up as vertical faces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..views import F32


def wall_triangles(points: Any, edges: Any, height: float) -> F32:
    """Triangles of the walls over edges, straight up in world space; both sides are solid.

    A wall follows its edge: where the edge climbs, so do foot and top of the wall. Edges that go
    straight up, or have no length, carry no wall.

    Args:
        points: Positions [m], shape (point_count, 3).
        edges: Rows of points at both ends, shape (edge_count, 2).
        height: Height of the walls [m].

    Returns:
        Corners [m], shape (2 · wall_count, 3, 3).
    """
    places = np.ascontiguousarray(np.reshape(points, (-1, 3)), dtype=np.float32)
    ends = places[np.asarray(edges, np.int64).reshape(-1, 2)]
    ends = ends[(ends[:, 0, :2] != ends[:, 1, :2]).any(axis=1)]
    a, b = ends[:, 0], ends[:, 1]
    rise = np.array([0.0, 0.0, height], np.float32)
    pairs = np.stack([a, b, b + rise, a, b + rise, a + rise], axis=1)
    return np.ascontiguousarray(pairs.reshape(-1, 3, 3), dtype=np.float32)
