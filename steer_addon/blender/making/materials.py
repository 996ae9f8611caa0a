"""Plain materials for scenes made by Steer, each with a color for Workbench too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import bpy

from ...core.doors import tomllib
from ..display.node_builder import add_nodes, linear_color

Rows = dict[str, dict[str, Any]]
"""Nodes as `add_nodes` takes them."""


@cache
def node_rows(name: str) -> Rows:
    """Nodes of `materials.toml`."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    rows: Rows = data[name]
    return rows


def plain_material(
    name: str, color: str, roughness: float = 0.7, nodes: Rows | None = None
) -> bpy.types.Material:
    """A matte material, with the same color in Workbench.

    Args:
        name: Its name.
        color: Code like #RRGGBB.
        roughness: From 0 to 1.
        nodes: Nodes of which "color" gives the color in renders instead.
    """
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    shader: dict[str, Any] = {"node": "BSDF_PRINCIPLED", "Roughness": roughness}
    add_nodes(material.node_tree, {"shader": {**shader, "Base Color": color}})
    if nodes:
        add_nodes(material.node_tree, {**nodes, "shader": {**shader, "Base Color": "<color"}})
    material.diffuse_color = linear_color(color)
    return material


def slope_material(name: str) -> bpy.types.Material:
    """A matte material with one color for level faces and another one for steep faces."""
    return plain_material(name, "#CFC5B4", 0.85, node_rows("slope"))


def open_from_behind(material: bpy.types.Material) -> None:
    """Show the inside of rooms: faces are visible only from the front, ceilings let light in."""
    add_nodes(material.node_tree, node_rows("open_from_behind"))
    material.use_backface_culling = True


def tile_material(name: str, light: str, dark: str, joint: str, size: float) -> bpy.types.Material:
    """Square tiles in world space.

    Args:
        name: Its name.
        light: Color of some tiles.
        dark: Color of others.
        joint: Color of the joints.
        size: Size of a tile [m].
    """
    tiles = {"Color1": light, "Color2": dark, "Mortar": joint, "Mortar Size": 0.02 * size}
    sizes = {"Scale": 1.0, "Bias": 0.0, "Brick Width": size, "Row Height": size}
    brick = {"type": "ShaderNodeTexBrick", "offset": 0.0, "Vector": "<face.Position"}
    nodes: Rows = {"face": {"type": "ShaderNodeNewGeometry"}, "color": {**brick, **tiles, **sizes}}
    return plain_material(name, light, 0.6, nodes)


def random_material(name: str, colors: tuple[str, ...], number: int) -> bpy.types.Material:
    """A matte material that takes one of several colors by the id of the agent.

    Args:
        name: Its name.
        colors: Codes like #RRGGBB.
        number: Materials with different numbers choose independently.
    """
    nodes = dict(node_rows("drawn"))
    values = ["<who", 0.37 * number]
    nodes["which"] = {"type": "ShaderNodeMath", "operation": "ADD", "values": values}
    nodes["noise"] = {**nodes["noise"], "W": "<which"}
    nodes["color"] = _steps("<noise", colors)
    return plain_material(name, colors[0], nodes=nodes)


def attribute_material(name: str, attribute: str, colors: Sequence[str]) -> bpy.types.Material:
    """A matte material that shows a whole number of the agents, 0 to n - 1, as a color.

    Args:
        name: Its name.
        attribute: The agents' attribute.
        colors: n codes like #RRGGBB.
    """
    number = {"attribute_type": "INSTANCER", "attribute_name": attribute}
    # the middle of each color's part of the ramp
    values = ["<number.Fac", 1.0 / len(colors), 0.5 / len(colors)]
    nodes: Rows = {
        "number": {"type": "ShaderNodeAttribute", **number},
        "share": {"type": "ShaderNodeMath", "operation": "MULTIPLY_ADD", "values": values},
        "color": _steps("<share", colors),
    }
    return plain_material(name, colors[0], 0.5, nodes)


def _steps(value: str, colors: Sequence[str]) -> dict[str, Any]:
    """A node that makes a value from 0 to 1 one of several colors, each with an equal part."""
    stops = [(place / len(colors), code) for place, code in enumerate(colors)]
    ramp = {"interpolation": "CONSTANT", "stops": stops}
    return {"type": "ShaderNodeValToRGB", "color_ramp": ramp, "values": [value]}
