"""Geometry of evaluated objects as arrays in world space, read again only when it changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SceneError, WorldError
from ...core.geometry.edge_walls import wall_triangles
from ...core.geometry.meshes import Mesh, defects

FloatArray = NDArray[np.float32]
Matrix = NDArray[np.float64]

MESH_TYPES = ("MESH", "CURVE", "SURFACE", "FONT")
"""Types of objects with a surface for agents."""

CHECKED_TRIANGLES = 100_000
"""Larger meshes are not searched for defects, which would delay the first frame by seconds."""

_SIMULATED = {"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT", "PARTICLE_SYSTEM", "COLLISION"}


def matrix_of(obj: bpy.types.Object) -> Matrix:
    """World matrix of an object, shape (4, 4)."""
    return np.array(obj.matrix_world, np.float64)


def transform(points: Any, matrix: Matrix) -> FloatArray:
    """Points in world space; in double precision, so that far origins cost no digits."""
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.asarray(points, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        return np.ascontiguousarray(moved, np.float32)


def positions(mesh: bpy.types.Mesh | None) -> FloatArray:
    """Vertices in object space [m], shape (vertex_count, 3)."""
    points = np.empty((0 if mesh is None else len(mesh.vertices), 3), np.float32)
    if mesh is not None and len(points):
        # thirty times faster than mesh.vertices.foreach_get
        mesh.attributes["position"].data.foreach_get("vector", points.ravel())
    return points


def corners(mesh: bpy.types.Mesh | None) -> NDArray[np.int32]:
    """Vertices of the triangles of all faces, shape (triangle_count, 3)."""
    if mesh is None:
        return np.empty((0, 3), np.int32)
    mesh.calc_loop_triangles()
    found = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.loop_triangles.foreach_get("vertices", found.ravel())
    return found


def face_corners(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """Vertices at the corners of all faces, one face after another, shape (corner_count,)."""
    found = np.empty(len(mesh.loops), np.int32)
    if len(found):
        mesh.attributes[".corner_vert"].data.foreach_get("value", found)
    return found


def edges_of(mesh: bpy.types.Mesh | None) -> NDArray[np.int32]:
    """Vertices at both ends of every edge, shape (edge_count, 2)."""
    found = np.empty((0 if mesh is None else len(mesh.edges), 2), np.int32)
    if mesh is not None and len(found):
        mesh.attributes[".edge_verts"].data.foreach_get("value", found.ravel())
    return found


def loose_edges(mesh: bpy.types.Mesh) -> NDArray[np.int32]:
    """The edges that are part of no face, shape (edge_count, 2)."""
    edges = edges_of(mesh)
    if not len(edges) or not len(mesh.loops):
        return edges
    used = np.empty(len(mesh.loops), np.int32)
    mesh.attributes[".corner_edge"].data.foreach_get("value", used)
    loose = np.ones(len(edges), bool)
    loose[used] = False
    found: NDArray[np.int32] = edges[loose]
    return found


def triangles_of(points: FloatArray, order: NDArray[np.int32], matrix: Matrix) -> FloatArray:
    """Triangles in world space that face as in the object's space, shape (triangle_count, 3, 3)."""
    if np.linalg.det(matrix[:3, :3]) < 0.0:
        # a mirrored object would turn its faces inside out
        order = order[:, ::-1]
    return transform(points, matrix)[order]


@contextmanager
def own_mesh(mesh: bpy.types.Mesh) -> Iterator[bpy.types.Mesh]:
    """An original mesh as it can be read, in Edit Mode with what was edited by then.

    In Edit Mode Blender gives no access to its arrays: a copy stands for it.
    """
    if not mesh.is_editmode:
        yield mesh
        return
    edited = bpy.data.meshes.new("Steer Scratch")
    try:
        bmesh.from_edit_mesh(mesh).to_mesh(edited)
        yield edited
    finally:
        bpy.data.meshes.remove(edited)


@contextmanager
def mesh_of(evaluated: bpy.types.Object) -> Iterator[bpy.types.Mesh | None]:
    """The evaluated mesh of an object; curves, surfaces, texts and edited meshes are converted.

    None for an object without geometry, such as a curve without splines.
    """
    if evaluated.type == "MESH" and not evaluated.original.data.is_editmode:
        yield evaluated.data
        return
    if evaluated.type not in MESH_TYPES:
        yield None
        return
    try:
        yield evaluated.to_mesh()
    finally:
        evaluated.to_mesh_clear()


def may_bend(obj: bpy.types.Object) -> bool:
    """Whether the points of an object may move from frame to frame without an edit."""
    data = obj.data
    return bool(
        obj.modifiers
        or getattr(data, "shape_keys", None) is not None
        or getattr(data, "animation_data", None) is not None
    )


def may_deform(obj: bpy.types.Object) -> bool:
    """Whether the shape of an object may differ from frame to frame without an edit."""
    is_curve = obj.type in ("CURVE", "FONT", "SURFACE")
    names = ("bevel_object", "taper_object", "follow_curve") if is_curve else ()
    return may_bend(obj) or any(getattr(obj.data, name, None) is not None for name in names)


def may_move(obj: bpy.types.Object) -> bool:
    """Whether an object may differ from frame to frame; when in doubt, yes."""
    if obj.animation_data is not None or obj.constraints or obj.rigid_body is not None:
        return True
    if may_deform(obj) or obj.parent_type in ("BONE", "VERTEX", "VERTEX_3"):
        return True
    source = obj.instance_collection
    if source is not None and any(may_move(part) for part in source.all_objects):
        return True
    return obj.parent is not None and may_move(obj.parent)


