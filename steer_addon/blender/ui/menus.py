"""Entries in Blender's menus, and the menus of Steer itself."""

from __future__ import annotations

import bpy

from ...core.behaviors import REGISTRY
from ..export.names import FORMATS
from ..operators.add import DISTRIBUTIONS
from ..operators.behaviors import behavior_groups
from ..operators.common import active_object
from . import previews

ICON = "COMMUNITY"


def _draw_presets(layout: bpy.types.UILayout, operator: str, option: str) -> bpy.types.UILayout:
    """A column for each group of presets, with pictures where there are some; returns the row."""
    columns = layout.row()
    for group, rows in previews.grouped_presets().items():
        column = columns.column()
        column.operator_context = "INVOKE_REGION_WIN"
        column.label(text=group)
        column.separator()
        for name, card in rows:
            picture = previews.icon_of(name)
            icon = "NONE" if picture else "PRESET"
            props = column.operator(operator, text=card.label, icon=icon, icon_value=picture)
            setattr(props, option, name)
    return columns


class STEER_MT_add(bpy.types.Menu):
    """Add a crowd"""

    bl_idname = "STEER_MT_add"
    bl_label = "Crowd"

    def draw(self, context: bpy.types.Context) -> None:
        """Presets that start immediately, one entry per distribution, and paths for crowds."""
        column = _draw_presets(self.layout, "object.steer_start", "preset").column()
        column.label(text="Points Only")
        column.separator()
        for identifier, label, _, icon, _ in DISTRIBUTIONS:
            props = column.operator("object.steer_add_crowd", text=label, icon=icon)
            props.distribution = identifier
        column.separator()
        column.operator("object.steer_add_random_path", text="Random Path", icon="CURVE_PATH")
        column.operator("object.steer_preset_import", text="Load Preset...", icon="FILE_FOLDER")


