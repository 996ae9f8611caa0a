"""Heroes: agents become real rigs, and instances again."""

from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...core.errors import SceneError
from ..bake import hero_age, hero_motion, heroes
from ..bake.hero_parts import Parts
from ..crowd import casting, hero_table
from ..crowd.crowds import is_crowd, why_not_editable
from ..display import display
from ..overlay import answers, seen, strokes
from ..scene_units import units_per_meter
from .common import (
    Returned,
    SteerOperator,
    active_object,
    counted,
    pointer_progress,
    why_no_editable_crowd,
    why_not_object_mode,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...core.results.frames import Frame

_BODY = 1.6
"""Height above an agent's place at which it is in view as well as there [m]."""
_NAMED = 5


def why_no_characters(context: bpy.types.Context) -> str:
    """Why the crowd has no characters that could be rigs; empty when it has."""
    obj = context.object
    modifier = display.find_modifier(obj)
    try:
        if modifier is not None and casting.characters_of(modifier):
            return ""
    except SceneError as error:
        return str(error)
    return f"{obj.name!r} shows no characters: choose Character or Characters under Display"


def why_keyed(context: bpy.types.Context) -> str:
    """Why a crowd that keyed objects stand for has no agents to promote; empty for others."""
    return hero_motion.why_keyed(context.object)


def _crowd_of_heroes(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active crowd, or that of the active hero."""
    obj = active_object(context)
    return None if obj is None else heroes.owner_of(obj) or obj


def why_no_heroes(context: bpy.types.Context) -> str:
    """Why there are no heroes to demote; empty when there are."""
    obj = _crowd_of_heroes(context)
    if obj is None or not is_crowd(obj):
        return "Select a crowd, or one of its heroes"
    if why_not_editable(obj):
        return why_not_editable(obj)
    return "" if hero_table.table_of(obj) else f"{obj.name!r} has no heroes"


class OBJECT_OT_steer_promote(SteerOperator, bpy.types.Operator):
    """Make real rigs of agents of the crowd, keyed to go where they go, in place of instances"""

    bl_idname = "object.steer_promote"
    bl_label = "Promote Agents"
    needs = (why_no_editable_crowd, why_not_object_mode, why_no_characters, why_keyed)

    which: bpy.props.EnumProperty(
        name="Agents",
        description="Which agents become rigs",
        items=(
            ("PICKED", "Picked", "Those that Debug > Pick Agent has chosen"),
            ("IN_VIEW", "In View", "Those that the active camera sees at this frame"),
            ("WITHIN", "Within Distance", "Those near the active camera at this frame"),
        ),
        default="PICKED",
    )
    distance: bpy.props.FloatProperty(
        name="Distance",
        description="Distance from the active camera within which agents become rigs",
        default=10.0,
        min=0.0,
        soft_max=100.0,
        unit="LENGTH",
    )
    limit: bpy.props.IntProperty(
        name="Limit",
        description="Most agents that become rigs, the nearest ones first; 100 rigs of 60 bones "
        "play at 18 frames a second",
        default=50,
        min=1,
        soft_max=200,
        max=2000,
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Ask which agents; those that are picked, if there are some."""
        if not self.properties.is_property_set("which"):
            picked = answers.crowd_of(context.scene) == context.object
            picked = picked and bool(answers.chosen_ids(context.scene))
            self.which = "PICKED" if picked else "IN_VIEW"
        result: Returned = context.window_manager.invoke_props_dialog(self)
        return result

    def draw(self, context: bpy.types.Context) -> None:
        """Only what counts."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "which")
        if self.which == "WITHIN":
            layout.prop(self, "distance")
        layout.prop(self, "limit")

    def run(self, context: bpy.types.Context) -> str:
        """Promote them."""
        obj, scene = context.object, context.scene
        if self.which == "PICKED":
            ids = answers.chosen_ids(scene) if answers.crowd_of(scene) == obj else []
            if not ids:
                raise SceneError(
                    f"No agent of {obj.name!r} is picked: use Debug > Pick Agent and click some, "
                    "or choose In View"
                )
        else:
            ids = self._near(context)
        found = len(ids)
        ids = ids[: self.limit]
        with pointer_progress(context) as progress:
            result = heroes.promote(obj, scene, ids, progress)
        self.warn(result.warnings)
        self.in_vain = not result.done
        return _promoted(len(result.done), len(result.kept), found - len(ids))

    def _near(self, context: bpy.types.Context) -> list[int]:
        """Ids of the agents that are asked for, the nearest one first."""
        obj, scene = context.object, context.scene
        camera = scene.camera
        if camera is None:
            raise SceneError("The scene has no camera: add one, or choose Picked")
        frame = seen.seen_frame(obj, scene)
        if frame is None:
            raise SceneError(f"{obj.name!r} shows no frame: play it, or bake it first")
        alive = np.flatnonzero(frame.alive)
        place = np.array(camera.matrix_world.translation)
        away = np.linalg.norm(frame.position[alive] - place, axis=1)
        if self.which == "IN_VIEW":
            near = _in_view(context, frame, alive)
        else:
            near = away <= self.distance
        if not near.any():
            what = "sees no agent" if self.which == "IN_VIEW" else "has no agent so near"
            raise SceneError(
                f"Camera {camera.name!r} {what} of {obj.name!r} at frame {scene.frame_current}: go "
                "to another frame, or choose other agents"
            )
        order = np.argsort(away[near], kind="stable")
        ids: list[int] = frame.id[alive[near]][order].tolist()
        return ids


def _promoted(new: int, before: int, left_out: int) -> str:
    """The message on new heroes, on those that were heroes before, and on those left out."""
    told = [f"Promoted {counted(new, 'agent')}"] if new else []
    if before:
        number = (
            f"{before}" if new else f"All {counted(before, 'agent')}" if before > 1 else "The agent"
        )
        told.append(f"{number} {'was a hero' if before == 1 else 'were heroes'} before")
    if left_out:
        told.append(f"Limit left out {left_out}: raise it to promote more")
    return ". ".join(told)


def _stay(ids: list[int]) -> str:
    """A sentence begins with heroes that are left as they are."""
    names = ", ".join(map(str, ids[:_NAMED]))
    more = " and more" if len(ids) > _NAMED else ""
    if len(ids) == 1:
        return f"Hero {names} was changed by hand and stays"
    return f"Heroes {names}{more} were changed by hand and stay"


def _in_view(
    context: bpy.types.Context, frame: "Frame", rows: "NDArray[np.intp]"
) -> "NDArray[np.bool_]":
    """Which agents the active camera sees: their places, or their heads."""
    camera, render = context.scene.camera, context.scene.render
    assert camera is not None  # asked before
    share = render.resolution_percentage / 100.0
    lens = camera.calc_matrix_camera(
        context.evaluated_depsgraph_get(),
        x=int(render.resolution_x * share),
        y=int(render.resolution_y * share),
        scale_x=render.pixel_aspect_x,
        scale_y=render.pixel_aspect_y,
    )
    matrix = np.array(lens @ camera.matrix_world.normalized().inverted())
    found = np.zeros(len(rows), np.bool_)
    for height in (0.0, _BODY * units_per_meter(context.scene)):
        points = frame.position[rows] + np.array([0.0, 0.0, height], np.float32)
        x, y, _, w = strokes.clip_space(points, matrix)
        found |= (w > 0.0) & (np.abs(x) <= w) & (np.abs(y) <= w)
    return found


class OBJECT_OT_steer_demote(SteerOperator, bpy.types.Operator):
    """Remove the rigs that Promote Agents made, and show their agents as instances again"""

    bl_idname = "object.steer_demote"
    bl_label = "Demote Heroes"
    needs = (why_not_object_mode, why_no_heroes)

    which: bpy.props.EnumProperty(
        name="Heroes",
        description="Which rigs are removed",
        items=(
            ("ALL", "All", "All heroes of the crowd"),
            ("PICKED", "Picked", "Those whose agents are picked, and those that are selected"),
            (
                "LOST",
                "Without Rig",
                "Hidden agents whose rigs were deleted, or are another crowd's",
            ),
        ),
        default="ALL",
        options={"SKIP_SAVE"},
    )
    edited: bpy.props.BoolProperty(
        name="Edited Too",
        description="Also remove rigs that were changed by hand; the file keeps actions that were "
        "made for them",
        default=False,
        options={"SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> Returned:
        """Demote those that are selected, where the active object is one of them."""
        chosen = self.properties.is_property_set("which")
        if not chosen and context.object != _crowd_of_heroes(context):
            self.which = "PICKED"
        return super().execute(context)

    def run(self, context: bpy.types.Context) -> str:
        """Demote them."""
        obj, ids = _crowd_of_heroes(context), None
        assert obj is not None  # polled before
        if self.which == "LOST":
            ids = heroes.lost(obj)
            if not ids:
                raise SceneError(f"No hero of {obj.name!r} lacks its rig: choose All or Picked")
        if self.which == "PICKED":
            own = answers.crowd_of(context.scene) == obj
            picked = set(answers.chosen_ids(context.scene) if own else [])
            carriers = heroes.carriers(obj)
            parts = Parts(carriers.values())
            for number, carrier in carriers.items():
                if any(part.select_get() for part in parts.of(carrier)):
                    picked.add(number)
            ids = picked & {*heroes.hidden(obj), *carriers}
            if not ids:
                raise SceneError(
                    f"No hero of {obj.name!r} is selected or picked: select one, or choose All"
                )
        result = heroes.demote(obj, ids, edited=self.edited)
        if result.kept:
            way_out = "choose Edited Too in Adjust Last Operation (F9) to remove"
            them = "it" if len(result.kept) == 1 else "them"
            self.report({"WARNING"}, f"{_stay(result.kept)}: {way_out} {them}")
        count = len(result.done)
        if not count:
            return ""
        return (
            f"{counted(count, 'agent')} {'is an instance' if count == 1 else 'are instances'} again"
        )


class OBJECT_OT_steer_promote_again(SteerOperator, bpy.types.Operator):
    """Make heroes again that show an earlier simulation of a live crowd, but for edited ones"""

    bl_idname = "object.steer_promote_again"
    bl_label = "Promote Heroes Again"
    needs = (why_not_object_mode, why_no_heroes)

    def run(self, context: bpy.types.Context) -> str:
        """Demote and promote them."""
        obj = _crowd_of_heroes(context)
        assert obj is not None  # polled before
        hero_age.refresh(obj)
        old = len(heroes.outdated(obj, context.scene))
        self.in_vain = not old
        if not old:
            return "All heroes are up to date"
        with pointer_progress(context) as progress:
            result = heroes.renew(obj, context.scene, progress)
        self.warn(result.warnings)
        if result.kept:
            self.report({"WARNING"}, f"{_stay(result.kept)} as before")
        gone = old - len(result.done) - len(result.kept) - len(result.lacking)
        told = f"Promoted {counted(len(result.done), 'agent')} again"
        if not gone:
            return told
        return f"{told}. {counted(gone, 'agent')} {'is' if gone == 1 else 'are'} not there any more"


classes = (OBJECT_OT_steer_promote, OBJECT_OT_steer_promote_again, OBJECT_OT_steer_demote)
