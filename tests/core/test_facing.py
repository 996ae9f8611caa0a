"""Slow bodies turn on their way, and not with each push to the side."""

from __future__ import annotations

import numpy as np
import pytest
from figuretools import made
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


@pytest.mark.parametrize("speed", [0.2, 0.4, 0.6])
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
    went = walk(made("man").space, [0.35] * 60, [0.5 * FPS] + [0.0] * 59)
    way = 0.35 / FPS * np.arange(1, 61)
    reach = 0.125 * (1.0 - 0.35 / 1.4)
    step = 0.35 / FPS
    wanted = -0.5 * (reach / (reach + step)) ** (way / step)
    away = went.moves[:, TWIST]
    # curves turn bodies too, by less
    assert away[0] == pytest.approx(wanted[0], abs=0.05)
    np.testing.assert_allclose(away[30:], wanted[30:], atol=0.01)
    assert abs(away[-1]) < 1.0e-3


def test_who_turns_back_or_stands_turns_as_its_agent_does():
    back = walk(made("woman").space, [0.2] * 10, [0.9 * np.pi * FPS] + [0.0] * 9)
    assert not back.moves[1, TWIST] or abs(back.moves[1, TWIST]) < 0.2
    round_about = walk(made("woman").space, [0.0] * 48, [1.0] * 48)
    assert np.abs(round_about.moves[:, TWIST]).max() < 0.1
