"""Samples in USD: positions and velocities are at the same times, or readers ignore velocities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.export import usd_instancer  # noqa: E402
from steer_addon.blender.writing import usd_points  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402
from tests.blender.bake_frames import circling  # noqa: E402
from tests.blender.live_scenes import make_runner  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("empty_scene"),
    pytest.mark.skipif(not usd_points.has_usd(), reason="this build of Blender has no USD"),
]
LAST = 12


def halting():
    """Agents that stand from frame 5 on, and look like moving once more at frame 9."""
    frames = list(circling(range(1, LAST + 1)))
    still = frames[4]
    for k in range(5, LAST):
        speed = 1.0 if k == 8 else 0.0
        frames[k] = replace(
            frames[k], position=still.position, velocity=np.float32(speed) * still.velocity
        )
    return frames


@pytest.mark.parametrize("kind", ["usd", "pointinstancer"])
def test_positions_and_velocities_are_at_the_same_times(tmp_path, kind):
    frames, path = halting(), tmp_path / "crowd.usdc"
    header = Header("Crowd", 24.0, 1, LAST)
    if kind == "usd":
        usd_points.write_points(frames, path, header)
    else:
        obj, scene = make_runner(), bpy.context.scene
        usd_instancer.write_instancer(frames, path, header, obj, scene, frames[0].id)
    usd = usd_points.pxr()
    stage = usd.Usd.Stage.Open(str(path))
    prim = stage.GetDefaultPrim()
    names = ("points" if kind == "usd" else "positions"), "velocities"
    places, velocities = (prim.GetAttribute(name) for name in names)
    assert places.GetTimeSamples() == velocities.GetTimeSamples()
    # unchanged frames get no samples
    assert len(places.GetTimeSamples()) < LAST
    for frame in frames:
        np.testing.assert_array_equal(places.Get(frame.number), frame.position)
        np.testing.assert_array_equal(velocities.Get(frame.number), frame.velocity)
