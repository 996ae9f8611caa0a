"""Meshes of scenes: boxes, houses, round bodies, animals, and composite objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

_SIDES = 24
_CORNERS = np.array([(x, y, z) for z in (0, 1) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
"""Corners of a box of size 1 that stands on the ground."""


def new_mesh(name: str, points: Any, faces: Any = (), edges: Any = ()) -> bpy.types.Mesh:
    """A mesh from plain lists."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, edges, faces)
    mesh.update()
    return mesh


def box_mesh(name: str, size: Any) -> bpy.types.Mesh:
    """A box that stands on the ground [m]."""
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return new_mesh(name, _CORNERS * size, faces)


def house_mesh(name: str, size: Any, roof: float) -> bpy.types.Mesh:
    """A house that stands on the ground, its ridge along X; the faces of the roof take material 1.

    Args:
        name: Name of the mesh.
        size: Length, width and height of the walls [m].
        roof: Height of the roof above them [m].
    """
    x, _, z = size
    points = [*(_CORNERS * size), (-x / 2, 0.0, z + roof), (x / 2, 0.0, z + roof)]
    walls = [(0, 2, 3, 1), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 8, 6, 2), (1, 3, 7, 9, 5)]
    mesh = new_mesh(name, points, [*walls, (4, 5, 9, 8), (6, 8, 9, 7)])
    mesh.polygons.foreach_set("material_index", [0] * len(walls) + [1, 1])
    return mesh


def prism_mesh(name: str, outline: Any, low: float, high: float) -> bpy.types.Mesh:
    """A solid between two heights [m].

    Args:
        name: Name of the mesh.
        outline: Corners seen from above, counterclockwise, shape (n, 2) [m].
        low: Its lower end.
        high: Its upper end.
    """
    count = len(outline)
    ends = [tuple(reversed(range(count))), tuple(range(count, 2 * count))]
    points = [(x, y, z) for z in (low, high) for x, y in outline]
    return new_mesh(name, points, [*ends, *_bands(0, count, 2)])


def pillar_mesh(name: str, radius: float, height: float) -> bpy.types.Mesh:
    """A round pillar that stands on the ground."""
    points = [(x, y, z) for z in (0.0, height) for x, y in _circle(_SIDES, radius)]
    ends = [tuple(reversed(range(_SIDES))), tuple(range(_SIDES, 2 * _SIDES))]
    return new_mesh(name, points, [*_bands(0, _SIDES, 2), *ends])


def ball_mesh(name: str, radius: float) -> bpy.types.Mesh:
    """A smooth ball around the origin."""
    rings = _SIDES // 2
    turns = np.pi * np.arange(1, rings) / rings
    rows = [(x, y, radius * np.cos(t)) for t in turns for x, y in _circle(_SIDES, radius, t)]
    points = [(0.0, 0.0, radius), *rows, (0.0, 0.0, -radius)]
    last = len(points) - 1
    first = last - _SIDES
    following = [(i + 1) % _SIDES for i in range(_SIDES)]
    top = [(0, 1 + i, 1 + j) for i, j in enumerate(following)]
    bottom = [(last, first + j, first + i) for i, j in enumerate(following)]
    sides = [(a, d, c, b) for a, b, c, d in _bands(1, _SIDES, rings - 1)]
    return _smooth(new_mesh(name, points, [*top, *sides, *bottom]))


def _circle(sides: int, radius: float, tilt: float = np.pi / 2) -> list[tuple[float, float]]:
    """Corners of a polygon; on a ball, `tilt` is the angle from its pole."""
    around = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    reach = radius if tilt == np.pi / 2 else radius * np.sin(tilt)
    return [(reach * np.cos(a), reach * np.sin(a)) for a in around]


def _bands(first: int, sides: int, rings: int) -> list[tuple[int, int, int, int]]:
    """Faces between consecutive rings of points, starting at their first points."""
    starts = range(first, first + (rings - 1) * sides, sides)
    return [
        (start + i, start + j, start + sides + j, start + sides + i)
        for start in starts
        for i in range(sides)
        for j in [(i + 1) % sides]
    ]


def fish_mesh(name: str, length: float) -> bpy.types.Mesh:
    """A fish that faces -Y: a spindle with a tail fin and a back fin."""
    stations = [(-0.5, 0.0), (-0.42, 0.55), (-0.2, 1.0), (0.05, 0.9), (0.3, 0.4), (0.4, 0.14)]
    sides = 10
    points: list[tuple[float, float, float]] = []
    for y, width in stations:
        for a in np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False):
            points.append((0.075 * width * np.cos(a), y, 0.13 * width * np.sin(a)))
    faces: list[tuple[int, ...]] = [*_bands(0, sides, len(stations))]
    fins = [
        [(0.0, 0.38, 0.0), (0.0, 0.55, 0.15), (0.0, 0.5, 0.0), (0.0, 0.55, -0.15)],
        [(0.0, -0.12, 0.11), (0.0, 0.06, 0.23), (0.0, 0.14, 0.1)],
    ]
    for fin in fins:
        faces.append(tuple(range(len(points), len(points) + len(fin))))
        points += fin
    return _smooth(new_mesh(name, np.array(points) * length, faces))


