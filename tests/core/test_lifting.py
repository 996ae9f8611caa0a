"""Feet that rise while they are planted stay on slopes, whatever share of them bodies tilt by."""

from __future__ import annotations

import numpy as np
import pytest
from walktools import on_slope, walk

from steer_addon.core.characters.lifting import with_lifts
from steer_addon.core.characters.pose_space import PoseSpace, Row

RISE = np.tan(np.radians(15.0))
COUNT, STRIDE, SPEED = 400, 1.2, 1.5
HIGH = 0.04


def rolling(high=HIGH):
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
    space = rolling()
    lifting = with_lifts(space)
    for to in ([0.0, -1.0], [0.0, 1.0], [1.0, 0.0]):
        rise = RISE * np.array(to)
        moved = slips(lifting, rise, upright)
        assert np.median(moved) < 0.75 and np.percentile(moved, 95) < 2.0
        before = slips(space, rise, upright)
        assert upright < 1.0 or np.median(before) > 2.5


def test_a_gait_knows_how_high_its_planted_foot_is():
    (found,) = np.array(with_lifts(rolling()).gaits[1].lifts).T
    assert len(found) == 24 and found[0] == found[12] == 0.0
    # above that at which feet pass each other, where they are highest
    assert np.ptp(found) == pytest.approx(HIGH, abs=0.005)
    flat = with_lifts(rolling(0.0))
    assert not np.any(flat.gaits[1].lifts) and flat.gaits[0].lifts == ()


def test_a_body_whose_feet_never_come_down_has_none():
    space = rolling()
    positions = space.positions + np.float32([0.0, 0.0, 0.5])
    assert with_lifts(PoseSpace(positions, space.gaits)).gaits[1].lifts == ()
