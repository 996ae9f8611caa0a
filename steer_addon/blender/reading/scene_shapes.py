"""Shapes of sources: lines, vector fields and containers, from arrays to core's types.

Each kind is read in two steps, so that unchanged data is not computed again: `Raw` arrays in the
object's own space, and from them and the object's matrix the value for core.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.diagnoses import Diagnosis, diagnose
from ...core.geometry.chains import chains
from ...core.geometry.meshes import Mesh, is_closed
from ...core.inputs.containers import Container, make_container
from ...core.inputs.fields import Field, field_of_curves, make_field
from ...core.inputs.paths import Path
from .scene_meshes import (
    FloatArray,
    Matrix,
    corners,
    edges_of,
    face_corners,
    mesh_of,
    positions,
    transform,
    triangles_of,
)

Raw = tuple[NDArray[Any], ...]
"""Arrays that describe a shape in its object's own space."""


def read_lines(evaluated: bpy.types.Object) -> Raw:
    """The points and edges of an object, and the first points of its shuttles.

    The points of a curve are the evaluated ones. A shuttle is a cyclic spline of two points: its
    edges are those of an open one.
    """
    with mesh_of(evaluated) as mesh:
        points, edges = positions(mesh), edges_of(mesh)
    return points, edges, _shuttles(len(points), edges, _cyclic_splines(evaluated))


def _cyclic_splines(evaluated: bpy.types.Object) -> NDArray[np.bool_]:
    """Whether each spline of an evaluated object is cyclic; none of an object without splines."""
    if evaluated.type != "CURVE" or not hasattr(evaluated.data, "splines"):
        return np.zeros(0, bool)
    # from Blender 5.0 on modifiers count, which can change the splines
    if evaluated.modifiers and hasattr(evaluated, "evaluated_geometry"):
        # a reference has to stay: the curves are freed with it
        geometry = evaluated.evaluated_geometry()
        curves = geometry.curves
        if curves is None:
            return np.zeros(0, bool)
        cyclic = np.zeros(len(curves.curves), bool)
        attribute = curves.attributes.get("cyclic")
        if attribute is not None:
            attribute.data.foreach_get("value", cyclic)
        return cyclic
    return np.array([spline.use_cyclic_u for spline in evaluated.data.splines], bool)


def _shuttles(count: int, edges: NDArray[np.int32], cyclic: NDArray[np.bool_]) -> NDArray[np.int64]:
    """First points of cyclic splines of two points: points stand spline after spline."""
    if not cyclic.any():
        return np.zeros(0, np.int64)
    goes_on = np.zeros(count + 1, bool)
    low, high = edges.min(axis=1), edges.max(axis=1)
    goes_on[high[high - low == 1]] = True
    borders = np.flatnonzero(~goes_on)
    # one more border than splines, or the points belong to other splines
    if len(borders) != len(cyclic) + 1:
        return np.zeros(0, np.int64)
    firsts: NDArray[np.int64] = borders[:-1][cyclic & (np.diff(borders) == 2)]
    return firsts


def has_surface(evaluated: bpy.types.Object) -> bool:
    """Whether a curve is shown as more than a line."""
    with mesh_of(evaluated) as mesh:
        return mesh is not None and len(mesh.polygons) > 0


def _lines(raw: Raw, matrix: Matrix) -> list[tuple[FloatArray, bool]]:
    points = transform(raw[0], matrix)
    shuttles = set(raw[2].tolist())
    return [
        (points[line], closed or (len(line) == 2 and int(line[0]) in shuttles))
        for line, closed in chains(raw[1])
    ]


def make_paths(
    source: bpy.types.Object, raw: Raw, matrix: Matrix, what: str
) -> tuple[list[Path], list[Diagnosis]]:
    """The paths of an object, named after it, and their faults.

    Raises:
        WorldError: A point is not finite.
    """
    lines, name = _lines(raw, matrix), source.name
    names = [name] if len(lines) == 1 else [f"{name} {k + 1}" for k in range(len(lines))]
    found = [
        Path(points, cyclic=closed, name=label)
        for label, (points, closed) in zip(names, lines, strict=True)
    ]
    return found, [] if found else [diagnose("PATH_WITHOUT_EDGES", name)]


@dataclass(frozen=True)
class NoVectors:
    """The reason why a mesh is no field.

    Attributes:
        code: Code of the diagnosis.
        attribute: Name of the attribute that should hold the vectors.
    """

    code: str
    attribute: str


