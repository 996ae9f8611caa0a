"""Levels of detail: the same poses with fewer faces, for agents that are small in the picture.

Each is a hidden object like that of the character itself, which the character's modifier refers to.
Its faces are decimated; each of its vertices keeps its place on a triangle of the whole body.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

from ...core.characters.memory import LEVEL_SHARE
from ...core.characters.pose_space import F32, PoseSpace
from ..display import display
from ..display.appended import unseen
from ..suspension import suspended
from . import library, library_group, optional_parts, pose_points
from .copies import thinned

MOST = len(library_group.LEVELS)
_PART, _FAR = "steer_part", 0.02
"""Attribute with the number of the object that a vertex is of, and the share of the size of a mesh
by which the nearest triangle of that object is farther away at most."""
_WIDTHS, _LOOKS = 8, 8
"""To find a wide pose, each eighth one is looked at; to find covered faces, eight poses in all."""
_COVER, _INWARD, _LIFT = 0.03, 0.1, 0.01
"""How far above a face others cover it, as a share of the size of the body; and how far inside of
its corners, and above it, that is looked for."""
_ALONG = 0.1
"""Cosine between the normal of a face and that of a corner from which the face is shaded flat."""
_KEY = unseen("steer_level")
"""Custom property of the objects: they belong to a character."""


def decimated(
    mesh: bpy.types.Mesh,
    points: F32,
    parts: NDArray[np.int32],
    levels: int,
    scene: bpy.types.Scene,
    poses: Sequence[F32] = (),
) -> list[bpy.types.Mesh]:
    """Meshes of fewer and fewer faces.

    Args:
        mesh: The whole body, which has not got its poses yet.
        points: Its vertices in a pose in which limbs are apart [m], shape (vertex_count, 3).
        parts: Number of the object that each vertex is of, shape (vertex_count,).
        levels: How many meshes, 0 to `MOST`.
        scene: A scene that is thrown away, in which objects are evaluated.
        poses: Faces that others cover in all of these are left out, so that the skin of a head
            never shows through thinned hair.
    """
    mesh.attributes["position"].data.foreach_set("vector", points.ravel())
    mesh.attributes.new(_PART, "INT", "POINT").data.foreach_set("value", parts)
    mesh.update()
    outer = _outer(mesh, poses)
    more = len(mesh.polygons) / len(outer.polygons)
    try:
        made = [thinned(outer, more * LEVEL_SHARE**level, scene) for level in range(1, levels + 1)]
    finally:
        bpy.data.meshes.remove(outer)
    for one in made:
        _flatten(one)
    return made


def _flatten(mesh: bpy.types.Mesh) -> None:
    """Shade faces flat where a blended normal points elsewhere, as at fins without thickness."""
    sizes = [face.loop_total for face in mesh.polygons]
    own = np.repeat([tuple(normal.vector) for normal in mesh.polygon_normals], sizes, axis=0)
    corners = np.array([tuple(normal.vector) for normal in mesh.corner_normals])
    along = np.einsum("kx,kx->k", corners, own)
    starts = np.cumsum([0, *sizes[:-1]])
    flat = np.minimum.reduceat(along, starts) < _ALONG
    edges = [loop.edge_index for loop in mesh.loops]
    for number in np.flatnonzero(flat).tolist():
        face = mesh.polygons[number]
        face.use_smooth = False
        for loop in face.loop_indices:
            # Cycles shades across the border of a flat face unless its edges are sharp themselves
            mesh.edges[edges[loop]].use_edge_sharp = True


def _outer(mesh: bpy.types.Mesh, poses: Sequence[F32]) -> bpy.types.Mesh:
    """A copy of a mesh without the faces that others cover in all of some poses."""
    made = mesh.copy()
    if not poses:
        return made
    faces = [tuple(face.vertices) for face in mesh.polygons]
    covered = np.ones(len(faces), np.bool_)
    for pose in poses:
        tree: Any = BVHTree.FromPolygons(pose.tolist(), faces)
        reach = _COVER * float(np.ptp(pose, axis=0).max())
        for number in np.flatnonzero(covered).tolist():
            covered[number] = _is_covered(tree, pose[list(faces[number])], reach)
    whole = bmesh.new()
    whole.from_mesh(made)
    whole.faces.ensure_lookup_table()
    unseen_faces = [whole.faces[number] for number in np.flatnonzero(covered).tolist()]
    bmesh.ops.delete(whole, geom=unseen_faces, context="FACES")
    whole.to_mesh(made)
    whole.free()
    return made


def _is_covered(tree: Any, corners: F32, reach: float) -> bool:
    """Whether the backs of other faces are close above all corners of a face."""
    normal = Vector(np.cross(corners[1] - corners[0], corners[-1] - corners[0])).normalized()
    middle = corners.mean(axis=0)
    for corner in (middle, *corners):
        start = Vector(corner + _INWARD * (middle - corner)) + _LIFT * reach * normal
        _, found, _, _ = tree.ray_cast(start, normal, reach)
        if found is None or found.dot(normal) < 0.0:
            return False
    return True


def posed(
    mesh: bpy.types.Mesh, levels: list[bpy.types.Mesh], space: PoseSpace
) -> Iterator[tuple[bpy.types.Mesh, PoseSpace]]:
    """The meshes of levels one by one, each with the poses of the whole body.

    Args:
        mesh: The whole body, which has not got its poses yet.
        levels: What `decimated` made of it.
        space: Its poses.
    """
    for made in levels:
        triangles, weights = _bind(mesh, made)
        # one pose after another, as the corners of all at once take nine times as much memory
        poses = [np.einsum("vk,vkx->vx", weights, pose[triangles]) for pose in space.positions]
        for name in optional_parts.ATTRIBUTES:
            _copy(mesh, made, name, triangles[:, 0])
        made.attributes.remove(made.attributes[_PART])
        yield made, PoseSpace(np.stack(poses).astype(np.float32), space.gaits, space.clips)
    if _PART in mesh.attributes:
        mesh.attributes.remove(mesh.attributes[_PART])


def lacks(obj: bpy.types.Object) -> bool:
    """Whether a character has none of its levels."""
    modifier = library_group.modifier_of(obj)
    if modifier is None:
        return False
    names = display.input_names(modifier).intersection(library_group.LEVELS)
    return not any(display.get_input(modifier, name) for name in names)


def adding(found: Sequence[bpy.types.Object]) -> Generator[float, None, None]:
    """Give characters all levels, of the poses that they have.

    Nothing is left of what is closed before its end.

    Args:
        found: The library objects.

    Yields:
        The share of the work that is done, 0 to 1.

    Raises:
        CharacterError: One has lost its poses, or comes from another file.
    """
    for obj in found:
        library.check_local(obj)
    meshes: list[bpy.types.Mesh] = []
    made: list[list[tuple[bpy.types.Mesh, PoseSpace]]] = []
    try:
        for number, obj in enumerate(found):
            made.append([])
            for share in _making(obj, meshes, made[-1]):
                yield (number + share) / len(found)
    except BaseException:
        for mesh in meshes:
            bpy.data.meshes.remove(mesh)
        raise
    for obj, levels in zip(found, made, strict=True):
        put(obj, levels)


def _making(
    obj: bpy.types.Object,
    meshes: list[bpy.types.Mesh],
    made: list[tuple[bpy.types.Mesh, PoseSpace]],
) -> Generator[float, None, None]:
    """Make all levels of a character, and note their meshes as soon as they are there."""
    yield 0.0
    space = PoseSpace(library.positions_of(obj), *library.rows_of(obj))
    yield 0.2
    # limbs are farthest from one another where a body is widest
    some = space.positions[::_WIDTHS, :, :2]
    widest = _WIDTHS * int(some.std(axis=1).sum(axis=1).argmax())
    mesh: Any = obj.data
    body: bpy.types.Mesh = mesh.copy()
    try:
        one = np.zeros(len(body.vertices), np.int32)
        with suspended():
            scene = bpy.data.scenes.new("Steer Levels")
            try:
                looks = list(space.positions[:: -(-space.pose_count // _LOOKS)])
                coarser = decimated(body, space.positions[widest], one, MOST, scene, looks)
            finally:
                bpy.data.scenes.remove(scene)
        meshes += coarser
        for number, level in enumerate(posed(body, coarser, space)):
            made.append(level)
            yield 0.6 + 0.2 * number
    finally:
        bpy.data.meshes.remove(body)


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
    places = pose_points.vectors(made.attributes["position"])
    nearest, away = _nearest(points, triangles, places)
    parts, own = _numbers(mesh, _PART)[triangles[:, 0]], _numbers(made, _PART)
    far = _FAR * float(np.ptp(points, axis=0).max())
    for part in np.unique(parts):
        mine, among = np.flatnonzero(parts == part), np.flatnonzero(own == part)
        found, beside = _nearest(points, triangles[mine], places[among])
        # vertices at one place are one now, whatever part they were of
        fit = beside < np.maximum(away[among], far)
        nearest[among[fit]] = mine[found[fit]]
    of = triangles[nearest].astype(np.intp)
    return of, _weights(places.astype(np.float64), points[of].astype(np.float64))


def _nearest(
    points: F32, triangles: NDArray[np.int32], places: F32
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Numbers of the triangles that are nearest to places, and how far away they are."""
    tree: Any = BVHTree.FromPolygons(points.tolist(), triangles.tolist())
    found = [tree.find_nearest(place)[2:] for place in places.tolist()]
    numbers, away = np.array(found).reshape(-1, 2).T
    return numbers.astype(np.intp), away


def _numbers(mesh: bpy.types.Mesh, name: str) -> NDArray[np.int32]:
    attribute: Any = mesh.attributes[name]
    values = np.empty(len(attribute.data), np.int32)
    attribute.data.foreach_get("value", values)
    return values


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
