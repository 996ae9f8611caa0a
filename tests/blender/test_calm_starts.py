"""Add > Crowd > preset: people and animals who walk do not turn to and fro."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.core.crowd.presets import find_presets, load_preset  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")

WALKERS = [
    name for name in sorted(find_presets()) if load_preset(name).settings.motion.motion != "FLY"
]
HALF = 12
"""Frames of half a second."""


def swings(yaw):
    """Share of times at which agents turn by more than 60 degrees, and back, within a second."""
    there = np.degrees(yaw[HALF:-HALF] - yaw[: -2 * HALF])
    back = np.degrees(yaw[2 * HALF :] - yaw[HALF:-HALF])
    return ((there * back < 0) & (np.minimum(abs(there), abs(back)) > 60)).mean()


def test_the_measure_of_swings():
    seconds = np.arange(97)[:, None] / 24
    assert swings(np.radians(60) * np.sin(2 * np.pi * seconds)) > 0.3
    assert swings(np.radians(90) * seconds) == 0.0
    assert swings(np.radians(60) * np.sin(2 * np.pi * seconds / 3)) == 0.0


@pytest.mark.parametrize(
    "preset", often(WALKERS, "cocos_steering", "feelers_hide_path", "hide_and_seek")
)
def test_nobody_turns_to_and_fro(preset):
    bpy.ops.object.steer_start(preset=preset, count=40)
    frames = list(simulate.run(active(), bpy.context.scene, range(1, 201)))
    w, _, _, z = np.moveaxis(np.array([frame.rotation for frame in frames], float), -1, 0)
    assert swings(np.unwrap(2.0 * np.arctan2(z, w), axis=0)) < 0.005
