"""The place that `steer scene` makes when it is given no ground: a plaza as large as its crowd."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import bmesh
import bpy
from mathutils import Matrix

from .materials import plain_material, tile_material

Point = tuple[float, float, float]

AREA_PER_AGENT = 5.5
"""Room for each agent [m²]."""
_ASPECT = 1.6


@dataclass(frozen=True)
class Plaza:
    """What was made.

    Attributes:
        ground: The pavement.
        colliders: What stands in the way.
        width: Size along x [m].
        depth: Size along y [m].
    """

    ground: bpy.types.Object
    colliders: list[bpy.types.Object]
    width: float
    depth: float


def make_plaza(
    agents: int,
    radius: float,
    stage: bpy.types.Collection,
    colliders: bpy.types.Collection,
    *,
    furnished: bool = True,
) -> Plaza:
    """Make a plaza around the origin.

    Args:
        agents: How many will walk there.
        radius: Their body radius [m], which all sizes go by.
        stage: Where pavement and leaves go.
        colliders: Where all goes that blocks.
        furnished: Whether anything stands on it.
    """
    unit = radius / 0.25
    area = max(agents, 60) * AREA_PER_AGENT
    depth = math.sqrt(area / _ASPECT)
    width = area / depth
    ground = _add("Ground", _plane(width + 4.0, depth + 4.0), stage, (0.0, 0.0, 0.0), unit)
    tiles = tile_material("Tiles", "#CFC6B8", "#BFB5A5", "#9A9083", 2.0 * unit)
    ground.data.materials.append(tiles)
    around = _add("Lawn", _disc("Lawn", 12.0 * width), stage, (0.0, 0.0, -0.12), unit)
    around.data.materials.append(plain_material("Lawn", "#8FA071", 0.9))
    made = _furnish(width, depth, unit, stage, colliders) if furnished else []
    return Plaza(ground, made, width * unit, depth * unit)


def _furnish(
    width: float,
    depth: float,
    unit: float,
    stage: bpy.types.Collection,
    colliders: bpy.types.Collection,
) -> list[bpy.types.Object]:
    stone = plain_material("Stone", "#C9C3B8")
    made: list[bpy.types.Object] = []

    def block(name: str, mesh: bpy.types.Mesh, places: Sequence[Point]) -> None:
        if not mesh.materials:
            mesh.materials.append(stone)
        made.extend(_add(name, mesh, colliders, place, unit) for place in places)

    pillars = max(2, round(width / 7.0))
    rows = [(i + 0.5) / pillars * width - width / 2 for i in range(pillars)]
    edge = depth / 2 - 1.2
    block("Pillar", _pillar(), [(x, side * edge, 0.0) for x in rows for side in (1.0, -1.0)])
    planters = [
        (x, side * depth * 0.19, 0.0) for x in (-0.31 * width, 0.31 * width) for side in (1.0, -1.0)
    ]
    block("Planter", _box("Planter", 3.6, 2.2, 0.55), planters)
    block("Fountain", _fountain(), [(0.0, 0.0, 0.0)])
    bench = _box("Bench", 2.4, 0.6, 0.45)
    bench.materials.append(plain_material("Wood", "#7A5638"))
    block(
        "Bench",
        bench,
        [(0.14 * width * s, t * depth * 0.36, 0.0) for s in (1, -1) for t in (1, -1)],
    )
    _decorate(planters, unit, stage)
    return made


def _decorate(planters: Sequence[Point], unit: float, stage: bpy.types.Collection) -> None:
    """Trees on the planters and water in the fountain: to look at, in nobody's way."""
    tree = _tree()
    tree.materials.append(plain_material("Bark", "#5A4332"))
    tree.materials.append(plain_material("Leaves", "#6B8E4A"))
    tree.materials.append(plain_material("Hedge", "#56763F"))
    for number, (x, y, _) in enumerate(planters):
        leaves = _add("Tree", tree, stage, (x, y, 0.55), unit)
        leaves.rotation_euler[2] = math.pi * (number % 2)
    water = _disc("Water", 2.15)
    water.materials.append(plain_material("Water", "#3F7F94", 0.08))
    _add("Water", water, stage, (0.0, 0.0, 0.5), unit)


