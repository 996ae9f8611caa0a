"""Edit the list of groups."""

import bpy

from ..crowd.properties import add_group
from .common import Returned, SteerOperator, why_no_editable_crowd


def why_no_group(context: bpy.types.Context) -> str:
    """Why the crowd has no group; empty when it has one."""
    return "" if context.object.steer.groups else "Add a group first"


def why_no_other_group(context: bpy.types.Context) -> str:
    """Why there is no other group to move one past; empty when there is one."""
    if len(context.object.steer.groups) > 1:
        return ""
    return "There is no other group: add one to move it past"


class OBJECT_OT_steer_group_add(SteerOperator, bpy.types.Operator):
    """Add a group of agents, which behaviors, speeds and characters may be limited to"""

    bl_idname = "object.steer_group_add"
    bl_label = "Add Group"

    def run(self, context: bpy.types.Context) -> None:
        """Add it at the end, and make it the active one."""
        add_group(context.object)


class OBJECT_OT_steer_group_remove(SteerOperator, bpy.types.Operator):
    """Remove the active group; behaviors that name it are for nobody then"""

    bl_idname = "object.steer_group_remove"
    bl_label = "Remove Group"
    needs = (why_no_editable_crowd, why_no_group)

    def run(self, context: bpy.types.Context) -> None:
        """Remove it."""
        steer = context.object.steer
        steer.groups.remove(min(steer.active_group, len(steer.groups) - 1))
        steer.active_group = min(steer.active_group, max(0, len(steer.groups) - 1))


class OBJECT_OT_steer_group_move(SteerOperator, bpy.types.Operator):
    """Move the active group in the list; the first one that names characters counts"""

    bl_idname = "object.steer_group_move"
    bl_label = "Move Group"
    needs = (why_no_editable_crowd, why_no_other_group)

    direction: bpy.props.EnumProperty(
        name="Direction",
        description="Where to move it",
        items=(("UP", "Up", "Toward the top"), ("DOWN", "Down", "Toward the end")),
    )

    def execute(self, context: bpy.types.Context) -> Returned:
        """Move it by one place; at the end of the list it stays, which is no step to undo."""
        steer = context.object.steer
        self._to = steer.active_group + (-1 if self.direction == "UP" else 1)
        if not 0 <= self._to < len(steer.groups):
            return {"CANCELLED"}
        return super().execute(context)

    def run(self, context: bpy.types.Context) -> None:
        """Move it."""
        steer = context.object.steer
        steer.groups.move(steer.active_group, self._to)
        steer.active_group = self._to


classes = (
    OBJECT_OT_steer_group_add,
    OBJECT_OT_steer_group_remove,
    OBJECT_OT_steer_group_move,
)
