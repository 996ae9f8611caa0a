"""The node group of the Crowd modifier, made of the data in `crowd_group.toml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import bpy

from ...core.doors import tomllib
from . import nested_group

NODE_GROUP_NAME = "Steer Crowd"
INNER_NAME = ".Steer Crowd"
"""Name of the group in it; the dot leaves it out of lists."""
VERSION = 16
"""Raise it with every change of the group: files with an older one are brought up to date."""
VERSION_KEY = "steer_display_version"
"""Custom property of Crowd node groups: the version that made them."""
_DATA = Path(__file__).with_suffix(".toml")
SOURCES = __file__, str(_DATA)
"""Files that say what is in the group."""


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(_DATA.read_text(encoding="utf-8"))


def defaults() -> dict[str, Any]:
    """Default values of inputs, by name; inputs without one are empty, or 0."""
    inputs = _data()["inputs"]
    return {name: row["default"] for name, row in inputs.items() if "default" in row}


def former_values() -> dict[str, Any]:
    """Values that keep crowds as they were, by name, of inputs that their files did not have."""
    before = {n: row["before"] for n, row in _data()["inputs"].items() if "before" in row}
    return {**defaults(), **before}


def build_group(group: bpy.types.NodeTree) -> None:
    """Make a node group the Crowd group; inputs that it has keep their values in modifiers."""
    nested_group.build(group, INNER_NAME, _data())
    group.description = "Shows a crowd simulated by Steer"
    for socket in nested_group.sockets_of(group):
        if socket.socket_type == "NodeSocketMenu":
            # a menu has items, and so a default, only once it is linked
            socket.default_value = defaults()[socket.name]
    group[VERSION_KEY] = VERSION


def menu_node(group: bpy.types.NodeTree, name: str) -> Any:
    """The node of a Crowd group that has the items of a menu, or None."""
    return (nested_group.inner_of(group) or group).nodes.get(name)