class STEER_MT_object(bpy.types.Menu):
    """Operations on a crowd"""

    bl_idname = "STEER_MT_object"
    bl_label = "Crowd"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw all operators of a crowd: search finds only operators that are in some menu."""
        layout = self.layout
        if not _is_on_mesh(context):
            layout.operator("object.steer_make_character", icon="ARMATURE_DATA")
            layout.operator("object.steer_make_anew", icon="FILE_REFRESH")
            layout.operator("object.steer_demote")
            return
        layout.operator("object.steer_add_modifier", icon=ICON)
        layout.operator("object.steer_remove_modifier")
        layout.operator("object.steer_make_character", icon="ARMATURE_DATA")
        layout.operator("object.steer_make_anew", icon="FILE_REFRESH")
        layout.separator()
        layout.operator("object.steer_play", icon="PLAY")
        layout.operator("object.steer_catch_up")
        layout.operator("object.steer_scene_range", icon="TIME")
        layout.operator("object.steer_pick_agent", icon="EYEDROPPER")
        layout.operator("object.steer_promote", icon="OUTLINER_OB_ARMATURE")
        layout.operator("object.steer_promote_again")
        layout.operator("object.steer_demote")
        layout.operator("object.steer_color_material", icon="MATERIAL")
        layout.operator("object.steer_add_levels", icon="MOD_DECIM")
        layout.operator("object.steer_fit_characters")
        layout.operator("object.steer_make_colliders")
        layout.operator("object.steer_clear_lost", text="Clear Deleted Inputs")
        layout.separator()
        layout.menu("STEER_MT_behavior_add")
        layout.menu("STEER_MT_behavior_specials")
        layout.operator("object.steer_group_add")
        layout.menu("STEER_MT_presets")
        layout.operator("object.steer_preset_save", text="Save Preset...")
        layout.operator("object.steer_preset_import", text="Load Preset...")
        layout.separator()
        for name in ("bake", "bake_all", "continue", "anew", "check", "relink", "live", "delete"):
            layout.operator(f"object.steer_cache_{name}")
        layout.separator()
        for name in ("s_make", "s_continue", "s_stop", "_back", "_keep", "s_delete"):
            layout.operator(f"object.steer_variation{name}")
        layout.separator()
        layout.operator("object.steer_bake_keyframes")
        layout.operator("object.steer_delete_bake")
        layout.operator("object.steer_clear_cache")
        layout.separator()
        layout.menu("STEER_MT_export")


class STEER_MT_export(bpy.types.Menu):
    """Write the active crowd to a file for other programs"""

    bl_idname = "STEER_MT_export"
    bl_label = "Export Crowd"

    def draw(self, context: bpy.types.Context) -> None:
        """One entry per format."""
        # a file dialog opens only in this context; otherwise the entries would run immediately
        self.layout.operator_context = "INVOKE_DEFAULT"
        for entry in FORMATS.values():
            text = f"{entry.label} ({entry.suffix})"
            self.layout.operator("object.steer_export", text=text).format = entry.name


class STEER_MT_behavior_add(bpy.types.Menu):
    """Add a behavior to the crowd"""

    bl_idname = "STEER_MT_behavior_add"
    bl_label = "Add Behavior"

    def draw(self, context: bpy.types.Context) -> None:
        """All behavior types under the headings of their groups."""
        for number, (group, names) in enumerate(behavior_groups().items()):
            if number:
                self.layout.separator()
            self.layout.label(text=group)
            for name in names:
                definition = REGISTRY[name].definition
                props = self.layout.operator(
                    "object.steer_behavior_add", text=definition.label, icon=definition.icon
                )
                props.type = name


class STEER_MT_behavior_specials(bpy.types.Menu):
    """More operations on behaviors"""

    bl_idname = "STEER_MT_behavior_specials"
    bl_label = "Behavior Specials"

    def draw(self, context: bpy.types.Context) -> None:
        """Operations for which there is no room beside the list."""
        layout = self.layout
        layout.operator("object.steer_behavior_duplicate", icon="DUPLICATE")
        layout.operator("object.steer_behavior_reset", icon="LOOP_BACK")
        layout.separator()
        for which, text, icon in (
            ("ALL", "Enable All", "CHECKBOX_HLT"),
            ("ACTIVE", "Enable Only This", "SOLO_ON"),
            ("NONE", "Disable All", "CHECKBOX_DEHLT"),
        ):
            props = layout.operator("object.steer_behaviors_enable", text=text, icon=icon)
            props.which = which
        layout.separator()
        layout.operator("object.steer_copy_settings", icon="COPYDOWN")


class STEER_MT_presets(bpy.types.Menu):
    """Set the crowd from a preset"""

    bl_idname = "STEER_MT_presets"
    bl_label = "Crowd Presets"

    def draw(self, context: bpy.types.Context) -> None:
        """The built-in presets and the user's presets, by groups."""
        _draw_presets(self.layout, "object.steer_preset_apply", "name")
        self.layout.separator()
        self.layout.operator("object.steer_preset_save", text="Save Preset...", icon="ADD")


def draw_add(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Add > Crowd."""
    self.layout.menu("STEER_MT_add", icon=ICON)


def _is_on_mesh(context: bpy.types.Context) -> bool:
    obj = active_object(context)
    return obj is not None and obj.type == "MESH"


def draw_modifier_add(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Add Modifier > Crowd."""
    if _is_on_mesh(context):
        self.layout.separator()
        self.layout.operator("object.steer_add_modifier", text="Crowd", icon=ICON)


def draw_object(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Object > Crowd, on meshes, and on rigs and empties, of which characters are made."""
    obj = active_object(context)
    if obj is not None and obj.type in ("MESH", "ARMATURE", "EMPTY"):
        self.layout.separator()
        self.layout.menu("STEER_MT_object", icon=ICON)


def draw_file_export(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    """File > Export > Crowd."""
    self.layout.menu("STEER_MT_export", text="Crowd", icon=ICON)


classes = (
    STEER_MT_add,
    STEER_MT_export,
    STEER_MT_object,
    STEER_MT_behavior_add,
    STEER_MT_behavior_specials,
    STEER_MT_presets,
)

ENTRIES = (
    ("VIEW3D_MT_add", draw_add),
    ("OBJECT_MT_modifier_add", draw_modifier_add),
    ("VIEW3D_MT_object", draw_object),
    ("TOPBAR_MT_file_export", draw_file_export),
)
"""Blender's menus and the functions appended to them."""


def register() -> None:
    """Append the entries."""
    for menu, draw in ENTRIES:
        getattr(bpy.types, menu).append(draw)


def unregister() -> None:
    """Remove the entries."""
    for menu, draw in reversed(ENTRIES):
        getattr(bpy.types, menu).remove(draw)
    previews.unregister()
