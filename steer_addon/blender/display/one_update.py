"""Many changes of a node tree, and one update.

Blender looks through a whole tree after each node, link and value that a script gives it, so one of
hundreds of nodes takes seconds. While it updates a tree it begins no other update, as functions
that it calls may change trees themselves. So changes are made in such a function: that of an empty
tree, whose type is there no longer than they take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

_waiting: list[Callable[[], None]] = []


class _Empty(bpy.types.NodeTree):
    """A tree whose update changes another one; editors do not offer it."""

    bl_idname = "SteerEmptyTree"
    bl_label = "Steer"
    bl_icon = "NONE"

    @classmethod
    def poll(cls, _context: Any) -> bool:
        return False

    def update(self) -> None:
        while _waiting:
            _waiting.pop()()


def change(tree: bpy.types.NodeTree, *steps: Callable[[], None]) -> None:
    """Call functions that change a tree, and let Blender update the tree once after each.

    Args:
        tree: The tree.
        steps: They remove no tree; sockets that follow from what one sets are there for the next.
    """
    bpy.utils.register_class(_Empty)
    try:
        for step in steps:
            _update_empty_tree(step)
            tree.interface_update(bpy.context)
    finally:
        bpy.utils.unregister_class(_Empty)


def _update_empty_tree(step: Callable[[], None]) -> None:
    raised: list[BaseException] = []

    def guarded() -> None:
        try:
            step()
        # Blender would print it and go on
        except BaseException as error:  # noqa: BLE001
            raised.append(error)

    _waiting[:] = [guarded]
    groups: Any = bpy.data.node_groups
    empty = groups.new("Steer", _Empty.bl_idname)
    empty.interface_update(bpy.context)
    groups.remove(empty)
    # a Blender that made no call has an update for each change now
    while _waiting:
        _waiting.pop()()
    if raised:
        raise raised[0]
