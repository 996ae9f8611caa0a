"""Levels of detail: the same poses with fewer faces, for agents that are small in the picture.

Each is a hidden object like that of the character itself, which the character's modifier refers to.
Its faces are decimated; each of its vertices keeps its place on a triangle of the whole body.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ...core.characters.memory import LEVEL_SHARE
from ...core.characters.pose_space import PoseSpace
from ..display import display
from ..display.appended import unseen
from ..suspension import suspended
from . import library, library_group, optional_parts, pose_points

MOST = len(library_group.LEVELS)
_WELDED = 1.0e-5
"""Share of the size of a mesh: vertices that are as near to one another are one."""
_KEY = unseen("steer_level")
"""Custom property of the objects: they belong to a character."""


def decimated(mesh: bpy.types.Mesh, levels: int, scene: bpy.types.Scene) -> list[bpy.types.Mesh]:
    """Meshes of fewer and fewer faces.

    Args:
        mesh: The whole body, which has not got its poses yet.
        levels: How many meshes, 0 to `MOST`.
        scene: A scene that is thrown away, in which objects are evaluated.
    """
    return [thinned(mesh, LEVEL_SHARE**level, scene) for level in range(1, levels + 1)]


def thinned(mesh: bpy.types.Mesh, share: float, scene: bpy.types.Scene) -> bpy.types.Mesh:
    """A copy of a mesh with a share of its faces, see `thin` and `decimated`."""
    with suspended():
        obj = bpy.data.objects.new(mesh.name, mesh)
        scene.collection.objects.link(obj)
        try:
            thin(obj, share)
            scene.view_layers[0].update()
            depsgraph = scene.view_layers[0].depsgraph
            return bpy.data.meshes.new_from_object(
                obj.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph
            )
        finally:
            bpy.data.objects.remove(obj)


def thin(obj: bpy.types.Object, share: float) -> None:
    """Let modifiers, before all others, leave an object with a share of its faces.

    Imported meshes have several vertices at one place, where UVs or normals are split: faces that
    only seem to be connected would shrink away from one another.
    """
    size = max(max(corner) - min(corner) for corner in zip(*obj.bound_box, strict=True))
    kinds: dict[str, dict[str, Any]] = {
        "WELD": {"merge_threshold": _WELDED * size},
        "DECIMATE": {"ratio": share},
    }
    modifiers: Any = obj.modifiers
    for place, (kind, settings) in enumerate(kinds.items()):
        modifier = modifiers.new(f"Steer {kind.title()}", kind)
        for name, value in settings.items():
            setattr(modifier, name, value)
        modifiers.move(len(modifiers) - 1, place)


def posed(
    mesh: bpy.types.Mesh, levels: list[bpy.types.Mesh], space: PoseSpace
) -> list[tuple[bpy.types.Mesh, PoseSpace]]:
    """The meshes of levels, each with the poses of the whole body.

    Args:
        mesh: The whole body, which has not got its poses yet.
        levels: What `decimated` made of it.
        space: Its poses.
    """
    found = []
    for made in levels:
        triangles, weights = _bind(mesh, made)
        # one pose after another, as the corners of all at once take nine times as much memory
        poses = [np.einsum("vk,vkx->vx", weights, pose[triangles]) for pose in space.positions]
        for name in optional_parts.ATTRIBUTES:
            _copy(mesh, made, name, triangles[:, 0])
        rows = PoseSpace(np.stack(poses).astype(np.float32), space.gaits, space.clips)
        found.append((made, rows))
    return found


def put(obj: bpy.types.Object, made: list[tuple[bpy.types.Mesh, PoseSpace]]) -> None:
    """Give a character its levels, in place of those that it had.

    Args:
        obj: The library object.
        made: What `posed` made.
    """
    modifier: Any = library_group.modifier_of(obj)
    for number, name in enumerate(library_group.LEVELS):
        before = display.get_input(modifier, name)
        display.set_input(modifier, name, None)
        if before is not None and _KEY in before and before.users == 0:
            own = library_group.modifier_of(before)
            points = display.get_input(own, library_group.POINTS) if own else None
            mesh = before.data
            bpy.data.objects.remove(before)
            bpy.data.meshes.remove(mesh)
            pose_points.remove(points)
        if number < len(made):
            mesh, space = made[number]
            mesh.name = f"{obj.name} {name}"
            level = bpy.data.objects.new(mesh.name, mesh)
            level[_KEY] = True
            library.fill(level, space)
            display.set_input(modifier, name, level)


def _bind(
    mesh: bpy.types.Mesh, made: bpy.types.Mesh
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """The triangle of a mesh that each vertex of another one lies on, and where on it.

    Returns:
        Numbers of the corners and their weights, both of shape (vertex_count, 3).
    """
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    triangles, points = corners.reshape(-1, 3), pose_points.vectors(mesh.attributes["position"])
    tree: Any = BVHTree.FromPolygons(points.tolist(), triangles.tolist())
    places = pose_points.vectors(made.attributes["position"])
    nearest = np.array([tree.find_nearest(place)[2] for place in places.tolist()], np.intp)
    of = triangles[nearest].astype(np.intp)
    return of, _weights(places.astype(np.float64), points[of].astype(np.float64))


def _weights(places: NDArray[np.float64], corners: NDArray[np.float64]) -> NDArray[np.float32]:
    """Barycentric weights of the places on triangles, not beyond their edges."""
    edges = corners[:, 1:] - corners[:, :1]
    # the least squares of both edges: what is beside the plane does not count
    inverse = np.linalg.pinv(np.swapaxes(edges, 1, 2))
    part = np.einsum("vkx,vx->vk", inverse, places - corners[:, 0])
    weights = np.column_stack([1.0 - part.sum(axis=1), part]).clip(0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)


def _copy(mesh: bpy.types.Mesh, made: bpy.types.Mesh, name: str, of: NDArray[np.intp]) -> None:
    """Give vertices the number of their part again, which decimation may have mixed."""
    source, target = mesh.attributes.get(name), made.attributes.get(name)
    if source is None or target is None:
        return
    dtype = np.int32 if source.data_type == "INT" else np.float32
    values = np.empty(len(source.data), dtype)
    source.data.foreach_get("value", values)
    # chances stand in the first vertices, one for each part
    chosen = values[of] if dtype == np.int32 else np.resize(values, len(of))
    target.data.foreach_set("value", chosen)
