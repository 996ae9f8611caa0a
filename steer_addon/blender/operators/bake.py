"""Bake a crowd to keyed objects, take that back, and forget what was simulated live."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

from ...core.diagnoses import Diagnosis
from ..bake import keyframes, removal
from ..crowd import crowds
from ..crowd.properties import bake_settings_of
from ..display import display
from ..live import live, simulate
from ..suspension import suspended
from .common import SteerOperator, why_no_editable_crowd

if TYPE_CHECKING:
    from ...core.results.frames import Frame
    from ..bake import keyframes

Progress = Callable[[float], None]


def has_bake(obj: bpy.types.Object) -> bool:
    """Whether there is anything that `delete_bake` would take back."""
    steer = obj.steer
    return bool(steer.bake_collection or steer.hidden_by_bake or removal.find_bakes(obj.name))


def bake_crowd(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    progress: Progress,
    warnings: list[Diagnosis],
    frames: range | None = None,
) -> keyframes.BakeResult:
    """Simulate a crowd, bake it to keyed objects, and hide it.

    An earlier bake is replaced once the new one is complete.

    Args:
        obj: The crowd.
        scene: Its scene; the baked objects go there.
        progress: Is told the share done, 0 to 1.
        warnings: Filled with what the user may want to change about the scene.
        frames: Frames to bake; None takes the crowd's own. It is simulated from its start.

    Raises:
        SteerError: The crowd cannot be simulated or baked; then nothing has changed.
    """
    numbers = crowds.frame_numbers(obj) if frames is None else frames
    settings = bake_settings_of(obj)
    steer = obj.steer
    modifier = display.require_modifier(crowds.require_crowd(obj))
    simulated = _simulated(obj, scene, numbers, lambda share: progress(0.5 * share), warnings)

    def second_half(share: float) -> bool:
        progress(0.5 + 0.5 * share)
        return True

    with suspended():
        result = keyframes.bake(
            simulated,
            name=obj.name,
            collection_parent=scene.collection,
            settings=settings,
            source=steer.bake_source_object or steer.bake_source_collection,
            scale=display.get_input(modifier, "Scale"),
            replace=True,
            progress=second_half,
        )
    assert result is not None  # only a cancel gives None, and this progress never cancels
    # a crowd that was renamed since keeps its bake under the old name
    if steer.bake_collection is not None:
        removal.delete_bake(steer.bake_collection)
    steer.bake_collection = result.collection
    crowds.hide(obj)
    return result


def _simulated(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    numbers: range,
    progress: Progress,
    warnings: list[Diagnosis],
) -> list[Frame]:
    frames = []
    for frame in simulate.run(obj, scene, numbers, warnings=warnings):
        frames.append(frame)
        progress(len(frames) / len(numbers))
    return frames


def delete_bake(obj: bpy.types.Object) -> int:
    """Take a keyframe bake back and show the crowd again; returns the number of objects removed.

    Raises:
        SceneError: The bake is linked from another file.
    """
    collection = obj.steer.bake_collection
    found = [collection] if collection is not None else removal.find_bakes(obj.name)
    count = sum(map(removal.delete_bake, found))
    obj.steer.bake_collection = None
    crowds.unhide(obj)
    return count


class OBJECT_OT_steer_bake_keyframes(SteerOperator, bpy.types.Operator):
    """Simulate and make one object per agent with keys that play without Steer, hidden when gone"""

    bl_idname = "object.steer_bake_keyframes"
    bl_label = "Bake Keyframes"

    def run(self, context: bpy.types.Context) -> str:
        """Bake, with progress at the pointer."""
        manager = context.window_manager
        manager.progress_begin(0, 100)
        warnings: list[Diagnosis] = []
        try:
            result = bake_crowd(
                context.object,
                context.scene,
                lambda share: manager.progress_update(100 * share),
                warnings,
            )
        finally:
            manager.progress_end()
        for found in warnings:
            self.report({"WARNING"}, found.sentence)
        return (
            f"Baked {result.agent_count} agents: {result.key_count} keys in {result.seconds:.1f} s"
        )


class OBJECT_OT_steer_delete_bake(SteerOperator, bpy.types.Operator):
    """Remove the baked objects with their actions and show the crowd again"""

    bl_idname = "object.steer_delete_bake"
    bl_label = "Delete Bake"

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Only while there is a bake."""
        reason = why_no_editable_crowd(context)
        if not reason and not has_bake(context.object):
            reason = f"{context.object.name!r} has no keyframe bake"
        return reason

    def run(self, context: bpy.types.Context) -> str:
        """Take it back."""
        return f"Removed {delete_bake(context.object)} baked objects"


class OBJECT_OT_steer_clear_cache(SteerOperator, bpy.types.Operator):
    """Forget the simulated frames of the crowd; playing from its first frame simulates again"""

    bl_idname = "object.steer_clear_cache"
    bl_label = "Clear Simulated Frames"

    def run(self, context: bpy.types.Context) -> None:
        """Clear it."""
        live.clear(context.object)


classes = (
    OBJECT_OT_steer_bake_keyframes,
    OBJECT_OT_steer_delete_bake,
    OBJECT_OT_steer_clear_cache,
)
