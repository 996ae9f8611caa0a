"""Whole lists of behaviors: one alone, defaults again, and the same for other crowds."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import properties  # noqa: E402
from tests.blender.crowd_makers import curves_of, make_crowd, make_empty, make_points  # noqa: E402
from tests.blender.operator_calls import refusal, undone  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize(
    ("which", "expected"),
    [("ALL", [True] * 3), ("ACTIVE", [False, True, False]), ("NONE", [False] * 3)],
)
def test_behaviors_are_enabled_together(which, expected):
    obj = make_crowd()
    obj.steer.active_behavior = 1
    obj.steer.behaviors[2].enabled = False
    assert bpy.ops.object.steer_behaviors_enable(which=which) == {"FINISHED"}
    assert [item.enabled for item in obj.steer.behaviors] == expected


def test_reset_gives_defaults_and_keeps_name_inputs_and_keys():
    obj = make_crowd()
    obj.steer.active_behavior = 1
    item = obj.steer.behaviors[1]
    item.name, item.weight, item.arrive.slow_radius = "Home", 3.0, 9.0
    item.use_own_target, item.target_object = True, make_empty("Door")
    bpy.context.view_layer.objects.active = obj
    obj.keyframe_insert("steer.behaviors[1].arrive.stop_radius", frame=1)
    fresh = properties.add_behavior(obj, "arrive").arrive.slow_radius
    obj.steer.active_behavior = 1
    assert bpy.ops.object.steer_behavior_reset() == {"FINISHED"}
    item = obj.steer.behaviors[1]
    assert (item.name, item.weight, item.arrive.slow_radius) == ("Home", 1.0, fresh)
    assert item.use_own_target and item.target_object.name == "Door"
    assert "steer.behaviors[1].arrive.stop_radius" in curves_of(obj)


def two_crowds():
    """Two selected crowds, the second one active and unlike the first."""
    first, second = make_crowd(name="First"), make_crowd(name="Second")
    target = make_empty()
    properties.add_behavior(second, "pursue")
    second.steer.agents.radius, second.steer.motion.motion = 0.8, "FLY"
    second.steer.target_object, second.steer.seed = target, 7
    item = second.steer.behaviors[-1]
    item.use_own_target, item.target_kind, item.target_object = True, "CROWD", first
    for obj in (first, second):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = second
    return first, second


@pytest.mark.parametrize("inputs", [True, False])
def test_settings_go_to_the_other_selected_crowds(inputs):
    first, second = two_crowds()
    first.steer.seed = 3
    assert bpy.ops.object.steer_copy_settings(inputs=inputs) == {"FINISHED"}
    copied, told = properties.settings_of(first), properties.settings_of(second)
    assert (copied.behaviors, copied.agents, copied.motion) == (
        told.behaviors,
        told.agents,
        told.motion,
    )
    # the same seed would move both alike
    assert copied.seed == 3
    assert (first.steer.target_object == second.steer.target_object) == inputs
    # a crowd does not pursue itself because another one pursued it
    assert first.steer.behaviors[-1].target_object is None


def test_copying_is_undone():
    two_crowds()
    undone(bpy.ops.object.steer_copy_settings)
    assert bpy.data.objects["First"].steer.agents.radius != pytest.approx(0.8)


def test_without_another_crowd_copying_says_so():
    make_crowd()
    other = make_points(name="Other")
    other.select_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects["Crowd"]
    assert "Select the crowds to copy to" in refusal(bpy.ops.object.steer_copy_settings)


def test_an_empty_list_has_nothing_to_enable():
    make_crowd().steer.behaviors.clear()
    for operator in (bpy.ops.object.steer_behaviors_enable, bpy.ops.object.steer_behavior_reset):
        assert refusal(operator) == "Add a behavior first"
