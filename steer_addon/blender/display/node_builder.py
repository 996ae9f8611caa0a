"""Node trees from data: rows of nodes by name, such as those of `crowd_group.toml`.

    position = { type = "GeometryNodeInputPosition", at = [1, 3] }
    height = { type = "ShaderNodeSeparateXYZ", at = [2, 3], Vector = "<position" }

`type` is the type of a node and `at` its column and row in the layout. Any other key that is one of
the node's properties sets it, and the rest are inputs; `values` has all inputs in their order. The
values "<name" and "<name.Output" link an input to a node above: to its first output, or to the one
named. A list of them makes several links to one input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

_COLUMN_WIDTH = 220.0
_ROW_HEIGHT = 240.0


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
    for name, row in rows.items():
        node: Any = tree.nodes.new(row["type"])
        column, line = row.get("at", (0.0, 0.0))
        node.location = (column * _COLUMN_WIDTH, -line * _ROW_HEIGHT)
        values = _set_properties(node, row)
        if menus and name in menus:
            node.name = node.label = name
            _set_items(node.enum_items, menus[name])
        for key, value in values.items():
            _set_input(tree, _find(node.inputs, key), value, made)
        for socket, value in zip(node.inputs, row.get("values", ()), strict=False):
            _set_input(tree, socket, value, made)
        made[name] = node


def _set_properties(node: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    """Set what is a property of the node, which decides what inputs it has; returns the others."""
    values = {}
    for key, value in row.items():
        if key == "capture_items":
            for name, socket_type in value.items():
                node.capture_items.new(socket_type, name)
        elif key == "mode" and key not in node.bl_rna.properties:
            # it became an input in 5.0
            node.inputs["Mode"].default_value = value.title()
        elif key not in ("type", "at", "values"):
            if key in node.bl_rna.properties:
                setattr(node, key, value)
            else:
                values[key] = value
    return values


def _set_items(items: Any, descriptions: Mapping[str, str]) -> None:
    # a new switch has two items; keeping them makes the stored numbers start at zero
    for index, (name, description) in enumerate(descriptions.items()):
        item = items[index] if index < len(items) else items.new(name)
        item.name, item.description = name, description


def _set_input(tree: bpy.types.NodeTree, socket: Any, value: Any, made: Mapping[str, Any]) -> None:
    links = value if isinstance(value, list) else [value]
    if not (isinstance(links[0], str) and links[0].startswith("<")):
        socket.default_value = value
        return
    for link in links:
        name, _, output = link[1:].partition(".")
        tree.links.new(_find(made[name].outputs, output), socket)


def _find(sockets: Any, name: str) -> Any:
    # nodes keep an input for every data type under one name; only one of them is enabled
    for socket in sockets:
        if socket.enabled and name in ("", socket.name):
            return socket
    raise KeyError(f"the node has no socket {name!r}")
