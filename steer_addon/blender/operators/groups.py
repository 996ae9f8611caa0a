"""Edit the list of groups."""

import bpy

from ..crowd.properties import add_group
from .common import SteerOperator, why_no_editable_crowd


def why_no_group(context: bpy.types.Context) -> str:
    """Why the crowd has no group; empty when it has one."""
    return "" if context.object.steer.groups else "Add a group first"


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


classes = (OBJECT_OT_steer_group_add, OBJECT_OT_steer_group_remove)
