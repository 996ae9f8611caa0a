"""Behaviors and presets: the list, the animation that goes with it, and the files."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import crowds, properties  # noqa: E402
from steer_addon.blender.crowd.property_classes import ENTRY_INPUTS  # noqa: E402
from steer_addon.blender.operators import presets as preset_operators  # noqa: E402
from steer_addon.core.crowd.presets import read_preset  # noqa: E402
from tests.blender.crowd_makers import (  # noqa: E402
    curve_of,
    curves_of,
    make_crowd,
    make_empty,
)
from tests.blender.operator_calls import refusal, undone  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


# Behaviors


def make_keyed():
    """A crowd of three behaviors, weights 1, 2, 3 keyed, and one driver."""
    obj = make_crowd()
    obj.steer.behaviors.clear()
    for number, name in enumerate(("seek", "wander", "separation")):
        item = properties.add_behavior(obj, name)
        item.weight = number + 1
        obj.keyframe_insert(f"steer.behaviors[{number}].weight", frame=1)
    obj.steer.behaviors[1].wander.jitter = 0.25
    obj.keyframe_insert("steer.behaviors[1].wander.jitter", frame=1)
    driver = obj.driver_add("steer.behaviors[1].wander.distance").driver
    driver.expression = "4.0"
    bpy.context.scene.frame_set(1)
    return obj


def weights(obj):
    return {item.name: item.weight for item in obj.steer.behaviors}


def test_a_behavior_is_added_at_the_end():
    obj = make_crowd()
    before = len(obj.steer.behaviors)
    assert bpy.ops.object.steer_behavior_add(type="seek") == {"FINISHED"}
    assert len(obj.steer.behaviors) == before + 1
    assert obj.steer.behaviors[before].type == "seek"
    assert obj.steer.active_behavior == before
    bpy.ops.object.steer_behavior_add(type="seek")
    assert obj.steer.behaviors[before + 1].name == "seek.001"


def test_moving_takes_animation_along():
    obj = make_keyed()
    obj.steer.active_behavior = 1
    bpy.ops.object.steer_behavior_move(direction="UP")
    assert [item.name for item in obj.steer.behaviors] == ["wander", "seek", "separation"]
    assert obj.steer.active_behavior == 0
    assert curves_of(obj) == {
        "steer.behaviors[0].weight": 2.0,
        "steer.behaviors[0].wander.jitter": 0.25,
        "steer.behaviors[1].weight": 1.0,
        "steer.behaviors[2].weight": 3.0,
    }
    driver = obj.animation_data.drivers[0]
    assert driver.data_path == "steer.behaviors[0].wander.distance"
    bpy.context.scene.frame_set(1)
    assert weights(obj) == {"wander": 2.0, "seek": 1.0, "separation": 3.0}
    assert obj.steer.behaviors[0].wander.distance == pytest.approx(4.0)


@pytest.mark.parametrize(("place", "direction"), [(2, "DOWN"), (0, "UP")])
def test_moving_stops_at_the_ends_without_a_step_to_undo(place, direction):
    obj = make_keyed()
    obj.steer.active_behavior = place
    assert bpy.ops.object.steer_behavior_move(direction=direction) == {"CANCELLED"}
    assert [item.name for item in obj.steer.behaviors] == ["seek", "wander", "separation"]
    assert obj.steer.active_behavior == place


def test_one_behavior_alone_cannot_be_moved():
    obj = make_crowd()
    obj.steer.behaviors.clear()
    assert refusal(bpy.ops.object.steer_behavior_move) == "Add a behavior first"
    bpy.ops.object.steer_behavior_add(type="seek")
    assert "only one behavior" in refusal(bpy.ops.object.steer_behavior_move)
    bpy.ops.object.steer_behavior_add(type="wander")
    assert bpy.ops.object.steer_behavior_move(direction="UP") == {"FINISHED"}
    assert [item.name for item in obj.steer.behaviors] == ["wander", "seek"]


def test_removing_takes_its_animation_away():
    obj = make_keyed()
    obj.steer.active_behavior = 1
    bpy.ops.object.steer_behavior_remove()
    assert [item.name for item in obj.steer.behaviors] == ["seek", "separation"]
    assert curves_of(obj) == {"steer.behaviors[0].weight": 1.0, "steer.behaviors[1].weight": 3.0}
    assert not obj.animation_data.drivers
    bpy.context.scene.frame_set(1)
    assert weights(obj) == {"seek": 1.0, "separation": 3.0}


def test_duplicating_copies_values_and_animation():
    obj = make_keyed()
    item = obj.steer.behaviors[0]
    item.use_own_target, item.target_object = True, make_empty()
    item.second_target_kind, item.second_target_object = "POINTS", make_empty()
    item.source_kind, item.source_collection = "COLLECTION", bpy.data.collections.new("Ways")
    curve = curve_of(obj, "steer.behaviors[1].weight")
    curve.keyframe_points.insert(10.0, 5.0).interpolation = "CONSTANT"
    curve.modifiers.new("NOISE").strength = 0.5
    for place in (0, 2):
        obj.steer.active_behavior = place
        bpy.ops.object.steer_behavior_duplicate()
    names = [item.name for item in obj.steer.behaviors]
    assert names == ["seek", "seek.001", "wander", "wander.001", "separation"]
    assert obj.steer.behaviors[1].target_object == obj.steer.behaviors[0].target_object
    assert obj.steer.behaviors[1].use_own_target
    for name in ENTRY_INPUTS:
        twin, original = (getattr(obj.steer.behaviors[k], name) for k in (1, 0))
        assert twin == original
    assert obj.steer.behaviors[3].wander.jitter == pytest.approx(0.25)
    found = curves_of(obj)
    assert len(found) == 7
    assert found["steer.behaviors[0].weight"] == found["steer.behaviors[1].weight"] == 1.0
    assert found["steer.behaviors[4].weight"] == 3.0
    assert found["steer.behaviors[3].wander.jitter"] == 0.25
    copy = curve_of(obj, "steer.behaviors[3].weight")
    original = curve_of(obj, "steer.behaviors[2].weight")
    assert [tuple(k.co) for k in copy.keyframe_points] == [(1.0, 2.0), (10.0, 5.0)]
    assert copy.keyframe_points[1].interpolation == "CONSTANT"
    assert copy.modifiers[0].strength == 0.5
    for frame in np.linspace(-5.0, 20.0, 26):
        assert copy.evaluate(frame) == pytest.approx(original.evaluate(frame), abs=1e-6)
    paths = sorted(curve.data_path for curve in obj.animation_data.drivers)
    assert paths == ["steer.behaviors[2].wander.distance", "steer.behaviors[3].wander.distance"]


def test_animation_in_nla_strips_follows_too():
    obj = make_keyed()
    data = obj.animation_data
    action, slot = data.action, data.action_slot
    strip = data.nla_tracks.new().strips.new("Strip", 1, action)
    strip.action_slot = slot
    data.action = None
    obj.steer.active_behavior = 0
    bpy.ops.object.steer_behavior_remove()
    curves = action.layers[0].strips[0].channelbag(slot).fcurves
    assert sorted(curve.data_path for curve in curves) == [
        "steer.behaviors[0].wander.jitter",
        "steer.behaviors[0].weight",
        "steer.behaviors[1].weight",
    ]


def test_drivers_of_others_follow_too():
    obj = make_keyed()
    other = make_empty("Other")
    driver = other.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id = obj
    variable.targets[0].data_path = "steer.behaviors[2].weight"
    obj.steer.active_behavior = 0
    bpy.ops.object.steer_behavior_remove()
    assert variable.targets[0].data_path == "steer.behaviors[1].weight"


def test_animation_of_other_objects_in_the_same_action_stays():
    obj = make_keyed()
    other = make_crowd(name="Other")
    data = other.animation_data_create()
    data.action = obj.animation_data.action
    data.action_slot = data.action.slots.new("OBJECT", "Other")
    other.keyframe_insert("steer.behaviors[0].weight", frame=1)
    bpy.context.view_layer.objects.active = obj
    obj.steer.active_behavior = 0
    bpy.ops.object.steer_behavior_remove()
    assert list(curves_of(other)) == ["steer.behaviors[0].weight"]


@pytest.mark.parametrize(
    ("operator", "options"),
    [
        ("steer_behavior_add", {"type": "seek"}),
        ("steer_behavior_remove", {}),
        ("steer_behavior_move", {"direction": "DOWN"}),
        ("steer_behavior_move", {"direction": "UP"}),
        ("steer_behavior_duplicate", {}),
        ("steer_preset_apply", {"name": "birds"}),
    ],
)
def test_list_operators_are_undone(operator, options):
    obj = make_keyed()
    obj.steer.active_behavior = 1
    before = properties.settings_of(obj), curves_of(obj)
    undone(getattr(bpy.ops.object, operator), **options)
    obj = bpy.data.objects["Crowd"]
    assert (properties.settings_of(obj), curves_of(obj)) == before
    assert obj.animation_data.drivers[0].data_path == "steer.behaviors[1].wander.distance"


def test_an_empty_list_has_nothing_to_remove():
    make_crowd().steer.behaviors.clear()
    assert refusal(bpy.ops.object.steer_behavior_remove) == "Add a behavior first"


# Presets


@pytest.fixture
def preset_folder(tmp_path, monkeypatch):
    """A folder for presets in place of the user's."""
    monkeypatch.setattr(preset_operators, "user_preset_folder", lambda: tmp_path / "new")
    monkeypatch.setattr(preset_operators, "user_preset_folders", lambda: [tmp_path / "new"])
    return tmp_path / "new"


