"""One picture, whichever way the crowd comes: live, baked, keyed, and where Steer is unknown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import playback  # noqa: E402
from steer_addon.blender.bake import keyframes  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.blender.writing import usd_points  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402
from tests.blender.live_scenes import frame_set, play  # noqa: E402
from tests.blender.test_render_live import make_stage, pixels_of  # noqa: E402
from tests.blender.toy_characters import make_toy  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("empty_scene"),
    pytest.mark.skipif(not usd_points.has_usd(), reason="this build of Blender has no USD"),
]

SCRIPT = Path(__file__).with_name("factory_render.py")
LAST = 20


def make_arrow():
    """Body that every agent shows; its front differs from its back."""
    mesh = bpy.data.meshes.new("Arrow")
    corners = [(-0.4, 0.5, 0), (0.4, 0.5, 0), (0, -0.9, 0), (-0.4, 0.5, 0.6), (0.4, 0.5, 0.6)]
    mesh.from_pydata(corners, [], [(0, 1, 2), (3, 2, 4), (0, 3, 2), (1, 4, 2), (0, 1, 4, 3)])
    mesh.materials.append(bpy.data.materials["Glow"])
    arrow = bpy.data.objects.new("Arrow", mesh)
    bpy.context.scene.collection.objects.link(arrow)
    arrow.location = (100, 100, 0)
    return arrow


def render(folder, number):
    frame_set(number)
    scene = bpy.context.scene
    scene.render.filepath = str(folder / f"{number}.png")
    bpy.ops.render.render(write_still=True)
    return pixels_of(folder / f"{number}.png")


def elsewhere(blend, folder, *numbers):
    """The pictures that a Blender without Steer makes."""
    folder.mkdir()
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(folder / "resources")}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-P", str(SCRIPT), str(blend), str(folder), *map(str, numbers)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [pixels_of(folder / f"{number}.png") for number in numbers]


@pytest.mark.parametrize(("usd", "blur"), [(True, False), (True, True), (False, True)])
def test_live_baked_keyed_and_elsewhere(tmp_path, monkeypatch, usd, blur):
    if not usd:
        monkeypatch.setattr(usd_points, "has_usd", lambda: False)
    obj = make_stage(tmp_path)
    scene, modifier = bpy.context.scene, display.find_modifier(obj)
    arrow = make_arrow()
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", arrow)
    scene.render.filter_size, scene.cycles.samples, scene.cycles.seed = 1.5, 4, 7
    scene.render.use_motion_blur = blur
    scene.render.motion_blur_shutter = 1.0
    frames = list(simulate.run(obj, scene, range(1, LAST + 1)))
    play(1, LAST)
    pictures = {} if blur else {"live": render(tmp_path, 15)}
    head = Header(obj.name, 24.0, 1, LAST)
    playback.show(obj, playback.write(frames, tmp_path / "cache", head))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    pictures["baked"] = render(tmp_path, 15)
    first = render(tmp_path, 1)
    away, elsewhere_first = elsewhere(tmp_path / "baked.blend", tmp_path / "away", 15, 1)
    pictures["elsewhere"] = away
    keyframes.bake(frames, name="Keys", collection_parent=scene.collection, source=arrow)
    if blur:
        scene.render.use_motion_blur = False
        sharp = render(tmp_path, 15)
        assert np.abs(sharp - pictures["baked"]).max() > 0.2
        scene.render.use_motion_blur = True
    obj.hide_render = True
    pictures["keyed"] = render(tmp_path, 15)
    wanted = pictures.pop("baked")
    assert np.ptp(wanted) > 0.5
    assert np.abs(wanted - first).max() > 0.5
    for name, picture in pictures.items():
        assert np.abs(picture - wanted).max() <= 1.001 / 255, name
    assert np.abs(first - elsewhere_first).max() <= 1.001 / 255


@pytest.mark.slow
def test_characters_look_the_same_live_resumed_and_elsewhere(tmp_path):
    obj = make_stage(tmp_path)
    scene, modifier = bpy.context.scene, display.find_modifier(obj)
    toy = make_toy(materials=[bpy.data.materials["Glow"]] * 2)
    display.set_input(modifier, "Object", toy)
    display.set_input(modifier, "Display", "Character")
    scene.render.filter_size, scene.cycles.samples, scene.cycles.seed = 1.5, 4, 7
    # from the side legs are seen
    scene.camera.location, scene.camera.rotation_euler = (0.0, -20.0, 1.0), (0.5 * np.pi, 0.0, 0.0)
    play(1, LAST)
    live, before = render(tmp_path, LAST), render(tmp_path, 7)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "crowd.blend"))
    bpy.context.view_layer.objects.active = obj
    # a bake that goes on in another session
    obj.steer.frame_end = 7
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.context.object
    obj.steer.frame_end = LAST
    assert bpy.ops.object.steer_cache_continue() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    baked = [render(tmp_path, number) for number in (LAST, 7)]
    away = elsewhere(bpy.data.filepath, tmp_path / "away", LAST, 7)
    assert np.ptp(live) > 0.5 and np.abs(live - before).max() > 0.5
    for one, wanted in zip((*baked, *away), (live, before) * 2, strict=True):
        assert np.abs(one - wanted).max() <= 1.001 / 255
