"""The ground of `steer scene` without a ground file: a plaza whose size follows the crowd.

Its furniture, with parts and places, is data: presets/scenery/plaza.json.
"""

from __future__ import annotations

import json
import math
from typing import Any

import bpy

from ...core.crowd.presets import builtin_folder
from .materials import plain_material, tile_material
from .shapes import part_mesh
from .staging import Stage


def make_plaza(
    stage: Stage, agents: int, radius: float, *, furnished: bool = True
) -> bpy.types.Object:
    """Make a plaza around the origin.

    Args:
        stage: Stage of the new objects.
        agents: Number of agents that will walk there.
        radius: Their body radius [m], to which all sizes are proportional.
        furnished: Whether to add the furniture.

    Returns:
        The pavement.
    """
    data = json.loads((builtin_folder() / "scenery" / "plaza.json").read_text(encoding="utf-8"))
    unit = radius / 0.25
    area = max(agents, data["fewest_agents"]) * data["area_per_agent"]
    depth = math.sqrt(area / data["aspect"])
    width = area / depth
    half = ((width + data["margin"]) / 2, (depth + data["margin"]) / 2, 1.0)
    light, dark, joint, tile = data["tiles"]
    tiles = tile_material("Tiles", light, dark, joint, tile * unit)
    lawn = plain_material("Lawn", *data["materials"]["Lawn"])
    pavement = {"kind": "grid", "scale": half, "size": 1.0, "x_segments": 8, "y_segments": 8}
    ground = _add_level(stage, "Ground", pavement, tiles, unit)
    reach = data["lawn"] * width
    around = {"kind": "circle", "radius": reach, "segments": 48, "cap_ends": True}
    _add_level(stage, "Lawn", around, lawn, unit).location.z = -0.12 * unit
    if furnished:
        _furnish(stage, data, width, depth, unit)
    return ground


def _add_level(
    stage: Stage, name: str, part: Any, material: bpy.types.Material, unit: float
) -> bpy.types.Object:
    mesh = part_mesh(name, [part])
    mesh.materials.append(material)
    obj = stage.add(mesh)
    obj.scale = (unit, unit, unit)
    return obj


def _furnish(stage: Stage, data: Any, width: float, depth: float, unit: float) -> None:
    """Place all furniture by the data: shares of width and depth, and a height [m]."""
    materials: dict[str, bpy.types.Material] = {}
    rows = data["rows"]
    for name, thing in data["things"].items():
        mesh = part_mesh(name, thing["parts"])
        for material in thing["materials"]:
            if material not in materials:
                materials[material] = plain_material(material, *data["materials"][material])
            mesh.materials.append(materials[material])
        places = [(x * width, y * depth, z) for x, y, z in thing["at"]]
        if name == rows["thing"]:
            count = max(2, round(width / rows["spacing"]))
            edge = depth / 2 - rows["inset"]
            along = [(i + 0.5) / count * width - width / 2 for i in range(count)]
            places += [(x, side * edge, 0.0) for x in along for side in (1.0, -1.0)]
        for number, place in enumerate(places):
            collection = stage.colliders if thing.get("blocks") else None
            obj = stage.add(mesh, [unit * value for value in place], collection=collection)
            obj.scale = (unit, unit, unit)
            # adjacent copies face different directions
            obj.rotation_euler[2] = 0.0 if thing.get("blocks") else math.pi * (number % 2)
