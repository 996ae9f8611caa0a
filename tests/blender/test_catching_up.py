"""Frames that are missing: the panel says why, and buttons catch up, play, or take the range."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.operators import catching_up  # noqa: E402
from steer_addon.blender.operators.catching_up import OBJECT_OT_steer_catch_up  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.errors import KernelsMissingError  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    code_of,
    frame_set,
    make_crowd,
    make_target,
    play,
    shown,
    stored,
    told,
)
from tests.blender.operator_calls import refusal  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def make_runner(name="Crowd"):
    obj = make_crowd(name=name)
    make_target(obj, name=f"Goal {name}")
    bpy.context.view_layer.objects.active = obj
    return obj


def panel(obj):
    layout = FakeLayout()
    context = SimpleNamespace(
        object=obj, scene=bpy.context.scene, region=SimpleNamespace(width=2000)
    )
    drawing.draw_main(layout, context, obj)
    return layout


def test_a_file_opened_in_the_middle_catches_up_by_its_button(tmp_path):
    make_runner()
    play(1, 21)
    before = shown(bpy.data.objects["Crowd"]).copy()
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Crowd"]
    bpy.context.view_layer.objects.active = obj
    assert told(obj) == diagnose("NOT_CAUGHT_UP", frame=21, start=1)
    drawn = panel(obj)
    assert {"object.steer_catch_up", "object.steer_play"} <= set(drawn.of("operator"))
    assert drawn.press("object.steer_catch_up") == {"FINISHED"}
    assert bpy.context.scene.frame_current == 21 and stored(obj) == (1, 21)
    assert code_of(obj) == ""
    np.testing.assert_array_equal(shown(obj), before)
    # playing goes on from there
    frame_set(22)
    assert stored(obj) == (1, 22) and shown(obj)[0, 1] > before[0, 1]


def test_all_crowds_of_the_scene_catch_up_with_the_bits_of_playing():
    first, second = make_runner("One"), make_runner("Two")
    play(1, 15)
    expected = [shown(obj).copy() for obj in (first, second)]
    for obj in (first, second):
        live.clear(obj)
    frame_set(15)
    assert bpy.ops.object.steer_catch_up() == {"FINISHED"}
    for obj, places in zip((first, second), expected, strict=True):
        assert stored(obj) == (1, 15)
        np.testing.assert_array_equal(shown(obj), places)


def test_a_change_is_caught_up_with():
    obj = make_runner()
    play(1, 12)
    slow = shown(obj)[0, 1]
    obj.steer.agents.max_speed = 3.0
    bpy.context.view_layer.update()
    assert code_of(obj) == "OUT_OF_DATE"
    assert bpy.ops.object.steer_catch_up() == {"FINISHED"}
    assert code_of(obj) == "" and shown(obj)[0, 1] > slow


def test_there_is_nothing_to_catch_up_with():
    obj = make_runner()
    frame_set(1)
    assert "first frame" in refusal(bpy.ops.object.steer_catch_up)
    play(2, 6)
    assert "Frame 6 is simulated already" in refusal(bpy.ops.object.steer_catch_up)
    obj.steer.frame_end = 4
    frame_set(9)
    assert not live.lacking(bpy.context.scene)


def test_a_crowd_that_cannot_be_simulated_says_why():
    obj = make_runner()
    obj.data.clear_geometry()
    frame_set(9)
    with pytest.raises(RuntimeError, match="has no vertices"):
        bpy.ops.object.steer_catch_up()


def test_a_crowd_that_cannot_be_simulated_stops_no_other(capfd):
    bad, good = make_runner("A"), make_runner("B")
    bad.data.clear_geometry()
    frame_set(9)
    assert bpy.ops.object.steer_catch_up() == {"FINISHED"}
    assert stored(good) == (1, 9) and code_of(good) == ""
    assert "Warning: Crowd 'A' has no vertices" in capfd.readouterr().out


class Stepped:
    """The operator as a window drives it, with what it reports."""

    modal = OBJECT_OT_steer_catch_up.modal
    _begin = OBJECT_OT_steer_catch_up._begin
    _all_steps = OBJECT_OT_steer_catch_up._all_steps
    _step = OBJECT_OT_steer_catch_up._step
    _situation = OBJECT_OT_steer_catch_up._situation
    _end = OBJECT_OT_steer_catch_up._end
    interrupt = OBJECT_OT_steer_catch_up.interrupt
    _failed = OBJECT_OT_steer_catch_up._failed
    _done = OBJECT_OT_steer_catch_up._done

    def __init__(self):
        manager = SimpleNamespace(progress_update=lambda value: None)
        self.context = SimpleNamespace(
            scene=bpy.context.scene,
            window_manager=manager,
            workspace=SimpleNamespace(status_text_set=lambda text: None),
        )
        self.reports = []
        self._begin(self.context)

    def report(self, kind, text):
        self.reports.append((*kind, text))

    def event(self, kind):
        return self.modal(self.context, SimpleNamespace(type=kind, value="PRESS"))


def test_in_a_window_it_goes_on_in_steps():
    obj = make_runner()
    frame_set(20)
    run, answers = Stepped(), []
    while not answers or answers[-1] == {"RUNNING_MODAL"}:
        answers.append(run.event("TIMER"))
        assert len(answers) < 100
    assert answers[-1] == {"FINISHED"} and stored(obj) == (1, 20)


def test_escape_leaves_the_crowd_as_it_was_and_views_can_be_turned():
    obj = make_runner()
    frame_set(20)
    before, run = shown(obj).copy(), Stepped()
    assert run.event("MIDDLEMOUSE") == {"PASS_THROUGH"}
    assert run.event("G") == {"RUNNING_MODAL"}
    assert run.event("ESC") == {"CANCELLED"} and run.reports[0][0] == "INFO"
    assert stored(obj) is None
    np.testing.assert_array_equal(shown(obj), before)


def test_an_undo_meanwhile_stops_it(monkeypatch):
    monkeypatch.setattr(catching_up, "_TICK", 0.0)
    obj = make_runner()
    bpy.ops.ed.undo_push(message="before")
    obj.location.x = 3.0
    bpy.ops.ed.undo_push(message="after")
    frame_set(20)
    bpy.ops.ed.undo_push(message="at 20")
    run = Stepped()
    assert run.event("TIMER") == {"RUNNING_MODAL"}
    bpy.ops.ed.undo()
    run.context.scene = bpy.context.scene
    assert run.event("TIMER") == {"CANCELLED"} and "catch up again" in run.reports[0][1]
    assert not catching_up._running and len(bpy.data.scenes) == 1


def test_a_setting_that_changes_meanwhile_stops_it():
    obj = make_runner()
    frame_set(20)
    run = Stepped()
    obj.steer.seed = 7
    assert run.event("TIMER") == {"CANCELLED"}
    assert run.reports == [("ERROR", "Stopped, as a setting or the frame changed: catch up again")]


def test_one_crowd_that_cannot_be_simulated_is_told_at_the_end_of_the_steps():
    bad, good = make_runner("A"), make_runner("B")
    bad.data.clear_geometry()
    frame_set(9)
    run, answer = Stepped(), {"RUNNING_MODAL"}
    while answer == {"RUNNING_MODAL"}:
        answer = run.event("TIMER")
    assert answer == {"FINISHED"} and stored(good) == (1, 9)
    ((kind, text),) = run.reports
    assert kind == "WARNING" and "'A' has no vertices" in text


def test_a_missing_kernel_is_no_unusable_crowd(monkeypatch):
    make_runner()
    frame_set(9)
    run, held = Stepped(), []

    def missing(*_):
        raise KernelsMissingError("m", "n", ())
        yield

    monkeypatch.setattr(live, "catching_up", missing)
    monkeypatch.setattr(live, "hold", lambda obj, error: held.append(obj))
    assert run.event("TIMER") == {"RUNNING_MODAL"}
    assert len(held) == 1 and run.reports == []


def test_objects_that_an_undo_takes_away_meanwhile_stop_it(monkeypatch):
    make_runner()
    frame_set(20)

    def gone(*_):
        yield 2
        raise ReferenceError("StructRNA of type Object has been removed")

    monkeypatch.setattr(live, "catching_up", gone)
    run = Stepped()
    assert run.event("TIMER") == {"CANCELLED"}
    assert run.reports == [("ERROR", "Stopped, as a setting or the frame changed: catch up again")]


# the range of the scene


def test_a_scene_outside_of_the_crowds_range_says_so_and_offers_its_own():
    obj, scene = make_runner(), bpy.context.scene
    play(1, 3)
    scene.frame_start, scene.frame_end = 1001, 1101
    for number in (1001, 1002):
        frame_set(number)
    assert told(obj) == diagnose("OUTSIDE_RANGE", frame=1002, start=1, end=60)
    drawn = panel(obj)
    assert drawn.press("object.steer_scene_range") == {"FINISHED"}
    assert (obj.steer.frame_start, obj.steer.frame_end) == (1001, 1101)
    play(1001, 1004)
    assert stored(obj) == (1001, 1004) and code_of(obj) == ""


def test_a_crowd_whose_frames_are_over_and_there_is_no_puzzle():
    obj = make_runner()
    obj.steer.frame_end = 10
    play(1, 15)
    assert code_of(obj) == ""
    live.clear(obj)
    assert code_of(obj) == "OUTSIDE_RANGE"
    obj.steer.frame_start, obj.steer.frame_end = 100, 200
    bpy.context.scene.frame_end = 50
    frame_set(20)
    assert code_of(obj) == "OUTSIDE_RANGE"
    # a crowd that begins later in the scene is none
    bpy.context.scene.frame_end = 250
    frame_set(21)
    assert code_of(obj) == "NOT_SIMULATED"


def test_from_the_first_frame_there_is_one_way_to_play_on():
    obj = make_runner()
    frame_set(1)
    frame_set(14)
    assert told(obj) == diagnose("FRAME_MISSING", frame=14, shown=1, start=1)