def _add(
    name: str, mesh: bpy.types.Mesh, collection: bpy.types.Collection, place: Point, unit: float
) -> bpy.types.Object:
    obj = bpy.data.objects.new(name, mesh)
    obj.location = [unit * value for value in place]
    obj.scale = (unit, unit, unit)
    collection.objects.link(obj)
    return obj


def _finish(name: str, shape: bmesh.types.BMesh) -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(name)
    bmesh.ops.recalc_face_normals(shape, faces=shape.faces)
    shape.to_mesh(mesh)
    shape.free()
    return mesh


def _plane(width: float, depth: float) -> bpy.types.Mesh:
    shape = bmesh.new()
    size = Matrix.Diagonal((width / 2, depth / 2, 1.0, 1.0))
    bmesh.ops.create_grid(shape, x_segments=8, y_segments=8, size=1.0, matrix=size)
    return _finish("Ground", shape)


def _box(name: str, width: float, depth: float, height: float) -> bpy.types.Mesh:
    shape = bmesh.new()
    size = Matrix.Diagonal((width, depth, height, 1.0))
    bmesh.ops.create_cube(shape, size=1.0, matrix=Matrix.Translation((0.0, 0.0, height / 2)) @ size)
    bmesh.ops.bevel(shape, geom=shape.edges, offset=0.06, segments=2, affect="EDGES", profile=0.5)
    return _finish(name, shape)


def _cylinder(
    shape: bmesh.types.BMesh, radius: float, top: float, low: float, high: float, sides: int = 32
) -> None:
    bmesh.ops.create_cone(
        shape,
        cap_ends=True,
        segments=sides,
        radius1=radius,
        radius2=top,
        depth=high - low,
        matrix=Matrix.Translation((0.0, 0.0, (low + high) / 2)),
    )


def _pillar() -> bpy.types.Mesh:
    shape = bmesh.new()
    _cylinder(shape, 0.62, 0.62, 0.0, 0.3)
    _cylinder(shape, 0.42, 0.38, 0.3, 4.2)
    _cylinder(shape, 0.58, 0.58, 4.2, 4.5)
    return _finish("Pillar", shape)


def _fountain() -> bpy.types.Mesh:
    shape = bmesh.new()
    _cylinder(shape, 2.5, 2.45, 0.0, 0.6, 48)
    basin = _top(shape)
    bmesh.ops.inset_region(shape, faces=[basin], thickness=0.3)
    bmesh.ops.translate(shape, verts=basin.verts, vec=(0.0, 0.0, -0.2))
    _cylinder(shape, 0.35, 0.22, 0.3, 1.5)
    _cylinder(shape, 0.25, 0.95, 1.4, 1.7)
    return _finish("Fountain", shape)


def _top(shape: bmesh.types.BMesh) -> bmesh.types.BMFace:
    return max(shape.faces, key=lambda face: face.calc_center_median().z)


def _disc(name: str, radius: float) -> bpy.types.Mesh:
    shape = bmesh.new()
    bmesh.ops.create_circle(shape, cap_ends=True, radius=radius, segments=48)
    return _finish(name, shape)


def _tree() -> bpy.types.Mesh:
    shape = bmesh.new()
    _cylinder(shape, 0.2, 0.12, 0.0, 3.4, 10)
    wood = set(shape.faces)
    for x, y, z, size in ((0.0, 0.0, 4.3, 1.6), (1.0, 0.5, 3.6, 1.1), (-0.9, -0.5, 3.7, 1.2)):
        place = Matrix.Translation((x, y, z)) @ Matrix.Diagonal((size, size, 0.85 * size, 1.0))
        bmesh.ops.create_icosphere(shape, subdivisions=3, radius=1.0, matrix=place)
    leaves = set(shape.faces) - wood
    size = Matrix.Diagonal((3.2, 1.8, 0.45, 1.0))
    bmesh.ops.create_cube(shape, size=1.0, matrix=Matrix.Translation((0.0, 0.0, 0.15)) @ size)
    for face in shape.faces:
        face.material_index = 0 if face in wood else 1 if face in leaves else 2
        face.smooth = face in leaves
    return _finish("Tree", shape)
