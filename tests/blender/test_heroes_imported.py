"""Heroes of rigs as importers leave them: skin beside its armature, below an empty."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters.keys import curves  # noqa: E402
from tests.blender.test_heroes import assert_same_poses  # noqa: E402
from tests.blender.test_production_rigs import COARSE, Recipe, make  # noqa: E402
from tests.blender.walking_rigs import add_gait, make_rig, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def empty(name, parent=None, **values):
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = parent
    for key, value in values.items():
        setattr(obj, key, value)
    return obj


@pytest.mark.parametrize("deep", [False, True])
def test_skin_beside_its_rig_goes_along_with_a_hero(deep):
    rig = walking_rig()
    root = empty("Root", scale=(0.01,) * 3, rotation_euler=(math.pi / 2, 0.0, 0.0))
    holder = empty("Geometry", root, location=(10.0, 0.0, 0.0)) if deep else root
    for obj in [rig, *(part for part in rig.children if part.parent_type == "OBJECT")]:
        obj.parent = root if obj == rig else holder
        obj.scale, obj.rotation_euler = (100.0,) * 3, (-math.pi / 2, 0.0, 0.0)
        # where things are imported to may be far from where their skin is bound
        obj.location = (30.0, 0.0, 20.0)
    bpy.context.view_layer.update()
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def keyed(obj, path, *values):
    """Give an object evenly spread keys over the frames of a walk."""
    for number, value in enumerate(values):
        setattr(obj, path, value)
        obj.keyframe_insert(path, frame=24 * number / (len(values) - 1))


@pytest.mark.parametrize("kind", ["parent", "bone", "constraint", "scaled"])
def test_a_hero_has_the_motion_of_what_its_rig_hangs_from(kind):
    rig, root = walking_rig(), empty("Root", location=(2.0, 0.0, 0.0))
    keyed(root, "location", (2.0, 0.0, 0.0), (2.0, -0.3, 0.0), (2.0, 0.0, 0.0))
    keyed(root, "rotation_euler", (0.0, 0.0, 0.0), (0.0, 0.1, 0.2), (0.0, 0.0, 0.0))
    if kind == "constraint":
        hang = rig.constraints.new("CHILD_OF")
        hang.target, hang.set_inverse_pending = root, False
    elif kind == "bone":
        carrier = make_rig("Carrier")
        for part in list(carrier.children):
            bpy.data.objects.remove(part)
        carrier.parent = root
        rig.parent, rig.parent_type, rig.parent_bone = carrier, "BONE", "root"
        rig.rotation_euler.x = -math.pi / 2
    else:
        rig.parent = root
    if kind == "scaled":
        root.scale, rig.scale, rig.rotation_mode = (0.01,) * 3, (-100.0, 100.0, 100.0), "ZYX"
        rig.location.y = 30.0
    bpy.context.view_layer.update()
    made = make(rig, Recipe("Idle", "Walk", plan=COARSE))
    assert made.left_out == ()
    root.location.x += 40.0
    root.animation_data_clear()
    assert_same_poses(made, 0.003)


def test_a_hero_whose_rig_hangs_from_an_animated_empty_goes_as_far_as_that():
    rig, root = walking_rig(), empty("Root")
    rig.parent = root
    keyed(root, "location", (0.0, 0.0, 0.0), (0.0, -1.0, 0.0))
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def test_only_one_of_the_actions_moves_the_rig_itself():
    rig = walking_rig()
    rig.location, walk = (3.0, 1.0, 0.2), bpy.data.actions["Walk"]
    rig.animation_data.action = walk
    keyed(rig, "location", (3.0, 1.0, 0.2), (3.0, 0.0, 0.2))
    rig.animation_data.action = None
    rig.location = (3.0, 1.0, 0.2)
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def test_a_clip_that_lies_elsewhere_stays_in_place_where_its_rig_is_put_aside_later():
    rig = walking_rig()
    wave = add_gait(rig, "Wave", 0.3, 20, bob=0.2)
    path = rig.pose.bones["root"].path_from_id("location")
    curve = next(c for c in curves(wave) if c.data_path == path and c.array_index == 2)
    for point in curve.keyframe_points:
        point.co.y += 2.0
    made = make(rig, Recipe("Idle", "Walk", clips=(("wave", "Wave"),), plan=COARSE))
    rig.rotation_euler.z, rig.location.x = 1.5, 40.0
    assert_same_poses(made, 0.003)
