"""What a panel says of a frame that is not simulated, or not up to date."""

from __future__ import annotations

import bpy

from ...core.diagnoses import Diagnosis, diagnose
from ..crowd.scene_time import frames_per_frame, moment


def outside(obj: bpy.types.Object, scene: bpy.types.Scene) -> Diagnosis | None:
    """Diagnosis of a scene that is where the crowd has no frames to simulate; None elsewhere."""
    number, start, end = moment(scene)[0], obj.steer.frame_start, obj.steer.frame_end
    early = number < start and scene.frame_end * frames_per_frame(scene) < start
    if not (early or number > end):
        return None
    return diagnose("OUTSIDE_RANGE", frame=number, start=start, end=end)


def nothing_simulated(obj: bpy.types.Object, scene: bpy.types.Scene) -> Diagnosis:
    """Diagnosis of a crowd without any simulated frame."""
    number, start = moment(scene)[0], obj.steer.frame_start
    found = outside(obj, scene)
    if found is None and number > start:
        found = diagnose("NOT_CAUGHT_UP", frame=number, start=start)
    return found or diagnose("NOT_SIMULATED", start=start)


def gap(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    wanted: int,
    shown: int,
    *,
    continues: bool,
    reason: Diagnosis | None,
) -> Diagnosis:
    """Diagnosis of a frame in whose place another one is shown, and where to play from.

    Args:
        obj: The crowd.
        scene: Its scene.
        wanted: The frame.
        shown: The one that is shown.
        continues: Whether playing can continue from that one.
        reason: What changed since it was simulated, if anything.
    """
    found = outside(obj, scene)
    if found is not None:
        return found
    values = {"frame": wanted, "shown": shown, "start": obj.steer.frame_start}
    # from the first frame it is the same
    continues = continues and shown > obj.steer.frame_start
    if reason is None:
        return diagnose("FRAME_AHEAD" if continues else "FRAME_MISSING", **values)
    return diagnose(
        "FRAME_AHEAD_OF_CHANGE" if continues else "FRAME_DROPPED", reason=reason, **values
    )
