"""Meshes in the way of a crowd that are none of its colliders: agents walk through them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import bpy
import numpy as np
from mathutils import Vector

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SteerError
from ...core.sensing.declare import COLLIDERS
from ..crowd import crowds
from ..crowd.slots import uses_of
from ..display import display
from ..reading import extents
from ..reading.extents import Box
from ..reading.scene_inputs import collider_objects, ground_object, input_objects, members

MOST_OBJECTS = 2000
"""Scenes with more objects are not searched, which would take longer than a redraw."""
_NAMED = 3


def in_the_way(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> list[bpy.types.Object]:
    """Mesh objects that stand where a crowd walks, and that it does not know.

    Args:
        obj: The crowd.
        depsgraph: The depsgraph that evaluated its scene.
    """
    scene = depsgraph.scene.original
    if not _heeds_colliders(obj) or len(scene.objects) > MOST_OBJECTS:
        return []
    reach, known = extents.footprint(obj), _known(obj)
    solid = [extents.object_box(collider) for collider in collider_objects(obj)]
    found = []
    for other in scene.objects:
        if other.type != "MESH" or other.session_uid in known or not _is_solid(other):
            continue
        box = extents.object_box(other)
        if not extents.overlap(box, reach) or any(_stands_for(s, box) for s in solid):
            continue
        if _stands(obj, box, reach, depsgraph):
            found.append(other)
    return found


def diagnoses(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Iterator[Diagnosis]:
    """What `in_the_way` finds, as a diagnosis."""
    found = in_the_way(obj, depsgraph)
    if found:
        names = ", ".join(repr(other.name) for other in found[:_NAMED])
        more = len(found) - _NAMED
        names += f" and {more} more" if more > 0 else ""
        yield diagnose("IN_THE_WAY", obj.name, count=len(found), names=names)


def _heeds_colliders(obj: bpy.types.Object) -> bool:
    """Whether a crowd walks, and would go around colliders."""
    steer = obj.steer
    return steer.motion.motion == "GROUND" and (
        steer.bodies.collide_colliders
        or any(item.enabled and COLLIDERS in uses_of(item) for item in steer.behaviors)
    )


def _stands_for(solid: Box, box: Box) -> bool:
    """Whether a collider stands for what is in a box: water in a basin, a plan of a hedge."""
    middle, sizes = box.mean(axis=0), np.prod([b[1, :2] - b[0, :2] for b in (solid, box)], axis=1)
    return extents.holds(solid, np.array([middle, middle])) and bool(sizes[0] <= 3.0 * sizes[1])


def _known(obj: bpy.types.Object) -> set[int]:
    """Session uids of what a crowd reads or shows."""
    parts = [*input_objects(obj), *members(obj.steer.bake_collection, obj)]
    with suppress(SteerError):
        # the Display panel reports errors of the modifier
        parts.append(display.get_input(display.require_modifier(obj), "Object"))
        parts += members(display.get_input(display.require_modifier(obj), "Collection"), obj)
    return {part.session_uid for part in parts if part is not None}


def _is_solid(obj: bpy.types.Object) -> bool:
    """Whether a mesh is seen as one that people go around."""
    is_shown = (
        obj.visible_get() and not obj.hide_render and obj.display_type in ("SOLID", "TEXTURED")
    )
    # a flag at a target goes with it
    return bool(is_shown and obj.data.polygons and not crowds.is_crowd(obj) and obj.parent is None)


def _stands(obj: bpy.types.Object, box: Box, reach: Box, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether a box reaches from below to above the step height, where walkers meet colliders."""
    low, high = np.maximum(box[0], reach[0]), np.minimum(box[1], reach[1])
    step, ground = obj.steer.motion.step_height, ground_object(obj)
    floor: float | None = float(extents.start_box(obj)[0, 2])
    if ground is not None and ground.type == "MESH":
        x, y = ((low + high) / 2.0)[:2]
        start = (float(x), float(y), float(box[1, 2]))
        floor = _below(ground.evaluated_get(depsgraph), start)
    return floor is not None and bool(box[0, 2] <= floor + step < box[1, 2])


def _below(ground: bpy.types.Object, point: tuple[float, float, float]) -> float | None:
    """Height of a ground under a point in world space; None if there is none."""
    to_local = ground.matrix_world.inverted_safe()
    start = to_local @ Vector(point)
    down = to_local.to_3x3() @ Vector((0.0, 0.0, -1.0))
    hit, place, _, _ = ground.ray_cast(start, down)
    return float((ground.matrix_world @ place).z) if hit else None
