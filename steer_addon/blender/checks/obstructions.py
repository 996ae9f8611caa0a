"""Meshes in the way of a crowd that are none of its colliders: agents walk through them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SteerError
from ...core.sensing.declare import COLLIDERS
from ..characters import copies, sources
from ..characters.heroes.hero import MARK
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
    known, carried = _known(obj, scene), _carried(obj, scene)
    others = [
        other
        for other in scene.objects
        if other.type == "MESH"
        and MARK not in other
        and other.session_uid not in known
        and _is_solid(other, depsgraph.view_layer)
        and carried.isdisjoint(parent.session_uid for parent in copies.parents_of(other))
    ]
    if not others:
        return []
    boxes, ways = extents.object_boxes(others), extents.ways(obj)
    rows = np.flatnonzero(_are_met(boxes, ways))
    rows = rows[_stand(obj, boxes[rows], ways, depsgraph)]
    solid = extents.object_boxes(collider_objects(obj))
    return [others[row] for row in rows[~_have_stand_ins(boxes[rows], solid)]]


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


def _are_met(boxes: Box, ways: Box) -> Any:
    """Whether agents come by each of some boxes, on their ways from the first box to the others."""
    met = np.zeros(len(boxes), np.bool_)
    for goal in ways:
        met |= extents.on_way(boxes, ways[0], goal) | extents.overlap(boxes, goal)
    # a sky, or the terrain that the crowd stands on
    return met & ~extents.holds(boxes, extents.box_of(ways))


def _have_stand_ins(boxes: Box, solid: Box) -> Any:
    """Whether a collider stands for what is in each box: water in a basin, a plan of a hedge."""
    middle = np.repeat(boxes.mean(axis=1, keepdims=True), 2, axis=1)
    size, solid_size = (np.prod(np.ptp(b[:, :, :2], axis=1), axis=1) for b in (boxes, solid))
    stands = extents.holds(solid, middle[:, None]) & (solid_size <= 3.0 * size[:, None])
    return stands.any(axis=1)


def _known(obj: bpy.types.Object, scene: bpy.types.Scene) -> set[int]:
    """Session uids of what a crowd reads or shows, and of keyframe copies, which are agents."""
    parts = [*input_objects(obj), *_shown(obj)]
    for crowd in crowds.crowds(scene):
        bake = crowd.steer.bake_collection
        parts += bake.all_objects if bake is not None else ()
    return {part.session_uid for part in parts}


def _carried(obj: bpy.types.Object, scene: bpy.types.Scene) -> set[int]:
    """Session uids of objects whose children go with them: a flag at a target, a body of a rig."""
    targets = [part for crowd in crowds.crowds(scene) for part in extents.target_parts(crowd)]
    # the rigs of characters stand in the file to be sampled
    return {part.session_uid for part in [*targets, *_shown(obj), *sources.rigs_of_file()]}


def _shown(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects that a crowd shows its agents as."""
    with suppress(SteerError):
        # the Display panel reports errors of the modifier
        modifier = display.require_modifier(obj)
        one = display.get_input(modifier, "Object")
        found = members(display.get_input(modifier, "Collection"), obj)
        return found if one is None else [one, *found]
    return []


def _is_solid(obj: bpy.types.Object, layer: bpy.types.ViewLayer | None) -> bool:
    """Whether a mesh is seen as one that people go around."""
    is_shown = (
        obj.visible_get(view_layer=layer)
        and not obj.hide_render
        and obj.display_type in ("SOLID", "TEXTURED")
    )
    return bool(is_shown and obj.data.polygons and not crowds.is_crowd(obj))


def _stand(
    obj: bpy.types.Object, boxes: Box, ways: Box, depsgraph: bpy.types.Depsgraph
) -> NDArray[np.bool_]:
    """Whether boxes reach from below to above the step height, where walkers meet colliders."""
    ground, reach = ground_object(obj), extents.box_of(ways)
    floor: Any = np.full(len(boxes), ways[0, 0, 2])
    if ground is not None and ground.type == "MESH":
        middle = np.clip(boxes, reach[0], reach[1]).mean(axis=1)
        starts = np.column_stack([middle[:, :2], boxes[:, 1, 2]])
        floor = _below(ground.evaluated_get(depsgraph), starts)
    knee = floor + obj.steer.motion.step_height
    found: NDArray[np.bool_] = (boxes[:, 0, 2] <= knee) & (knee < boxes[:, 1, 2])
    return found


def _below(ground: bpy.types.Object, points: Any) -> Any:
    """Heights of a ground under points in world space, shape (n,); not a number beside it."""
    place = ground.matrix_world
    to_local = place.inverted_safe()
    down = to_local.to_3x3() @ Vector((0.0, 0.0, -1.0))
    hits = (ground.ray_cast(to_local @ Vector(point), down) for point in points.tolist())
    return np.array([(place @ hit[1]).z if hit[0] else np.nan for hit in hits], np.float64)
