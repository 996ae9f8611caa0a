"""Messages about bakes and exports, and invalid input."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import playback  # noqa: E402
from steer_addon.blender.crowd import baked_file, state  # noqa: E402
from steer_addon.blender.export import formats, trajectories  # noqa: E402
from steer_addon.blender.ui import drawing, menus  # noqa: E402
from steer_addon.blender.writing import mesh_cache  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402
from steer_addon.blender.writing.usd_points import has_usd  # noqa: E402
from steer_addon.core.errors import SceneError, SteerError  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.live_scenes import frame_set, make_runner, shown  # noqa: E402
from tests.blender.test_panels import context, draw  # noqa: E402
from tests.blender.test_playback import bake, simulated  # noqa: E402
from tests.diagnosed import says  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("empty_scene"),
    pytest.mark.skipif(not has_usd(), reason="this build of Blender has no USD"),
]


def runner():
    obj = make_runner()
    bpy.context.view_layer.objects.active = obj
    return obj


def said(obj):
    layout = FakeLayout()
    drawing.draw_playback(layout, context(2000), obj)
    return layout


def test_the_panel_recommends_a_bake_until_there_is_one(tmp_path):
    obj = runner()
    assert says(said(obj).texts(), "BAKE_FIRST")
    bake(obj, tmp_path)
    assert not said(obj).texts()
    os.rename(tmp_path / "crowd.usdc", tmp_path / "gone.usdc")
    assert not said(obj).record
    main = FakeLayout()
    drawing.draw_main(main, context(4000), obj)
    assert says(main.texts(), "BAKE_FILE_MISSING")
    assert main.of("operator").count("object.steer_cache_relink") == 1
    (tmp_path / "moved").mkdir()
    os.rename(tmp_path / "gone.usdc", tmp_path / "moved" / "crowd.usdc")
    # the cache is somewhere else, or nowhere: the played file alone will do
    relink = bpy.ops.object.steer_cache_relink
    assert relink(directory=str(tmp_path / "moved")) == {"FINISHED"}
    assert baked_file.problem(obj) is None
    with pytest.raises(RuntimeError, match="manifest.json"):
        relink(directory=str(tmp_path / "elsewhere"))


def test_the_menu_has_every_format_and_the_operator_writes(tmp_path):
    obj = runner()
    obj.steer.frame_end = 3
    layout = draw(menus.STEER_MT_export)
    assert len(layout.of("operator")) == len(formats.FORMATS)
    # the ending is added where it is missing
    assert bpy.ops.object.steer_export(filepath=str(tmp_path / "a.b"), format="csv") == {"FINISHED"}
    assert (tmp_path / "a.b.csv").is_file()
    with pytest.raises(RuntimeError, match="no file name"):
        bpy.ops.object.steer_export(format="csv")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RuntimeError, match="cannot be written"):
        bpy.ops.object.steer_export(filepath=str(tmp_path / "taken" / "x.csv"), format="csv")


def empty(frame):
    none = np.zeros(0, np.int64)
    return replace(
        frame,
        **{
            name: getattr(frame, name)[none]
            for name in ("id", "position", "velocity", "rotation", "radius", "alive")
        },
        attributes={},
    )


def test_nobody_is_exported_and_played(tmp_path):
    obj = runner()
    frames = [empty(frame) for frame in simulated(obj, 2)]
    bake(obj, tmp_path, frames)
    frame_set(2)
    # no simulated agents: the points at rest are shown
    assert len(shown(obj)) == 3
    head = Header("Crowd", 24.0, 1, 2)
    assert mesh_cache.write_pc2(mesh_cache.positions(frames), tmp_path / "x.pc2", head) == 2
    assert mesh_cache.write_mdd(mesh_cache.positions(frames), tmp_path / "x.mdd", head) == 2
    assert trajectories.write_trajectories(frames, tmp_path / "x.csv", head) == 2


@pytest.mark.parametrize("first", [-1_000_000, 999_990])
def test_one_frame_far_away(tmp_path, first):
    obj = runner()
    (frame,) = simulated(obj, 1)
    frame = replace(frame, number=first)
    bake(obj, tmp_path, [frame])
    for number in (first, 1, first + 5):
        frame_set(number)
        np.testing.assert_array_equal(shown(obj), frame.position)


def test_no_frames_and_no_crowd(tmp_path):
    obj = runner()
    head = Header("Crowd", 24.0, 1, 2)
    with pytest.raises(SceneError, match="no frames"):
        playback.write(iter(()), tmp_path, head)
    with pytest.raises(SceneError, match="not baked"):
        playback.relink(obj, tmp_path)
    with pytest.raises(SteerError):
        playback.attach(obj, tmp_path / "nothing")
    assert not state.plays_back(obj)
    played = playback.write(simulated(obj, 2), tmp_path, head)
    with pytest.raises(SceneError, match="no Crowd modifier"):
        playback.show(bpy.data.objects.new("Plain", None), played)


def test_a_duplicate_shares_the_bake_until_it_is_live(tmp_path):
    obj = runner()
    frames = bake(obj, tmp_path)
    twin = obj.copy()
    bpy.context.scene.collection.objects.link(twin)
    frame_set(4)
    np.testing.assert_array_equal(shown(twin), frames[3].position)
    playback.detach(twin)
    assert state.plays_back(obj) and not state.plays_back(twin)
    frame_set(5)
    np.testing.assert_array_equal(shown(obj), frames[4].position)


def test_a_broken_file_shows_the_points_at_rest(tmp_path):
    obj = runner()
    bake(obj, tmp_path)
    (tmp_path / "crowd.usdc").write_bytes(b"PXR-USDC" + bytes(100))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "x.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "x.blend"))
    frame_set(5)
    assert len(shown(bpy.data.objects["Crowd"])) == 3
