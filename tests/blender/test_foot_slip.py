"""Planted feet stay where they are: all walks and runs of real rigs, frame by frame.

Agents go at constant speeds at 24 frames a second, and show the pose nearest to their phase. What
counts is how far the sole of a planted foot moves on the ground in a frame, see `planted_slips`,
where vertices within 3 % of the height of the ground are near it.
On a slope of 15 degrees, up, down and across it, way and height are those along and above it: feet
that roll within these 3 % slip more there, as all of an upright body moves straight up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from walktools import finished, on_slope, planted_slips, walk  # noqa: E402

from steer_addon.blender.characters import rigs  # noqa: E402
from steer_addon.blender.characters.sampling import Sampler  # noqa: E402
from steer_addon.core.characters import contacts, rows  # noqa: E402
from tests.blender.made_once import import_rig  # noqa: E402

WALKS = ("Walking_A", "Walking_B", "Walking_C", "Walking_Backwards")
RUNS = ("Running_A", "Running_B", "Running_Strafe_Left", "Running_Strafe_Right")
# median and 95 % in mm
LIMITS = dict.fromkeys(WALKS, (3, 10)) | dict.fromkeys(RUNS, (5, 25))
SLOPES = dict.fromkeys(WALKS, (3, 10.5)) | dict.fromkeys(RUNS, (5, 13))
"""The same on slopes."""
FASTEST = 3.5
"""Speeds above it are not asked for [m/s]."""
RISE = np.tan(np.radians(15.0))
SETTLED = 50
"""Frames after which bodies have taken up a slope."""


def slips(space, speeds, frames=150, rise=(0.0, 0.0)):
    """How far the soles move in a frame [mm]."""
    height = np.ptp(space.positions[..., 2], axis=1).max()
    band = 0.03 * height
    feet = space.positions[..., 2].min(axis=0) < band
    feet_only = replace(space, positions=space.positions[:, feet])
    found = []
    for speed in speeds:
        went = walk(feet_only, [speed] * frames, [0.0] * frames, rise=rise)
        points = on_slope(went, rise)[SETTLED if any(rise) else 0 :]
        found.append(planted_slips(points, np.zeros(len(points)), speed, band))
    return np.concatenate(found)


def poses_of(sampler, action):
    """Poses of one action at the default spacing, and its cycle."""
    (track,) = sampler.read([action])

    def sample(time):
        return sampler.pose(track.at(time), track.frame(time))

    cycle = contacts.measure_cycle(finished(rows.dense(sample, 192)), track.duration)
    made = rows.Rows(rows.Plan())
    weights = (0.0, 0.0, 1.0) if "Running" in action.name else (0.0, 1.0, 0.0)
    finished(made.add_gait("gait", sample, cycle, cycle.speed, weights))
    return made.space(), cycle


@pytest.mark.slow
@pytest.mark.parametrize(
    ("who", "actions", "count"),
    [
        ("Knight", ("Walking_A", "Running_A"), 5),
        # of few speeds the largest slips differ by a millimeter from those of all
        pytest.param("Knight", (*WALKS, *RUNS), 9, marks=pytest.mark.long),
        pytest.param("Mage", (*WALKS, *RUNS), 9, marks=pytest.mark.long),
    ],
)
@pytest.mark.usefixtures("empty_scene")
def test_soles_of_planted_feet_stay(who, actions, count, shared, record_property):
    rig = import_rig(shared / "characters" / f"{who}.glb")
    carried = [obj.name for obj in rig.children_recursive if obj.type == "MESH"]
    props = tuple(name for name in carried if not name.startswith(who))
    too_far = []
    for name in actions:
        with Sampler(bpy.context.scene, rig, rigs.parts_of(rig, props)) as sampler:
            space, cycle = poses_of(sampler, bpy.data.actions[name])
        speeds = cycle.speed * np.linspace(0.6, min(1.4, FASTEST / cycle.speed), count)
        directions = [0, -1], [0, 1], [1, 0]
        found = slips(space, speeds)
        sloping = [slips(space, speeds, 110, tuple(RISE * np.array(to))) for to in directions]
        for where, moved, limits in (
            ("flat", found, LIMITS[name]), ("slope", np.concatenate(sloping), SLOPES[name])
        ):  # fmt: skip
            median, most = np.median(moved), np.percentile(moved, 95)
            line = f"{name} {cycle.stride:.2f} m, {where}: {median:.1f}/{most:.1f}"
            record_property(f"{name} {where}", line)
            print(who, line)
            if median > limits[0] or most > limits[1]:
                too_far.append(line)
    assert not too_far


@pytest.mark.usefixtures("empty_scene")
def test_actions_at_another_frame_rate_are_read_at_their_keys(shared):
    rig = import_rig(shared / "characters" / "Knight.glb")
    action = bpy.data.actions["Cheer"]
    path = 'pose.bones["lowerarm.l"].rotation_quaternion'
    curves = [curve for curve in rigs.curves(action) if curve.data_path == path]
    keys = np.array([point.co.x for point in curves[0].keyframe_points])
    assert np.abs(keys - np.rint(keys)).max() > 0.3
    wanted = np.array([[curve.evaluate(key) for curve in curves] for key in keys])
    with Sampler(bpy.context.scene, rig, rigs.parts_of(rig)) as sampler:
        (track,) = sampler.read([action])
    bone = rig.pose.bones.find("lowerarm.l")
    first, last = action.frame_range
    found = np.array([track.at((key - first) / (last - first))[bone, 3:7] for key in keys])
    np.testing.assert_allclose(np.abs((found * wanted).sum(axis=1)), 1.0, atol=1e-6)
