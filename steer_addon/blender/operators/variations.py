"""Variations of a crowd: make them in the background, show one, keep one, delete them."""

from __future__ import annotations

import bpy

from ...core.errors import SteerError
from ..bake import places
from ..crowd.state import plays_back
from ..variations import current, made, running, showing
from .baking import NOT_BUSY
from .common import PolledOperator, Returned, SteerOperator, ask_first, counted


def why_no_place(context: bpy.types.Context) -> str:
    """Why variations have no place; empty when they have one."""
    return places.why_no_folder(context.object)


def why_running(context: bpy.types.Context) -> str:
    """Why no variations can be begun or changed now; empty when they can."""
    run = current.run()
    if run is None:
        return ""
    return f"Variations of {run.name!r} are being made: wait, or use Stop"


def why_not_running(context: bpy.types.Context) -> str:
    """Why there is nothing to stop; empty when there is."""
    return "" if current.run() is not None else "No variations are being made"


def why_none(context: bpy.types.Context) -> str:
    """Why the crowd has no variations; empty when it has some."""
    found, _ = made.seen(context.object)
    return "" if found else f"{context.object.name!r} has no variations: use Make Variations"


def why_whole(context: bpy.types.Context) -> str:
    """Why there is no rest to make; empty when there is one."""
    found, done = made.seen(context.object)
    if found and len(done) == len(found):
        return "All variations are made"
    return why_none(context)


def why_own(context: bpy.types.Context) -> str:
    """Why there is nothing to go back to; empty when there is."""
    obj = context.object
    return "" if obj.steer.variation else f"{obj.name!r} shows no variation: click one first"


def why_none_shown(context: bpy.types.Context) -> str:
    """Why the crowd shows no variation; empty when it plays one."""
    obj = context.object
    if obj.steer.variation and not plays_back(obj):
        return f"{obj.name!r} does not play its variation any more: click it again"
    return why_own(context)


class _Making(PolledOperator):
    """Base of what makes variations: in the background where there is a window, else in one go."""

    bl_options = {"REGISTER"}

    def seeds(self, context: bpy.types.Context) -> list[int]:
        """Get ready; returns the seeds of all variations."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> Returned:
        """Begin, and without a window end as well."""
        fault = ""
        try:
            run = running.begin(context.object, self.seeds(context))
            if bpy.app.background:
                fault = running.finish(run)
            else:
                current.in_background()
        except SteerError as error:
            fault = str(error)
        made.refresh(context.object)
        if fault:
            self.report({"ERROR"}, fault)
            return {"CANCELLED"}
        return {"FINISHED"}


class OBJECT_OT_steer_variations_make(_Making, bpy.types.Operator):
    """Bake the crowd by several seeds, in the background; those of before are deleted"""

    bl_idname = "object.steer_variations_make"
    bl_label = "Make Variations"
    needs = (*NOT_BUSY, why_running, why_no_place)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask first where variations of before are deleted."""
        _, done = made.seen(context.object)
        if not done:
            return self.execute(context)
        return _confirm_deletion(self, context, event, "Delete and Make")

    def seeds(self, context: bpy.types.Context) -> list[int]:
        """Delete those of before, and copy the file."""
        obj, told = context.object, context.object.steer.variations
        showing.delete(obj)
        running.copy_file(obj)
        return list(range(told.first_seed, told.first_seed + told.count))


class OBJECT_OT_steer_variations_continue(_Making, bpy.types.Operator):
    """Make the variations that are lacking, of the file as it was when they were begun"""

    bl_idname = "object.steer_variations_continue"
    bl_label = "Make the Rest of the Variations"
    needs = (*NOT_BUSY, why_running, why_no_place, why_whole)

    def seeds(self, context: bpy.types.Context) -> list[int]:
        """The seeds that were begun."""
        return [one.seed for one in made.variations_of(context.object)]


class OBJECT_OT_steer_variations_stop(PolledOperator, bpy.types.Operator):
    """Stop making variations; those that are made stay"""

    bl_idname = "object.steer_variations_stop"
    bl_label = "Stop Making Variations"
    bl_options = {"REGISTER"}
    needs = (why_not_running,)

    def execute(self, context: bpy.types.Context) -> Returned:
        """Stop."""
        current.stop()
        return {"FINISHED"}


class OBJECT_OT_steer_variation_show(SteerOperator, bpy.types.Operator):
    """Play this variation in place of what the crowd showed before"""

    bl_idname = "object.steer_variation_show"
    bl_label = "Show Variation"
    needs = NOT_BUSY

    number: bpy.props.IntProperty(name="Number", description="Number of the variation", min=1)

    def run(self, context: bpy.types.Context) -> str:
        """Show it."""
        obj = context.object
        one = showing.show(obj, self.number)
        return f"{obj.name!r} shows variation {self.number}, seed {one.seed}"


class OBJECT_OT_steer_variation_back(SteerOperator, bpy.types.Operator):
    """Go back to the seed and the bake that the crowd had before it showed a variation"""

    bl_idname = "object.steer_variation_back"
    bl_label = "Back from Crowd Variation"
    needs = (*NOT_BUSY, why_own)

    def run(self, context: bpy.types.Context) -> None:
        """Go back."""
        showing.go_back(context.object)


class OBJECT_OT_steer_variation_keep(SteerOperator, bpy.types.Operator):
    """Make the variation that is shown the bake of the crowd; the others stay"""

    bl_idname = "object.steer_variation_keep"
    bl_label = "Keep Crowd Variation"
    needs = (*NOT_BUSY, why_running, why_none_shown, why_no_place)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask first where a bake is replaced."""
        own = showing.own_bake(context.object)
        if own is None:
            return self.execute(context)
        message = f"The bake in {own} is deleted. Undo does not bring it back."
        return ask_first(self, context, event, message, "Replace")

    def run(self, context: bpy.types.Context) -> str:
        """Keep it."""
        obj = context.object
        number = obj.steer.variation
        showing.keep(obj)
        made.refresh(obj)
        return f"Variation {number} is the bake of {obj.name!r} now, seed {obj.steer.seed}"


class OBJECT_OT_steer_variations_delete(SteerOperator, bpy.types.Operator):
    """Remove all variations with their files, and go back to what the crowd showed before"""

    bl_idname = "object.steer_variations_delete"
    bl_label = "Delete Variations"
    needs = (*NOT_BUSY, why_running, why_none)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask first: files cannot be brought back by undo."""
        return _confirm_deletion(self, context, event, "Delete")

    def run(self, context: bpy.types.Context) -> str:
        """Delete them."""
        obj = context.object
        count = len(made.variations_of(obj))
        showing.delete(obj)
        return f"Removed {counted(count, 'variation')} of {obj.name!r}"


def _confirm_deletion(
    operator: bpy.types.Operator,
    context: bpy.types.Context,
    event: bpy.types.Event,
    button: str,
) -> Returned:
    found, _ = made.seen(context.object)
    message = (
        f"This deletes {counted(len(found), 'variation')} in {made.folder_of(context.object)}, "
        "which undo does not bring back. What was kept stays."
    )
    return ask_first(operator, context, event, message, button)


classes = (
    OBJECT_OT_steer_variations_make,
    OBJECT_OT_steer_variations_continue,
    OBJECT_OT_steer_variations_stop,
    OBJECT_OT_steer_variation_show,
    OBJECT_OT_steer_variation_back,
    OBJECT_OT_steer_variation_keep,
    OBJECT_OT_steer_variations_delete,
)
