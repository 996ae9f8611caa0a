"""Rigs as productions have them: root motion without standing, and more to come."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import making  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from tests.blender.test_heroes import assert_same_poses  # noqa: E402
from tests.blender.walking_rigs import add_gait, make_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

COARSE = Plan(tolerance=0.05, steps=24, ratio=2.5)


def make(rig, recipe):
    return making.make_character(bpy.context.scene, rig, recipe)


def test_without_standing_a_walk_with_root_motion_begins_where_it_stands():
    rig = make_rig()
    add_gait(rig, "Walk", 1.0, 24, bob=0.02, drift=1.0)
    add_gait(rig, "Wave", 0.0, 20, bob=0.2)
    made = make(rig, Recipe("", "Walk", clips=(("wave", "Wave"),), plan=COARSE))
    wave = made.space.clips[0]
    poses = made.space.positions[wave.first : wave.first + wave.count]
    assert np.ptp(poses[..., :2].mean(axis=1), axis=0).max() < 0.1
    assert_same_poses(made, 0.003)
