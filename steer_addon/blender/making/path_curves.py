"""Paths: their lines, places beside them, and curve objects, which users see and edit."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.inputs.paths import Path
from ...core.sensing.declare import PATHS
from ..crowd.slots import is_chosen, source_use


def circle(radius: float, pieces: int = 72) -> Any:
    """Points of a circle, counterclockwise around the origin from +X, shape (pieces, 3) [m]."""
    turn = np.linspace(0.0, 2.0 * np.pi, pieces, endpoint=False)
    return radius * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(pieces)])


def oval(radius: float, center: Any) -> Any:
    """Points of an oval along X, counterclockwise from +X, shape (72, 3) [m]."""
    return circle(radius) * (1.0, 0.7, 1.0) + center


def wave(start: float, stop: float, height: float, length: float, pieces: int) -> Any:
    """Points of a sine curve along X, height * sin(x / length), shape (pieces, 3) [m]."""
    x = np.linspace(start, stop, pieces)
    return np.column_stack([x, height * np.sin(x / length), np.zeros(pieces)])


def length_of(line: Any) -> float:
    """Length of an open line [m]."""
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def places(line: Any, along: Any, right: Any) -> tuple[Any, Any]:
    """Places beside a line, and the direction of the line there.

    Args:
        line: Points of the open line, shape (n, 3) [m].
        along: Distances along the line, shape (count,) [m].
        right: Distances to the right of the line, shape (count,) [m].

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


def add_curve(path: Path, collection: bpy.types.Collection, name: str = "Path") -> bpy.types.Object:
    """A new curve object with straight pieces between the waypoints of a path.

    Args:
        path: Waypoints in the object's own space.
        collection: Collection of the new object.
        name: Name of object and curve.
    """
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    if len(path.points):
        spline = curve.splines.new("POLY")
        # a new spline has one point; the fourth number of each is its weight
        spline.points.add(len(path.points) - 1)
        spline.points.foreach_set("co", np.insert(path.points, 3, 1.0, axis=1).ravel())
        spline.use_cyclic_u = path.cyclic
    obj = bpy.data.objects.new(name, curve)
    collection.objects.link(obj)
    return obj


def path_entry(obj: bpy.types.Object) -> Any:
    """The first behavior of a crowd that follows a path and has none yet, or None."""
    entries = obj.steer.behaviors
    return next((i for i in entries if source_use(i) == PATHS and not is_chosen(i, "source")), None)
