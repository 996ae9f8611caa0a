"""Planted feet stay where they are: all walks and runs of real rigs, frame by frame.

Agents go at constant speeds at 24 frames a second, and show the pose nearest to their way. What
counts is how far the sole of a planted foot moves on the ground in a frame: the median over the
vertices within 3 % of the height of the ground in both frames that go back, by 45 degrees or less,
wherever one of them is within 1.5 %: a foot that turns round 6 cm above the ground is not planted.
"""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import rigs  # noqa: E402
from steer_addon.blender.characters.sampling import Sampler  # noqa: E402
from steer_addon.core.characters import contacts, rows  # noqa: E402

FPS = 24
WALKS = ("Walking_A", "Walking_B", "Walking_C", "Walking_Backwards")
RUNS = ("Running_A", "Running_B", "Running_Strafe_Left", "Running_Strafe_Right")
# median and 95 % in mm
LIMITS = dict.fromkeys(WALKS, (3, 10)) | dict.fromkeys(RUNS, (5, 25))
# 11.4 and 14.2 mm: both feet are down at once, and go back by 18 to 34 mm more or less than each
# other in a frame, so one of them slips; in Walking_B the median is 3.1
MISSED = {"Knight": {"Walking_B", "Walking_Backwards"}, "Mage": set()}


def slips(poses, stride, speeds, frames=150):
    """How far the soles move in a frame [mm]."""
    height = np.ptp(poses[..., 2], axis=1).max()
    band = 0.03 * height
    low = poses[:, poses[..., 2].min(axis=0) < band].astype(float)
    result = []
    for speed in speeds:
        step = speed / FPS
        way = np.arange(frames) * step / stride
        numbers = np.floor(way % 1.0 * len(low) + 0.5).astype(int) % len(low)
        for a, b in zip(numbers[:-1], numbers[1:], strict=True):
            moved = low[b, :, :2] - low[a, :, :2]
            planted = (low[a, :, 2] < band) & (low[b, :, 2] < band)
            planted &= moved[:, 1] > np.abs(moved[:, 0])
            if (low[a, planted, 2] < band / 2).any() and (low[b, planted, 2] < band / 2).any():
                slip = np.hypot(moved[planted, 0], moved[planted, 1] - step)
                result.append(1000.0 * np.median(slip))
    return np.array(result)


def poses_of(sampler, action):
    """Poses of one action at the default spacing, their stride and natural speed."""
    track = sampler.read(action)

    def sample(time):
        return sampler.pose(track.at(time), track.frame(time))

    cycle = contacts.measure_cycle(rows.finished(rows.dense(sample, 192)), track.duration)
    made = rows.Rows(rows.Plan())
    weights = (0.0, 0.0, 1.0) if "Running" in action.name else (0.0, 1.0, 0.0)
    rows.finished(made.add_gait("gait", sample, cycle, cycle.speed, weights))
    return made.space().positions, cycle


@pytest.mark.slow
@pytest.mark.parametrize("who", ["Knight", "Mage"])
@pytest.mark.usefixtures("empty_scene")
def test_soles_of_planted_feet_stay(who, shared, record_property):
    bpy.ops.import_scene.gltf(filepath=str(shared / "characters" / f"{who}.glb"))
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    carried = [obj.name for obj in rig.children_recursive if obj.type == "MESH"]
    props = tuple(name for name in carried if not name.startswith(who))
    too_far = set()
    for name, (median, most) in LIMITS.items():
        with Sampler(bpy.context.scene, rig, rigs.parts_of(rig, props)) as sampler:
            poses, cycle = poses_of(sampler, bpy.data.actions[name])
        found = slips(poses, cycle.stride, cycle.speed * np.linspace(0.6, 1.4, 9))
        line = f"{name} {cycle.stride:.2f} m: {np.median(found):.1f}/{np.percentile(found, 95):.1f}"
        record_property(name, line)
        print(who, line)
        if np.median(found) > median or np.percentile(found, 95) > most:
            too_far.add(name)
    assert too_far == MISSED[who]
