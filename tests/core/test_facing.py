"""Slow bodies turn on their way, and not with each push to the side."""

from __future__ import annotations

import numpy as np
import pytest
from figuretools import made, without_turning
from walktools import FPS, walk

TWIST = 0
"""Column of the moves of a walk."""


def faced(went):
    """Where the body faces in each frame [rad]."""
    return went.yaws + went.moves[:, TWIST]


def in_a_queue(speed, swing, frames=160, half=5):
    """A walk whose heading goes to and fro by an angle [rad], each way in some frames."""
    sides = np.where(np.arange(frames) // half % 2, 1.0, -1.0)
    sides[:half] *= 0.5
    return walk(made("woman").space, [speed] * frames, sides * swing * FPS / half)


@pytest.mark.parametrize("speed", [0.2, 0.3, 0.45])
def test_in_a_queue_bodies_turn_less_than_their_headings(speed):
    went = in_a_queue(speed, 0.7)
    assert np.ptp(went.yaws[40:]) == pytest.approx(0.7, abs=0.15)
    assert np.ptp(faced(went)[40:]) < 0.65 * np.ptp(went.yaws[40:])
    turns = np.abs(np.diff(faced(went)[40:]))
    assert turns.mean() < 0.65 * np.abs(np.diff(went.yaws[40:])).mean()


def test_at_a_walk_bodies_face_where_they_go():
    slow, fast = (in_a_queue(speed, 0.3) for speed in (0.4, 1.5))
    apart = [np.abs(w.moves[60:, TWIST]).mean() for w in (slow, fast)]
    assert apart[1] < 0.05 < apart[0]


def test_the_angle_shrinks_by_the_way_as_the_formula_says():
    # a turn of half a radian at once, and then straight on
    speed, turns = 0.35, [0.5 * FPS] + [0.0] * 79
    went = walk(without_turning(made("man").space), [speed] * 80, turns)
    way, wanted, curve, away = speed / FPS, [], 0.0, 0.0
    reach = 0.125 * (1.0 - speed / 1.4)
    for turn in turns:
        foreseen = min(curve, 0.7) * way
        curve += way / (way + 0.6) * (turn / FPS / way - curve)
        away = (away - turn / FPS + foreseen) * reach / (way + reach)
        wanted.append(away)
    # half of the turn in a frame is of the curve
    np.testing.assert_allclose(went.moves[:, TWIST], wanted, atol=0.02)
    np.testing.assert_allclose(went.moves[30:, TWIST], wanted[30:], atol=2.0e-3)
    assert wanted[0] < -0.4 and np.abs(wanted[24:]).max() < 0.06 and abs(wanted[-1]) < 0.03


def test_on_a_curve_that_goes_on_bodies_face_along_it():
    went = walk(without_turning(made("man").space), [0.5] * 160, [0.25] * 160)
    # but for half of the turn in a frame
    assert np.abs(went.moves[100:, TWIST] - 0.5 * 0.25 / FPS).max() < 2.0e-3


def test_who_turns_back_or_stands_turns_as_its_agent_does():
    back = walk(made("woman").space, [0.2] * 10, [0.9 * np.pi * FPS] + [0.0] * 9)
    assert abs(back.moves[1, TWIST]) < 0.2
    round_about = walk(made("woman").space, [0.0] * 48, [1.0] * 48)
    assert np.abs(round_about.moves[:, TWIST]).max() < 0.1
