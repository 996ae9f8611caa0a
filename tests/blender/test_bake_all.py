"""Bake All: one run bakes all crowds of a scene, and what is cut short leaves nothing behind."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import places  # noqa: E402
from steer_addon.blender.crowd.state import plays_back  # noqa: E402
from steer_addon.blender.live import shared_run, simulate  # noqa: E402
from steer_addon.blender.operators import bake_all, stepping  # noqa: E402
from steer_addon.core.cache import layout, open_cache  # noqa: E402
from steer_addon.core.errors import KernelsMissingError, WorldError  # noqa: E402
from tests.blender.cached_crowds import bits  # noqa: E402
from tests.blender.operator_calls import refusal, undone  # noqa: E402
from tests.blender.test_meeting_crowds import head_on, offline  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

LAST = {"West": 24, "East": 18}
ALL = bpy.ops.object.steer_cache_bake_all


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """Two crowds that meet; one of them ends early."""
    monkeypatch.setattr(layout, "CHUNK_FRAMES", 10)
    crowds = head_on()
    for crowd in crowds:
        crowd.steer.frame_end = LAST[crowd.name]
        crowd.steer.cache_directory = str(tmp_path)
    return crowds


class Pressed(bake_all.BakeAllOperator):
    """The operator without the window that would run it."""

    options = SimpleNamespace(is_invoke=True)

    def __init__(self, monkeypatch):
        self.told, self.shown = [], []
        app = SimpleNamespace(background=False)
        monkeypatch.setattr(stepping, "bpy", SimpleNamespace(app=app, types=bpy.types))
        monkeypatch.setattr(stepping, "_TICK", -1.0)
        manager = SimpleNamespace(
            event_timer_add=lambda step, window: "timer",
            event_timer_remove=lambda timer: None,
            progress_begin=lambda low, high: None,
            progress_update=lambda value: None,
            progress_end=lambda: None,
            modal_handler_add=lambda operator: True,
        )
        self.context = SimpleNamespace(
            scene=bpy.context.scene,
            window="window",
            window_manager=manager,
            workspace=SimpleNamespace(status_text_set=self.shown.append),
        )

    def report(self, kind, text):
        self.told.append(text)

    def tick(self, kind="TIMER", value="NOTHING"):
        return self.modal(self.context, SimpleNamespace(type=kind, value=value))

    def press(self, steps):
        """Begin, and take so many steps."""
        assert self.invoke(self.context, None) == {"RUNNING_MODAL"}
        for _ in range(steps):
            assert self.tick() == {"RUNNING_MODAL"}

    def escape(self):
        return self.tick("ESC", "PRESS")


def folder_of(tmp_path, crowd):
    return tmp_path / crowd.name


def test_one_run_bakes_all_and_each_plays_its_own(pair, tmp_path, runs):
    live = {crowd.name: offline(crowd, LAST[crowd.name]) for crowd in pair}
    runs.clear()
    assert ALL() == {"FINISHED"}
    assert len(runs) == 1
    for crowd in pair:
        cache = open_cache(folder_of(tmp_path, crowd))
        assert cache.complete and cache.frames == range(1, LAST[crowd.name] + 1)
        baked = [cache.frame(number).position for number in cache.frames]
        np.testing.assert_array_equal(baked, live[crowd.name])
        assert plays_back(crowd) and places.own_folder(crowd) == folder_of(tmp_path, crowd)


def test_what_is_up_to_date_stays_and_what_is_not_is_baked_again(pair, tmp_path, monkeypatch, runs):
    west, east = pair
    for crowd in pair:
        for relation in ("sees", "seen_by", "touches"):
            setattr(crowd.steer.meets, relation, "NOBODY")
    ALL()
    before = {crowd.name: bits(folder_of(tmp_path, crowd)) for crowd in pair}
    runs.clear()
    pressed = Pressed(monkeypatch)
    assert pressed.execute(SimpleNamespace(window=None, **vars_of(pressed))) == {"FINISHED"}
    assert runs == [] and pressed.told == ["Nothing to bake: 2 crowds baked already"]
    west.steer.agents.max_speed = 0.5
    pressed = Pressed(monkeypatch)
    assert pressed.execute(SimpleNamespace(window=None, **vars_of(pressed))) == {"FINISHED"}
    assert runs == ["West"] and pressed.told == ["Baked 1 crowd; 1 crowd baked already"]
    assert bits(folder_of(tmp_path, east)) == before["East"]
    assert bits(folder_of(tmp_path, west)) != before["West"]


def vars_of(pressed):
    return {name: value for name, value in vars(pressed.context).items() if name != "window"}


def test_a_change_of_one_makes_all_that_meet_it_be_baked_again(pair, runs):
    agents = pair[0].steer.agents
    usual, agents.max_speed = agents.max_speed, 0.5
    expected = {crowd.name: offline(crowd, LAST[crowd.name]) for crowd in pair}
    agents.max_speed = usual
    ALL()
    agents.max_speed = 0.5
    runs.clear()
    assert ALL() == {"FINISHED"} and len(runs) == 1
    for crowd in pair:
        cache = open_cache(places.own_folder(crowd))
        baked = [cache.frame(number).position for number in cache.frames]
        # not as the other one's earlier bake had it go
        np.testing.assert_array_equal(baked, expected[crowd.name])


def test_crowds_with_a_keyframe_bake_keep_it(pair, tmp_path):
    west, _ = pair
    bpy.context.view_layer.objects.active = west
    bpy.ops.object.steer_bake_keyframes()
    assert ALL() == {"FINISHED"}
    assert not west.steer.cache_folder and west.steer.bake_collection is not None
    assert [path.name for path in tmp_path.iterdir()] == ["East"]


@pytest.mark.parametrize("steps", [1, 12, 20])
def test_escape_leaves_nothing_and_crowds_as_they_were(pair, tmp_path, monkeypatch, steps):
    pressed = Pressed(monkeypatch)
    pressed.press(steps)
    assert "is being baked" in refusal(bpy.ops.object.steer_cache_bake_all)
    assert any("Baking 2 crowds" in text for text in pressed.shown)
    assert pressed.escape() == {"CANCELLED"}
    assert pressed.told == ["Stopped: nothing was made"] and pressed.shown[-1] is None
    assert list(tmp_path.iterdir()) == [] and bpy.data.scenes.keys() == ["Scene"]
    assert not any(crowd.steer.cache_folder or plays_back(crowd) for crowd in pair)
    assert ALL.poll()


def test_escape_keeps_the_earlier_bakes(pair, tmp_path, monkeypatch):
    ALL()
    before = {crowd.name: bits(folder_of(tmp_path, crowd)) for crowd in pair}
    pair[1].steer.agents.max_speed = 0.5
    pressed = Pressed(monkeypatch)
    pressed.press(15)
    assert pressed.escape() == {"CANCELLED"}
    assert {crowd.name: bits(folder_of(tmp_path, crowd)) for crowd in pair} == before
    assert all(map(plays_back, pair))


def test_escape_keeps_crowds_whose_run_was_complete(pair, tmp_path, monkeypatch):
    for crowd in pair:
        for relation in ("sees", "seen_by", "touches"):
            setattr(crowd.steer.meets, relation, "NOBODY")
    pressed = Pressed(monkeypatch)
    pressed.press(30)
    assert pressed.escape() == {"FINISHED"}
    assert pressed.told == ["Stopped: only 1 crowd baked"]
    (first,) = [crowd for crowd in pair if plays_back(crowd)]
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
    assert open_cache(folder_of(tmp_path, first)).complete


def test_a_failure_leaves_nothing_and_says_why(pair, tmp_path, monkeypatch):
    whole = simulate.moments

    def broken(*words, **options):
        for number, moment in enumerate(whole(*words, **options), 1):
            if number == 13:
                raise WorldError("Collider 'Rock' is broken: repair it")
            yield moment

    monkeypatch.setattr(shared_run, "moments", broken)
    with pytest.raises(RuntimeError, match="'Rock' is broken"):
        ALL()
    assert list(tmp_path.iterdir()) == [] and not any(map(plays_back, pair))


def test_a_crowd_that_is_deleted_meanwhile_is_said(pair, monkeypatch):
    pressed = Pressed(monkeypatch)
    pressed.press(2)
    bpy.data.objects.remove(pair[0])
    assert pressed.tick() == {"CANCELLED"}
    assert pressed.told == ["An object was deleted while it was being read: run it again"]


def test_bakes_that_wait_for_kernels_go_on_with_the_same_bits(pair, tmp_path, monkeypatch, runs):
    live = {crowd.name: offline(crowd, LAST[crowd.name]) for crowd in pair}
    runs.clear()
    whole, missing, held = shared_run.moments, [13], []

    def waiting(*words, **options):
        for number, moment in enumerate(whole(*words, **options), 1):
            if missing == [number]:
                missing.clear()
                raise KernelsMissingError("module", "kernel", ("types",))
            yield moment

    monkeypatch.setattr(shared_run, "moments", waiting)
    monkeypatch.setattr(bake_all.compiling, "can_wait", lambda: True)
    monkeypatch.setattr(bake_all.live, "must_wait", lambda obj: False)
    monkeypatch.setattr(bake_all.live, "hold", lambda obj, error: held.append(obj.name))
    pressed = Pressed(monkeypatch)
    pressed.press(10)
    while (result := pressed.tick()) == {"RUNNING_MODAL"}:
        pass
    assert result == {"FINISHED"} and pressed.told == ["Baked 2 crowds"]
    assert len(held) == 1 and len(runs) == 2
    for crowd in pair:
        cache = open_cache(folder_of(tmp_path, crowd))
        baked = [cache.frame(number).position for number in cache.frames]
        np.testing.assert_array_equal(baked, live[crowd.name])


def test_a_crowd_that_cannot_be_baked_is_told_before_any_is_simulated(pair, tmp_path, runs):
    pair[1].steer.frame_end = -3
    with pytest.raises(RuntimeError, match="'East' ends at frame -3, before its start"):
        ALL()
    assert runs == [] and list(tmp_path.iterdir()) == []


def test_one_undo_takes_all_back(pair, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "pair.blend"))
    undone(ALL)
    assert not any(plays_back(bpy.data.objects[name]) for name in LAST)
    assert not any(bpy.data.objects[name].steer.cache_folder for name in LAST)
    # the files are this file's own, and no crowd has them: they are replaced
    assert ALL() == {"FINISHED"}
    assert all(plays_back(bpy.data.objects[name]) for name in LAST)


def test_a_grey_button_says_why(empty_scene):
    assert refusal(ALL) == "The scene has no crowd: use Add > Crowd"
    head_on()
    assert "Save the file first" in refusal(ALL)
