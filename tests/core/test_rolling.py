"""Feet that rise and roll while they are planted stay on slopes and under bodies that lean."""

from __future__ import annotations

import numpy as np
import pytest
from walktools import on_slope, walk

from steer_addon.core.characters.cast import Cast, rolls_of
from steer_addon.core.characters.curves import planted, with_turning
from steer_addon.core.characters.pose_space import PoseSpace, Row

RISE = np.tan(np.radians(15.0))
COUNT, STRIDE, SPEED = 400, 1.2, 1.5
HIGH = 0.04


def rising(high=HIGH):
    """A body of 2 m whose feet rise and sink by `high` while they go back, half a cycle each."""
    phases = np.arange(COUNT) / COUNT
    points = [np.tile([0.0, 0.0, z], (COUNT, 1)) for z in (1.0, 2.0)]
    for start in (0.25, 0.75):
        gone = (phases + start) % 1.0
        swings = gone >= 0.5
        y = STRIDE * np.where(swings, 0.75 - gone, gone - 0.25)
        planted = high * np.sin(2.0 * np.pi * gone) ** 2
        z = np.where(swings, 0.3 * np.sin(2.0 * np.pi * (gone - 0.5)), planted)
        points.append(np.stack([np.full(COUNT, 0.1 - 0.2 * (start > 0.5)), y, z], axis=1))
    poses = np.stack(points, axis=1).astype(np.float32)
    poses = np.concatenate([poses[:1] * [1.0, 0.0, 1.0], poses]).astype(np.float32)
    stand, gait = Row("stand", 0, 1), Row("walk", 1, COUNT, SPEED, STRIDE, STRIDE / SPEED)
    return PoseSpace(poses, (stand, gait))


def slips(space, rise, upright):
    """How far planted feet move along the slope in a frame [mm]."""
    went = walk(space, [SPEED] * 120, [0.0] * 120, rise=tuple(rise), upright=upright)
    feet = on_slope(went, rise, upright)[:, 2:]
    gone = (went.phases[:, None] + [0.25, 0.75]) % 1.0
    down = (gone > 0.03) & (gone < 0.47)
    down = down[1:] & down[:-1]
    moved = 1000.0 * np.hypot(*np.diff(feet, axis=0)[..., :2].T).T
    return moved[60:][down[60:]]


@pytest.mark.parametrize("upright", [1.0, 0.5, 0.0])
def test_feet_that_rise_stay_up_down_and_across_a_slope(upright):
    space = rising()
    rolls = with_turning(space, rig=True)
    for to in ([0.0, -1.0], [0.0, 1.0], [1.0, 0.0]):
        rise = RISE * np.array(to)
        moved = slips(rolls, rise, upright)
        assert np.median(moved) < 0.75 and np.percentile(moved, 95) < 2.0
        before = slips(space, rise, upright)
        assert upright < 1.0 or np.median(before) > 2.5


def test_a_gait_knows_how_its_planted_foot_rises():
    found = np.array(with_turning(rising(), rig=True).gaits[1].rolling)
    assert found.shape == (24, 6) and not found[[0, 12]].any()
    # against the lean, from where feet pass each other, as there they are highest
    for column in (2, 4):
        assert np.ptp(found[:, column]) == pytest.approx(HIGH, abs=0.005)
        assert found[:, column].max() > 0.9 * HIGH
    flat = rising(0.0)
    # feet that leave the ground at once: those that land or lift within a frame do rise
    flat.positions[..., 2] += 0.3 * (flat.positions[..., 2] > 0.0)
    flat = with_turning(flat, rig=True)
    assert not np.any(flat.gaits[1].rolling) and flat.gaits[0].rolling == ()


def test_a_body_whose_feet_never_come_down_has_none():
    space = rising()
    positions = space.positions + np.float32([0.0, 0.0, 0.5])
    raised = PoseSpace(positions, space.gaits)
    assert with_turning(raised, rig=True).gaits[1].rolling == ()


def test_a_body_that_leans_turns_against_a_heel_that_rises():
    steep = -0.4  # how much the sole rises per meter ahead, as the foot lifts
    phases = np.arange(COUNT) / COUNT
    points = [np.tile([0.0, 0.0, 2.0], (COUNT, 1))]
    for start, side in ((0.25, 0.1), (0.75, -0.1)):
        gone = (phases + start) % 1.0
        swings = np.abs(gone - 0.25) > 0.15
        y = STRIDE * np.where(gone >= 0.5, 0.75 - gone, gone - 0.25)
        rolls = steep * np.clip((gone - 0.25) / 0.15, 0.0, 1.0)
        for ahead in (0.0, -0.05, -0.1):
            z = np.where(swings, 0.3, ahead * rolls)
            points.append(np.stack([np.full(COUNT, side), y - ahead, z], axis=1))
    poses = np.stack(points, axis=1).astype(np.float32)
    row = Row("walk", 0, COUNT, SPEED, STRIDE, STRIDE / SPEED)
    found = np.array(planted(poses, row, 2.0).rolling())
    # the toes stand: what rises behind them goes aside by the lean, as if the foot turned by that
    expected = steep * np.arange(4) / 24.0 / 0.15
    for first in (0, 12):
        assert found[first : first + 4, 0] == pytest.approx(expected, abs=0.03)
        # about the toes, which go back meanwhile
        shifts = [np.interp(k / 24.0, phases, poses[:, 1, 1]) for k in range(4)]
        assert found[first : first + 4, 2] == pytest.approx(-expected * shifts, abs=0.01)


def test_characters_of_earlier_versions_keep_their_feet_as_they_rise():
    heights = tuple((0.001 * k,) for k in range(24))
    stand, walks = Row("stand", 0, 1), Row("walk", 1, 4, 1.0, 1.2, 1.2, lifts=heights)
    (rows,) = rolls_of(Cast(((stand, walks),)))
    assert not rows[0].any() and not rows[1][:, [0, 1, 3, 5]].any()
    np.testing.assert_allclose(rows[1][:, [2, 4]], -0.001 * np.arange(24)[:, None] * [1.0, 1.0])
