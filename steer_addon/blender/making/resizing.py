"""Another number of agents for a crowd whose points Add > Crowd made."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import bmesh
import bpy
import numpy as np

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SceneError, SteerError, warn
from ..crowd import baked_file, crowds
from ..crowd.properties import settings_of
from ..live.live import is_baked
from ..reading import scene_meshes
from ..reading.scene_agents import needs_evaluation
from ..reading.scene_inputs import collider_objects
from . import distribute, grounds
from .arrangement import LANES, ON_MESH, TERRAIN, Arrangement, Places, arrangement_of

_COLUMNS: dict[str, tuple[str, int, Any]] = {
    "FLOAT": ("value", 1, np.float32),
    "INT": ("value", 1, np.int32),
    "INT8": ("value", 1, np.int8),
    "BOOLEAN": ("value", 1, np.bool_),
    "FLOAT_VECTOR": ("vector", 3, np.float32),
    "QUATERNION": ("value", 4, np.float32),
    "FLOAT_COLOR": ("color", 4, np.float32),
}
"""Property, width and type of point attributes that new points take over from others."""


def why_fixed(obj: bpy.types.Object) -> Diagnosis | None:
    """Why the number of agents of a crowd cannot be changed; quick enough for every redraw."""
    if crowds.why_not_editable(obj) or obj.data.library is not None:
        return diagnose("COUNT_LINKED", obj.name)
    if is_baked(obj):
        others = baked_file.is_others(obj)
        return diagnose("COUNT_OF_OTHERS_BAKE" if others else "COUNT_BAKED", obj.name)
    # in Edit Mode of another object with this mesh too
    if obj.mode != "OBJECT" or obj.data.is_editmode:
        return diagnose("COUNT_IN_EDIT_MODE", obj.name)
    if needs_evaluation(obj):
        return diagnose("COUNT_BY_MODIFIERS", obj.name)
    if not obj.steer.arrangement:
        return diagnose("COUNT_OF_OWN_POINTS", obj.name)
    return None


def resize(obj: bpy.types.Object, count: int) -> None:
    """Give a crowd a number of agents, or as many as have room; logs where it cannot."""
    try:
        _resize(obj, max(count, 1))
    except SteerError as error:
        # Blender lets no setter of a property tell anybody
        warn(__name__, "%s", error)


def _resize(obj: bpy.types.Object, count: int) -> None:
    made = arrangement_of(obj.steer.arrangement)
    if made is None or why_fixed(obj) is not None:
        return
    points = scene_meshes.positions(obj.data)
    if count == len(points):
        return
    is_drawn = made.kind in ON_MESH and count > len(points)
    draw = ground_draw(obj, made, count) if is_drawn else None
    places, kept = made.resized(points, count, draw)
    if made.kind == LANES:
        places = _lifted(obj, places)
    elif made.kind == TERRAIN:
        places = replace(places, headings=_to_target(obj, places.points))
    _write(obj.data, places, kept)
    found = len(places.points)
    if found < count:
        warn(__name__, "Crowd %r: %d of %d agents found room", obj.name, found, count)


def ground_draw(obj: bpy.types.Object, made: Arrangement, count: int) -> distribute.Draw:
    """Draws points on the ground of a crowd, in the crowd object's space.

    Raises:
        SceneError: There is no ground that carries agents, or its scene was never shown.
    """
    ground = obj.steer.ground
    if ground is None:
        return lambda number: np.zeros((0, 3))
    depsgraph = _depsgraph(obj)
    place, seed = scene_meshes.matrix_of(obj), (made.seed, count)
    to_local = np.linalg.inv(place)
    triangles = scene_meshes.walkable_triangles(ground, depsgraph)
    if made.kind == TERRAIN:
        field, reach = grounds.Field(ground, triangles), made.reach(count)
        origin = place[:3, :3] @ made.center + place[:3, 3]
        # in steps, so that places that were found serve for the next number too
        half = 2.0 ** math.ceil(math.log2(max(4.0 * reach, 1.0e-3)))
        blocking = _blocking(obj, depsgraph)
        walkable = grounds.places_on(field, settings_of(obj), origin, half, blocking)
        rows = grounds.rows_around(walkable, walkable.nearest(origin)[0], reach)
        return grounds.draw_from(walkable, rows, seed, to_local)
    return distribute.surface_draw(
        scene_meshes.transform(triangles, to_local), seed, made.max_slope
    )


def _depsgraph(obj: bpy.types.Object) -> bpy.types.Depsgraph:
    """The depsgraph of a scene of a crowd; one that was never shown has none."""
    for scene in obj.users_scene:
        for layer in scene.view_layers:
            if layer.depsgraph is not None:
                return layer.depsgraph
    raise SceneError(
        f"No scene of crowd {obj.name!r} was shown yet: show one, and change the number of agents "
        "then"
    )


def _lifted(obj: bpy.types.Object, places: Places) -> Places:
    """Places at the height of the ground, where this is a mesh that is not level."""
    ground, settings = obj.steer.ground, settings_of(obj)
    if ground is None or ground.type not in scene_meshes.MESH_TYPES:
        return places
    field = grounds.Field(ground, scene_meshes.walkable_triangles(ground, _depsgraph(obj)))
    if field.is_level(settings.motion.step_height):
        return places
    matrix = scene_meshes.matrix_of(obj)
    points = scene_meshes.transform(places.points, matrix)
    low, high = points.min(axis=0), points.max(axis=0)
    walkable = grounds.places_on(field, settings, (low + high) / 2.0, float((high - low).max()))
    points[:, 2] = grounds.heights(walkable, points)
    return replace(places, points=scene_meshes.transform(points, np.linalg.inv(matrix)))


def _to_target(obj: bpy.types.Object, points: Any) -> Any:
    """Headings to the target of a crowd; None without one."""
    target = obj.steer.target_object
    if target is None:
        return None
    to_local = np.linalg.inv(scene_meshes.matrix_of(obj))
    at = scene_meshes.matrix_of(target)[:3, 3]
    return grounds.headings(points, to_local[:3, :3] @ at + to_local[:3, 3])


def _blocking(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Any:
    """Triangles of the colliders of a crowd [m], shape (n, 3, 3)."""
    found: list[Any] = [np.zeros((0, 3, 3))]
    for part in collider_objects(obj):
        if part.type in scene_meshes.MESH_TYPES:
            # walls drawn as edges have no faces
            with suppress(SceneError):
                found.append(scene_meshes.walkable_triangles(part, depsgraph))
    return np.concatenate(found)


def _write(mesh: bpy.types.Mesh, places: Places, kept: int) -> None:
    """Give a mesh the places as its vertices, of which the first ones stay as they are."""
    count, stood = len(places.points), len(mesh.vertices)
    if count < stood:
        _drop(mesh, count)
    elif count > stood:
        mesh.vertices.add(count - stood)
    for attribute in mesh.attributes:
        if attribute.domain == "POINT" and attribute.data_type in _COLUMNS:
            rows = _rows(attribute, count)
            _fill(attribute.name, rows, places, min(kept, stood), min(stood, count))
            attribute.data.foreach_set(_COLUMNS[attribute.data_type][0], rows.ravel())
    mesh.update()


def _rows(attribute: Any, count: int) -> Any:
    prop, width, kind = _COLUMNS[attribute.data_type]
    rows = np.empty((count, width), kind)
    attribute.data.foreach_get(prop, rows.ravel())
    return rows


def _fill(name: str, rows: Any, places: Places, kept: int, stood: int) -> None:
    """Write the values of the points from a number on; others take those of earlier points."""
    if name == "position":
        rows[kept:] = places.points[kept:]
    elif name == "heading" and places.headings is not None:
        rows[kept:] = np.broadcast_to(places.headings, places.points.shape)[kept:]
    elif name in places.attributes:
        rows[kept:, 0] = places.attributes[name][kept:]
    elif name == "id":
        rows[stood:, 0] = rows[:stood].max(initial=-1) + 1 + np.arange(len(rows) - stood)
    elif stood:
        rows[stood:] = rows[np.arange(len(rows) - stood) % stood]


def _drop(mesh: bpy.types.Mesh, count: int) -> None:
    """Remove the vertices from a number on, with the faces and edges at them."""
    shape = bmesh.new()
    shape.from_mesh(mesh)
    shape.verts.ensure_lookup_table()
    bmesh.ops.delete(shape, geom=shape.verts[count:], context="VERTS")
    shape.to_mesh(mesh)
    shape.free()
