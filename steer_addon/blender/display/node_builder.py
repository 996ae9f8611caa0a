"""Node trees from data: rows of nodes by name, such as those of `crowd_group.toml`.

    position = { type = "GeometryNodeInputPosition", at = [1, 3] }
    height = { type = "ShaderNodeSeparateXYZ", at = [2, 3], Vector = "<position" }

`type` is the type of a new node and `at` its column and row in the layout; `node` is the type of
one that the tree has. Any other key that is one of the node's properties sets it, and the rest are
inputs; `values` has all inputs in their order. The values "<name" and "<name.Output" link an input
to another node: to its first output, or to the one named. A list of them makes several links to one
input; a node that joins takes the last one first. "#RRGGBB" is a color in sRGB. `zone` names the
node that ends the zone which this node begins; keys that end in `_items` have the types of sockets
by name, which are added to the node. `otherwise` is a row that takes the place of one whose type
this Blender does not have; links are to its first output then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from . import one_update

_COLUMN_WIDTH = 220.0
_ROW_HEIGHT = 240.0
_MANY = 32
"""So many nodes get one update; of fewer each update is quicker than to prepare that."""


def modifier_group(name: str, description: str = "") -> bpy.types.NodeTree:
    """A new group for modifiers: geometry goes in and comes out, and no node is between.

    Args:
        name: Its name.
        description: What users read about it.
    """
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    group.is_modifier = True
    group.description = description
    for in_out in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    return group


def linear_color(code: str) -> tuple[float, float, float, float]:
    """Linear color of an sRGB code like #RRGGBB."""
    srgb = [int(code[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in srgb
    )
    return red, green, blue, 1.0


def add_nodes(
    tree: bpy.types.NodeTree,
    rows: Mapping[str, Mapping[str, Any]],
    menus: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Add nodes to a tree.

    Args:
        tree: The tree.
        rows: The nodes by name, see above.
        menus: Descriptions of the items, by item name, of the menus among them.
    """
    made: dict[str, Any] = {}
    inputs: dict[str, dict[str, Any]] = {}
    rows = {name: _known(row) for name, row in rows.items()}

    def make_nodes() -> None:
        for name, row in rows.items():
            made[name] = _make_node(tree, row)
            inputs[name] = _set_properties(made[name], row)
            if menus and name in menus:
                made[name].name = made[name].label = name
                _set_items(made[name].enum_items, menus[name])
        for name, row in rows.items():
            if "zone" in row:
                # the sockets of both follow from the node at the end
                made[name].pair_with_output(made[row["zone"]])

    def set_inputs() -> None:
        for name, node in made.items():
            sockets = [(_find(node.inputs, key), value) for key, value in inputs[name].items()]
            sockets += zip(node.inputs, rows[name].get("values", ()), strict=False)
            for socket, value in sockets:
                _set_input(tree, socket, value, made)

    if len(rows) >= _MANY:
        one_update.change(tree, make_nodes, set_inputs)
    else:
        make_nodes()
        set_inputs()


def _known(row: Mapping[str, Any]) -> Mapping[str, Any]:
    has_type = "type" not in row or hasattr(bpy.types, row["type"])
    return row if has_type else row.get("otherwise", row)


def _make_node(tree: bpy.types.NodeTree, row: Mapping[str, Any]) -> Any:
    if "node" in row:
        # its name depends on the user's language
        return next(node for node in tree.nodes if node.type == row["node"])
    node = tree.nodes.new(row["type"])
    column, line = row.get("at", (0.0, 0.0))
    node.location = (column * _COLUMN_WIDTH, -line * _ROW_HEIGHT)
    return node


def _set_properties(node: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    """Set what is a property of the node, which decides what inputs it has; returns the others."""
    values = {}
    for key, value in row.items():
        if key == "index_switch_items":
            while len(node.index_switch_items) < value:
                node.index_switch_items.new()
        elif key.endswith("_items"):
            for name, socket_type in value.items():
                getattr(node, key).new(socket_type, name)
        elif key == "color_ramp":
            _set_stops(node.color_ramp, **value)
        elif key in ("mode", "pattern_mode") and key not in node.bl_rna.properties:
            # they became inputs in 5.0
            values[key.replace("_", " ").title()] = value.title()
        elif key not in ("type", "node", "at", "values", "zone", "otherwise"):
            if key in node.bl_rna.properties:
                setattr(node, key, value)
            else:
                values[key] = value
    return values


def _set_stops(ramp: Any, stops: Sequence[Any], interpolation: str = "LINEAR") -> None:
    """Set the stops of a color ramp, each a place from 0 to 1 and a color."""
    ramp.interpolation = interpolation
    while len(ramp.elements) < len(stops):
        ramp.elements.new(1.0)
    for element, (place, color) in zip(ramp.elements, stops, strict=True):
        element.position, element.color = place, linear_color(color)


def _set_items(items: Any, descriptions: Mapping[str, str]) -> None:
    # a new switch has two items; keeping them makes the stored numbers start at zero
    for index, (name, description) in enumerate(descriptions.items()):
        item = items[index] if index < len(items) else items.new(name)
        item.name, item.description = name, description


def _set_input(tree: bpy.types.NodeTree, socket: Any, value: Any, made: Mapping[str, Any]) -> None:
    links = value if isinstance(value, list) else [value]
    sign = links[0][:1] if isinstance(links[0], str) else ""
    if sign != "<":
        socket.default_value = linear_color(value) if sign == "#" else value
        return
    for link in links:
        name, _, output = link[1:].partition(".")
        tree.links.new(_find(made[name].outputs, output), socket)


def _find(sockets: Any, name: str) -> Any:
    # nodes keep an input for every data type under one name; only one of them is enabled
    for socket in sockets:
        # some names differ between versions, identifiers do not
        if socket.enabled and name in ("", socket.name, socket.identifier):
            return socket
    raise KeyError(f"the node has no socket {name!r}")
