"""The section *Ways*, and what an object among the areas of a crowd means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...core.crowd.area_settings import AreaSettings
from ...core.parameters import parameters
from ..crowd.crowds import is_crowd
from ..operators.common import active_object
from ..reading import scene_inputs
from . import drawing, messages

if TYPE_CHECKING:
    from bpy.types import Context, Object, UILayout

MOST_AREAS = 12
"""Further areas have their settings in their own properties only."""


def draw_ways(layout: UILayout, context: Context, obj: Object) -> None:
    """Settings, and the areas, each with what it means; the groups are in its own properties."""
    drawing.draw_block(layout, context, obj, "ways")
    column = layout.column()
    column.use_property_split = not messages.is_narrow(context)
    column.active = obj.steer.ways.ways != "NONE"
    drawing.draw_named(column, obj.steer, "areas", "Areas")
    for part in scene_inputs.area_objects(obj)[:MOST_AREAS]:
        row = column.row(align=True)
        row.use_property_split = False
        row.label(text=part.name)
        for info in parameters(AreaSettings).values():
            if info.name != "group" and info.counts(part.steer_area):
                row.prop(part.steer_area, info.name, text="")


class OBJECT_PT_steer_area(bpy.types.Panel):
    """What an object among the areas of a crowd means to its walkers"""

    bl_idname = "OBJECT_PT_steer_area"
    bl_label = "Crowd Area"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "object"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """On objects that are areas of a crowd of the scene."""
        obj = active_object(context)
        return obj is not None and any(
            obj in scene_inputs.area_objects(crowd)
            for crowd in context.scene.objects
            if is_crowd(crowd)
        )

    def draw(self, context: bpy.types.Context) -> None:
        """Its kind, and what that needs."""
        obj = active_object(context)
        if obj is not None:
            self.layout.use_property_split = True
            for info in parameters(AreaSettings).values():
                counts = info.counts(obj.steer_area)
                drawing.draw_parameter(self.layout, obj.steer_area, info, counts=counts)