def read_vectors(evaluated: bpy.types.Object, name: str) -> Raw | NoVectors:
    """Points, their vectors by an attribute, and the triangles of a mesh.

    Vectors on faces and on their corners are averaged around each point.
    """
    with mesh_of(evaluated) as mesh:
        attribute = None if mesh is None else mesh.attributes.get(name)
        if mesh is None or attribute is None:
            return NoVectors("FIELD_WITHOUT_ATTRIBUTE", name)
        if attribute.data_type != "FLOAT_VECTOR" or attribute.domain == "EDGE":
            return NoVectors("FIELD_NO_VECTORS", name)
        values = np.empty((len(attribute.data), 3), np.float32)
        attribute.data.foreach_get("vector", values.ravel())
        if attribute.domain != "POINT":
            values = _on_points(mesh, values, attribute.domain)
        return positions(mesh), values, corners(mesh)


def _on_points(mesh: bpy.types.Mesh, values: FloatArray, domain: str) -> FloatArray:
    """Means around each point of values on corners or faces; 0 at points without faces."""
    vertex = face_corners(mesh)
    if domain == "FACE":
        sizes = np.empty(len(mesh.polygons), np.int32)
        mesh.polygons.foreach_get("loop_total", sizes)
        values = np.repeat(values, sizes, axis=0)
    sums = np.zeros((len(mesh.vertices), 3))
    np.add.at(sums, vertex, values)
    counts = np.bincount(vertex, minlength=len(sums))
    means: FloatArray = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    return means


def make_flow(
    source: bpy.types.Object, raw: Raw, matrix: Matrix, what: str
) -> tuple[Field, list[Diagnosis]]:
    """The field of an object, and its faults: directions along its lines, or its vectors.

    The field goes along with its object: vectors turn and stretch as the surface does.

    Raises:
        WorldError: A point or a vector is not finite.
    """
    if what == "guides":
        return field_of_curves(_lines(raw, matrix)), []
    points, vectors, faces = raw
    with np.errstate(over="ignore", invalid="ignore"):
        turned = vectors.astype(np.float64) @ matrix[:3, :3].T
        found = make_field(transform(points, matrix), turned.astype(np.float32), faces=faces)
    return found, [] if found.vector.any() else [diagnose("FIELD_ZERO", source.name)]


def read_extent(evaluated: bpy.types.Object, with_mesh: bool) -> Raw:
    """The points of an object, and optionally its triangles; two opposite corners of an empty."""
    none = np.zeros((0, 3), np.int32)
    if evaluated.type == "EMPTY":
        size = evaluated.empty_display_size
        return np.array([[-size] * 3, [size] * 3], np.float32), none
    with mesh_of(evaluated) as mesh:
        return positions(mesh), corners(mesh) if with_mesh else none


def make_extent(
    source: bpy.types.Object, raw: Raw, matrix: Matrix, what: str
) -> tuple[Container, list[Diagnosis]]:
    """The container of an object, its bounding box, turned with it, or its mesh; and its faults.

    The direction of its normals does not matter: a closed surface has an inside anyway.

    Raises:
        WorldError: A point is not finite.
    """
    points, order = raw
    center, axes, half = _box(points, matrix)
    shape = Mesh(source.name, triangles_of(points, order, matrix)) if len(order) else None
    found = make_container(center, half, axes=axes, mesh=shape)
    if found.radius == 0.0:
        return found, [diagnose("CONTAINER_WITHOUT_EXTENT", source.name)]
    if what != "mesh" or source.type == "EMPTY":
        return found, []
    if shape is None:
        return found, [diagnose("CONTAINER_WITHOUT_FACES", source.name)]
    return found, [] if is_closed(shape) else [diagnose("CONTAINER_OPEN", source.name)]


def _box(points: FloatArray, matrix: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Center, unit axes as rows and half sizes of the box around points along an object's axes."""
    size = np.linalg.norm(matrix[:3, :3], axis=0)
    axes = matrix[:3, :3].T / np.where(size > 0.0, size, 1.0)[:, None]
    upright = np.allclose(axes @ axes.T, np.eye(3), atol=1.0e-5)
    if not upright:
        # sheared or flattened: there is no box along these axes
        axes = np.eye(3)
    places = transform(points, matrix).astype(np.float64) @ axes.T
    if not len(places):
        return matrix[:3, 3], axes, np.zeros(3)
    low, high = places.min(axis=0), places.max(axis=0)
    return (low + high) / 2 @ axes, axes, (high - low) / 2


def around(containers: list[Container]) -> Container:
    """One container around several: a box along the world's axes, and all their surfaces."""
    if len(containers) == 1:
        return containers[0]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    points = np.concatenate([c.center + (signs * c.half) @ c.axes for c in containers])
    low, high = points.min(axis=0), points.max(axis=0)
    surface = np.concatenate([c.tree.triangles for c in containers])
    return make_container((low + high) / 2, (high - low) / 2, mesh=Mesh("container", surface))
