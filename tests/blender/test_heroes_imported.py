"""Heroes of rigs as importers leave them: skin beside its armature, below an empty."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.test_heroes import assert_same_poses  # noqa: E402
from tests.blender.test_production_rigs import COARSE, Recipe, make  # noqa: E402
from tests.blender.walking_rigs import walking_rig  # noqa: E402

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


@pytest.mark.parametrize(("way", "told"), [(1.0, 1), (0.0, 0)])
def test_motion_above_a_rig_which_heroes_lack_is_named(way, told):
    rig = walking_rig()
    rig.parent = root = empty("Root")
    for frame in (0, 24):
        root.location.y = -way * frame / 24
        root.keyframe_insert("location", frame=frame)
    found = make(rig, Recipe("Idle", "Walk", plan=COARSE)).left_out
    assert len(found) == told
    assert all("'Root' above the rig moves, and heroes go without that" in text for text in found)
