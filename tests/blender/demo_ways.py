"""Where the agents of a scene are beside the path that they follow, for tests."""

from __future__ import annotations

import bpy
import numpy as np


def line_of(path: bpy.types.Object) -> np.ndarray:
    """The points of a path object that stands at the origin, closed if it is, shape (n, 3) [m]."""
    spline = path.data.splines[0]
    points = np.array([point.co[:3] for point in spline.points], np.float64)
    return np.concatenate([points, points[:1]]) if spline.use_cyclic_u else points


def beside(points: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far along a line points are, and how far to the right of it, each of shape (...,) [m]."""
    pieces = np.diff(line, axis=0)
    lengths = np.linalg.norm(pieces, axis=1)
    starts = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    offsets = points[..., None, :] - line[:-1]
    shares = np.clip((offsets * pieces).sum(axis=-1) / lengths**2, 0.0, 1.0)
    gaps = np.linalg.norm(offsets - shares[..., None] * pieces, axis=-1)
    nearest = gaps.argmin(axis=-1)[..., None]
    along = np.take_along_axis(starts + shares * lengths, nearest, axis=-1)[..., 0]
    # right of the piece where the cross product of the offset with it points up
    sides = offsets[..., 0] * pieces[:, 1] - offsets[..., 1] * pieces[:, 0]
    right = np.take_along_axis(np.sign(sides) * gaps, nearest, axis=-1)[..., 0]
    return along, right


def values_of(obj: bpy.types.Object, name: str) -> np.ndarray:
    """A point attribute of a crowd's mesh, shape (agents,)."""
    return np.array([element.value for element in obj.data.attributes[name].data])