def _smooth(mesh: bpy.types.Mesh) -> bpy.types.Mesh:
    mesh.polygons.foreach_set("use_smooth", [len(face.vertices) < 8 for face in mesh.polygons])
    mesh.update()
    return mesh


def animal_mesh(name: str, length: float, girth: float) -> bpy.types.Mesh:
    """A four-legged animal that faces -Y.

    Args:
        name: Name of the mesh.
        length: From nose to tail [m].
        girth: Width of its body as a share of the length.
    """
    parts = [
        ((0.0, 0.02, 0.52), (girth * 0.5, 0.36, girth * 0.48)),
        ((0.0, -0.38, 0.68), (0.09, 0.14, 0.1)),
        ((0.0, -0.28, 0.62), (0.1, 0.12, 0.12)),
        ((0.0, 0.42, 0.55), (0.04, 0.1, 0.05)),
    ]
    parts += [
        ((x * girth * 0.3, y, 0.2), (0.05, 0.05, 0.26)) for x in (-1, 1) for y in (-0.22, 0.25)
    ]
    points: list[Any] = []
    faces: list[tuple[int, ...]] = []
    for center, size in parts:
        ball = ball_mesh("Part", 1.0)
        first = len(points)
        points += [np.array(v.co) * size + center for v in ball.vertices]
        faces += [tuple(first + i for i in face.vertices) for face in ball.polygons]
        bpy.data.meshes.remove(ball)
    return _smooth(new_mesh(name, np.array(points) * length, faces))


def flag_mesh(name: str) -> bpy.types.Mesh:
    """A flag on a pole of 4 m; its cloth takes material 1.

    The cloth waves so deeply that it is seen from every side.
    """
    points: list[tuple[float, float, float]] = []
    faces: list[tuple[int, ...]] = []
    for radius, height in ((0.05, 4.0), (0.55, 0.06)):
        first = len(points)
        faces += [*_bands(first, 12, 2), tuple(range(first + 12, first + 24))]
        points += [(x, y, z) for z in (0.0, height) for x, y in _circle(12, radius)]
    plain, first, pieces = len(faces), len(points), 24
    x, y, step = 0.05, 0.0, 2.6 / pieces
    for k in range(pieces + 1):
        points += [(x, y, 2.9), (x, y, 4.0)]
        way = 1.3 * np.cos(2.0 * np.pi * (k + 0.5) / pieces)
        x, y = x + step * np.cos(way), y + step * np.sin(way)
    faces += [(k, k + 2, k + 3, k + 1) for k in range(first, len(points) - 2, 2)]
    mesh = new_mesh(name, points, faces)
    mesh.polygons.foreach_set("material_index", [0] * plain + [1] * pieces)
    mesh.polygons.foreach_set("use_smooth", [False] * plain + [True] * pieces)
    return mesh


SHAPES: dict[str, Callable[..., bpy.types.Mesh]] = {
    "animal": animal_mesh,
    "ball": ball_mesh,
    "box": box_mesh,
    "fish": fish_mesh,
    "house": house_mesh,
    "mesh": new_mesh,
    "pillar": pillar_mesh,
    "prism": prism_mesh,
}
"""Functions that make a mesh from its name and sizes, by kind."""


def part_mesh(name: str, parts: Sequence[Mapping[str, Any]]) -> bpy.types.Mesh:
    """One mesh of several parts, each with the arguments of `_add_part`."""
    shape = bmesh.new()
    for part in parts:
        _add_part(shape, **part)
    mesh = bpy.data.meshes.new(name)
    bmesh.ops.recalc_face_normals(shape, faces=list(shape.faces))
    shape.to_mesh(mesh)
    shape.free()
    return mesh


def _add_part(
    shape: bmesh.types.BMesh,
    kind: str,
    at: Any = (0.0, 0.0, 0.0),
    scale: Any = (1.0, 1.0, 1.0),
    *,
    bevel: float = 0.0,
    hollow: Any = None,
    material: int = 0,
    smooth: bool = False,
    **sizes: Any,
) -> None:
    """Add a part to a mesh.

    Args:
        shape: The mesh.
        kind: The part, one of what `bmesh.ops.create_*` make.
        at: Its place [m].
        scale: Its size along each axis.
        bevel: Width of the bevel of all edges that are there [m].
        hollow: Width of the rim of its top, and the depth within it [m].
        material: Number of the material of its faces.
        smooth: Whether they are smooth.
        **sizes: Arguments of bmesh's operator.
    """
    before = set(shape.faces)
    matrix = Matrix.Translation(at) @ Matrix.Diagonal((*scale, 1.0))
    getattr(bmesh.ops, f"create_{kind}")(shape, matrix=matrix, **sizes)
    if bevel:
        edges = list(shape.edges)
        bmesh.ops.bevel(shape, geom=edges, offset=bevel, segments=2, affect="EDGES", profile=0.5)
    if hollow:
        rim, depth = hollow
        top = max(shape.faces, key=lambda face: face.calc_center_median().z)
        bmesh.ops.inset_region(shape, faces=[top], thickness=rim)
        bmesh.ops.translate(shape, verts=top.verts, vec=(0.0, 0.0, -depth))
    for face in set(shape.faces) - before:
        face.material_index, face.smooth = material, smooth
