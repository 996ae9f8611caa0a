"""Simple meshes for scenes: what stands around, and bodies for those who are no people."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np

_SIDES = 24


def new_mesh(name: str, points: Any, faces: Any = (), edges: Any = ()) -> bpy.types.Mesh:
    """A mesh from plain lists."""
    mesh = bpy.data.meshes.new(name)
    rows = [tuple(map(float, point)) for point in points]
    mesh.from_pydata(rows, [tuple(edge) for edge in edges], [tuple(face) for face in faces])
    mesh.update()
    return mesh


def box_mesh(name: str, size: Any) -> bpy.types.Mesh:
    """A box that stands on the ground [m]."""
    x, y, z = (float(value) for value in size)
    corners = [(i * x / 2, j * y / 2, k * z) for k in (0, 1) for j in (-1, 1) for i in (-1, 1)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return new_mesh(name, corners, faces)


def ball_mesh(name: str, radius: float) -> bpy.types.Mesh:
    """A smooth ball around the origin."""
    rings = _SIDES // 2
    points = [(0.0, 0.0, radius)]
    for ring in range(1, rings):
        turn = math.pi * ring / rings
        around = np.linspace(0.0, 2.0 * math.pi, _SIDES, endpoint=False)
        points += [
            (
                radius * math.sin(turn) * math.cos(a),
                radius * math.sin(turn) * math.sin(a),
                radius * math.cos(turn),
            )
            for a in around
        ]
    points.append((0.0, 0.0, -radius))
    last = len(points) - 1
    first = last - _SIDES
    faces: list[tuple[int, ...]] = [(0, 1 + i, 1 + (i + 1) % _SIDES) for i in range(_SIDES)]
    for ring in range(rings - 2):
        start = 1 + ring * _SIDES
        faces += [
            (start + i, start + _SIDES + i, start + _SIDES + j, start + j)
            for i in range(_SIDES)
            for j in [(i + 1) % _SIDES]
        ]
    faces += [(last, first + (i + 1) % _SIDES, first + i) for i in range(_SIDES)]
    return _smooth(new_mesh(name, points, faces))


def pillar_mesh(name: str, radius: float, height: float) -> bpy.types.Mesh:
    """A round pillar that stands on the ground."""
    around = np.linspace(0.0, 2.0 * math.pi, _SIDES, endpoint=False)
    ring = [(radius * math.cos(a), radius * math.sin(a)) for a in around]
    points = [(x, y, z) for z in (0.0, height) for x, y in ring]
    faces: list[tuple[int, ...]] = [
        (i, (i + 1) % _SIDES, _SIDES + (i + 1) % _SIDES, _SIDES + i) for i in range(_SIDES)
    ]
    faces += [tuple(reversed(range(_SIDES))), tuple(range(_SIDES, 2 * _SIDES))]
    return new_mesh(name, points, faces)


def house_mesh(name: str, size: Any, roof: float) -> bpy.types.Mesh:
    """A house that stands on the ground, its ridge along X; the faces of the roof take material 1.

    Args:
        name: Name of the mesh.
        size: Length, width and height of the walls [m].
        roof: Height of the roof above them [m].
    """
    x, y, z = (float(value) for value in size)
    corners = [(i * x / 2, j * y / 2, k * z) for k in (0, 1) for j in (-1, 1) for i in (-1, 1)]
    points = [*corners, (-x / 2, 0.0, z + roof), (x / 2, 0.0, z + roof)]
    walls = [(0, 2, 3, 1), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 8, 6, 2), (1, 3, 7, 9, 5)]
    mesh = new_mesh(name, points, [*walls, (4, 5, 9, 8), (6, 8, 9, 7)])
    mesh.polygons.foreach_set("material_index", [0] * len(walls) + [1, 1])
    return mesh


def fish_mesh(name: str, length: float) -> bpy.types.Mesh:
    """A fish that looks along -Y: a spindle with a tail fin and a back fin."""
    stations = [(-0.5, 0.0), (-0.42, 0.55), (-0.2, 1.0), (0.05, 0.9), (0.3, 0.4), (0.4, 0.14)]
    sides = 10
    points: list[tuple[float, float, float]] = []
    for y, width in stations:
        for a in np.linspace(0.0, 2.0 * math.pi, sides, endpoint=False):
            points.append((0.075 * width * math.cos(a), y, 0.13 * width * math.sin(a)))
    faces: list[tuple[int, ...]] = []
    for ring in range(len(stations) - 1):
        start = ring * sides
        faces += [
            (start + i, start + (i + 1) % sides, start + sides + (i + 1) % sides, start + sides + i)
            for i in range(sides)
        ]
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
    """A four-legged animal that looks along -Y.

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
