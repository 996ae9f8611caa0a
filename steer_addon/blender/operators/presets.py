"""Apply and save presets."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...core.crowd import presets
from ...core.errors import PresetError
from ..crowd.crowds import user_preset_folder, user_preset_folders
from ..crowd.properties import apply_settings, settings_of
from ..making import starters
from .common import (
    Returned,
    SteerOperator,
    active_object,
    select_only,
    why_no_crowd,
    why_no_editable_crowd,
)

_FORBIDDEN = set('/\\:*?"<>|')


def preset_file_name(label: str) -> str:
    """File name for a preset, without ending.

    Raises:
        PresetError: The name has nothing that could be a file name.
    """
    name = label.strip()
    bad = sorted(character for character in set(name) if character in _FORBIDDEN or character < " ")
    if not name or name.startswith(".") or bad:
        raise PresetError(
            f"Preset name {label!r} cannot be a file name: give letters, digits, "
            "spaces, '-' or '_', not beginning with a period"
        )
    return name.lower().replace(" ", "_")


class OBJECT_OT_steer_preset_apply(SteerOperator, bpy.types.Operator):
    """Set behaviors, bodies, motion and solver of the crowd from a preset"""

    bl_idname = "object.steer_preset_apply"
    bl_label = "Apply Crowd Preset"

    name: bpy.props.StringProperty(
        name="Preset", description="Name of a preset, or path of a .json file"
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: object) -> str:
        """Description of the preset."""
        path = presets.find_presets(*user_preset_folders()).get(getattr(properties, "name", ""))
        text = "" if path is None else presets.preset_card(path).description
        return text or "Set behaviors, bodies, motion and solver of the crowd from a preset"

    def run(self, context: bpy.types.Context) -> str:
        """Read, check and apply it; a preset that does not fit changes nothing."""
        preset = presets.load_preset(self.name, *user_preset_folders())
        apply_settings(context.object, preset.settings)
        return f"Applied preset {preset.label}"


class OBJECT_OT_steer_preset_save(SteerOperator, bpy.types.Operator):
    """Save behaviors, bodies, motion and solver of the crowd as a preset of your own"""

    bl_idname = "object.steer_preset_save"
    bl_label = "Save Crowd Preset"
    bl_options = {"REGISTER"}

    name: bpy.props.StringProperty(name="Name", description="Name of the preset")
    description_text: bpy.props.StringProperty(
        name="Description", description="One sentence that says what it is for"
    )

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Any crowd can be saved, linked ones too."""
        return why_no_crowd(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask for the name."""
        self.name = self.name or context.object.name
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context: bpy.types.Context) -> str:
        """Write the file."""
        path = user_preset_folder() / f"{preset_file_name(self.name)}.json"
        presets.save_preset(
            path,
            settings_of(context.object),
            label=self.name.strip(),
            description=self.description_text,
        )
        return f"Saved preset {path.name}"


class OBJECT_OT_steer_preset_import(SteerOperator, bpy.types.Operator):
    """Read a preset file: the active crowd takes its settings; without one a new crowd starts"""

    bl_idname = "object.steer_preset_import"
    bl_label = "Load Crowd Preset"

    filepath: bpy.props.StringProperty(
        name="File", description="A preset file", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Anywhere in Object Mode; what is active decides what becomes of the file."""
        return "" if context.mode == "OBJECT" else "Go to Object Mode first"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Use the file that was dropped, or ask for one."""
        if self.filepath:
            return self.execute(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> str:
        """Read and check it; a file that does not fit changes nothing."""
        path = Path(bpy.path.abspath(self.filepath))
        preset = presets.read_preset(path)
        if not why_no_editable_crowd(context):
            apply_settings(context.object, preset.settings)
            return f"Applied preset {preset.label}"
        wish = starters.Wish(str(path), preset.start.agents)
        crowd = starters.start(context.scene, wish, active_object(context))
        select_only(context, crowd)
        context.scene.frame_set(context.scene.frame_start)
        return f"Added {crowd.name!r} from preset {preset.label}: play to see it move"


class STEER_FH_preset(bpy.types.FileHandler):
    """Preset files that are dropped onto a 3D View"""

    bl_idname = "STEER_FH_preset"
    bl_label = "Crowd Preset"
    bl_import_operator = "object.steer_preset_import"
    bl_file_extensions = ".json"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        """Only on 3D Views."""
        return context.area is not None and context.area.type == "VIEW_3D"


classes = (
    OBJECT_OT_steer_preset_apply,
    OBJECT_OT_steer_preset_save,
    OBJECT_OT_steer_preset_import,
    STEER_FH_preset,
)
