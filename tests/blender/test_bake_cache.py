"""Baking to a cache from the panel: in steps and at once, stopped, gone on with, taken back."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import cached, places, status  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.blender.operators import baking as operators  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.cache import CacheWriter, open_cache  # noqa: E402
from steer_addon.core.cache.manifest import read_manifest, write_manifest  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.errors import OutputError, SceneError, SteerError  # noqa: E402
from tests.blender.cached_crowds import (  # noqa: E402
    END,
    LAST,
    bits,
    make_walkers,
    run_to,
    told_of_bake,
    whole,
)
from tests.blender.crowd_makers import make_crowd  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.operator_calls import refusal  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture
def crowd(tmp_path, monkeypatch):
    return make_walkers(tmp_path, monkeypatch)


def test_a_bake_holds_what_is_simulated(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    cache = open_cache(tmp_path / "Crowd")
    assert cache.complete and cache.frames == range(1, LAST + 1)
    for frame in simulate.run(crowd, bpy.context.scene, range(1, LAST + 1)):
        stored = cache.frame(frame.number)
        for name in ("id", "position", "velocity", "rotation", "radius", "alive"):
            assert getattr(stored, name).tobytes() == getattr(frame, name).tobytes()
        assert stored.attributes.keys() == frame.attributes.keys()
    assert bpy.data.scenes.keys() == ["Scene"]
    assert not status.status(crowd, bpy.context.scene).can_continue
    assert refusal(bpy.ops.object.steer_cache_continue) == "The bake is complete"
    assert "baked already" in refusal(bpy.ops.object.steer_cache_bake)


def test_a_stopped_bake_goes_on_with_the_same_bits(crowd, tmp_path):
    uncut = bits(whole(crowd, tmp_path / "uncut"))
    scene, folder = bpy.context.scene, tmp_path / "cut"
    run_to(bake := cached.begin(crowd, scene, folder), 13)
    bake.close()
    assert open_cache(folder).frames == range(1, 14)
    run_to(bake := cached.resume(crowd, scene, folder), 23)
    assert bake.kept == 13
    # as if the process was killed: only whole chunks are there
    bake.writer.close()
    assert open_cache(folder).frames == range(1, 21)
    run_to(cached.resume(crowd, scene, folder), END)
    assert bits(folder) == uncut


def test_a_longer_range_is_baked_on(crowd, tmp_path):
    uncut = open_cache(whole(crowd, tmp_path / "uncut"))
    crowd.steer.frame_end = 15
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    crowd.steer.frame_end = LAST
    status.refresh(crowd)
    assert bpy.ops.object.steer_cache_continue() == {"FINISHED"}
    cache = open_cache(tmp_path / "Crowd")
    assert cache.complete and cache.frames == range(1, LAST + 1)
    for frame in uncut:
        assert cache.frame(frame.number).position.tobytes() == frame.position.tobytes()


def pressed(crowd, tmp_path, monkeypatch):
    """A button that bakes in a window, its context, the texts of the window, and its reports."""
    texts, report = [], []
    window = SimpleNamespace(
        event_timer_add=lambda step, window: "timer",
        event_timer_remove=lambda timer: texts.append(timer),
        progress_begin=lambda low, high: None,
        progress_update=lambda value: None,
        progress_end=lambda: None,
        modal_handler_add=lambda operator: True,
    )
    context = SimpleNamespace(
        object=crowd,
        scene=bpy.context.scene,
        window="window",
        window_manager=window,
        workspace=SimpleNamespace(status_text_set=texts.append),
    )

    class Pressed(operators.BakeOperator):
        def begin(self, context):
            return cached.begin(crowd, context.scene, tmp_path / "Crowd")

        def report(self, kind, text):
            report.append((kind, text))

    monkeypatch.setattr(
        operators, "bpy", SimpleNamespace(app=SimpleNamespace(background=False), types=bpy.types)
    )
    monkeypatch.setattr(operators, "_TICK", 0.0)
    monkeypatch.setattr(operators.time, "perf_counter", iter(np.arange(0, 1e6)).__next__)
    monkeypatch.setattr(operators, "_TICK", 1.5)
    return Pressed(), context, texts, report


ESCAPE = SimpleNamespace(type="ESC", value="PRESS")


def test_the_window_stays_alive_and_escape_keeps_what_is_done(crowd, tmp_path, monkeypatch):
    operator, context, texts, report = pressed(crowd, tmp_path, monkeypatch)
    assert operator.invoke(context, None) == {"RUNNING_MODAL"}
    assert "is being baked" in refusal(bpy.ops.object.steer_cache_bake)
    tick = SimpleNamespace(type="TIMER", value="NOTHING")
    for _ in range(13):
        assert operator.modal(context, tick) == {"RUNNING_MODAL"}
    assert any("frame" in text and "left" in text for text in texts)
    assert operator.modal(context, ESCAPE) == {"FINISHED"}
    assert texts[-1] is None and "timer" in texts
    frames = open_cache(tmp_path / "Crowd").frames
    assert 10 < len(frames) < LAST
    assert f"{len(frames)} of {LAST} frames are kept" in report[-1][1]
    assert bpy.data.scenes.keys() == ["Scene"] and not operators.why_busy(bpy.context)


def test_escape_before_the_first_frame_leaves_the_crowd_as_it_was(crowd, tmp_path, monkeypatch):
    operator, context, texts, report = pressed(crowd, tmp_path, monkeypatch)
    before = crowd.steer.cache_folder, crowd.steer.cache_owner
    assert operator.invoke(context, None) == {"RUNNING_MODAL"}
    assert operator.modal(context, ESCAPE) == {"CANCELLED"}
    assert report == [({"INFO"}, "Stopped before the first frame: nothing was baked")]
    assert (crowd.steer.cache_folder, crowd.steer.cache_owner) == before
    assert texts[-1] is None and not operators.why_busy(bpy.context)


def test_bake_anew_keeps_the_old_one_until_the_new_one_is_complete(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    folder = tmp_path / "Crowd"
    before = open_cache(folder).frame(LAST).position.copy()
    crowd.steer.agents.max_speed = 0.5
    bake = cached.begin(crowd, bpy.context.scene, folder)
    run_to(bake, 12)
    bake.close()
    assert open_cache(folder).frame(LAST).position.tobytes() == before.tobytes()
    status.refresh(crowd)
    found = status.status(crowd, bpy.context.scene)
    assert len(found.unfinished) == 12 and found.can_continue
    assert bpy.ops.object.steer_cache_continue() == {"FINISHED"}
    assert open_cache(folder).frame(LAST).position.tobytes() != before.tobytes()
    assert [p.name for p in folder.glob("bake_*")] == ["bake_2"]


def test_a_second_blender_is_refused(crowd, tmp_path):
    bake = cached.begin(crowd, bpy.context.scene, tmp_path / "Crowd")
    with pytest.raises(OutputError, match="Another Blender"):
        cached.begin(crowd, bpy.context.scene, tmp_path / "Crowd")
    bake.close()
    cached.begin(crowd, bpy.context.scene, tmp_path / "Crowd").close()


def test_an_unsaved_file_has_no_place_for_a_bake(crowd):
    crowd.steer.cache_directory = ""
    assert "Save the file first" in refusal(bpy.ops.object.steer_cache_bake)


def test_deleting_takes_the_files_and_nothing_else(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    (tmp_path / "Crowd" / "notes.txt").write_text("mine")
    assert bpy.ops.object.steer_cache_delete() == {"FINISHED"}
    assert [p.name for p in (tmp_path / "Crowd").iterdir()] == ["notes.txt"]
    assert "is not baked" in refusal(bpy.ops.object.steer_cache_delete)
    assert status.status(crowd, bpy.context.scene) is None


def test_a_moved_bake_is_linked_again(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    shutil.move(tmp_path / "Crowd", tmp_path / "Moved")
    status.refresh(crowd)
    assert told_of_bake(crowd)["BAKE_UNREADABLE"].remedy == "RELINK"
    with pytest.raises(RuntimeError, match="holds no cache"):
        bpy.ops.object.steer_cache_relink(directory=str(tmp_path))
    assert bpy.ops.object.steer_cache_relink(directory=str(tmp_path / "Moved")) == {"FINISHED"}
    assert places.own_folder(crowd) == tmp_path / "Moved"


def test_an_unsaved_file_is_saved_and_baked_in_one_go(crowd, tmp_path):
    crowd.steer.cache_directory, crowd.steer.frame_end = "", 3

    def offered():
        layout = FakeLayout()
        context = SimpleNamespace(scene=bpy.context.scene, region=SimpleNamespace(width=400))
        drawing.draw_cache(layout, context, crowd)
        return layout.of("operator")[0]

    assert not bpy.data.filepath and not bpy.ops.object.steer_cache_bake.poll()
    assert offered() == "object.steer_save_and_bake"
    unnamed = [(f"{tmp_path}/{name}", "No file is named") for name in ("", ".blend")]
    nowhere = str(tmp_path / "no" / "crowd.blend"), "Cannot"
    for bad, why in (("", "No file is named"), *unnamed, nowhere):
        with pytest.raises(RuntimeError, match=why):
            bpy.ops.object.steer_save_and_bake(filepath=bad)
        assert not bpy.data.filepath and places.own_folder(crowd) is None
    assert bpy.ops.object.steer_save_and_bake(filepath=str(tmp_path / "people")) == {"FINISHED"}
    assert (tmp_path / "people.blend").is_file()
    assert places.own_folder(crowd) == tmp_path / "steer_cache" / "people" / crowd.name
    assert not bpy.ops.object.steer_save_and_bake.poll()
    bpy.ops.object.steer_cache_delete()
    assert offered() == "object.steer_cache_bake"


def test_a_bake_that_is_refused_after_saving_says_why(crowd, tmp_path):
    crowd.steer.cache_directory = ""
    crowd.data.clear_geometry()
    with pytest.raises(RuntimeError, match="has no vertices") as refused:
        bpy.ops.object.steer_save_and_bake(filepath=str(tmp_path / "people.blend"))
    assert "Traceback" not in str(refused.value)
    assert (tmp_path / "people.blend").is_file() and places.own_folder(crowd) is None


def test_the_panel_offers_what_can_be_done(crowd, tmp_path):
    def drawn():
        status.refresh(crowd)
        layout = FakeLayout()
        context = SimpleNamespace(scene=bpy.context.scene, region=SimpleNamespace(width=400))
        drawing.draw_cache(layout, context, crowd)
        offered = {
            v.removeprefix("object.steer_cache_") for k, v in layout.record if k == "operator"
        }
        return offered, told_of_bake(crowd) if places.own_folder(crowd) else {}

    assert drawn() == ({"bake", "relink"}, {})
    run_to(bake := cached.begin(crowd, bpy.context.scene, tmp_path / "Crowd"), 13)
    bake.close()
    places.set_folder(crowd, tmp_path / "Crowd")
    offered, told = drawn()
    assert offered == {"continue", "anew", "check", "relink", "delete"}
    frames = told["FRAMES_LACKING"].values
    assert (frames["first"], frames["last"], frames["end"]) == (1, 13, LAST)
    assert bpy.ops.object.steer_cache_continue() == {"FINISHED"}
    offered, told = drawn()
    assert "continue" not in offered and told["FRAMES_BAKED"].values["last"] == LAST
    crowd.steer.agents.max_speed = 0.5
    change = diagnose("VALUE_CHANGED", "agents.max_speed", was="1.4", now="0.5")
    assert drawn()[1]["BAKE_OUT_OF_DATE"].values == {"changes": (change,)}
    (tmp_path / "Crowd" / "manifest.json").write_text("nonsense")
    reason = drawn()[1]["BAKE_UNREADABLE"].values["reason"]
    assert "is no manifest of a cache, or damaged" in reason


def test_undo_gives_the_crowd_back_as_it_was(crowd, tmp_path):
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    obj = bpy.data.objects["Crowd"]
    bpy.context.view_layer.objects.active = obj
    assert places.own_folder(obj) is None
    status.refresh(obj)
    with pytest.raises(
        RuntimeError, match="earlier file: choose another Folder under Cache, or use Relink Bake"
    ):
        bpy.ops.object.steer_cache_bake()
    assert bpy.ops.object.steer_cache_relink(directory=str(tmp_path / "Crowd")) == {"FINISHED"}
    assert status.status(obj, bpy.context.scene).complete


def test_a_file_that_is_saved_elsewhere_keeps_its_bake(crowd, tmp_path):
    crowd.steer.cache_directory = ""
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a" / "x.blend"))
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    where = tmp_path / "a" / "steer_cache" / "x" / "Crowd"
    assert crowd.steer.cache_folder == "//steer_cache/x/Crowd"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "b" / "y.blend"), copy=True)
    assert crowd.steer.cache_folder == "//steer_cache/x/Crowd"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "c" / "z.blend"))
    assert crowd.steer.cache_folder == "//../a/steer_cache/x/Crowd"
    for path in ("b/y.blend", "c/z.blend", "a/x.blend"):
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / path))
        obj = bpy.data.objects["Crowd"]
        assert places.known_folder(obj) == where
        assert places.own_folder(obj) == (where if path == "a/x.blend" else None)


def test_a_duplicate_neither_shares_nor_deletes_the_bake(crowd, tmp_path):
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    twin = crowd.copy()
    bpy.context.scene.collection.objects.link(twin)
    assert places.own_folder(twin) is None and places.own_folder(crowd) is not None
    bpy.context.view_layer.objects.active = twin
    assert "duplicated" in refusal(bpy.ops.object.steer_cache_delete)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    assert places.own_folder(twin) == tmp_path / "Crowd.001"
    assert bpy.ops.object.steer_cache_delete() == {"FINISHED"}
    assert open_cache(tmp_path / "Crowd").complete
    crowd.name = "Renamed"
    assert places.own_folder(crowd) == tmp_path / "Crowd"


def test_crowds_that_chase_one_another_are_baked_right(crowd, tmp_path):
    hunters = make_crowd(2, "Hunters")
    hunters.location = (-6.0, 0.0, 0.0)
    hunters.steer.frame_start, hunters.steer.frame_end = 5, 19
    for own, other in ((hunters, crowd), (crowd, hunters)):
        own.steer.target_kind, own.steer.target_object = "CROWD", other
    scene = bpy.context.scene
    uncut = whole(crowd, tmp_path / "uncut")
    bake = cached.begin(crowd, scene, tmp_path / "cut")
    run_to(bake, 13)
    bake.close()
    assert set(open_cache(tmp_path / "cut").states(13)) == {"Crowd", "Hunters"}
    run_to(cached.resume(crowd, scene, tmp_path / "cut"), END)
    assert bits(tmp_path / "cut") == bits(uncut)
    for frame in simulate.run(crowd, scene, range(1, LAST + 1)):
        assert open_cache(uncut).frame(frame.number).position.tobytes() == frame.position.tobytes()
    hunters.steer.behaviors[1].weight = 0.25
    told = "arrive.weight was 1, is 0.25 of crowd 'Hunters'"
    with pytest.raises(SceneError, match=told):
        cached.resume(crowd, scene, tmp_path / "cut")


def test_a_bake_of_another_version_is_not_gone_on_with(crowd, tmp_path, monkeypatch):
    monkeypatch.setattr(cached, "__version__", "0.0.1")
    bake = cached.begin(crowd, bpy.context.scene, tmp_path / "old")
    run_to(bake, 12)
    bake.close()
    monkeypatch.undo()
    with pytest.raises(SteerError, match=r"was baked with Steer 0\.0\.1"):
        cached.resume(crowd, bpy.context.scene, tmp_path / "old")
    assert bpy.ops.object.steer_cache_relink(directory=str(tmp_path / "old")) == {"FINISHED"}
    CacheWriter.resume(tmp_path / "old").close()


def test_a_full_disk_is_one_message_and_can_be_gone_on_with(crowd, tmp_path, monkeypatch):
    from steer_addon.core.files import plain as files

    uncut = bits(whole(crowd, tmp_path / "uncut"))
    room, write = [8_000], os.write

    def full(handle, data):
        room[0] -= len(data)
        if room[0] < 0:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(files, "os", SimpleNamespace(**{**vars(os), "write": full}))
    with pytest.raises(RuntimeError, match="No space left on device; make room"):
        bpy.ops.object.steer_cache_bake()
    monkeypatch.undo()
    folder = tmp_path / "Crowd"
    kept = open_cache(folder)
    assert 0 < len(kept.frames) < LAST and len(list(kept.verify())) == len(kept.manifest.chunks)
    places.set_folder(crowd, folder)
    assert bpy.ops.object.steer_cache_continue() == {"FINISHED"}
    # the other one is not played
    write_manifest(folder / "manifest.json", replace(read_manifest(folder), played={}))
    assert bits(folder) == uncut
