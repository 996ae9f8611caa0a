"""Preferences of the extension: the folder with the user's own behaviors.

The setting is Blender's own, beside those of other add-ons: no .blend file holds it, and an update
of the extension keeps it.
"""

import addon_utils
import bpy

from ..core import own_behaviors
from ..core.errors import warn
from . import app_handlers
from .crowd import property_classes
from .operators.common import PolledOperator, Returned
from .ui import messages


def root_package() -> str:
    """Name by which Blender knows the add-on: "bl_ext.user_default.steer", "steer_addon" alone."""
    parts = __package__.split(".")
    return ".".join(parts[:3]) if parts[0] == "bl_ext" else parts[0]


class SteerPreferences(bpy.types.AddonPreferences):
    """Settings of Steer for all files."""

    bl_idname = root_package()

    behaviors_folder: bpy.props.StringProperty(
        name="Behaviors Folder",
        description="Folder with Python files of your own behaviors, outside of Steer",
        subtype="DIR_PATH",
    )

    def draw(self, context: bpy.types.Context) -> None:
        """The folder, what was loaded, and what could not be."""
        layout = self.layout
        row = layout.row(align=True)
        row.prop(self, "behaviors_folder")
        row.operator(PREFERENCES_OT_steer_load_behaviors.bl_idname, text="", icon="FILE_REFRESH")
        labels = [cls.definition.label for cls in own_behaviors.loaded().values()]
        if labels:
            layout.label(text=f"Loaded: {', '.join(labels)}", icon="CHECKMARK")
        for fault in own_behaviors.faults():
            messages.draw_message(layout, context, str(fault), "ERROR")


def why_not_enabled(context: bpy.types.Context) -> str:
    """Why Steer cannot be enabled again: Blender does not know it as an add-on; else empty."""
    known = root_package() in context.preferences.addons
    return "" if known else "Enable Steer in the preferences first"


class PREFERENCES_OT_steer_load_behaviors(PolledOperator, bpy.types.Operator):
    """Load the behaviors in the folder again, as they are now"""

    bl_idname = "preferences.steer_load_behaviors"
    bl_label = "Load Behaviors"
    needs = (why_not_enabled,)

    def execute(self, context: bpy.types.Context) -> Returned:
        """Let Steer be enabled again as soon as Blender is done with this operator."""
        bpy.app.timers.register(enable_again, first_interval=0.0)
        return {"FINISHED"}


classes = (SteerPreferences, PREFERENCES_OT_steer_load_behaviors)


def enable_again() -> None:
    """Disable and enable the add-on: its properties are made of the behaviors that there are."""
    addon_utils.disable(root_package())
    addon_utils.enable(root_package())


def register_properties() -> None:
    """Add `Object.steer`, without the behaviors of the user where Blender cannot take them."""
    try:
        property_classes.register()
    except Exception as error:  # whatever is in there must not keep Steer from starting
        property_classes.unregister()
        if not own_behaviors.loaded():
            raise
        own_behaviors.refuse(error)
        property_classes.register()


def register() -> None:
    """Add the preferences, and load the behaviors that they name."""
    for cls in classes:
        bpy.utils.register_class(cls)
    addon = bpy.context.preferences.addons.get(root_package())
    chosen = getattr(addon and addon.preferences, "behaviors_folder", "")
    folders = [*own_behaviors.named_folders(), *([chosen] if chosen else [])]
    if folders or own_behaviors.loaded_folders() or own_behaviors.faults():
        own_behaviors.load(folders)
        for fault in own_behaviors.faults():
            warn(__name__, "%s", fault)


def unregister() -> None:
    """Take the preferences back; behaviors stay until others are loaded."""
    app_handlers.remove_timers(enable_again)
    for cls in reversed(classes):
        bpy.utils.unregister_class(cls)
