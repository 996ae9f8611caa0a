"""Presets: start a crowd from one with one click, apply, save and load them."""

from pathlib import Path

import bpy

from ...core.crowd import presets, start
from ...core.crowd.scaling import scaled_crowd
from ...core.crowd.settings import CrowdSettings
from ...core.errors import PresetError
from ..checks import obstructions
from ..crowd.crowds import user_preset_folder, user_preset_folders
from ..crowd.properties import apply_settings, settings_of
from ..making import grounds, plans, starters
from ..scene_units import units_per_meter
from .common import (
    AddOperator,
    Returned,
    SteerOperator,
    select_only,
    why_no_crowd,
    why_no_editable_crowd,
    why_not_object_mode,
)

GROUNDS = (
    (
        "AUTO",
        "Automatic",
        "The active mesh if agents can walk on it, else the ground of another crowd, or a new one",
    ),
    ("ACTIVE", "Active Mesh", "The active mesh object, wherever agents can walk on it"),
    ("NEW", "New Ground", "A new level ground"),
    ("NONE", "None", "No ground: agents stay at the height of the 3D cursor"),
)
_FORBIDDEN = set('/\\:*?"<>|')


def agents_of(name: str) -> int:
    """How many agents a preset starts with; the usual number where it cannot be read."""
    try:
        return presets.load_preset(name, *user_preset_folders()).start.agents
    except PresetError:
        # making the crowd says what is wrong with the preset
        return start.StartSettings().agents


def _description(name: str) -> str:
    """Description of a preset; empty where it has none."""
    path = presets.find_presets(*user_preset_folders()).get(name)
    return "" if path is None else presets.preset_card(path).description


class OBJECT_OT_steer_start(AddOperator, bpy.types.Operator):
    """Add a crowd with all that it needs, and play"""

    bl_idname = "object.steer_start"
    bl_label = "Add Crowd from Preset"

    preset: bpy.props.StringProperty(
        name="Preset", description="Name of a preset", options={"SKIP_SAVE"}
    )
    count: bpy.props.IntProperty(
        name="Agents",
        description="Number of agents; more need more room",
        default=80,
        min=1,
        soft_max=5000,
        max=1_000_000,
        options={"SKIP_SAVE"},
    )
    seed: bpy.props.IntProperty(
        name="Seed",
        description="Another seed gives other places and motion; each new crowd gets its own",
        default=0,
        min=0,
        options={"SKIP_SAVE"},
    )
    obstacles: bpy.props.BoolProperty(
        name="Obstacles", description="Put a few things in the way", default=True
    )
    ground: bpy.props.EnumProperty(
        name="Ground", description="What agents that walk stand on", items=GROUNDS
    )
    bodies: bpy.props.BoolProperty(
        name="Bodies",
        description="Show agents as people and animals; cones are quicker to draw",
        default=True,
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: object) -> str:
        """Description of the preset."""
        return _description(getattr(properties, "preset", "")) or cls.__doc__ or ""

    def draw(self, context: bpy.types.Context) -> None:
        """The numbers; the preset was chosen in the menu."""
        layout = self.layout
        layout.use_property_split = True
        for name in ("count", "seed", "obstacles", "ground", "bodies"):
            layout.prop(self, name)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Add it, and play where there is a window."""
        before = list(context.scene.objects)
        result = self.execute(context)
        if result == {"FINISHED"} and context.window is not None:
            _bring_into_view(context, before)
            if not context.screen.is_animation_playing:
                bpy.ops.screen.animation_play()
        return result

    def run(self, context: bpy.types.Context) -> str:
        """Make all of it, and go to the first frame."""
        scene = context.scene
        if not self.properties.is_property_set("count"):
            self.count = agents_of(self.preset)
        if not self.properties.is_property_set("seed"):
            self.seed = grounds.free_seed(scene)
        wish = plans.Wish(
            self.preset, self.count, self.seed, self.obstacles, self.ground, self.bodies
        )
        crowd = starters.start(scene, context.view_layer, wish)
        select_only(context, crowd)
        scene.frame_set(scene.frame_start)
        self.warn(obstructions.diagnoses(crowd, context.evaluated_depsgraph_get()))
        placed = len(crowd.data.vertices)
        short = "" if placed == self.count else f", {placed} of {self.count} found room"
        ground = crowd.steer.ground
        on = "" if ground is None else f" on {ground.name!r}"
        return f"Added {crowd.name!r}{on}{short}: change the numbers below, or in the Physics tab"


def _bring_into_view(context: bpy.types.Context, before: list[bpy.types.Object]) -> None:
    """Show the crowd and what it steers by, in the 3D View that it was added from."""
    region, crowd = context.region, context.object
    if region is None or region.type != "WINDOW" or context.area.type != "VIEW_3D":
        return
    for obj in starters.worth_seeing(before, crowd, context.scene):
        if obj.visible_get():
            obj.select_set(True)
    bpy.ops.view3d.view_selected()
    select_only(context, crowd)


def _apply(context: bpy.types.Context, settings: CrowdSettings) -> None:
    """Set the active crowd from the settings of a preset, which are in meters."""
    apply_settings(context.object, scaled_crowd(settings, units_per_meter(context.scene)))


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
        return _description(getattr(properties, "name", "")) or cls.__doc__ or ""

    def run(self, context: bpy.types.Context) -> str:
        """Read, check and apply it; a preset that does not fit changes nothing."""
        preset = presets.load_preset(self.name, *user_preset_folders())
        _apply(context, preset.settings)
        return f"Applied preset {preset.label}"


class OBJECT_OT_steer_preset_save(SteerOperator, bpy.types.Operator):
    """Save behaviors, bodies, motion and solver of the crowd as a preset of your own"""

    bl_idname = "object.steer_preset_save"
    bl_label = "Save Crowd Preset"
    bl_options = {"REGISTER"}
    # linked crowds can be saved too
    needs = (why_no_crowd,)

    name: bpy.props.StringProperty(name="Name", description="Name of the preset")
    description_text: bpy.props.StringProperty(
        name="Description", description="One sentence that says what it is for"
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask for the name."""
        self.name = self.name or context.object.name
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context: bpy.types.Context) -> str:
        """Write the file."""
        path = user_preset_folder() / f"{preset_file_name(self.name)}.json"
        presets.save_preset(
            path,
            scaled_crowd(settings_of(context.object), 1.0 / units_per_meter(context.scene)),
            label=self.name.strip(),
            description=self.description_text,
        )
        return f"Saved preset {path.name}"


class OBJECT_OT_steer_preset_import(SteerOperator, bpy.types.Operator):
    """Read a preset file: the active crowd takes its settings; without one a new crowd starts"""

    bl_idname = "object.steer_preset_import"
    bl_label = "Load Crowd Preset"
    needs = (why_not_object_mode,)

    filepath: bpy.props.StringProperty(
        name="File", description="A preset file", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN", "SKIP_SAVE"})

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
            _apply(context, preset.settings)
            return f"Applied preset {preset.label}"
        seed = grounds.free_seed(context.scene)
        wish = plans.Wish(str(path), preset.start.agents, seed)
        crowd = starters.start(context.scene, context.view_layer, wish)
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
    OBJECT_OT_steer_start,
    OBJECT_OT_steer_preset_apply,
    OBJECT_OT_steer_preset_save,
    OBJECT_OT_steer_preset_import,
    STEER_FH_preset,
)
