"""Make characters: bodies that crowds show, of rigs and their actions."""

from typing import TYPE_CHECKING

import bpy

from ...core.characters import rows
from ..characters import making, rigs
from ..crowd.scene_units import units_per_meter
from .common import SteerOperator, active_object, pointer_progress, why_not_object_mode

if TYPE_CHECKING:
    from .common import Returned

_ROLES = ("stand", "walk", "run")


def why_no_rig(context: bpy.types.Context) -> str:
    """Why no character can be made of the active object; empty when one can."""
    obj = active_object(context)
    if obj is None:
        return "Select an armature, or the object above all others that move"
    if obj.type not in ("ARMATURE", "MESH", "EMPTY"):
        return f"{obj.name!r} is no armature, mesh or empty: select the rig of the character"
    return ""


class OBJECT_OT_steer_make_character(SteerOperator, bpy.types.Operator):
    """Sample the active rig's actions to a character that crowds can show by the thousands"""

    bl_idname = "object.steer_make_character"
    bl_label = "Make Character"
    needs = (why_not_object_mode, why_no_rig)

    stand_action: bpy.props.StringProperty(
        name="Stand",
        description="Action that shows standing; without one a pose of the walk is held",
        options={"SKIP_SAVE"},
    )
    walk_action: bpy.props.StringProperty(
        name="Walk",
        description="Action that shows one cycle of walking: a step of each foot",
        options={"SKIP_SAVE"},
    )
    run_action: bpy.props.StringProperty(
        name="Run",
        description="Action that shows one cycle of running; without one, the character walks only",
        options={"SKIP_SAVE"},
    )
    clips: bpy.props.StringProperty(
        name="Clips",
        description="Further actions, separated by commas; NAME=ACTION gives one another name",
        options={"SKIP_SAVE"},
    )
    stride: bpy.props.FloatProperty(
        name="Stride",
        description="Way of one cycle of walking; 0 measures it from the planted feet",
        default=0.0,
        min=0.0,
        soft_max=5.0,
        unit="LENGTH",
        options={"SKIP_SAVE"},
    )
    way_per_pose: bpy.props.FloatProperty(
        name="Way per Pose",
        description="Ground distance between two poses; planted feet slip less with a smaller one, "
        "and poses take more memory",
        default=0.005,
        min=0.001,
        soft_max=0.05,
        precision=4,
        unit="LENGTH",
    )
    faces: bpy.props.FloatProperty(
        name="Faces",
        description="Share of the faces that is kept; less takes less memory",
        default=1.0,
        min=0.01,
        max=1.0,
        subtype="FACTOR",
    )
    frame_start: bpy.props.IntProperty(
        name="Frame Start", description="First frame of one cycle", default=1
    )
    frame_end: bpy.props.IntProperty(
        name="End", description="Last frame of one cycle, which shows the first pose", default=24
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "Returned":
        """Guess what the actions show, and let the user correct it."""
        rig = context.object
        if rig.type == "ARMATURE":
            for role, name in rigs.guess_roles(rig).items():
                if not self.properties.is_property_set(f"{role}_action"):
                    setattr(self, f"{role}_action", name)
        result: Returned = context.window_manager.invoke_props_dialog(self, width=400)
        return result

    def draw(self, context: bpy.types.Context) -> None:
        """Actions for armatures, frames for everything else."""
        layout = self.layout
        layout.use_property_split = True
        if context.object is not None and context.object.type == "ARMATURE":
            for role in _ROLES:
                layout.prop_search(self, f"{role}_action", bpy.data, "actions")
            layout.prop(self, "clips")
        else:
            column = layout.column(align=True)
            column.prop(self, "frame_start")
            column.prop(self, "frame_end")
        for name in ("stride", "way_per_pose", "faces"):
            layout.prop(self, name)

    def execute(self, context: bpy.types.Context) -> "Returned":
        """Guess what the actions show where a script gives none of them, then run."""
        rig = context.object
        names = [f"{role}_action" for role in _ROLES]
        if rig.type == "ARMATURE" and not any(map(self.properties.is_property_set, names)):
            for role, name in rigs.guess_roles(rig).items():
                setattr(self, f"{role}_action", name)
        return super().execute(context)

    def run(self, context: bpy.types.Context) -> str:
        """Make the character; the rig stays selected."""
        unit = units_per_meter(context.scene)
        plan = rows.Plan(
            tolerance=self.way_per_pose, stride=self.stride / unit if self.stride > 0.0 else None
        )
        posed = context.object.type == "ARMATURE"
        recipe = making.Recipe(
            stand=self.stand_action if posed else "",
            walk=self.walk_action if posed else "",
            run=self.run_action if posed else "",
            clips=tuple(map(_clip, filter(None, map(str.strip, self.clips.split(","))))),
            plan=plan,
            faces=self.faces,
            frames=(self.frame_start, self.frame_end),
        )
        with pointer_progress(context) as report:
            made = making.make_character(context.scene, context.object, recipe, report)
        return (
            f"Made {made.character.name!r} with {len(made.space.gaits)} gaits and "
            f"{len(made.space.clips)} clips: {made.memory}"
        )


def _clip(text: str) -> tuple[str, str]:
    """The name of a clip and its action."""
    name, equals, action = text.partition("=")
    return name.strip(), action.strip() if equals else name.strip()


classes = (OBJECT_OT_steer_make_character,)
