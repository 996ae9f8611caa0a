"""Warnings of the panel: each is said where it can be acted on, with a button that mends it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import status  # noqa: E402
from steer_addon.blender.checks import advice  # noqa: E402
from steer_addon.blender.crowd import properties as steer_properties  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import compiling, live  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.compiled import jit  # noqa: E402
from steer_addon.core.crowd.presets import find_presets  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.warmup.processes import State  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import make_crowd, make_empty, make_plane  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.operator_calls import refusal  # noqa: E402
from tests.diagnosed import codes, count_of, says  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def context():
    return SimpleNamespace(
        object=bpy.context.view_layer.objects.active,
        scene=bpy.context.scene,
        region=SimpleNamespace(width=2000),
    )


def panel(obj, section=drawing.draw_main):
    bpy.context.view_layer.objects.active = obj
    layout = FakeLayout()
    section(layout, context(), obj)
    return layout


def make_walkers(*stack):
    """A crowd that can be played, made active."""
    obj = scenes.make_crowd(settings=scenes.seekers(*(stack or ({"type": "seek"},))))
    bpy.context.view_layer.objects.active = obj
    return obj


@pytest.mark.parametrize("own", [False, True])
def test_a_missing_target_is_added_by_its_button(own):
    obj = make_crowd()
    item = obj.steer.behaviors["arrive"]
    item.use_own_target = own
    obj.steer.active_behavior = 1
    drawn = panel(obj)
    (missing,) = advice.diagnoses(obj)
    assert missing.code == ("OWN_TARGET_MISSING" if own else "TARGET_MISSING")
    assert says(drawn.texts(), missing.code)
    section = drawing.draw_behaviors if own else drawing.draw_inputs
    # the field itself is red
    assert panel(obj, section).of("alert") == ["target_object"]
    assert drawn.press("object.steer_add_input") == {"FINISHED"}
    made = (item if own else obj.steer).target_object
    assert made is not None and made.name in bpy.context.scene.objects
    assert bpy.context.object == obj and advice.diagnoses(obj) == []
    assert panel(obj, section).of("alert") == []


@pytest.mark.parametrize(
    ("type_name", "role"),
    [
        ("follow_path", "source"),
        ("flow_field", "source"),
        ("containment", "source"),
        ("interpose", "second_target"),
    ],
)
def test_what_a_behavior_lacks_is_added_by_its_button_and_works(type_name, role):
    obj = make_walkers({"type": type_name})
    obj.steer.target_object = make_empty()
    bpy.context.view_layer.objects.active = obj
    obj.location = (30.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert panel(obj, drawing.draw_behaviors).of("alert") == [f"{role}_object"]
    assert panel(obj).press("object.steer_add_input") == {"FINISHED"}
    made = getattr(obj.steer.behaviors[0], f"{role}_object")
    assert abs(made.location.x - 31.0) < 8.0
    assert advice.diagnoses(obj) == []
    scenes.play(1, 4)
    assert live.status(obj) == live.LiveStatus() and scenes.stored(obj) == (1, 4)


def test_inputs_are_added_only_where_they_are_taken():
    obj = make_crowd()
    for options, text in (
        ({"role": "SOURCE", "entry": "arrive"}, "'arrive' has no path, field or container"),
        ({"role": "SOURCE"}, "has no path, field or container"),
        ({"role": "SECOND_TARGET"}, "belongs to a behavior"),
        ({"role": "TARGET", "entry": "dance"}, "has no behavior 'dance'"),
    ):
        before = len(bpy.data.objects)
        with pytest.raises(RuntimeError, match=text):
            bpy.ops.object.steer_add_input(**options)
        assert len(bpy.data.objects) == before and obj.steer.target_object is None


@pytest.mark.parametrize("role", ["target_object", "ground", "source_object"])
def test_a_deleted_input_is_said_before_playing_and_its_field_cleared(role):
    obj = make_walkers({"type": "seek"}, {"type": "follow_path"})
    obj.steer.target_object = scenes.make_target()
    path, item = scenes.make_box("Path"), obj.steer.behaviors[1]
    item.source_object = path
    obj.steer.ground = ground = make_plane("Ground", 50.0)
    # hidden is not deleted
    ground.hide_viewport = True
    assert advice.diagnoses(obj) == []
    owner = item if role == "source_object" else obj.steer
    name = getattr(owner, role).name
    bpy.context.scene.collection.objects.unlink(getattr(owner, role))
    drawn = panel(obj)
    assert says(drawn.texts(), "INPUT_LOST", name)
    assert drawn.press("object.steer_clear_lost") == {"FINISHED"}
    assert getattr(owner, role) is None
    assert "INPUT_LOST" not in codes(advice.diagnoses(obj))
    assert refusal(bpy.ops.object.steer_clear_lost) == "No input of the crowd was deleted"


def test_a_deleted_input_is_said_once_while_it_is_played():
    obj = make_walkers()
    target = scenes.make_target(obj)
    bpy.context.scene.collection.objects.unlink(target)
    scenes.play(1, 2)
    assert count_of(panel(obj).texts(), "INPUT_LOST") == 1


@pytest.mark.parametrize(
    ("faces", "code"),
    [(scenes.CUBE_FACES[:5], "MESH_OPEN"), ([], "MESH_WITHOUT_FACES")],
)
def test_a_bad_collider_is_said_and_selected_by_its_button(faces, code):
    obj = make_walkers()
    scenes.make_target(obj)
    box = scenes.make_box(location=(0, 8, 0), faces=faces)
    scenes.make_colliders(obj, box)
    scenes.play(1, 2)
    drawn = panel(obj)
    assert says(drawn.texts(), code, "Box")
    assert drawn.press("object.steer_select_input") == {"FINISHED"}
    assert bpy.context.object == box and box.select_get() and not obj.select_get()


def test_an_object_that_cannot_be_selected_says_why():
    obj = make_crowd()
    box = scenes.make_box()
    bpy.context.view_layer.objects.active = obj
    box.hide_set(True)
    with pytest.raises(RuntimeError, match="'Box' is hidden: show it first"):
        bpy.ops.object.steer_select_input(name="Box")
    with pytest.raises(RuntimeError, match="'Sphinx' is not in this view layer"):
        bpy.ops.object.steer_select_input(name="Sphinx")


def test_colliders_that_hold_nothing_to_meet_are_said():
    obj = make_walkers()
    scenes.make_target(obj)
    nothing = scenes.make_colliders(obj, make_empty())
    assert codes(advice.diagnoses(obj)) == ["NO_COLLIDERS_IN_COLLECTION"]
    nothing.objects.link(scenes.make_box())
    assert advice.diagnoses(obj) == []


def test_behaviors_that_look_for_colliders_say_that_there_are_none():
    obj = make_walkers({"type": "obstacle_avoidance"})
    note = "COLLIDERS_NOT_CHOSEN"
    assert says(panel(obj, drawing.draw_behaviors).texts(), note)
    scenes.make_colliders(obj, scenes.make_box())
    assert not says(panel(obj, drawing.draw_behaviors).texts(), note)


def test_a_disabled_body_is_enabled_by_its_button():
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    body = scenes.make_box("Duck")
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", body)
    assert refusal(bpy.ops.object.steer_show_body) == "The agents are seen already"
    body.hide_viewport = True
    assert panel(obj).press("object.steer_show_body") == {"FINISHED"}
    assert not body.hide_viewport and body.hide_get() and advice.diagnoses(obj) == []


def test_a_backward_range_and_an_empty_list_have_a_way_out():
    obj = make_crowd()
    obj.steer.behaviors.clear()
    obj.steer.frame_start, obj.steer.frame_end = 10, 9
    drawn = panel(obj)
    assert "STEER_MT_presets" in drawn.of("menu")
    assert drawn.press("object.steer_scene_range") == {"FINISHED"}
    scene = bpy.context.scene
    assert (obj.steer.frame_start, obj.steer.frame_end) == (scene.frame_start, scene.frame_end)


def test_behaviors_of_another_version_are_removed_by_their_button(monkeypatch):
    obj = make_crowd()
    obj.steer.target_object = make_empty()
    monkeypatch.setattr(
        advice, "definition_of", lambda item: None if item.name == "arrive" else object()
    )
    drawn = panel(obj)
    assert says(drawn.texts(), "BEHAVIOR_UNKNOWN", "arrive")
    assert drawn.press("object.steer_behavior_remove") == {"FINISHED"}
    assert [item.name for item in obj.steer.behaviors] == ["separation", "wander"]
    with pytest.raises(RuntimeError, match="none at place 7"):
        bpy.ops.object.steer_behavior_remove(place=7)


def test_a_preset_with_an_unknown_behavior_is_refused_by_name(tmp_path):
    obj = make_crowd()
    before = steer_properties.settings_of(obj)
    data = json.loads(find_presets()["birds"].read_text(encoding="utf-8"))
    data["settings"]["behaviors"] = [{"type": "levitate"}]
    path = tmp_path / "new.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    for operator, options in (
        (bpy.ops.object.steer_preset_import, {"filepath": str(path)}),
        (bpy.ops.object.steer_preset_apply, {"name": str(path)}),
    ):
        with pytest.raises(RuntimeError, match="'levitate' is unknown: known are"):
            operator(**options)
    assert steer_properties.settings_of(obj) == before


def test_what_is_not_simulated_is_played_from_the_start_by_its_button():
    obj = make_walkers()
    scenes.make_target(obj)
    obj.steer.frame_start = 4
    scenes.frame_set(9)
    drawn = panel(obj)
    assert live.status(obj).diagnosis == diagnose("NOT_CAUGHT_UP", frame=9, start=4)
    assert says(drawn.texts(), "NOT_CAUGHT_UP")
    assert drawn.press("object.steer_play") == {"FINISHED"}
    assert bpy.context.scene.frame_current == 4 and scenes.stored(obj) == (4, 4)
    scenes.play(5, 6)
    assert "object.steer_play" not in panel(obj).of("operator")
    obj.steer.behaviors[0].weight = 2.0
    bpy.context.view_layer.update()
    drawn = panel(obj)
    assert says(drawn.texts(), "OUT_OF_DATE") and "object.steer_play" in drawn.of("operator")


def test_playing_begins_where_the_earliest_crowd_begins():
    obj, prey = make_walkers(), scenes.make_crowd(name="Prey")
    scenes.make_target(prey)
    obj.steer.target_kind, obj.steer.target_object = "CROWD", prey
    obj.steer.frame_start, prey.steer.frame_start = 9, 3
    bpy.ops.object.steer_play()
    assert bpy.context.scene.frame_current == 3


def test_a_bake_out_of_date_is_said_once_with_its_button(tmp_path):
    obj = make_walkers()
    obj.steer.frame_end = 4
    obj.steer.cache_directory = str(tmp_path)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    obj.steer.agents.max_speed = 3.0
    status.refresh(obj)
    # at the top of the panel, where it is seen with all sections closed
    assert not says(panel(obj, drawing.draw_cache).texts(), "BAKE_OUT_OF_DATE")
    assert says(panel(obj, drawing.draw_cache).texts(), "FRAMES_BAKED")
    drawn = panel(obj)
    assert says(drawn.texts(), "BAKE_OUT_OF_DATE")
    assert drawn.press("object.steer_cache_anew") == {"FINISHED"}
    status.refresh(obj)
    for draw in (drawing.draw_main, drawing.draw_cache):
        assert not says(panel(obj, draw).texts(), "BAKE_OUT_OF_DATE")


def test_compiling_and_a_missing_compiler_are_said(monkeypatch):
    obj = make_crowd()
    missing = jit.Status(False, diagnose("NUMBA_MISSING", reason="no such file"))
    monkeypatch.setattr(jit, "known_status", lambda: missing)
    monkeypatch.setattr(compiling._work, "state", State(2, 5, True))
    texts = panel(obj).texts()
    assert says(texts, "NUMBA_MISSING") and "Compiling kernels, 2 of 5" in texts


def test_adding_an_input_is_undone():
    make_crowd()
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.steer_add_input(role="TARGET")
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Crowd"]
    assert obj.steer.target_object is None and "Target" not in bpy.data.objects
