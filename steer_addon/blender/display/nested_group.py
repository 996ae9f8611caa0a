"""Groups for modifiers that have their nodes in a group of their own.

Blender looks through what each node of a modifier's own group gives, for its spreadsheet, and that
takes longer than to show a crowd of characters with a thousand poses. It does not look into groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy

from . import node_builder

Inputs = Mapping[str, Mapping[str, Any]]


def sockets_of(group: bpy.types.NodeTree, in_out: str = "INPUT") -> list[Any]:
    """Return the sockets of a group's interface."""
    return [s for s in group.interface.items_tree if getattr(s, "in_out", None) == in_out]


def build(group: bpy.types.NodeTree, inner_name: str, data: Mapping[str, Any]) -> None:
    """Give a group nodes and inputs; inputs that it has keep their values in modifiers.

    Args:
        group: The group.
        inner_name: Name of the group in it.
        data: `inputs` by name, `nodes` by name, see `node_builder`, and the items of `menus`.
    """
    inputs = data["inputs"]
    inner = inner_of(group)
    if inner is None or inner.library is not None:
        inner = bpy.data.node_groups.new(inner_name, "GeometryNodeTree")
    for tree in (group, inner):
        tree.nodes.clear()
        _build_interface(tree, inputs)
    node_builder.add_nodes(inner, data["nodes"], data.get("menus"))
    links = {name: f"<inputs.{name}" for name in inputs}
    rows: dict[str, dict[str, Any]] = {
        "inputs": {"type": "NodeGroupInput", "at": [0, 0]},
        "inner": {"type": "GeometryNodeGroup", "at": [1, 0], "node_tree": inner, **links},
        "output": {"type": "NodeGroupOutput", "at": [2, 0], "Geometry": "<inner"},
    }
    node_builder.add_nodes(group, rows)
    group.is_modifier = True


def inner_of(group: bpy.types.NodeTree) -> bpy.types.NodeTree | None:
    """The group in a group that has its nodes; None in one of before."""
    found = (getattr(node, "node_tree", None) for node in group.nodes)
    return next((tree for tree in found if tree is not None), None)


def _build_interface(group: bpy.types.NodeTree, inputs: Inputs) -> None:
    """Give the group its sockets; existing ones keep their identifiers."""
    interface = group.interface
    for socket in list(interface.items_tree):
        wanted = inputs.get(socket.name) if getattr(socket, "in_out", "") == "INPUT" else None
        if wanted is None or socket.socket_type != f"NodeSocket{wanted['type']}":
            interface.remove(socket)
    interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    present = {socket.name: socket for socket in sockets_of(group)}
    for position, (name, row) in enumerate(inputs.items(), 1):
        made: Any = present.get(name)
        if made is None:
            kind = f"NodeSocket{row['type']}"
            made = interface.new_socket(name, in_out="INPUT", socket_type=kind)
        interface.move(made, position)
        made.description = row["tip"]
        made.hide_in_modifier = row.get("hide", False)
        if row["type"] == "Float":
            made.subtype = row.get("subtype", "NONE")
        if "min" in row:
            made.min_value = row["min"]
        if "default" in row and row["type"] != "Menu":
            made.default_value = row["default"]
