"""Attributes under the names that they have in a live crowd, where USD has no room for these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import bpy

from ..display import node_builder

KEY = "steer_attribute_names"
"""Custom property of a node group: the names that it gives, and those that it reads."""


def rename(state: bpy.types.Object, keys: Mapping[str, str]) -> None:
    """Let a state that plays a file have attributes by their own names too.

    Args:
        state: The state object.
        keys: Names of its attributes, and of what the file has of them.
    """
    odd = {name: key for name, key in sorted(keys.items()) if name != key}
    if odd:
        state.modifiers.new("Crowd Attributes", "NODES").node_group = _group(odd)


def _group(keys: Mapping[str, str]) -> bpy.types.NodeTree:
    """This file's node group that gives these names, made if needed."""
    told = json.dumps(keys)
    for found in bpy.data.node_groups:
        if found.library is None and found.get(KEY) == told:
            return found
    rows: dict[str, dict[str, Any]] = {"input": {"type": "NodeGroupInput"}}
    last = "input"
    for number, (name, key) in enumerate(keys.items(), 1):
        rows[f"name {number}"] = {
            "type": "FunctionNodeInputString",
            "at": [number, 1],
            "string": name,
        }
        rows[f"value {number}"] = {
            "type": "GeometryNodeInputNamedAttribute",
            "at": [number, 2],
            "data_type": "FLOAT",
            "Name": key,
        }
        rows[f"named {number}"] = {
            "type": "GeometryNodeStoreNamedAttribute",
            "at": [number + 1, 0],
            "data_type": "FLOAT",
            "Geometry": f"<{last}",
            "Name": f"<name {number}",
            "Value": f"<value {number}",
        }
        last = f"named {number}"
    rows["output"] = {"type": "NodeGroupOutput", "at": [len(keys) + 2, 0], "Geometry": f"<{last}"}
    made = node_builder.modifier_group(
        "Steer Attribute Names", "Attributes by names that files have no room for"
    )
    node_builder.add_nodes(made, rows)
    made[KEY] = told
    return made
