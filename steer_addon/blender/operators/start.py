"""Start a crowd from a preset: one click from Add > Crowd, and it moves."""

from __future__ import annotations

import bpy

from ...core.crowd import presets
from ...core.crowd.start import StartSettings
from ...core.errors import PresetError
from ..crowd import crowds
from ..making import starters
from .common import AddOperator, Returned, active_object, select_only


def agents_of(name: str) -> int:
    """How many agents a preset starts with; the usual number where it cannot be read."""
    try:
        return presets.load_preset(name, *crowds.user_preset_folders()).start.agents
    except PresetError:
        # making the crowd says what is wrong with the preset
        return StartSettings().agents


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
        name="Seed", description="Another seed gives other places and motion", default=0, min=0
    )
    obstacles: bpy.props.BoolProperty(
        name="Obstacles", description="Put a few things in the way", default=True
    )
    ground: bpy.props.BoolProperty(
        name="Ground", description="Add a level ground where walkers have none", default=True
    )
    bodies: bpy.props.BoolProperty(
        name="Bodies",
        description="Show agents as people and animals; cones are quicker to draw",
        default=True,
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: object) -> str:
        """Description of the preset."""
        name = getattr(properties, "preset", "")
        path = presets.find_presets(*crowds.user_preset_folders()).get(name)
        text = "" if path is None else presets.preset_card(path).description
        return text or "Add a crowd with all that it needs, and play"

    def draw(self, context: bpy.types.Context) -> None:
        """The numbers; the preset was chosen in the menu."""
        layout = self.layout
        layout.use_property_split = True
        for name in ("count", "seed", "obstacles", "ground", "bodies"):
            layout.prop(self, name)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Add it, and play where there is a window."""
        if not self.properties.is_property_set("count"):
            self.count = agents_of(self.preset)
        before = list(context.scene.objects)
        result = self.execute(context)
        if result == {"FINISHED"} and context.window is not None:
            _bring_into_view(context, before)
            if not context.screen.is_animation_playing:
                bpy.ops.screen.animation_play()
        return result

    def run(self, context: bpy.types.Context) -> str:
        """Make all of it, and go to the first frame."""
        wish = starters.Wish(
            self.preset, self.count, self.seed, self.obstacles, self.ground, self.bodies
        )
        scene = context.scene
        crowd = starters.start(scene, wish, active_object(context))
        select_only(context, crowd)
        scene.frame_set(scene.frame_start)
        placed = len(crowd.data.vertices)
        short = "" if placed == self.count else f", {placed} of {self.count} found room"
        return f"Added {crowd.name!r}{short}: change the numbers below, or in the Physics tab"


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


classes = (OBJECT_OT_steer_start,)
