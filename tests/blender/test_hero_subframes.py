"""Heroes between frames, as motion blur asks for them: also where a cycle begins again."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import origins  # noqa: E402
from steer_addon.blender.characters.heroes import blending  # noqa: E402
from steer_addon.blender.characters.heroes import hero as rigs  # noqa: E402
from steer_addon.core.characters.picking import SHEARS  # noqa: E402
from tests.blender.test_heroes import hero_points  # noqa: E402
from tests.blender.walking_rigs import add_gait, gaps, made_by, make_rig, walking_rig  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = 30
RATE = 1.0 / 12.0
"""Cycles a frame: two of them end within the frames here."""
INSIDE = (0.25, 0.5, 0.75)


def rig_with_root_motion():
    rig = make_rig()
    add_gait(rig, "Idle", 0.0, 24)
    add_gait(rig, "Walk", 1.0, 24, bob=0.02, drift=1.0)
    add_gait(rig, "Run", 2.0, 16, bob=0.04, drift=2.0)
    return rig


def walker(made, start, rate, rows, found=None):
    """A hero that walks on the spot, in poses of a row at each frame.

    Its crowd shifts it from its phase toward the nearest pose, by 0.44 of the way to it.
    """
    phase = start + rate * np.arange(FRAMES)
    shear = np.zeros((FRAMES, len(SHEARS)))
    gaits = [made.space.gaits[number] for number in np.broadcast_to(rows, FRAMES)]
    for row, part, values in zip(gaits, phase, shear, strict=True):
        beside = (part * row.count + 0.5) % 1.0 - 0.5
        values[SHEARS.index("shift_ahead")] = -0.44 * beside * row.stride / row.count
    motion = rigs.Motion(
        numbers=np.arange(1.0, FRAMES + 1.0),
        location=np.zeros((FRAMES, 3)),
        rotation=np.tile([1.0, 0.0, 0.0, 0.0], (FRAMES, 1)),
        scale=np.ones(FRAMES),
        shear=shear,
        upright=1.0,
        phase=phase,
        row=np.broadcast_to(rows, FRAMES),
    )
    collection = bpy.data.collections.new("Heroes")
    bpy.context.scene.collection.children.link(collection)
    found = blending.blendable(found or origins.read(made.character), rigs.MARK, [])
    return rigs.make_hero("Hero", motion, found, collection, [])


def away(made, carrier, row, start, rate, time):
    """How far the hero is from the poses beside its phase, at most [m]."""
    bpy.context.scene.frame_set(int(time), subframe=time % 1.0)
    place = (start + rate * (time - 1.0)) % 1.0 * row.count
    before, part = int(place), place % 1.0
    poses = made.space.positions[row.first : row.first + row.count]
    expected = (1.0 - part) * poses[before % row.count] + part * poses[(before + 1) % row.count]
    return gaps(expected, hero_points(carrier)).max()


# a cycle ends at a frame, right behind one, in the middle, and right before one
@pytest.mark.slow
@pytest.mark.parametrize(
    ("beside", "rate", "make"),
    often(
        product(
            (0.0, 0.004, 0.015, 0.5, 0.988, 0.996),
            (RATE, -RATE),
            (walking_rig, rig_with_root_motion),
        ),
        (0.0, RATE, walking_rig),
        (0.004, -RATE, rig_with_root_motion),
        (0.5, RATE, rig_with_root_motion),
        (0.996, -RATE, walking_rig),
    ),
)
def test_a_hero_has_the_poses_between_frames(make, rate, beside):
    made = made_by(make)
    # that of the action, which begins elsewhere than the gait
    offset = next(t.offset for t in origins.read(made.character).tracks if t.action == "Walk")
    start = -offset - rate * (7.0 + beside)
    number, row = next((n, row) for n, row in enumerate(made.space.gaits) if row.name == "walk")
    assert_same(made, walker(made, start, rate, number), row, start, rate)


@pytest.mark.slow
def test_gaits_blended_of_two_actions_with_root_motion_have_the_poses_between_frames():
    made = made_by(rig_with_root_motion)
    for number, row in enumerate(made.space.gaits):
        # their shares change from frame to frame, and slowly: nobody takes first steps at this rate
        if not row.from_stand:
            assert_same(made, walker(made, 0.1, RATE, number), row, 0.1, RATE)


@pytest.mark.slow
def test_a_hero_is_at_its_phase_and_its_body_makes_up_for_no_pose():
    made = made_by(walking_rig)
    number, row = next((n, row) for n, row in enumerate(made.space.gaits) if row.name == "walk")
    rate = 0.37 / row.count
    carrier = walker(made, 0.2 / row.count, rate, number)
    found = [away(made, carrier, row, 0.2 / row.count, rate, k) for k in range(1, FRAMES + 1)]
    # a foot that lands between two poses is 4 mm beside; with the shift of the crowd it is 8
    assert row.stride / row.count > 0.018 and max(found) < 0.005


def assert_same(made, carrier, row, start, rate):
    times = [number + inside for number in range(1, FRAMES) for inside in (0.0, *INSIDE)]
    found = {time: away(made, carrier, row, start, rate, time) for time in times}
    assert max(found.values()) < 0.02, (row.name, max(found, key=found.get))


@pytest.mark.slow
@pytest.mark.parametrize("earlier", [0.0, 1.0])
def test_a_gait_that_begins_by_the_end_of_the_cycle_before_is_changed_to_smoothly(earlier):
    made = made_by(walking_rig)
    gaits = made.space.gaits
    number = next(n for n, row in enumerate(gaits) if row.name == "walk")
    found = origins.read(made.character)
    # the same poses: times of actions go round
    rows = list(found.rows)
    rows[number] = replace(rows[number], times=rows[number].times - earlier)
    shown = np.where(np.arange(FRAMES) < 12, number - 1, number)
    carrier = walker(made, 0.0, RATE, shown, replace(found, rows=tuple(rows)))
    for time in (12.0, 12.25, 12.5, 12.75, 13.0, 13.25):
        row = gaits[shown[int(time) - 1]]
        # feet pass each other here, but not at the very same times in both
        assert away(made, carrier, row, 0.0, RATE, time) < 0.05, time
