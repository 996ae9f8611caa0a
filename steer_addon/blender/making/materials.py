"""Plain materials for scenes made by Steer, each with a color for Workbench too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy


def linear_color(code: str) -> tuple[float, float, float, float]:
    """Linear color of an sRGB code like #RRGGBB."""
    srgb = [int(code[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in srgb
    )
    return red, green, blue, 1.0


def plain_material(name: str, color: str, roughness: float = 0.7) -> bpy.types.Material:
    """A matte material, with the same color in Workbench."""
    material = bpy.data.materials.new(name)
    if material.node_tree is None:
        material.use_nodes = True
    shader = shader_of(material)
    shader.inputs["Base Color"].default_value = linear_color(color)
    shader.inputs["Roughness"].default_value = roughness
    material.diffuse_color = linear_color(color)
    return material


def shader_of(material: bpy.types.Material) -> bpy.types.Node:
    """The Principled BSDF of a material; its name depends on the user's language."""
    nodes = material.node_tree.nodes
    return next(node for node in nodes if node.type == "BSDF_PRINCIPLED")


def random_material(name: str, colors: tuple[str, ...], number: int) -> bpy.types.Material:
    """A matte material that takes one of several colors per object or instance.

    Args:
        name: Its name.
        colors: Codes like #RRGGBB.
        number: Materials with different numbers choose independently.
    """
    material = plain_material(name, colors[0])
    nodes, links = material.node_tree.nodes, material.node_tree.links
    chosen: bpy.types.NodeSocket = nodes.new("ShaderNodeObjectInfo").outputs["Random"]
    if number:
        # another digit of the same random number
        chosen = _math(material.node_tree, "MULTIPLY", chosen, 7.13 * number)
        chosen = _math(material.node_tree, "FRACT", chosen, 0.0)
    stops = [(i / len(colors), code) for i, code in enumerate(colors)]
    color = add_ramp(material.node_tree, chosen, stops, "CONSTANT")
    links.new(color, shader_of(material).inputs["Base Color"])
    return material


def add_ramp(
    tree: bpy.types.NodeTree,
    value: bpy.types.NodeSocket,
    stops: list[tuple[float, str]],
    interpolation: str = "LINEAR",
) -> bpy.types.NodeSocket:
    """A color ramp for a value from 0 to 1; stops are pairs of position and code like #RRGGBB."""
    ramp = tree.nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.interpolation = interpolation
    elements = ramp.color_ramp.elements
    while len(elements) < len(stops):
        elements.new(1.0)
    for element, (place, code) in zip(elements, stops, strict=True):
        element.position = place
        element.color = linear_color(code)
    tree.links.new(value, ramp.inputs[0])
    return ramp.outputs[0]


def slope_material(name: str, level: str, steep: str) -> bpy.types.Material:
    """A matte material with one color for level faces and another one for steep faces."""
    material = plain_material(name, level, 0.85)
    tree = material.node_tree
    normal = tree.nodes.new("ShaderNodeNewGeometry").outputs["Normal"]
    parts = tree.nodes.new("ShaderNodeSeparateXYZ")
    tree.links.new(normal, parts.inputs[0])
    color = add_ramp(tree, parts.outputs["Z"], [(0.0, steep), (0.6, steep), (0.75, level)])
    tree.links.new(color, shader_of(material).inputs["Base Color"])
    return material


def open_from_behind(material: bpy.types.Material) -> None:
    """Show the inside of rooms: faces are visible only from the front, ceilings let light in.

    Args:
        material: A material from `plain_material` or a similar function.
    """
    tree = material.node_tree
    nodes, links = tree.nodes, tree.links
    geometry = nodes.new("ShaderNodeNewGeometry").outputs
    parts = nodes.new("ShaderNodeSeparateXYZ")
    links.new(geometry["True Normal"], parts.inputs[0])
    ceiling = _math(tree, "LESS_THAN", parts.outputs["Z"], -0.1)
    shadow = nodes.new("ShaderNodeLightPath").outputs["Is Shadow Ray"]
    lit = _math(tree, "MULTIPLY", ceiling, shadow)
    absent = _math(tree, "MAXIMUM", lit, geometry["Backfacing"])
    mix = nodes.new("ShaderNodeMixShader")
    output = next(node for node in nodes if node.type == "OUTPUT_MATERIAL")
    links.new(absent, mix.inputs[0])
    links.new(shader_of(material).outputs[0], mix.inputs[1])
    links.new(nodes.new("ShaderNodeBsdfTransparent").outputs[0], mix.inputs[2])
    links.new(mix.outputs[0], output.inputs["Surface"])
    material.use_backface_culling = True


def _math(
    tree: bpy.types.NodeTree, operation: str, first: bpy.types.NodeSocket, second: Any
) -> bpy.types.NodeSocket:
    node = tree.nodes.new("ShaderNodeMath")
    node.operation = operation
    tree.links.new(first, node.inputs[0])
    if isinstance(second, bpy.types.NodeSocket):
        tree.links.new(second, node.inputs[1])
    else:
        node.inputs[1].default_value = second
    return node.outputs[0]


def tile_material(name: str, light: str, dark: str, joint: str, size: float) -> bpy.types.Material:
    """Square tiles in world space.

    Args:
        name: Its name.
        light: Color of some tiles.
        dark: Color of others.
        joint: Color of the joints.
        size: Size of a tile [m].
    """
    material = plain_material(name, light, 0.6)
    tree = material.node_tree
    place = tree.nodes.new("ShaderNodeNewGeometry").outputs["Position"]
    brick: Any = tree.nodes.new("ShaderNodeTexBrick")
    brick.offset = 0.0
    for socket, value in (
        ("Color1", linear_color(light)),
        ("Color2", linear_color(dark)),
        ("Mortar", linear_color(joint)),
        ("Scale", 1.0),
        ("Mortar Size", 0.02 * size),
        ("Bias", 0.0),
        ("Brick Width", size),
        ("Row Height", size),
    ):
        brick.inputs[socket].default_value = value
    tree.links.new(place, brick.inputs["Vector"])
    tree.links.new(brick.outputs["Color"], shader_of(material).inputs["Base Color"])
    return material


def attribute_material(name: str, attribute: str, colors: Sequence[str]) -> bpy.types.Material:
    """A matte material that shows a whole number of the agents, 0 to n - 1, as a color.

    Args:
        name: Its name.
        attribute: The agents' attribute.
        colors: n codes like #RRGGBB.
    """
    material = plain_material(name, colors[0], 0.5)
    tree = material.node_tree
    number: Any = tree.nodes.new("ShaderNodeAttribute")
    number.attribute_type, number.attribute_name = "INSTANCER", attribute
    share = tree.nodes.new("ShaderNodeMath")
    share.operation = "MULTIPLY_ADD"
    # map to the middle of each color's part of the ramp
    share.inputs[1].default_value = 1.0 / len(colors)
    share.inputs[2].default_value = 0.5 / len(colors)
    tree.links.new(number.outputs["Fac"], share.inputs[0])
    stops = [(place / len(colors), code) for place, code in enumerate(colors)]
    color = add_ramp(tree, share.outputs[0], stops, "CONSTANT")
    tree.links.new(color, shader_of(material).inputs["Base Color"])
    return material
