"""Buttons beside warnings: they add missing objects, clear lost ones, play from the start."""

import bpy

from ...core.errors import SceneError
from ..checks import advice, collider_checks, obstructions
from ..crowd.links import linked_crowds
from ..crowd.scene_time import scene_moment
from ..display import display, rigs
from ..making import input_makers
from .common import (
    SteerOperator,
    active_object,
    counted,
    why_no_crowd,
    why_no_editable_crowd,
    why_not_object_mode,
)


class OBJECT_OT_steer_add_input(SteerOperator, bpy.types.Operator):
    """Add what the behavior lacks beside the crowd, and choose it"""

    bl_idname = "object.steer_add_input"
    bl_label = "Add Input"
    needs = (why_no_editable_crowd, why_not_object_mode)

    role: bpy.props.EnumProperty(
        name="Role",
        description="What is added",
        items=(
            ("TARGET", "Target", "An empty that agents steer by"),
            ("SECOND_TARGET", "Second Target", "An empty that agents get between"),
            ("SOURCE", "Path, Field or Container", "A curve around the crowd, or a box around it"),
            ("BIRTHS", "Source of Births", "A square behind the crowd, on which agents are born"),
        ),
    )
    entry: bpy.props.StringProperty(
        name="Behavior", description="Name of the behavior; empty for the crowd's own target"
    )

    def run(self, context: bpy.types.Context) -> str:
        """Make it, and keep the crowd active."""
        obj = context.object
        made = input_makers.add_input(obj, context.scene, self.role, self.entry)
        return f"Added {made.name!r}: move it to where it should be"


class OBJECT_OT_steer_make_colliders(SteerOperator, bpy.types.Operator):
    """Put the meshes that stand in the way of the crowd into its collection of colliders"""

    bl_idname = "object.steer_make_colliders"
    bl_label = "Make Colliders"
    needs = (why_no_editable_crowd, why_not_object_mode)

    def run(self, context: bpy.types.Context) -> str:
        """Link them, into a new collection where the crowd has none."""
        obj, depsgraph = context.object, context.evaluated_depsgraph_get()
        found = obstructions.in_the_way(obj, depsgraph)
        if not found:
            raise SceneError(f"Nothing stands in the way of crowd {obj.name!r}")
        made = input_makers.add_colliders(obj, context.scene, found)
        context.view_layer.update()
        collider_checks.check_colliders(obj, depsgraph)
        return f"Added {counted(len(found), 'collider')} to {made.name!r}"


def why_none_lost(context: bpy.types.Context) -> str:
    """Why no field has to be cleared; empty when one has."""
    return "" if any(advice.lost_objects(context.object)) else "No input of the crowd was deleted"


class OBJECT_OT_steer_clear_lost(SteerOperator, bpy.types.Operator):
    """Clear the fields that name an object which was deleted"""

    bl_idname = "object.steer_clear_lost"
    bl_label = "Clear Deleted Inputs"
    needs = (why_no_editable_crowd, why_none_lost)

    name: bpy.props.StringProperty(
        name="Object", description="Name of the deleted object; empty means all"
    )

    def run(self, context: bpy.types.Context) -> None:
        """Clear them."""
        for _, owner, prop in list(advice.lost_objects(context.object)):
            if self.name in ("", getattr(owner, prop).name):
                setattr(owner, prop, None)


def _body(obj: bpy.types.Object) -> bpy.types.Object | None:
    try:
        modifier = display.require_modifier(obj)
        is_object = display.get_input(modifier, "Display") == "Object"
        return display.get_input(modifier, "Object") if is_object else None
    except SceneError:
        return None


def why_body_not_enabled(context: bpy.types.Context) -> str:
    """Why the shown object cannot be enabled; empty when it can."""
    body = _body(context.object)
    if body is None or not body.hide_viewport:
        return "The agents are seen already"
    if body.library is not None:
        return f"{body.name!r} is linked from another file: enable it there"
    return ""


