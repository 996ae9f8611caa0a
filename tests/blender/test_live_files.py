"""Undo, loaded files, linked crowds, handlers."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.suspension import suspended  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    code_of,
    frame_set,
    make_runner,
    make_target,
    play,
    shown,
    stored,
    told,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


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
    assert told(obj).code.startswith("FRAME_") and told(obj).values["frame"] == 12
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
    assert stored(obj) == (1, 10) and code_of(obj) == ""
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


def linked_crowd(tmp_path, *names):
    """A crowd with a target, linked from another file with some of its objects."""
    make_runner()
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = list(names)
    for obj in wanted.objects:
        bpy.context.scene.collection.objects.link(obj)
    return wanted.objects[0]


@pytest.mark.parametrize("override", [False, True])
def test_a_linked_crowd_plays(tmp_path, override, capfd):
    obj = linked_crowd(tmp_path, "Crowd", "Target")
    if override:
        obj = obj.override_create(remap_local_usages=True)
    play(1, 20)
    assert code_of(obj) == "" and stored(obj) == (1, 20)
    np.testing.assert_array_equal(shown(obj), live.get_frame(obj, 20).position)
    assert shown(obj)[0, 1] > 0.4
    assert "linked" not in capfd.readouterr().err
    here = str(tmp_path / "here.blend")
    bpy.ops.wm.save_as_mainfile(filepath=here)
    bpy.ops.wm.open_mainfile(filepath=here)
    obj = next(o for o in bpy.context.scene.objects if o.type == "MESH")
    play(1, 5)
    np.testing.assert_array_equal(shown(obj), live.get_frame(obj, 5).position)


def test_a_linked_crowd_that_cannot_play_is_one_message(tmp_path, caplog):
    obj = linked_crowd(tmp_path, "Crowd", "Target")
    bpy.data.objects.remove(state.get_state(obj))
    play(1, 20)
    assert "make it local" in told(obj).sentence
    assert [record.message for record in caplog.records] == [told(obj).sentence]


def test_suspended_mutes_and_may_be_nested():
    obj = make_runner()
    with suspended():
        with suspended():
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
    assert code_of(obj) == "BAKED_TO_OBJECTS"


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
    assert code_of(obj) == ""
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
    run = live.runs.get(obj)
    assert len({id(settings) for settings in run._used.values()}) == 1
    assert len({id(frame.radius) for frame in run.frames.values()}) == 1
    assert live.get_frame(obj, 3).position.dtype == np.float32
