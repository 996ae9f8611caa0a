"""The section Groups of the Crowd panel: the list, and the parameters of the active group."""

from __future__ import annotations

import bpy

from ...core.crowd.groups import GroupSettings
from ...core.parameters import parameters
from .drawing import draw_parameter
from .messages import is_narrow


def draw_groups(
    layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object
) -> None:
    """The list, and the parameters of the active group that count."""
    steer = obj.steer
    row = layout.row()
    row.template_list("STEER_UL_groups", "", steer, "groups", steer, "active_group", rows=3)
    side = row.column(align=True)
    side.operator("object.steer_group_add", text="", icon="ADD")
    side.operator("object.steer_group_remove", text="", icon="REMOVE")
    side.separator()
    side.operator("object.steer_group_move", text="", icon="TRIA_UP").direction = "UP"
    side.operator("object.steer_group_move", text="", icon="TRIA_DOWN").direction = "DOWN"
    if not 0 <= steer.active_group < len(steer.groups):
        return
    item, column = steer.groups[steer.active_group], layout.column()
    column.use_property_split = not is_narrow(context)
    for info in parameters(GroupSettings).values():
        if info.counts(item):
            draw_parameter(column, item, info)
