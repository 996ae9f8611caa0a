"""Rigs of all agents, where some of the agents are born in no frame of the bake."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import hero_motion, keyed_crowds  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402
from tests.blender.test_heroes_partly import crowd  # noqa: E402, F401

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


def frames_of(obj, dead):
    """Three frames of a crowd in which some agents are not born."""
    frames = list(simulate.run(obj, bpy.context.scene, range(1, 4), warnings=[]))
    for frame in frames:
        frame.alive[np.isin(frame.id, dead)] = 0
    return frames


def test_those_who_are_never_there_get_no_rig(crowd):  # noqa: F811
    crowd.steer.bake.bodies = "RIGS"
    # all others have the character that can be a rig
    frames = frames_of(crowd, [0, 2, 3, 4])
    keyed_crowds.bake_crowd(
        crowd, bpy.context.scene, lambda share: None, [], range(1, 4), frames=frames
    )
    made = crowd.steer.bake_collection.all_objects
    rigs = {item.name for item in made if item.type == "ARMATURE"}
    assert len(rigs) == 2 and {name.split()[0] for name in rigs} == {"Crowd.0001", "Crowd.0005"}


def test_one_of_them_who_is_picked_is_refused(crowd):  # noqa: F811
    frames = frames_of(crowd, [2])
    with pytest.raises(SceneError, match="Agent 2 of crowd 'Crowd' is dead at all frames"):
        hero_motion.Tracks(frames, [1, 2], "Crowd")


def test_nobody_at_all_is_refused(crowd):  # noqa: F811
    with pytest.raises(SceneError, match="Crowd 'Crowd' has no poses of characters"):
        hero_motion.Tracks(frames_of(crowd, range(6)), None, "Crowd")
