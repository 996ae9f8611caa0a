"""The node group of the Crowd modifier as it is found in a file."""

from __future__ import annotations

from typing import Any

import bpy

NODE_GROUP_NAME = "Steer Crowd"
VERSION_KEY = "steer_display_version"
"""Custom property of Crowd node groups: how they are made, see `display_nodes.VERSION`."""


def sockets_of(group: bpy.types.NodeTree, in_out: str = "INPUT") -> list[Any]:
    """Return the sockets of a group's interface."""
    return [s for s in group.interface.items_tree if getattr(s, "in_out", None) == in_out]
