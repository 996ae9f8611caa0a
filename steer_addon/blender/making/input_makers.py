"""Missing inputs of a crowd, made around the start positions of its agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from ...core.errors import SceneError
from ...core.inputs.paths import Path
from ...core.sensing.declare import CONTAINER, PATHS
from ..crowd.slots import source_use
from ..scene_units import units_per_meter
from .path_curves import add_curve, circle
from .shapes import new_mesh

MARGIN = 0.5
"""Excess width of a path or container over the crowd, as a share of the crowd's size."""
LEAST = 2.0
"""Smallest half size that a crowd is taken to have [m]."""
CORNERS = 24


def add_input(
    obj: bpy.types.Object, scene: bpy.types.Scene, role: str, entry: str = ""
) -> bpy.types.Object:
    """Add the missing input of a behavior, and choose it for that behavior.

    Args:
        obj: The crowd.
        scene: Scene of the new object.
        role: TARGET, SECOND_TARGET, SOURCE or BIRTHS.
        entry: Name of the behavior; empty for the crowd's own target.

    Raises:
        SceneError: There is no such behavior, or it has no such input.
    """
    owner: Any = obj.steer if not entry else obj.steer.behaviors.get(entry)
    if owner is None:
        raise SceneError(f"Crowd {obj.name!r} has no behavior {entry!r}: choose another one")
    if role == "SOURCE":
        use = source_use(owner) if entry else ""
        if not use:
            raise SceneError(
                f"{entry or obj.name!r} has no path, field or container: choose another behavior"
            )
        made = _add_source(obj, scene, use)
        owner.source_kind, owner.source_object = "OBJECT", made
        return made
    if role == "BIRTHS":
        obj.steer.births_kind, obj.steer.births_object = "OBJECT", _add_births(obj, scene)
        return obj.steer.births_object
    prefix = "" if role == "TARGET" else "second_"
    if prefix and not entry:
        raise SceneError("A second target belongs to a behavior: name it")
    unit = units_per_meter(scene)
    middle, half = extent(obj, unit)
    # in front, where characters face; a second target is on the other side
    ahead = Vector((0.0, -2.0 * half.y, 0.0)) * (-1.0 if prefix else 1.0)
    made = _link(scene, "Second Target" if prefix else "Target", None, middle + ahead)
    made.empty_display_type, made.empty_display_size = "SPHERE", 0.5 * unit
    setattr(owner, f"{prefix}target_kind", "OBJECT")
    setattr(owner, f"{prefix}target_object", made)
    return made


def add_colliders(
    obj: bpy.types.Object, scene: bpy.types.Scene, found: Sequence[bpy.types.Object]
) -> bpy.types.Collection:
    """Put objects among the colliders of a crowd; they stay in their collections, too.

    Args:
        obj: The crowd.
        scene: Scene of the collection that is made where the crowd has none.
        found: The objects.

    Raises:
        SceneError: The collection of colliders belongs to another file.
    """
    colliders = obj.steer.colliders
    if colliders is None:
        colliders = bpy.data.collections.new(f"{obj.name} Colliders")
        scene.collection.children.link(colliders)
        obj.steer.colliders = colliders
    if colliders.library is not None or colliders.override_library is not None:
        raise SceneError(
            f"Collection {colliders.name!r} comes from another file: choose colliders of this file"
        )
    for other in found:
        colliders.objects.link(other)
    return colliders


def extent(obj: bpy.types.Object, unit: float = 1.0) -> tuple[Vector, Vector]:
    """Middle and half size of the start positions of a crowd's agents, in units of the scene."""
    least = LEAST * unit
    points = np.empty(3 * len(obj.data.vertices), np.float32)
    if not len(points):
        return obj.matrix_world.translation.copy(), Vector((least,) * 3)
    obj.data.vertices.foreach_get("co", points)
    matrix = np.array(obj.matrix_world)
    places = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    low, high = places.min(axis=0), places.max(axis=0)
    middle = Vector(((low + high) / 2).tolist())
    return middle, Vector(np.maximum((high - low) / 2, least).tolist())


def _add_source(obj: bpy.types.Object, scene: bpy.types.Scene, use: str) -> bpy.types.Object:
    middle, half = extent(obj, units_per_meter(scene))
    wide = half * (1.0 + MARGIN)
    if use == CONTAINER:
        box = _link(scene, "Container", None, middle)
        box.empty_display_type, box.empty_display_size = "CUBE", 1.0
        box.scale = wide
        return box

    name = "Path" if use == PATHS else "Field"
    ring = Path(circle(1.0, CORNERS) * (wide.x, wide.y, 1.0), cyclic=True)
    curve = add_curve(ring, scene.collection, name)
    curve.location = middle
    return curve


def _add_births(obj: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Object:
    """A square behind the crowd, where characters look away from, which is not rendered."""
    middle, half = extent(obj, units_per_meter(scene))
    corners = [(x * half.x, y * half.x, 0.0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    mesh = new_mesh("Source", corners, [(0, 1, 2, 3)])
    made = _link(scene, "Source", mesh, middle + Vector((0.0, 2.0 * half.y + half.x, 0.0)))
    made.display_type, made.hide_render = "WIRE", True
    return made


def _link(scene: bpy.types.Scene, name: str, data: Any, location: Vector) -> bpy.types.Object:
    made = bpy.data.objects.new(name, data)
    made.location = location
    scene.collection.objects.link(made)
    return made
