"""The poses of a character as the vertices of one mesh, pose after pose.

The mesh belongs to an object that is in no collection; the modifiers of all library objects with
these poses refer to it. An attribute of the body for each pose would do as well, but Blender copies
meshes of a thousand attributes, and looks through their names, with every node.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.characters.pose_space import F32
from ..display.appended import unseen

_KEY = unseen("steer_pose_points")
"""Custom property of the objects: they belong to a character."""
_FORMER = "pose_"
"""Begin of names of attributes, one for each pose, of characters of before version 6."""


def ensure(name: str, positions: F32) -> bpy.types.Object:
    """An object with the vertices of all poses, made where this file has none with just these.

    People in clothes of other colors have the same poses, which take most of a file.

    Args:
        name: Name of the character; the dot before it leaves the object out of lists.
        positions: Its vertices in all poses [m], shape (pose_count, vertex_count, 3).
    """
    points = np.reshape(np.asarray(positions, np.float32), (-1, 3))
    for obj in bpy.data.objects:
        if _KEY in obj and obj.library is None and _has(obj, points):
            return obj
    mesh = bpy.data.meshes.new(f".{name} Poses")
    mesh.vertices.add(len(points))
    mesh.attributes["position"].data.foreach_set("vector", points.ravel())
    # a byte more for each vertex
    remove_attributes(mesh, ".select_")
    obj = bpy.data.objects.new(mesh.name, mesh)
    obj[_KEY] = True
    # Append puts all objects that are in no collection into the scene
    obj.hide_viewport = obj.hide_render = True
    return obj


def read(mesh: bpy.types.Mesh, points: bpy.types.Object | None) -> F32 | None:
    """All poses of a body, or None where they do not fit it.

    Args:
        mesh: The body.
        points: What `ensure` made; None for characters of before.

    Returns:
        Places of its vertices [m], shape (pose_count, vertex_count, 3).
    """
    count, former = len(mesh.vertices), _former(mesh)
    if points is not None and isinstance(points.data, bpy.types.Mesh):
        found = vectors(points.data.attributes["position"])
    else:
        found = np.concatenate([np.empty((0, 3), np.float32), *map(vectors, former)])
    if not count or not len(found) or len(found) % count:
        return None
    return found.reshape(-1, count, 3)


def clear(mesh: Any) -> None:
    """Remove the attributes of a body of before, unless it comes from another file."""
    if mesh.library is None:
        remove_attributes(mesh, _FORMER)


def remove_attributes(mesh: Any, *begins: str) -> None:
    """Remove the attributes of a mesh whose names begin with one of some texts."""
    for name in [a.name for a in mesh.attributes if a.name.startswith(begins)]:
        mesh.attributes.remove(mesh.attributes[name])


def remove(obj: bpy.types.Object | None) -> None:
    """Remove an object that `ensure` made, unless something else uses it."""
    if obj is not None and _KEY in obj and obj.users == 0:
        mesh: Any = obj.data
        bpy.data.objects.remove(obj)
        if mesh is not None and mesh.users == 0:
            bpy.data.meshes.remove(mesh)


def _has(obj: bpy.types.Object, points: F32) -> bool:
    mesh: Any = obj.data
    if mesh is None or len(mesh.vertices) != len(points):
        return False
    return np.array_equal(vectors(mesh.attributes["position"]), points)


def _former(mesh: bpy.types.Mesh) -> list[Any]:
    found = [a for a in mesh.attributes if a.name.startswith(_FORMER)]
    return sorted(found, key=lambda attribute: attribute.name)


def vectors(attribute: Any) -> F32:
    """The vectors of an attribute, shape (n, 3)."""
    found = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", found)
    return found.reshape(-1, 3)
