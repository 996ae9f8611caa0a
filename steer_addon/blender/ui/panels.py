"""Panel "Crowd" in the Physics tab of the Properties editor, and in the 3D View's sidebar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...core.crowd.settings import BLOCKS
from ..crowd.crowds import is_crowd
from ..crowd.properties import definition_of
from ..operators.common import active_object
from . import (
    areas,
    births,
    display_fields,
    drawing,
    group_list,
    messages,
    overlay_table,
    variations,
)

if TYPE_CHECKING:
    _Panel = bpy.types.Panel
else:
    _Panel = object


class STEER_UL_behaviors(bpy.types.UIList):
    """The behaviors of a crowd"""

    bl_idname = "STEER_UL_behaviors"

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
        """Icon, name, weight, switch."""
        definition = definition_of(item)
        # in a narrow panel they would hide the name; the weight is shown below as well
        narrow = messages.is_narrow(context, messages.NARROW_LIST)
        row = layout.split(factor=1.0 if narrow else 0.65, align=True)
        row.active = item.enabled
        own_icon = "QUESTION" if definition is None else definition.icon
        if definition is not None and messages.is_narrow(context, messages.NARROWEST_LIST):
            own_icon = "NONE"
        row.prop(item, "title", text="", emboss=False, icon=own_icon)
        if not narrow:
            row.prop(item, "weight", text="", slider=True)
        switch = "CHECKBOX_HLT" if item.enabled else "CHECKBOX_DEHLT"
        layout.prop(item, "enabled", text="", emboss=False, icon=switch)

    def filter_items(  # type: ignore[override]  # lists do as well as Blender's own arrays
        self, context: bpy.types.Context, data: Any, property: str
    ) -> tuple[list[int], list[int]]:
        """Filter the entries by name."""
        if not self.filter_name:
            return [], []
        helper = bpy.types.UI_UL_list
        items, flag = getattr(data, property), self.bitflag_filter_item
        return helper.filter_items_by_name(self.filter_name, flag, items, "title"), []


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


class _PhysicsTab(_Panel):
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"


class _Sidebar(_Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Crowd"


class _Main:
    """The main panel; on objects that are no crowd it explains how to make one."""

    bl_label = "Crowd"
    layout: bpy.types.UILayout

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """The menu of presets."""
        if is_crowd(active_object(context)):
            self.layout.popover("STEER_PT_presets", text="", icon="PRESET")

    def draw(self, context: bpy.types.Context) -> None:
        """Status and warnings, or a button that makes a crowd."""
        drawing.draw_main(self.layout, context, active_object(context))


class PHYSICS_PT_steer(_Main, _PhysicsTab, bpy.types.Panel):
    """Crowd settings in the Physics tab"""

    bl_idname = "PHYSICS_PT_steer"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """On mesh objects."""
        obj = active_object(context)
        return obj is not None and obj.type == "MESH"


class VIEW3D_PT_steer(_Main, _Sidebar, bpy.types.Panel):
    """Crowd settings in the sidebar"""

    bl_idname = "VIEW3D_PT_steer"


class STEER_PT_presets(bpy.types.Panel):
    """Choose among presets by their pictures"""

    bl_idname = "STEER_PT_presets"
    bl_label = "Crowd Presets"
    bl_space_type = "PROPERTIES"
    bl_region_type = "HEADER"
    bl_ui_units_x = 28

    def draw(self, context: bpy.types.Context) -> None:
        """All presets by groups, and the files that they are saved to and loaded from."""
        drawing.draw_gallery(self.layout)
        row = self.layout.row()
        row.operator("object.steer_preset_save", text="Save Preset...", icon="ADD")
        row.operator("object.steer_preset_import", text="Load Preset...", icon="FILE_FOLDER")


def _draw_section(
    layout: bpy.types.UILayout, context: bpy.types.Context, obj: bpy.types.Object, name: str
) -> None:
    if name == "births":
        births.draw_births(layout, context, obj)
    elif name == "ways":
        areas.draw_ways(layout, context, obj)
    elif name == "variations":
        variations.draw_variations(layout, context, obj)
    elif name in BLOCKS:
        drawing.draw_block(layout, context, obj, name)
    elif name == "groups":
        group_list.draw_groups(layout, context, obj)
    elif name == "display":
        display_fields.draw_display(layout, context, obj)
    elif name == "debug":
        overlay_table.draw_debug(layout, context, obj)
    else:
        getattr(drawing, f"draw_{name}")(layout, context, obj)


class _Section:
    """A section of the panel, for crowds only."""

    section: str
    layout: bpy.types.UILayout

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """On crowds."""
        return is_crowd(active_object(context))

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the section of the active crowd."""
        obj = active_object(context)
        if is_crowd(obj):
            _draw_section(self.layout, context, obj, self.section)


_SECTIONS: tuple[tuple[str, str, bool, str], ...] = (
    ("behaviors", "Behaviors", True, ""),
    ("inputs", "Inputs", True, ""),
    ("agents", "Agents", False, ""),
    ("groups", "Groups", False, ""),
    ("motion", "Motion", False, ""),
    ("ways", "Ways", False, ""),
    ("solver", "Solver", False, ""),
    ("bodies", "Bodies", False, ""),
    ("births", "Births", False, ""),
    ("meets", "Meets", False, ""),
    ("display", "Display", False, ""),
    ("clips", "Clips", False, "display"),
    ("bake", "Simulation and Bake", True, ""),
    ("cache", "Bake", True, "bake"),
    ("variations", "Variations", False, "bake"),
    ("keyframes", "Keyframes", False, "bake"),
    ("export", "Export", False, "bake"),
    ("debug", "Debug", False, ""),
)
"""Name, label, whether the section is open by default, and the section that it is a part of."""

_IN_SIDEBAR = ("behaviors", "inputs", "bake", "cache", "variations", "keyframes", "export", "debug")


def _sub_panels(parent: type, space: type, names: tuple[str, ...]) -> tuple[type, ...]:
    made = []
    for name, label, is_open, above in _SECTIONS:
        if name in names:
            idname = f"{parent.__name__}_{name}"
            namespace = {
                "__doc__": label,
                "__module__": __name__,
                "bl_idname": idname,
                "bl_label": label,
                "bl_parent_id": f"{parent.__name__}_{above}" if above else parent.__name__,
                "bl_options": set() if is_open else {"DEFAULT_CLOSED"},
                "section": name,
            }
            made.append(type(idname, (_Section, space, bpy.types.Panel), namespace))
    return tuple(made)


classes = (
    STEER_UL_behaviors,
    STEER_UL_groups,
    STEER_PT_presets,
    PHYSICS_PT_steer,
    areas.OBJECT_PT_steer_area,
    *_sub_panels(PHYSICS_PT_steer, _PhysicsTab, tuple(row[0] for row in _SECTIONS)),
    VIEW3D_PT_steer,
    *_sub_panels(VIEW3D_PT_steer, _Sidebar, _IN_SIDEBAR),
)