def is_simulated(obj: bpy.types.Object) -> bool:
    """Whether physics of its own scene move an object, so that no other scene can stand in."""
    if obj.rigid_body is not None or any(m.type in _SIMULATED for m in obj.modifiers):
        return True
    return obj.parent is not None and is_simulated(obj.parent)


def same_arrays(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Whether arrays, or plain values, equal as many others one by one."""
    return all(np.array_equal(one, other) for one, other in zip(some, others, strict=True))


class _Form(NamedTuple):
    """The points of a mesh, those at the corners of its faces, its numbers of edges and faces."""

    points: FloatArray
    corners: NDArray[np.int32]
    counts: tuple[int, int]


def _form(mesh: bpy.types.Mesh) -> _Form:
    counts = (len(mesh.edges), len(mesh.polygons))
    return _Form(positions(mesh), face_corners(mesh), counts)


@dataclass
class _Entry:
    """The mesh that was read from one object."""

    source: int
    key: bytes
    form: _Form
    mesh: Mesh


@dataclass
class MeshReader:
    """Reads meshes, and returns the same instance while nothing changes."""

    entries: dict[str, _Entry] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=dict)
    """Number of times that the triangles of each mesh were read, by name."""
    warnings: dict[str, list[Diagnosis]] = field(default_factory=dict)
    """Faults of each mesh, by name."""
    _dirty: set[str] = field(default_factory=set)
    _asked: set[str] = field(default_factory=set)

    def forget(self, uids: set[int]) -> None:
        """Read objects again even if they seem unchanged, by their session uids."""
        self._dirty |= {name for name, entry in self.entries.items() if entry.source in uids}

    def read(
        self,
        name: str,
        source: bpy.types.Object,
        evaluated: bpy.types.Object,
        matrix: Matrix,
        *,
        top: str = "",
        solid: bool = True,
        wall_height: float = 0.0,
    ) -> Mesh | None:
        """The triangles of an object in world space; None if it cannot be used.

        Args:
            name: Unique name of the piece, used in messages.
            source: The original object.
            evaluated: The same object as the depsgraph evaluates it.
            matrix: Its world matrix, shape (4, 4).
            top: Name of the object in the scene that instances it; empty for the source.
            solid: Whether it is a collider or an exit: grounds and areas may be open.
            wall_height: Height [m] of the walls on loose edges; 0 for no walls.
        """
        self._asked.add(name)
        old = self.entries.get(name)
        key = matrix.tobytes() + np.float64(wall_height).tobytes()
        known = old if old is not None and old.key == key and name not in self._dirty else None
        if known is not None and not may_deform(source):
            return known.mesh
        with mesh_of(evaluated) as mesh:
            if mesh is None:
                return None
            form = _form(mesh)
            if known is not None and same_arrays(form, known.form):
                return known.mesh
            order = corners(mesh)
            lines = loose_edges(mesh) if wall_height > 0.0 else np.zeros((0, 2), np.int32)
        edited = name in self._dirty
        self._dirty.discard(name)
        self.reads[name] = self.reads.get(name, 0) + 1
        faces = triangles_of(form.points, order, matrix)
        walls = wall_triangles(transform(form.points, matrix), lines, wall_height)
        try:
            result = Mesh(name, np.concatenate([faces, walls]), may_move(source))
        except WorldError as error:
            self.entries.pop(name, None)
            ignored = diagnose("MESH_IGNORED", name, reason=str(error))
            self.warnings[name] = [ignored.having(object=top or source.name)]
            return None
        count = result.triangle_count
        # to search a mesh that moves again in each frame would take too long
        if edited or name not in self.warnings or old is None or old.mesh.triangle_count != count:
            found = _complaints(Mesh(name, faces), solid, has_walls=len(walls) > 0)
            self.warnings[name] = [one.having(object=top or source.name) for one in found]
        self.entries[name] = _Entry(source.session_uid, key, form, result)
        return result

    def end_frame(self) -> list[Diagnosis]:
        """Drop meshes that were not read since the last call; returns all warnings."""
        for known in (self.entries, self.warnings):
            for name in [n for n in known if n not in self._asked]:
                del known[name]
        self._dirty &= self._asked
        self._asked = set()
        return [one for found in self.warnings.values() for one in found]


def _complaints(mesh: Mesh, solid: bool, has_walls: bool) -> list[Diagnosis]:
    # walls on its edges are enough for a collider without faces
    usable = has_walls and not mesh.triangle_count
    if not solid or usable or mesh.triangle_count > CHECKED_TRIANGLES:
        return []
    return defects(mesh)


def walkable_triangles(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> FloatArray:
    """Triangles of a mesh object as it is evaluated.

    Returns:
        Corners [m] in world space, shape (triangle_count, 3, 3).

    Raises:
        SceneError: It has no faces.
    """
    evaluated = obj.evaluated_get(depsgraph)
    with mesh_of(evaluated) as mesh:
        order = corners(mesh)
        if not len(order):
            raise SceneError(
                f"{obj.name!r} has no faces to stand on: choose a mesh with faces, or use a grid"
            )
        points = positions(mesh)
    return triangles_of(points, order, matrix_of(evaluated))
