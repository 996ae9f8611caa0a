"""Ray casts and nearest surface points on triangle meshes, callable inside kernels.

Triangles lie under a tree of boxes (`views.BvhView`). What a query answers depends on the ray or
point and on the triangles only, never on the shape of the tree: the nearest triangle wins, and of
equally near ones the one with the smaller number. That holds to the last bit, because a triangle's
distance is kept inside the distances at which its own box is entered and left, and rounding is
monotonic: every box around it is then entered no later.

Inside kernels: `ray_cast`, `nearest_point`, `nearest_steep`, `triangle_normal`, `triangle_corners`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import views
from ..bounds import bounded
from ..compiled.jit import kernel, parallel_for
from ..errors import WorldError
from ..numeric.vec import load, store
from .bvh_build import STACK, depth_of, grow, refit_boxes
from .bvh_points import (
    nearest_other,
    nearest_point,
    nearest_steep,
    triangle_corners,
    triangle_normal,
)
from .bvh_rays import ray_cast, ray_cast_stops

if TYPE_CHECKING:
    from ..views import F32, I32, BvhView

__all__ = [
    "build",
    "empty",
    "join",
    "nearest_many",
    "nearest_other",
    "nearest_point",
    "nearest_steep",
    "ray_cast",
    "ray_cast_many",
    "ray_cast_stops",
    "refit",
    "triangle_corners",
    "triangle_normal",
]


@cache
def empty() -> BvhView:
    """A tree without triangles: nothing is hit, nothing is near."""
    return views.BvhView(
        np.zeros((0, 6), np.float32),
        np.zeros((0, 3), np.int32),
        np.zeros(0, np.int32),
        np.zeros((0, 3, 3), np.float32),
    )


def build(triangles: Any) -> BvhView:
    """Grow a tree over triangles.

    Args:
        triangles: Corners [m], shape (t, 3, 3); t may be 0, and triangles may have no area.

    Raises:
        WorldError: The array has another shape or holds numbers that are not finite.
    """
    corners = _checked(triangles)
    size = len(corners)
    if size == 0:
        return empty()
    # in one layout, so that one compiled kernel serves all
    low = np.ascontiguousarray(corners.min(axis=1))
    high = np.ascontiguousarray(corners.max(axis=1))
    box, link = np.empty((2 * size, 6), np.float32), np.empty((2 * size, 3), np.int32)
    order = np.arange(size, dtype=np.int32)
    nodes = int(grow(low, high, box, link, order))
    return views.BvhView(box[:nodes].copy(), link[:nodes].copy(), order, corners)


def refit(view: BvhView, triangles: Any) -> BvhView:
    """The same tree around triangles that moved; shares no box with `view`.

    Queries stay exact. They get slower when the mesh bends far out of the shape that the tree was
    built for: build a new one then.

    Args:
        view: A tree from `build` or `join`.
        triangles: Corners [m] in the same order, shape (t, 3, 3).

    Raises:
        WorldError: The number of triangles changed, or corners are not finite.
    """
    corners = _checked(triangles)
    if len(corners) != len(view.triangles):
        raise WorldError(
            f"The mesh had {len(view.triangles)} triangles and now has {len(corners)}: "
            "build a new tree when the faces change"
        )
    moved = views.BvhView(np.empty_like(view.box), view.link, view.order, corners)
    refit_boxes(moved)
    return moved


def join(trees: Sequence[BvhView]) -> BvhView:
    """One tree over several; triangle numbers run on from tree to tree.

    Args:
        trees: Trees in any number; empty ones are passed over.
    """
    full = [view for view in trees if len(view.link)]
    if len(full) < 2:
        return full[0] if full else empty()
    top = len(full) - 1
    node_shift = top + np.cumsum([0] + [len(view.link) for view in full[:-1]])
    order_shift = np.cumsum([0] + [len(view.order) for view in full[:-1]])
    box: F32 = np.concatenate([np.zeros((top, 6), np.float32)] + [view.box for view in full])
    link = np.zeros((len(box), 3), np.int32)
    for view, node, place in zip(full, node_shift, order_shift, strict=True):
        rows = link[node : node + len(view.link)]
        leaf = view.link[:, 2] > 0
        rows[:, 0] = view.link[:, 0] + np.where(leaf, place, node)
        rows[:, 1] = np.where(leaf, -1, view.link[:, 1] + node)
        rows[:, 2] = view.link[:, 2]
    _link_top(link[:, 0], link[:, 1], box[:, :3], box[:, 3:], node_shift)
    shifted = [view.order + shift for view, shift in zip(full, order_shift, strict=True)]
    order: I32 = np.concatenate(shifted).astype(np.int32)
    triangles: F32 = np.concatenate([view.triangles for view in full])
    if int(depth_of(link)) > STACK:
        return build(triangles)
    return views.BvhView(box, link, order, triangles)


def _link_top(first: I32, second: I32, low: F32, high: F32, roots: Any) -> None:
    """Fill the nodes above the roots of joined trees, halving them along their widest axis."""
    center = low[roots].astype(np.float64) + high[roots]
    made = 1
    tasks = [(0, np.arange(len(roots)))]
    while tasks:
        node, members = tasks.pop()
        low[node], high[node] = low[roots[members]].min(axis=0), high[roots[members]].max(axis=0)
        axis = int(np.argmax(np.ptp(center[members], axis=0)))
        members = members[np.argsort(center[members, axis], kind="stable")]
        for half, link in (
            (members[: len(members) // 2], first),
            (members[len(members) // 2 :], second),
        ):
            if len(half) == 1:
                link[node] = roots[half[0]]
                continue
            link[node] = made
            tasks.append((made, half))
            made += 1


def _checked(triangles: Any) -> F32:
    corners: F32 = bounded(triangles)
    if corners.size == 0:
        return np.zeros((0, 3, 3), np.float32)
    if corners.ndim != 3 or corners.shape[1:] != (3, 3):
        raise WorldError(f"Triangles have shape {corners.shape}: give (triangle_count, 3, 3)")
    if not np.isfinite(corners).all():
        row = int((~np.isfinite(corners)).any(axis=(1, 2)).argmax())
        raise WorldError(f"Triangle {row} has a corner that is not finite: move or delete it")
    return corners


@kernel
def _ray_cast_rows(start, stop, bvh, origins, directions, max_distance, triangle, distance):
    """`ray_cast` for rows start to stop."""
    for i in range(start, stop):
        triangle[i], distance[i] = ray_cast(
            bvh, load(origins, i), load(directions, i), max_distance
        )


@kernel
def _nearest_rows(start, stop, bvh, points, max_distance, triangle, nearest, distance):
    """`nearest_point` for rows start to stop."""
    for i in range(start, stop):
        triangle[i], found, distance[i] = nearest_point(bvh, load(points, i), max_distance)
        store(nearest, i, found)


def ray_cast_many(
    view: BvhView, origins: Any, directions: Any, max_distance: float = math.inf
) -> tuple[I32, F32]:
    """`ray_cast` for many rays, on all threads.

    Args:
        view: The triangles.
        origins: Starts [m], shape (n, 3).
        directions: Unit directions, shape (n, 3).
        max_distance: Length of the rays [m].

    Returns:
        Triangles, shape (n,), -1 for none, and distances [m], shape (n,).
    """
    start = np.ascontiguousarray(origins, dtype=np.float32)
    along = np.ascontiguousarray(directions, dtype=np.float32)
    triangle, distance = np.empty(len(start), np.int32), np.empty(len(start), np.float32)
    parallel_for(
        _ray_cast_rows, len(start), view, start, along, float(max_distance), triangle, distance
    )
    return triangle, distance


def nearest_many(
    view: BvhView, points: Any, max_distance: float = math.inf
) -> tuple[I32, F32, F32]:
    """`nearest_point` for many points, on all threads.

    Args:
        view: The triangles.
        points: Where to look from [m], shape (n, 3).
        max_distance: How far to look [m].

    Returns:
        Triangles, shape (n,), -1 for none; surface points [m], shape (n, 3), the point itself for
        none; distances [m], shape (n,).
    """
    rows = np.ascontiguousarray(points, dtype=np.float32)
    triangle, distance = np.empty(len(rows), np.int32), np.empty(len(rows), np.float32)
    nearest = np.empty_like(rows)
    parallel_for(
        _nearest_rows, len(rows), view, rows, float(max_distance), triangle, nearest, distance
    )
    return triangle, nearest, distance