def test_a_preset_is_saved_and_applied(preset_folder):
    obj = make_crowd()
    obj.steer.agents.max_speed = 3.3
    properties.add_behavior(obj, "flee").flee.panic_radius = 7.7
    wanted = properties.settings_of(obj)
    assert bpy.ops.object.steer_preset_save(name="My Crowd") == {"FINISHED"}
    saved = read_preset(preset_folder / "my_crowd.json")
    assert saved.settings == wanted and saved.label == "My Crowd"
    other = make_crowd(name="Other")
    assert bpy.ops.object.steer_preset_apply(name="my_crowd") == {"FINISHED"}
    assert properties.settings_of(other) == wanted


def test_the_users_folder_is_blenders():
    folder = crowds.user_preset_folder()
    assert folder.parts[-2:] == ("presets", "steer")
    folder.mkdir(parents=True, exist_ok=True)
    assert folder in crowds.user_preset_folders()


@pytest.mark.parametrize("name", ["", "  ", "a/b", "..", "a\\b", "a\nb"])
def test_names_that_are_no_file_names_are_refused(preset_folder, name):
    make_crowd()
    with pytest.raises(RuntimeError, match="cannot be a file name"):
        bpy.ops.object.steer_preset_save(name=name)
    assert not preset_folder.exists()


def test_a_preset_that_does_not_fit_changes_nothing(preset_folder):
    preset_folder.mkdir()
    text = '{"format": "steer-preset", "version": 1, "settings": {"agents": {"radius": -1}}}'
    (preset_folder / "bad.json").write_text(text)
    obj = make_crowd()
    before = properties.settings_of(obj)
    with pytest.raises(RuntimeError, match=r"bad.json: agents.radius is -1: give a value from 0"):
        bpy.ops.object.steer_preset_apply(name="bad")
    with pytest.raises(RuntimeError, match="There is no preset 'tango': known are"):
        bpy.ops.object.steer_preset_apply(name="tango")
    assert properties.settings_of(obj) == before


def test_a_folder_that_cannot_be_written_is_named(preset_folder):
    preset_folder.write_text("a file is in the way")
    make_crowd()
    with pytest.raises(RuntimeError, match="cannot be written: .*choose another folder"):
        bpy.ops.object.steer_preset_save(name="mine")
