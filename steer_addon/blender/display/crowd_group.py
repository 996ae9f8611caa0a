"""The node group of the Crowd modifier, made of the data in `crowd_group.toml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import bpy

from ...core.doors import tomllib
from . import node_builder

NODE_GROUP_NAME = "Steer Crowd"
INNER_NAME = ".Steer Crowd"
"""Name of the group in it; the dot leaves it out of lists."""
VERSION = 13
"""Raise it with every change of the group: files with an older one are brought up to date."""
VERSION_KEY = "steer_display_version"
"""Custom property of Crowd node groups: the version that made them."""


def sockets_of(group: bpy.types.NodeTree, in_out: str = "INPUT") -> list[Any]:
    """Return the sockets of a group's interface."""
    return [s for s in group.interface.items_tree if getattr(s, "in_out", None) == in_out]


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def defaults() -> dict[str, Any]:
    """Default values of inputs, by name; inputs without one are empty, or 0."""
    inputs = _data()["inputs"]
    return {name: row["default"] for name, row in inputs.items() if "default" in row}


def former_values() -> dict[str, Any]:
    """Values that keep crowds as they were, by name, of inputs that their files did not have."""
    before = {n: row["before"] for n, row in _data()["inputs"].items() if "before" in row}
    return {**defaults(), **before}


def build_group(group: bpy.types.NodeTree) -> None:
    """Make a node group the Crowd group; inputs that it has keep their values in modifiers.

    Its nodes stand in a group of their own, in it: Blender looks through what each node of a
    modifier's own group gives, for its spreadsheet, and that takes longer than to show a crowd of
    characters with a thousand poses.
    """
    inner = inner_group(group)
    if inner is None or inner.library is not None:
        inner = bpy.data.node_groups.new(INNER_NAME, "GeometryNodeTree")
    for tree in (group, inner):
        tree.nodes.clear()
        _build_interface(tree)
    node_builder.add_nodes(inner, _data()["nodes"], _data()["menus"])
    group.is_modifier = True
    group.description = "Shows a crowd simulated by Steer"
    links = {name: f"<inputs.{name}" for name in _data()["inputs"]}
    rows: dict[str, dict[str, Any]] = {
        "inputs": {"type": "NodeGroupInput", "at": [0, 0]},
        "inner": {"type": "GeometryNodeGroup", "at": [1, 0], "node_tree": inner, **links},
        "output": {"type": "NodeGroupOutput", "at": [2, 0], "Geometry": "<inner"},
    }
    node_builder.add_nodes(group, rows)
    for socket in sockets_of(group):
        if socket.socket_type == "NodeSocketMenu":
            # a menu has items, and so a default, only once it is linked
            socket.default_value = defaults()[socket.name]
    group[VERSION_KEY] = VERSION


def inner_group(group: bpy.types.NodeTree) -> bpy.types.NodeTree | None:
    """The group in a Crowd group that has its nodes; None in one of before version 6."""
    found = (getattr(node, "node_tree", None) for node in group.nodes)
    return next((tree for tree in found if tree is not None), None)


def menu_node(group: bpy.types.NodeTree, name: str) -> Any:
    """The node of a Crowd group that has the items of a menu, or None."""
    return (inner_group(group) or group).nodes.get(name)


def _build_interface(group: bpy.types.NodeTree) -> None:
    """Give the group its sockets; existing ones keep their identifiers."""
    interface, inputs = group.interface, _data()["inputs"]
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