class OBJECT_OT_steer_show_body(SteerOperator, bpy.types.Operator):
    """Enable the object that agents are shown as in viewports, and hide it with the eye instead"""

    bl_idname = "object.steer_show_body"
    bl_label = "Enable Shown Object"
    needs = (why_no_editable_crowd, why_body_not_enabled)

    def run(self, context: bpy.types.Context) -> None:
        """Instances of an object that the eye hides are seen, of one that is disabled not."""
        body = _body(context.object)
        assert body is not None  # the poll has asked
        body.hide_viewport = False
        if body.name in context.view_layer.objects:
            body.hide_set(True)


def why_no_rig(context: bpy.types.Context) -> str:
    """Why there is no rig to replace by meshes; empty when there is one."""
    try:
        shown = display.shown_body(display.require_modifier(context.object))
    except SceneError as error:
        return str(error)
    return "" if rigs.rig_of(shown) else "No armature is among what agents are shown as"


class OBJECT_OT_steer_show_meshes(SteerOperator, bpy.types.Operator):
    """Show agents as the meshes that the armature deforms, each agent as one whole body"""

    bl_idname = "object.steer_show_meshes"
    bl_label = "Show the Meshes"
    needs = (why_no_editable_crowd, why_no_rig)

    def run(self, context: bpy.types.Context) -> str:
        """Choose them."""
        shown = rigs.show_meshes(display.require_modifier(context.object))
        return f"Agents are shown as {shown.name!r}"


class OBJECT_OT_steer_scene_range(SteerOperator, bpy.types.Operator):
    """Simulate the crowd over the frames of the scene"""

    bl_idname = "object.steer_scene_range"
    bl_label = "Use the Scene's Range"

    def run(self, context: bpy.types.Context) -> None:
        """Take first and last frame over."""
        steer, scene = context.object.steer, context.scene
        steer.frame_start, steer.frame_end = scene.frame_start, scene.frame_end


class OBJECT_OT_steer_play(SteerOperator, bpy.types.Operator):
    """Go to the first frame of the crowd and play: changes are then simulated"""

    bl_idname = "object.steer_play"
    bl_label = "Play from Start"
    bl_options = {"REGISTER"}
    # linked crowds play too
    needs = (why_no_crowd,)

    def run(self, context: bpy.types.Context) -> None:
        """Crowds that it steers by may begin earlier."""
        start = min(crowd.steer.frame_start for crowd in linked_crowds(context.object))
        context.scene.frame_set(scene_moment(context.scene, start)[0])
        if context.window is not None and not context.screen.is_animation_playing:
            bpy.ops.screen.animation_play()


class OBJECT_OT_steer_select_input(SteerOperator, bpy.types.Operator):
    """Select the object that the warning is about, and make it active"""

    bl_idname = "object.steer_select_input"
    bl_label = "Select Input"
    needs = (why_no_crowd, why_not_object_mode)

    name: bpy.props.StringProperty(name="Object", description="Name of the object to select")

    def run(self, context: bpy.types.Context) -> None:
        """Select it where this view layer has it."""
        obj = context.view_layer.objects.get(self.name)
        if obj is None:
            raise SceneError(
                f"{self.name!r} is not in this view layer: enable its collection in the Outliner"
            )
        if not obj.visible_get():
            raise SceneError(f"{self.name!r} is hidden: show it first (Alt H in the 3D View)")
        before = active_object(context)
        if before is not None:
            before.select_set(False)
        obj.select_set(True)
        context.view_layer.objects.active = obj


classes = (
    OBJECT_OT_steer_add_input,
    OBJECT_OT_steer_make_colliders,
    OBJECT_OT_steer_clear_lost,
    OBJECT_OT_steer_show_body,
    OBJECT_OT_steer_show_meshes,
    OBJECT_OT_steer_scene_range,
    OBJECT_OT_steer_play,
    OBJECT_OT_steer_select_input,
)
