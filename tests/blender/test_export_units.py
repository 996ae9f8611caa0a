"""Exports of scenes in centimeters: what says that it is in meters is."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.export import formats  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402
from tests.blender.live_scenes import frame_set  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")
NUMBERS = range(1, 4)


@pytest.fixture
def crowd(empty_scene):
    """People of a scene whose unit is a centimeter."""
    empty_scene.unit_settings.system = "METRIC"
    empty_scene.unit_settings.scale_length = 0.01
    assert bpy.ops.object.steer_start(preset="pedestrians", count=4) == {"FINISHED"}
    return active()


def exported(crowd, name, folder):
    path = folder / f"crowd.{name}"
    chosen = formats.FORMATS[name]
    formats.export_crowd(crowd, bpy.context.scene, chosen, path, numbers=NUMBERS)
    return path


def places(crowd):
    """Places of the agents at each frame, in centimeters."""
    return np.array([f.position for f in simulate.run(crowd, bpy.context.scene, NUMBERS)])


def test_trajectories_are_in_meters(crowd, tmp_path):
    lines = exported(crowd, "csv", tmp_path).read_text().splitlines()
    found = np.array([line.split("\t") for line in lines if line[0] != "#"], float)
    np.testing.assert_allclose(found[:, 2:], 0.01 * places(crowd).reshape(-1, 3), atol=1e-5)


def test_fbx_is_as_large_as_blender_writes_it(crowd, tmp_path):
    """Its exporter writes the size in meters, whatever the unit of the scene is."""
    wanted, path = 0.01 * places(crowd)[-1], exported(crowd, "fbx", tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.render.fps = 24
    bpy.ops.import_scene.fbx(filepath=str(path), anim_offset=0.0)
    frame_set(NUMBERS[-1])
    bodies = sorted((o for o in bpy.data.objects if o.type == "MESH"), key=lambda o: o.name)
    found = np.array([body.matrix_world.translation for body in bodies])
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert max(body.dimensions.z for body in bodies) < 2.5
