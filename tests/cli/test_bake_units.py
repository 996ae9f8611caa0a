"""Options of bakes are in meters, whatever the unit of the scene."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.crowd_makers import active  # noqa: E402


def test_a_tolerance_is_as_large_in_centimeters(run, tmp_path, empty_scene):
    counts = []
    for name, scale in (("meters", 1.0), ("centimeters", 0.01)):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.context.scene.unit_settings.scale_length = scale
        bpy.ops.object.steer_start(preset="birds", count=4)
        active().steer.frame_end = 60
        path, out = tmp_path / f"{name}.blend", tmp_path / f"{name}_baked.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        done = run("bake", path, "--save", out, "--empties", "--tolerance", 0.02, "--json")
        assert done.code == 0, done.err
        counts.append(done.data["keys"])
    assert counts[0] == pytest.approx(counts[1], rel=0.02), counts
