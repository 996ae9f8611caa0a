"""Paths as curve objects, which are visible and editable in the viewport."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.inputs.paths import Path
from ...core.sensing.declare import PATHS
from ..crowd.slots import has_source, source_use


def add_curve(path: Path, collection: bpy.types.Collection, name: str = "Path") -> bpy.types.Object:
    """A new curve object with straight pieces between the waypoints of a path.

    Args:
        path: Waypoints in the object's own space.
        collection: Collection of the new object.
        name: Name of object and curve.
    """
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    points = path.points
    if len(points):
        spline = curve.splines.new("POLY")
        # a new spline has one point
        spline.points.add(len(points) - 1)
        for place, point in zip(spline.points, points, strict=True):
            place.co = (*map(float, point), 1.0)
        spline.use_cyclic_u = path.cyclic
    obj = bpy.data.objects.new(name, curve)
    collection.objects.link(obj)
    return obj


def path_entry(obj: bpy.types.Object) -> Any:
    """The first behavior of a crowd that follows a path and has none yet, or None."""
    entries = obj.steer.behaviors
    return next((i for i in entries if source_use(i) == PATHS and not has_source(i)), None)
