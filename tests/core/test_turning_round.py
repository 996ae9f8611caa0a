"""Turning round: an agent on its way among others bends off, and stands before going back."""

from __future__ import annotations

import numpy as np
import pytest

from steer_addon.core.behaviors.avoid_neighbors.memory import bent, way_gone

NOBODY, EAST, WEST = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)
SPEED = 1.4


def after(velocities, dt, way=NOBODY):
    """The way that is remembered after some steps."""
    for velocity in velocities:
        way = way_gone(way, velocity, SPEED, dt)
    return np.array(way)


@pytest.mark.parametrize("dt", [1.0 / 60.0, 1.0 / 24.0, 0.25])
def test_the_way_is_forgotten_after_standing_for_a_time(dt):
    still = [NOBODY] * int(np.ceil(1.5 / dt) + 1)
    assert after([EAST], dt) == pytest.approx([1.5, 0.0, 0.0])
    half = int(0.75 / dt)
    assert after([EAST, *still[:half]], dt) == pytest.approx([1.5 - half * dt, 0.0, 0.0])
    assert after([EAST, *still], dt).tolist() == [0.0, 0.0, 0.0]
    creeping = [(-0.045 * SPEED, 0.0, 0.0)] * len(still)
    assert after([EAST, *creeping], dt).tolist() == [0.0, 0.0, 0.0]


def test_a_curve_is_followed_and_who_is_shoved_back_goes_back_from_then():
    dt, steps = 0.01, 30
    curved = after([EAST] + [(0.0, 1.0, 0.0)] * steps, dt)
    assert np.linalg.norm(curved) == pytest.approx(1.5)
    # it turns most of the way in the blending time, and not at once
    assert 45.0 < np.degrees(np.arctan2(curved[1], curved[0])) < 80.0
    assert after([EAST, (0.0, 1.0, 0.0)], dt)[1] < 0.1
    assert after([EAST, WEST], dt) == pytest.approx([-1.5, 0.0, 0.0])


def test_nobody_goes_back_among_others_with_another_wish():
    way, opposed = (1.5, 0.0, 0.0), 0.06
    assert bent((-0.2, 0.9, 0.0), way, opposed) == NOBODY
    # what leads on or nowhere is as it was chosen
    for chosen in (EAST, (0.9, -0.4, 0.0), NOBODY):
        assert bent(chosen, way, opposed) == chosen
    # the same holds for an agent that has stood, and for one among agents with the same wish
    assert bent(WEST, NOBODY, opposed) == WEST
    assert bent(WEST, way, 0.015) == WEST


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_ways_bend_to_the_side_slower_the_more_they_turn(side):
    way, speeds = (0.0, 1.05, 0.0), []
    for degrees in (20.0, 31.7, 31.9, 45.0, 75.0, 89.9):
        angle = np.radians(degrees)
        chosen = np.array([side * np.sin(angle), np.cos(angle), 0.0]) * SPEED
        left = np.array(bent(tuple(chosen), way, 0.06))
        speeds.append(np.linalg.norm(left))
        turned = min(angle, np.arccos(0.85))
        assert left / speeds[-1] == pytest.approx([side * np.sin(turned), np.cos(turned), 0.0])
        assert speeds[-1] == pytest.approx(SPEED * np.cos(angle - turned))
    assert sorted(speeds, reverse=True) == speeds


def test_in_space_ways_bend_in_the_plane_of_both():
    left = np.array(bent((0.0, 0.3, 0.4), (1.5, 0.0, 0.0), 1.0))
    cos, sin = 0.85, np.sqrt(1.0 - 0.85**2)
    assert left == pytest.approx(0.5 * sin * np.array([cos, 0.6 * sin, 0.8 * sin]))
