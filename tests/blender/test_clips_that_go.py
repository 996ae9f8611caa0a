"""Clips of actions with root motion: they are played in place, and go round and round."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import making, rigs  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from tests.blender.test_heroes import assert_same_poses  # noqa: E402
from tests.blender.walking_rigs import add_gait, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
PLAN = Plan(tolerance=0.02, steps=24, ratio=2.0)


def clip_of(rig, action, **options):
    recipe = making.Recipe("Idle", "Walk", clips=(("go", action.name),), plan=PLAN, **options)
    made = making.make_character(bpy.context.scene, rig, recipe)
    return made, made.space.clips[0]


def marching(drift):
    rig = walking_rig()
    return rig, add_gait(rig, "March", 1.0, 24, drift=drift)


def heads_of(made, row):
    """Where the highest vertex is in the poses of a row, seen from above [m]."""
    poses = made.space.positions[row.first : row.first + row.count]
    return poses[:, poses[0, :, 2].argmax(), :2]


@pytest.mark.parametrize("options", [{}, {"once": ("go",)}])
def test_a_clip_with_root_motion_stays_in_place(options):
    made, row = clip_of(*marching(2.0), **options)
    assert row.goes_round == (not options)
    assert np.ptp(heads_of(made, row), axis=0).max() < 0.05


def test_its_hero_stays_in_place_too():
    made, _row = clip_of(*marching(2.0))
    assert_same_poses(made, 0.005)


def test_a_clip_that_ends_in_another_pose_goes_where_its_action_does():
    rig, action = marching(2.0)
    for curve in rigs.curves(action):
        if "head" in curve.data_path and curve.array_index == 1:
            curve.keyframe_points[-1].co.y -= 0.5
    made, row = clip_of(rig, action)
    assert not row.goes_round and np.ptp(heads_of(made, row), axis=0).max() > 0.5


def test_an_action_that_climbs_does_not_go_on():
    rig, action = marching(0.0)
    assert rigs.loops(rig, action)
    up = next(c for c in rigs.curves(action) if "root" in c.data_path and c.array_index == 1)
    for point in up.keyframe_points:
        point.co.y = 0.05 * point.co.x
    assert not rigs.loops(rig, action)
