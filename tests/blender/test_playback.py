"""Baked crowds that Blender plays by itself, in the same modifier."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import playback  # noqa: E402
from steer_addon.blender.crowd import baked_file, crowds, state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402
from steer_addon.blender.writing.usd_points import has_usd  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402
from tests.blender.crowd_views import attribute, instances  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    code_of,
    data_counts,
    frame_set,
    make_runner,
    play,
    shown,
    told,
)
from tests.diagnosed import codes  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
needs_usd = pytest.mark.skipif(not has_usd(), reason="this build of Blender has no USD")

LAST = 12


def simulated(obj, last=LAST):
    return list(simulate.run(obj, bpy.context.scene, range(obj.steer.frame_start, last + 1)))


def bake(obj, folder, frames=None):
    frames = simulated(obj) if frames is None else frames
    head = Header(obj.name, 24.0, frames[0].number, frames[-1].number)
    playback.show(obj, playback.write(iter(frames), folder, head))
    return frames


@needs_usd
def test_the_modifier_shows_what_was_baked(tmp_path):
    obj = make_runner()
    frames = bake(obj, tmp_path)
    assert (tmp_path / "crowd.usdc").is_file()
    for frame in frames:
        frame_set(frame.number)
        np.testing.assert_array_equal(shown(obj), frame.position)
        np.testing.assert_array_equal(attribute(obj, "velocity"), frame.velocity)
        # through the matrices of the node group; q and -q are one rotation
        turns = np.abs(np.sum(attribute(obj, "rotation") * frame.rotation, axis=1))
        np.testing.assert_allclose(turns, 1.0, atol=1e-6)
        np.testing.assert_array_equal(attribute(obj, "radius"), frame.radius)
        np.testing.assert_array_equal(attribute(obj, "id"), frame.id)
        np.testing.assert_array_equal(attribute(obj, "speed"), frame.speed)
    assert len(instances()) == 3


@needs_usd
def test_sub_frames_lie_between_and_the_range_holds(tmp_path):
    obj = make_runner()
    frames = bake(obj, tmp_path)
    for part in (0.25, 0.5):
        frame_set(5, part)
        between = (1 - part) * frames[4].position + part * frames[5].position
        np.testing.assert_allclose(shown(obj), between, atol=1e-5)
    for number, frame in ((-100, frames[0]), (1000, frames[-1])):
        frame_set(number)
        np.testing.assert_array_equal(shown(obj), frame.position)


@needs_usd
def test_nothing_is_simulated_while_it_plays(tmp_path):
    obj = make_runner()
    bake(obj, tmp_path)
    play(1, LAST)
    assert live.get_frame(obj, 3) is None
    assert told(obj) == diagnose("PLAYS_BAKE", file="crowd.usdc", first=1, last=12)
    assert crowds.make_crowd(obj) == obj
    assert state.plays_back(obj)


@needs_usd
def test_going_back_to_the_live_crowd_leaves_nothing(tmp_path):
    obj = make_runner()
    before = data_counts() | {"cache_files": 0, "pointclouds": 0}
    bake(obj, tmp_path)
    bake(obj, tmp_path)
    playback.detach(obj)
    playback.detach(obj)
    now = data_counts() | {"cache_files": len(bpy.data.cache_files)}
    assert now | {"pointclouds": len(bpy.data.pointclouds)} == before
    play(1, 3)
    assert live.get_frame(obj, 3) is not None
    bake(obj, tmp_path)
    playback.remove_crowd(obj)
    assert not bpy.data.cache_files


@needs_usd
def test_a_bake_over_an_earlier_one_shows_the_new(tmp_path):
    obj = make_runner()
    bake(obj, tmp_path)
    frame_set(6)
    obj.steer.agents.max_speed = 3.0
    frames = bake(obj, tmp_path)
    frame_set(7)
    np.testing.assert_array_equal(shown(obj), frames[6].position)
    assert len(bpy.data.cache_files) == 1


def with_ids(frame, ids):
    rows = np.arange(len(ids))
    return replace(
        frame,
        id=np.array(ids, np.int64),
        **{
            name: getattr(frame, name)[rows]
            for name in ("position", "velocity", "rotation", "radius", "alive")
        },
        attributes={"zone": np.array(ids, np.float32)},
    )


@needs_usd
def test_agents_appear_and_vanish(tmp_path):
    obj = make_runner()
    frames = simulated(obj, 4)
    ids = ([7, 5], [5, 7], [9, 7, 5], [9])
    changed = [with_ids(frame, some) for frame, some in zip(frames, ids, strict=True)]
    bake(obj, tmp_path, changed)
    for frame in changed:
        frame_set(frame.number)
        alive = attribute(obj, "alive").astype(bool)
        rows = {int(i): k for k, i in enumerate(attribute(obj, "id"))}
        assert {i for i, k in rows.items() if alive[k]} == set(frame.id.tolist())
        order = [rows[int(i)] for i in frame.id]
        np.testing.assert_array_equal(shown(obj)[order], frame.position)
        np.testing.assert_array_equal(attribute(obj, "zone")[order], frame.attributes["zone"])
        assert len(instances()) == len(frame.id)


@needs_usd
def test_what_behaviors_show_is_that_of_the_nearer_frame(tmp_path):
    obj = make_runner()
    obj.steer.frame_start = -3
    frames = [
        replace(frame, attributes={"zone": np.full(3, zone, np.float32)})
        for frame, zone in zip(simulated(obj, 1), (1, 1, 4, 4, 2), strict=True)
    ]
    bake(obj, tmp_path, frames)
    moments = ((-3, 0, 1), (-2, 0.49, 1), (-2, 0.5, 4), (-1, 0, 4), (0, 0.49, 4), (0, 0.9, 2))
    for number, part, zone in (*moments, (1, 0, 2)):
        frame_set(number, part)
        assert set(attribute(obj, "zone")) == {zone}


@needs_usd
def test_paths_are_relative_to_the_file_and_can_be_relinked(tmp_path):
    obj = make_runner()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crowd.blend"))
    frames = bake(obj, tmp_path / "steer_cache" / "Zoë_é")
    assert bpy.data.cache_files[0].filepath.startswith("//steer_cache")
    os.rename(tmp_path / "steer_cache", tmp_path / "moved")
    assert code_of(obj) == "BAKE_FILE_MISSING"
    assert baked_file.problem(obj).remedy == "RELINK"
    with pytest.raises(SceneError, match="no file"):
        lost = tmp_path / "steer_cache" / "crowd.usdc"
        playback.show(obj, playback.Played(lost, Header("Crowd", 24.0, 1, 2), frames[0]))
    playback.relink(obj, "//moved/Zoë_é")
    assert baked_file.problem(obj) is None
    frame_set(8)
    np.testing.assert_array_equal(shown(obj), frames[7].position)


@needs_usd
def test_other_crowds_steer_by_a_baked_one(tmp_path):
    from tests.blender.live_scenes import make_crowd

    prey = make_runner()
    hunter = make_crowd([(0, -5, 0)], name="Hunter")
    hunter.steer.target_kind, hunter.steer.target_object = "CROWD", prey
    wanted = simulated(hunter, 5)[-1]
    bake(prey, tmp_path)
    play(1, 5)
    np.testing.assert_array_equal(shown(hunter), wanted.position)
    assert state.plays_back(prey)


def test_the_interface_is_locked_only_while_a_crowd_is_live(tmp_path):
    scene = bpy.context.scene
    obj = make_runner()
    bpy.context.view_layer.update()
    assert scene.render.use_lock_interface
    bake(obj, tmp_path)
    assert not scene.render.use_lock_interface
    playback.detach(obj)
    assert scene.render.use_lock_interface
    playback.remove_crowd(obj)
    bpy.context.view_layer.update()
    assert not scene.render.use_lock_interface
    # a lock that was not set by Steer stays
    scene.render.use_lock_interface = True
    bake(make_runner(), tmp_path)
    assert scene.render.use_lock_interface


def without_usd(monkeypatch):
    from steer_addon.blender.writing import usd_points

    monkeypatch.setattr(usd_points, "has_usd", lambda: False)


def test_without_usd_a_point_cache_plays(tmp_path, monkeypatch):
    without_usd(monkeypatch)
    obj = make_runner()
    frames = [
        replace(frame, alive=(frame.id != 1).astype(np.uint8)) if 3 < frame.number < 9 else frame
        for frame in simulated(obj)[:LAST]
    ]
    # a body that turns all the way round
    half = [np.pi * frame.number / 5 for frame in frames]
    turns = [np.array([np.cos(a), 0, 0, np.sin(a)], np.float32) for a in half]
    frames = [
        replace(f, rotation=np.stack([q, -q, f.rotation[2]]))
        for f, q in zip(frames, turns, strict=True)
    ]
    bake(obj, tmp_path, frames)
    assert (tmp_path / "crowd.pc2").is_file()
    assert baked_file.limits(obj).code == "PLAYS_WITHOUT_USD"
    for frame in frames:
        frame_set(frame.number)
        np.testing.assert_array_equal(shown(obj), frame.position)
        np.testing.assert_array_equal(attribute(obj, "id"), frame.id)
        np.testing.assert_array_equal(attribute(obj, "radius"), frame.radius)
        np.testing.assert_array_equal(attribute(obj, "alive"), frame.alive)
        np.testing.assert_array_equal(attribute(obj, "velocity"), frame.velocity)
        np.testing.assert_allclose(attribute(obj, "speed"), frame.speed, atol=1e-6)
        same = np.abs(np.sum(attribute(obj, "rotation") * frame.rotation, axis=1))
        np.testing.assert_allclose(same, 1.0, atol=1e-6)
        assert len(instances()) == frame.alive.sum()
    for place in (1, 4, 7):
        frame_set(frames[place].number, 0.5)
        between = 0.5 * (frames[place].position + frames[place + 1].position)
        np.testing.assert_allclose(shown(obj), between, atol=1e-6)
        a = 0.5 * (half[place] + half[place + 1])
        same = attribute(obj, "rotation")[:2] @ np.array([np.cos(a), 0, 0, np.sin(a)])
        np.testing.assert_allclose(np.abs(same), 1.0, atol=1e-6)
    os.rename(tmp_path / "crowd.pc2", tmp_path / "other.pc2")
    assert code_of(obj) == "BAKE_FILE_MISSING"
    playback.detach(obj)
    assert display.get_input(display.find_modifier(obj), "State").type == "MESH"


def test_without_usd_agents_appear_too(tmp_path, monkeypatch):
    without_usd(monkeypatch)
    obj = make_runner()
    ids = ([5], [5, 7], [9, 7, 5])
    frames = [with_ids(f, some) for f, some in zip(simulated(obj, 3), ids, strict=True)]
    head = Header("Crowd", 24.0, 1, 3)
    everybody = np.array([5, 7, 9])
    playback.show(obj, playback.write(frames, tmp_path, head, lambda: everybody))
    for frame in frames:
        frame_set(frame.number)
        assert len(instances()) == len(frame.id)


@needs_usd
def test_a_bake_plays_and_its_export_needs_no_simulation(tmp_path, monkeypatch):
    from steer_addon.blender.export import formats

    obj = make_runner()
    obj.steer.frame_end = LAST
    bpy.context.view_layer.objects.active = obj
    frames = simulated(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crowd.blend"))
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    folder = tmp_path / "steer_cache" / "crowd" / "Crowd"
    assert baked_file.file_of(obj) == folder / "crowd.usdc"
    monkeypatch.setattr(simulate, "run", None)
    warnings = []
    path = tmp_path / "x.csv"
    numbers = range(3, 7)
    csv = formats.FORMATS["csv"]
    obj.steer.agents.max_speed = 3.0
    formats.export_crowd(obj, bpy.context.scene, csv, path, numbers=numbers, warnings=warnings)
    rows = np.loadtxt(path)
    wanted = np.concatenate([frames[n - 1].position for n in numbers])
    np.testing.assert_allclose(rows[:, 2:], wanted, atol=1e-5)
    assert codes(warnings) == ["EXPORT_OUT_OF_DATE"]
    monkeypatch.undo()
    warnings.clear()
    # frames that the bake lacks are simulated, and that is said
    obj.steer.frame_end = LAST + 1
    numbers = range(3, LAST + 2)
    formats.export_crowd(obj, bpy.context.scene, csv, path, numbers=numbers, warnings=warnings)
    assert codes(warnings) == ["EXPORT_SIMULATED"]
    assert warnings[0].values == {"first": 3, "last": LAST + 1, "folder": str(folder)}
    warnings.clear()
    told = {"numbers": numbers, "warnings": warnings, "ignore_bake": True}
    formats.export_crowd(obj, bpy.context.scene, csv, path, **told)
    assert not warnings
    obj.steer.frame_end = LAST
    frame_set(7)
    np.testing.assert_array_equal(shown(obj), frames[6].position)
    # the played file was lost, and is written again from the cache
    (folder / "crowd.usdc").unlink()
    assert code_of(obj) == "BAKE_FILE_MISSING"
    bpy.ops.object.steer_cache_relink(directory=str(folder))
    frame_set(8)
    np.testing.assert_array_equal(shown(obj), frames[7].position)
    assert bpy.ops.object.steer_cache_delete() == {"FINISHED"}
    assert not state.plays_back(obj)
    assert not (folder / "crowd.usdc").exists()
