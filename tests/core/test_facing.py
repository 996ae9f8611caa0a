"""Slow bodies turn on their way, and not with each push to the side."""

from __future__ import annotations

import numpy as np
import pytest
from figuretools import made, without_turning
from walktools import FPS, walk

from steer_addon.core.step.gaits.facing import face

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
    slow, fast = (in_a_queue(speed, 0.3, half=12) for speed in (0.4, 1.5))
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


def to_and_fro(speed, angle, frames=96, every=1):
    """A walk whose heading turns by an angle [rad], to either side in turn, every some frames."""
    sides = np.where(np.arange(frames) // every % 2, 1.0, -1.0)
    return walk(without_turning(made("woman").space), [speed] * frames, sides * angle * FPS)


def jerks(yaws):
    """How far bodies turn to one side and back at once, in the mean [rad]."""
    turns = np.diff(yaws)
    return np.where(turns[1:] * turns[:-1] < 0.0, np.minimum(*np.abs([turns[1:], turns[:-1]])), 0.0)


@pytest.mark.parametrize("speed", [0.0, 0.04, 1.2, 3.5])
@pytest.mark.parametrize("every", [1, 2])
def test_bodies_do_not_follow_headings_that_tremble(speed, every):
    went = to_and_fro(speed, np.radians(10.0), every=every)
    heading, body = (np.percentile(jerks(yaws[24:]), 95) for yaws in (went.yaws, faced(went)))
    assert heading == pytest.approx(np.radians(10.0), abs=1e-3)
    assert body < (0.1 if speed < 0.1 else 0.35) * heading


def test_who_stands_keeps_facing_while_its_heading_flips():
    went = walk(without_turning(made("woman").space), [0.04] * 96, [np.pi * FPS] * 96)
    turns = np.diff(faced(went)[24:])
    assert np.abs((turns + np.pi) % (2.0 * np.pi) - np.pi).max() < 1.0e-3


def test_who_walks_off_turns_ahead_at_a_limited_rate():
    # heading flips while it stands, so it faces back as it walks off
    flips = [np.pi * FPS] * 25
    went = walk(without_turning(made("woman").space), [0.04] * 25 + [0.4] * 48, flips + [0.0] * 48)
    turns = np.diff(faced(went)[24:])
    apart = (faced(went) - went.yaws + np.pi) % (2.0 * np.pi) - np.pi
    assert abs(apart[24]) > 2.5 and abs(apart[-1]) < 0.05
    assert np.abs((turns + np.pi) % (2.0 * np.pi) - np.pi).max() < 6.0 / FPS + 0.02


@pytest.mark.parametrize("rate", [0.4, 1.0, 3.0])
def test_a_turn_is_followed_at_once(rate):
    went = walk(without_turning(made("woman").space), [1.4] * 48, [0.0] * 24 + [rate] * 24)
    straight = walk(without_turning(made("woman").space), [1.4] * 48, [0.0] * 48)
    assert np.ptp(straight.moves[:, TWIST]) == 0.0
    # but for half of the turn in a frame
    assert np.abs(went.moves[:, TWIST]).max() < 0.52 * rate / FPS


@pytest.mark.parametrize("before", [-3.0, -0.4, 0.0, 2.0, 3.0])
@pytest.mark.parametrize("turned", [-3.0, -0.5, 0.0, 0.5, 3.0])
@pytest.mark.parametrize("stands", [False, True])
def test_a_body_turns_by_the_shorter_way(before, turned, stands):
    facing, turning = np.array([[before, 0.0]]), np.zeros((1, 2))
    turn = face(facing, turning, 0, turned, 0.4 / FPS, stands, 1.0 / FPS)
    away = facing[0, 0] - before + turned
    assert turn == pytest.approx((away + np.pi) % (2.0 * np.pi) - np.pi, abs=1e-9)
    assert abs(facing[0, 0]) <= np.pi
