"""Playing simulates, scrubbing shows what was simulated, and edits are never missed or hidden."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import live, state  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    make_box,
    make_colliders,
    make_crowd,
    make_ground,
    make_target,
    move,
    play,
    shown,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def frame_set(number, subframe=0.0):
    bpy.context.scene.frame_set(number, subframe=subframe)


def update():
    bpy.context.view_layer.update()


def stored(obj):
    return live.status(obj).stored_range


def message(obj):
    return live.status(obj).message


def make_runner():
    obj = make_crowd()
    make_target(obj)
    return obj


# Playing and scrubbing


def test_playing_simulates_and_scrubbing_shows_exactly_that():
    obj = make_runner()
    seen = {}
    for number in range(1, 51):
        frame_set(number)
        seen[number] = shown(obj)
        np.testing.assert_allclose(seen[number], live.get_frame(obj, number).position, atol=1e-6)
    assert stored(obj) == (1, 50) and message(obj) == ""
    assert seen[50][0, 1] - seen[1][0, 1] > 1.0
    kept = {n: live.get_frame(obj, n) for n in seen}
    for number in (50, 3, 27, 1, 49, 2, 1, 2):
        frame_set(number)
        np.testing.assert_array_equal(shown(obj), seen[number])
    assert all(live.get_frame(obj, n) is kept[n] for n in seen)


def test_the_users_mesh_is_never_changed():
    obj = make_runner()
    before = obj.data.attributes.keys()
    play(1, 10)
    assert [tuple(v.co) for v in obj.data.vertices] == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
    assert obj.data.attributes.keys() == before


def test_playing_again_gives_the_same_bits():
    obj = make_runner()
    play(1, 20)
    first = live.get_frame(obj, 20)
    live.clear(obj)
    assert live.get_frame(obj, 20) is None
    assert message(obj) == "Not simulated yet: play from frame 1"
    play(1, 20)
    np.testing.assert_array_equal(live.get_frame(obj, 20).position, first.position)


def test_jumping_ahead_holds_the_last_frame_and_says_so():
    obj = make_runner()
    play(1, 10)
    last = shown(obj)
    frame_set(14)
    np.testing.assert_array_equal(shown(obj), last)
    assert message(obj) == (
        "Frame 14 is not simulated, frame 10 is shown: play on from frame 10, or from frame 1"
    )
    frame_set(15)
    assert stored(obj) == (1, 10)
    frame_set(10)
    assert message(obj) == ""
    frame_set(11)
    assert stored(obj) == (1, 11)


def test_before_the_start_and_after_the_end():
    obj = make_runner()
    obj.steer.frame_start, obj.steer.frame_end = 5, 10
    play(1, 4)
    assert stored(obj) is None
    np.testing.assert_array_equal(shown(obj)[:, 0], [0, 1, 2])
    play(5, 20)
    assert stored(obj) == (5, 10) and message(obj) == ""
    np.testing.assert_allclose(shown(obj), live.get_frame(obj, 10).position, atol=1e-6)
    frame_set(2)
    np.testing.assert_allclose(shown(obj), live.get_frame(obj, 5).position, atol=1e-6)
    obj.steer.frame_end = 12
    frame_set(20)
    assert stored(obj) == (5, 10)


def test_starting_in_the_middle_simulates_nothing():
    obj = make_runner()
    play(20, 25)
    assert stored(obj) is None
    assert message(obj) == "Not simulated yet: play from frame 1"
    np.testing.assert_array_equal(shown(obj)[:, 0], [0, 1, 2])


def test_subframes_go_on_straight_and_are_not_stored():
    obj = make_runner()
    play(1, 10)
    frame = live.get_frame(obj, 10)
    frame_set(10, 0.5)
    np.testing.assert_allclose(shown(obj), frame.position + frame.velocity * 0.5 / 24, atol=1e-6)
    assert stored(obj) == (1, 10)
    frame_set(10)
    np.testing.assert_allclose(shown(obj), frame.position, atol=1e-6)
    frame_set(11)
    assert stored(obj) == (1, 11)


def test_two_crowds_keep_to_themselves():
    first, second = make_runner(), make_crowd([(0, 0, 5), (1, 0, 5)], "Second")
    make_target(second, (0, -20, 5), "Other")
    second.steer.frame_start = 5
    play(1, 20)
    assert stored(first) == (1, 20) and stored(second) == (5, 20)
    assert shown(first)[0, 1] > 0 > shown(second)[0, 1]
    second.steer.agents.max_speed = 9
    play(21, 22)
    assert message(first) == "" and stored(first) == (1, 22)
    assert message(second) == "Settings changed: play from frame 5 to update"


def test_a_duplicated_crowd_gets_its_own_state():
    obj = make_runner()
    play(1, 5)
    twin = obj.copy()
    twin.location.x = 10
    bpy.context.scene.collection.objects.link(twin)
    play(1, 10)
    assert state.get_state(obj) != state.get_state(twin)
    np.testing.assert_allclose(shown(twin)[:, 0].min(), 10, atol=2)
    assert shown(obj)[:, 0].max() < 5


# Changes


def test_a_changed_setting_clears_what_it_affects():
    obj = make_runner()
    play(1, 20)
    old = live.get_frame(obj, 20).position
    obj.steer.agents.max_speed = 5
    assert message(obj) == "Settings changed: play from frame 1 to update"
    # the interface tags the object when a property is edited there, scripts do not
    obj.update_tag()
    update()
    assert message(obj) == "Settings changed: play from frame 1 to update"
    assert live.get_frame(obj, 10) is None
    # going on from here, so that one can tune while it plays
    frame_set(21)
    assert np.abs(live.get_frame(obj, 21).position).max() < 10
    assert live.status(obj).out_of_date
    frame_set(7)
    assert "frame 7 is not simulated" in message(obj)
    play(1, 20)
    assert message(obj) == "" and stored(obj) == (1, 20)
    assert live.get_frame(obj, 20).position[0, 1] > 1.5 * old[0, 1]


def test_a_change_while_playing_is_taken_up_at_once():
    obj = make_runner()
    play(1, 10)
    obj.steer.behaviors[0].enabled = False
    play(11, 12)
    frames = live.get_frame(obj, 11), live.get_frame(obj, 12)
    # nobody steers any more: everybody goes on straight
    np.testing.assert_allclose(frames[0].velocity, frames[1].velocity, atol=1e-6)
    assert message(obj) == "Settings changed: play from frame 1 to update"


def test_a_change_after_scrubbing_back_does_not_go_on_from_the_wrong_frame():
    obj = make_runner()
    play(1, 20)
    frame_set(5)
    obj.steer.agents.mass = 3
    frame_set(6)
    frame_set(7)
    assert live.get_frame(obj, 7) is None
    assert "frame 7 is not simulated" in message(obj)


def test_keyed_weights_are_no_change_but_their_curves_are():
    obj = make_crowd([(0, 0, 0)])
    make_target(obj, (0, 100, 0))
    item = obj.steer.behaviors[0]
    for weight, number in ((0.0, 1), (0.0, 10), (1.0, 11)):
        item.weight = weight
        item.keyframe_insert("weight", frame=number)
    play(1, 20)
    assert stored(obj) == (1, 20) and message(obj) == ""
    assert np.abs(live.get_frame(obj, 10).position).max() == 0.0
    assert live.get_frame(obj, 20).position[0, 1] > 0.05
    for number in (5, 15, 20):
        frame_set(number)
        update()
    assert stored(obj) == (1, 20) and message(obj) == ""
    item.weight = 3.0
    item.keyframe_insert("weight", frame=18)
    update()
    assert message(obj) == "Settings changed: play from frame 1 to update"


def test_drivers_are_no_change_either():
    obj = make_runner()
    obj.steer.behaviors[0].driver_add("weight").driver.expression = "frame / 100"
    play(1, 20)
    assert stored(obj) == (1, 20) and message(obj) == ""


def test_the_frame_rate_and_the_start_are_settings_too():
    obj = make_runner()
    play(1, 10)
    bpy.context.scene.render.fps = 48
    frame_set(11)
    assert stored(obj) is None
    play(1, 10)
    obj.steer.frame_start = 3
    frame_set(4)
    assert stored(obj) is None


def test_what_is_edited_at_the_start_is_shown_at_once():
    obj = make_runner()
    update()
    assert stored(obj) == (1, 1)
    obj.location.x = 10
    update()
    np.testing.assert_allclose(shown(obj)[:, 0], [10, 11, 12], atol=1e-6)
    obj.data.vertices[0].co.y = 4
    obj.data.update()
    update()
    np.testing.assert_allclose(shown(obj)[0], (10, 4, 0), atol=1e-6)
    obj.steer.agents.radius = 0.5
    update()
    np.testing.assert_allclose(live.get_frame(obj, 1).radius, 0.5)


@pytest.mark.parametrize("updated", [True, False])
@pytest.mark.parametrize("what", ["target", "collider", "shape", "crowd", "vertices"])
def test_moved_inputs_are_noticed(what, updated):
    obj = make_runner()
    box = make_box(location=(30, 0, 0))
    make_colliders(obj, box)
    play(1, 20)
    first = live.get_frame(obj, 1)
    if what in ("target", "collider"):
        {"target": obj.steer.target_object, "collider": box}[what].location.z += 1
    elif what == "crowd":
        obj.location.z += 1
    else:
        mesh = box.data if what == "shape" else obj.data
        mesh.vertices[0].co.z += 1
        mesh.update()
    if updated:
        update()
        assert message(obj) == "The scene changed: play from frame 1 to update"
        assert live.get_frame(obj, 10) is None
    frame_set(1)
    assert live.get_frame(obj, 1) is not first
    assert stored(obj) == (1, 1) and message(obj) == ""


def test_what_moves_by_itself_is_no_change():
    obj = make_runner()
    box = make_box()
    bending = make_box("Bending", (9, 9, 0))
    bending.modifiers.new("Wave", "WAVE").time_offset = -100
    move(obj.steer.target_object, {1: (0, 20, 0), 30: (20, 0, 0)})
    move(box, {1: (30, 0, 0), 30: (20, 0, 0)})
    move(obj, {1: (0, 0, 0), 30: (0, 0, 7)})
    make_colliders(obj, box, bending)
    play(1, 20)
    for number in (1, 15, 7, 1, 20):
        frame_set(number)
        update()
        update()
    assert stored(obj) == (1, 20) and message(obj) == ""
    reads = live._runs[obj.session_uid]._session.reader.meshes.reads
    assert reads == {"Box": 20, "Bending": 20}


def test_updates_come_to_rest():
    obj = make_runner()
    above = obj.modifiers.new("Above", "ARRAY")
    obj.modifiers.move(obj.modifiers.find("Above"), 0)
    above.count = 2
    calls = []

    def count(scene, depsgraph):
        calls.append(len(depsgraph.updates))

    bpy.app.handlers.depsgraph_update_post.append(count)
    try:
        for number in (1, 2, 1):
            frame_set(number)
            for _ in range(5):
                update()
            calls.clear()
            update()
            update()
            assert calls == []
        obj.data.clear_geometry()
        obj.data.update()
        for _ in range(5):
            update()
        assert "no vertices" in message(obj)
        calls.clear()
        update()
        update()
        assert calls == []
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(count)


# What is deleted or bad


@pytest.mark.parametrize("what", ["target", "collider", "ground"])
@pytest.mark.parametrize("how", ["deleted", "removed"])
def test_inputs_deleted_while_playing(what, how):
    obj = make_runner()
    parts = {
        "target": obj.steer.target_object,
        "collider": make_box(location=(30, 0, 0)),
        "ground": make_ground(),
    }
    make_colliders(obj, parts["collider"])
    obj.steer.ground = parts["ground"]
    play(1, 10)
    if how == "removed":
        bpy.data.objects.remove(parts[what])
    else:
        with bpy.context.temp_override(selected_objects=[parts[what]]):
            bpy.ops.object.delete()
    play(11, 20)
    assert stored(obj)[1] == 20
    assert np.isfinite(live.get_frame(obj, 20).position).all()
    if how == "deleted" and what != "collider":
        assert any("was deleted from the scene" in text for text in live.status(obj).warnings)


def test_bad_points_are_a_message_and_playing_goes_on(caplog):
    obj = make_runner()
    other = make_crowd([(0, 0, 9)], "Other")
    obj.data.clear_geometry()
    play(1, 5)
    assert message(obj).startswith("Crowd 'Crowd' has no vertices: give")
    assert stored(other) == (1, 5)
    assert len([r for r in caplog.records if "no vertices" in r.message]) == 1
    obj.data.from_pydata([(0, 0, 0)], [], [])
    play(1, 5)
    assert message(obj) == "" and stored(obj) == (1, 5)


def test_scale_zero_is_a_message():
    obj = make_runner()
    obj.scale = (0, 1, 1)
    play(1, 3)
    assert "has scale 0 on its X axis" in message(obj)
    obj.scale = (-1, 1, 1)
    play(1, 3)
    assert stored(obj) == (1, 3)


def test_a_range_backwards_is_a_message():
    obj = make_runner()
    obj.steer.frame_start = 90
    play(1, 3)
    assert "ends before its start" in message(obj)


def test_the_crowd_is_deleted_while_playing():
    obj = make_runner()
    play(1, 5)
    bpy.data.objects.remove(obj)
    play(6, 8)
    live.on_undo()
    assert live._runs == {}


def test_attributes_reach_the_simulation():
    obj = make_runner()
    add_attribute(obj, "max_speed", "FLOAT", [0.0, 1.0, 3.0])
    play(1, 50)
    np.testing.assert_allclose(
        np.linalg.norm(live.get_frame(obj, 50).velocity, axis=1), [0, 1, 3], rtol=0.02
    )


# Undo, files, registration


def test_undo_of_a_setting_shows_no_wrong_frame():
    obj = make_runner()
    bpy.ops.ed.undo_push(message="before")
    play(1, 20)
    right = live.get_frame(obj, 20).position.copy()
    obj.steer.agents.max_speed = 6
    bpy.ops.ed.undo_push(message="speed")
    play(1, 20)
    assert live.get_frame(obj, 20).position[0, 1] > right[0, 1] * 1.5
    assert bpy.ops.ed.undo() == {"FINISHED"}
    obj = bpy.data.objects["Crowd"]
    assert obj.steer.agents.max_speed < 2
    frame_set(12)
    assert live.get_frame(obj, 12) is None
    assert "frame 12 is not simulated" in message(obj).lower()
    play(1, 20)
    np.testing.assert_array_equal(live.get_frame(obj, 20).position, right)
    np.testing.assert_allclose(shown(obj), right, atol=1e-6)


def test_undo_of_something_else_keeps_the_frames():
    obj = make_runner()
    make_target(name="Elsewhere")
    bpy.ops.ed.undo_push(message="before")
    play(1, 10)
    right = live.get_frame(obj, 10).position.copy()
    bpy.data.objects["Elsewhere"].location.x = 5
    bpy.ops.ed.undo_push(message="moved")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    obj = bpy.data.objects["Crowd"]
    frame_set(10)
    assert stored(obj) == (1, 10) and message(obj) == ""
    np.testing.assert_allclose(shown(obj), right, atol=1e-6)


def test_a_loaded_file_starts_from_nothing(tmp_path):
    obj = make_runner()
    play(1, 10)
    at_ten = shown(obj)
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Crowd"]
    assert stored(obj) is None
    # what was seen when the file was saved is still seen
    np.testing.assert_allclose(shown(obj), at_ten, atol=1e-6)
    frame_set(11)
    np.testing.assert_allclose(shown(obj), at_ten, atol=1e-6)
    play(1, 10)
    np.testing.assert_array_equal(shown(obj), at_ten)


def test_a_linked_crowd_is_a_message(tmp_path):
    obj = make_runner()
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {obj})
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Crowd"]
    linked = wanted.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    play(1, 3)
    assert "make it local" in message(linked)


def test_suspended_mutes_and_may_be_nested():
    obj = make_runner()
    with live.suspended():
        with live.suspended():
            play(1, 3)
        play(1, 3)
    assert stored(obj) is None
    play(1, 3)
    assert stored(obj) == (1, 3)


def test_a_baked_crowd_is_not_simulated():
    obj = make_runner()
    obj.steer.hidden_by_bake = {"VIEWPORT"}
    play(1, 3)
    assert stored(obj) is None
    assert "is baked" in message(obj)


def test_the_interface_is_locked_while_rendering():
    render = bpy.context.scene.render
    frame_set(1)
    assert not render.use_lock_interface
    make_runner()
    frame_set(1)
    assert render.use_lock_interface


def test_catching_up_stores_what_playing_would():
    obj = make_runner()
    play(1, 20)
    played = live.get_frame(obj, 20).position
    live.clear(obj)
    live.catch_up(obj, bpy.context.scene, 15)
    assert stored(obj) == (1, 15)
    frame_set(15)
    assert message(obj) == ""
    play(16, 20)
    np.testing.assert_array_equal(live.get_frame(obj, 20).position, played)
    frame_set(1)
    assert stored(obj) == (1, 20)


def test_handlers_are_added_once_and_removed(steer):
    def count():
        return sum(
            getattr(bpy.app.handlers, name).count(handler) for name, handler in live.HANDLERS
        )

    assert count() == len(live.HANDLERS)
    steer.unregister()
    try:
        assert count() == 0
    finally:
        steer.register()
    assert count() == len(live.HANDLERS)


def test_settings_are_shared_between_frames():
    obj = make_runner()
    play(1, 20)
    run = live._runs[obj.session_uid]
    assert len({id(settings) for settings in run._used.values()}) == 1
    assert len({id(frame.radius) for frame in run.frames.values()}) == 1
    assert live.get_frame(obj, 3).position.dtype == np.float32
