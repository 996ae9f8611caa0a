"""Motions that face or lie elsewhere: what is found is what they were turned and moved by."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.characters import aligning

# a body that is wider than deep, with one arm ahead
BODY = np.random.default_rng(1).normal(size=(300, 3)) * [0.25, 0.1, 0.45] + [0.05, 0.02, 0.9]
BODY[:40] = [0.2, -0.3, 1.2]


def moved(points, angle, way=(0.0, 0.0)):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    result = points.copy()
    result[:, :2] = points[:, :2] @ turn.T + way
    return result


def put(facing, points, time=0.0):
    whole = np.column_stack([points, np.ones(len(points))])
    return (whole @ facing.matrix(time).T)[:, :3]


@pytest.mark.parametrize("degrees", [-170.0, -90.0, 60.0, 135.0])
@pytest.mark.parametrize("way", [(0.0, 0.0), (3.0, -1.0)])
def test_a_pose_that_faces_elsewhere_is_turned_back(degrees, way):
    other = moved(BODY, np.radians(degrees), way)
    np.testing.assert_allclose(put(aligning.facing_of(other, BODY), other), BODY, atol=1e-9)


def test_a_pose_that_is_turned_a_little_or_stands_near_stays():
    assert aligning.facing_of(moved(BODY, np.radians(40.0), (0.3, 0.2)), BODY) == aligning.AHEAD


def test_a_pose_that_lies_elsewhere_is_moved_and_not_turned():
    facing = aligning.facing_of(moved(BODY, np.radians(10.0), (0.0, 5.0)), BODY)
    assert (facing.angle, facing.spin) == (0.0, 0.0)
    np.testing.assert_allclose(
        put(facing, moved(BODY, np.radians(10.0), (0.0, 5.0))).mean(axis=0), BODY.mean(axis=0)
    )


def test_another_pose_is_not_turned():
    # who lies has no way to face
    lying = BODY[:, [2, 0, 1]] * [1.0, 0.5, 1.0]
    assert aligning.facing_of(lying, BODY).angle == 0.0


@pytest.mark.parametrize("degrees", [-30.0, 4.0, 90.0])
def test_the_turn_of_a_cycle_is_taken_out_about_the_middle_of_its_curve(degrees):
    spin, middle = np.radians(degrees), np.array([2.0, 1.0])

    def at(time):
        return moved(moved(BODY, 0.0, -middle), spin * time, middle)

    facing = aligning.spin_of(at(0.0), at(1.0))
    for time in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(put(facing, at(time), time), BODY, atol=1e-9)


def test_ends_that_are_other_poses_are_no_turn():
    other = moved(BODY, 0.3)
    other[:100] += [0.0, 0.4, 0.0]
    assert aligning.spin_of(BODY, other) == aligning.AHEAD
    assert aligning.spin_of(BODY, moved(BODY, 0.0, (0.0, -1.4))) == aligning.AHEAD
