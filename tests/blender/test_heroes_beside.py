"""Heroes beside other things: crowds that were renamed and duplicated, and colliders."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import heroes  # noqa: E402
from steer_addon.blender.checks import obstructions  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402

pytestmark = [pytest.mark.usefixtures("empty_scene", "few_poses"), pytest.mark.slow]


def people(last=3, count=12):
    assert bpy.ops.object.steer_start(preset="pedestrians", count=count) == {"FINISHED"}
    obj = active()
    obj.steer.frame_end = last
    return obj


def test_heroes_of_a_crowd_that_was_renamed_before_it_was_duplicated_are_its_own():
    obj = people()
    heroes.promote(obj, bpy.context.scene, [1])
    obj.name = "Mob"
    other = obj.copy()
    other.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(other)
    assert set(heroes.carriers(obj)) == {1} and not heroes.carriers(other)
    assert heroes.demote(obj).done == [1]
    assert not heroes.carriers(obj) and not heroes.hidden(obj)


def test_heroes_are_no_obstacles():
    obj = people()
    obj.steer.bodies.collide_colliders = True
    heroes.promote(obj, bpy.context.scene, list(range(6)))
    bpy.context.view_layer.update()
    found = obstructions.in_the_way(obj, bpy.context.evaluated_depsgraph_get())
    assert found == []
