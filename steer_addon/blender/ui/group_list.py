"""The section Groups of the Crowd panel: the list, and the parameters of the active group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...core.crowd.groups import GroupSettings
from ...core.parameters import parameters
from .drawing import draw_parameter
from .messages import is_narrow

if TYPE_CHECKING:
    _UIList = bpy.types.UIList
else:
    _UIList = object


class STEER_UL_groups(bpy.types.UIList):
    """The groups of a crowd"""

    bl_idname = "STEER_UL_groups"

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None = 0,
        flt_flag: int | None = 0,
    ) -> None:
        """Name, and the share or the source."""
        row = layout.split(factor=0.6)
        row.prop(item, "name", text="", emboss=False, icon="GROUP")
        row.prop(item, "share" if item.source == "SHARE" else "source", text="", emboss=False)


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
    if not 0 <= steer.active_group < len(steer.groups):
        return
    item, column = steer.groups[steer.active_group], layout.column()
    column.use_property_split = not is_narrow(context)
    for info in parameters(GroupSettings).values():
        if info.counts(item):
            draw_parameter(column, item, info)
