"""Actions that were cut from one session: they lie and face elsewhere, or go along a curve."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Matrix  # noqa: E402

from steer_addon.blender.characters import making  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from tests.blender.test_heroes import assert_same_poses, character_of  # noqa: E402
from tests.blender.walking_rigs import add_gait, make_rig, walking_rig  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

RECIPE = Recipe("Idle", "Walk", "Run", plan=Plan(tolerance=0.05, steps=24, ratio=2.5))


def make(rig, recipe=RECIPE):
    return making.make_character(bpy.context.scene, rig, recipe).space


def move_root(rig, name, matrix_at):
    """Let the root bone of an action be moved, in the space of the rig."""
    action = bpy.data.actions[name]
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    first, last = action.frame_range
    bone, rest = rig.pose.bones["root"], rig.data.bones["root"].matrix_local
    curves = {c.array_index: c for c in bag.fcurves if c.data_path.startswith(bone.path_from_id())}
    rows = []
    for frame in np.arange(first, last + 1.0):
        place = [curves[i].evaluate(frame) for i in range(3)]
        moved = matrix_at((frame - first) / (last - first)) @ rest @ Matrix.Translation(place)
        location, rotation, _scale = (rest.inverted() @ moved).decompose()
        rows.append((frame, location, rotation))
    for curve in curves.values():
        bag.fcurves.remove(curve)
    for path, number in (("location", 1), ("rotation_quaternion", 2)):
        for index in range(number + 2):
            curve = bag.fcurves.new(f"{bone.path_from_id()}.{path}", index=index)
            for row in rows:
                curve.keyframe_points.insert(row[0], row[number][index]).interpolation = "LINEAR"
    rig.pose.bones["root"].rotation_mode = "QUATERNION"


def away(degrees, way):
    turn = Matrix.Rotation(math.radians(degrees), 4, "Z")
    return lambda time: Matrix.Translation(way) @ turn


@pytest.mark.parametrize("degrees", often([0.0, 90.0, -150.0], -150.0))
def test_actions_that_lie_and_face_elsewhere_are_blended_as_those_that_do_not(degrees):
    rig = walking_rig()
    add_gait(rig, "Wave", 0.0, 20, bob=0.2)
    recipe = replace(RECIPE, clips=(("wave", "Wave"),))
    expected = make(rig, recipe)
    move_root(rig, "Idle", away(degrees, (3.0, -2.0, 0.0)))
    move_root(rig, "Run", away(-degrees, (0.0, 5.0, 0.0)))
    move_root(rig, "Wave", away(100.0, (-4.0, 1.0, 0.0)))
    found = make(rig, recipe)
    assert [row.name for row in found.gaits] == [row.name for row in expected.gaits]
    for row, other in zip(found.rows, expected.rows, strict=True):
        assert row.stride == pytest.approx(other.stride, rel=0.02, abs=1e-3), row.name
        for part in (0.0, 0.5):
            pose = found.positions[row.first + int(part * row.count)]
            wanted = expected.positions[other.first + int(part * other.count)]
            np.testing.assert_allclose(pose, wanted, atol=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("degrees", often([20.0, -45.0], -45.0))
def test_a_walk_along_a_curve_becomes_one_that_goes_straight(degrees):
    rig = walking_rig()
    recipe = replace(RECIPE, run="")
    expected = make(rig, recipe)
    spin = math.radians(degrees)
    middle = Matrix.Translation((1.0 / spin, 0.0, 0.0))

    def along(time):
        # the rig faces -y: to the left is its x
        return middle @ Matrix.Rotation(spin * time, 4, "Z") @ middle.inverted()

    move_root(rig, "Walk", along)
    found = make(rig, recipe)
    walks = [next(row for row in space.gaits if row.name == "walk") for space in (found, expected)]
    assert walks[0].stride == pytest.approx(1.0, rel=0.05)
    for part in (0.0, 0.25, 0.5, 0.75):
        poses = [
            space.positions[row.first + int(part * row.count)]
            for space, row in zip((found, expected), walks, strict=True)
        ]
        np.testing.assert_allclose(*poses, atol=0.06)


@pytest.mark.slow
def test_heroes_play_actions_that_lie_and_face_elsewhere():
    rig = walking_rig()
    add_gait(rig, "Wave", 0.3, 20, bob=0.2)
    move_root(rig, "Idle", away(120.0, (3.0, -2.0, 0.0)))
    move_root(rig, "Run", away(-90.0, (0.0, 5.0, 0.0)))
    move_root(rig, "Wave", away(70.0, (-4.0, 1.0, 0.0)))
    rig.location, rig.rotation_euler = (3.0, 1.0, 0.5), (0.0, 0.0, 0.7)
    bpy.context.view_layer.update()
    before = {action.name for action in bpy.data.actions}
    assert_same_poses(character_of(rig, (("wave", "Wave"),)), 0.004)
    assert before <= {action.name for action in bpy.data.actions}


def rounds_rig(walk, run, drift=0.0):
    """A rig whose walk and run have several cycles."""
    rig = make_rig()
    add_gait(rig, "Idle", 0.0, 24, bob=0.01)
    add_gait(rig, "Walk", 1.0, 24, bob=0.02, drift=drift, rounds=walk)
    add_gait(rig, "Run", 2.0, 16, bob=0.04, drift=2.0 * drift, rounds=run)
    return rig


@pytest.mark.slow
@pytest.mark.parametrize(
    ("walk", "run", "drift"),
    often([(2, 1, 0.0), (3, 2, 0.0), (2, 1, 1.0)], (3, 2, 0.0), (2, 1, 1.0)),
)
def test_takes_of_several_cycles_are_blended_as_those_of_one(walk, run, drift):
    # what is measured of a cycle depends on where its samples lie
    recipe = replace(RECIPE, plan=replace(RECIPE.plan, steps=48))
    expected = make(rounds_rig(1, 1, drift), recipe)
    bpy.ops.wm.read_homefile(use_empty=True)
    space = make(rounds_rig(walk, run, drift), recipe)
    assert [row.name for row in space.gaits] == [row.name for row in expected.gaits]
    for row, other in zip(space.gaits, expected.gaits, strict=True):
        # first steps are short, and may begin with another foot
        assert row.stride == pytest.approx(other.stride, rel=0.08 if row.from_stand else 0.02)
        assert row.speed == pytest.approx(other.speed, rel=0.02)
        assert row.count == other.count
        poses, others = (s.positions[r.first : r.first + r.count] for s, r in
                         ((space, row), (expected, other)))  # fmt: skip
        # later cycles lift the feet less, by 2 cm: their end leads to the start
        assert np.linalg.norm(poses - others, axis=-1).max() < 0.025, row.name


def test_heroes_play_takes_of_several_cycles():
    assert_same_poses(character_of(rounds_rig(2, 1, drift=1.0)), 0.035)
