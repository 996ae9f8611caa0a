"""Turning on the spot: bodies step round, planted feet stay, and they end as they stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from figuretools import made
from walktools import turned, walk

from steer_addon.core.characters.cast import Cast
from steer_addon.core.characters.pose_space import Row, split_clips

NAMES = ("woman", "man", "child", "dog")
LEFT, RIGHT = (Row(name, 4, 20, turn=turn) for name, turn in (("l", 1.2), ("r", -1.2)))


def number_of(space, name):
    return [row.name for row in space.rows].index(name)


def poses_of(space, name):
    row = space.rows[number_of(space, name)]
    return row, space.positions[row.first : row.first + row.count].astype(float)


@pytest.mark.parametrize("name", NAMES)
def test_planted_feet_turn_back_as_far_as_the_body_turns(name):
    figure = made(name)
    for side in ("turn left", "turn right"):
        row, points = poses_of(figure.space, side)
        stays = turned(points.copy(), np.arange(row.count) / row.count * row.turn)
        low = points[..., 2] < 0.001
        moved = np.linalg.norm(np.diff(stays, axis=0), axis=-1)[low[1:] & low[:-1]]
        assert len(moved) > 100 and np.percentile(moved, 90) < 1e-4
        assert points[..., 2].min() > -0.001
        # all feet step: at some time each sole is above the ground
        soles = points[0, :, 2] < 0.001
        assert points[:, soles, 2].max(axis=0).min() > 0.01


@pytest.mark.parametrize("name", NAMES)
def test_a_turn_begins_as_the_body_stands_and_to_the_right_it_is_the_reverse(name):
    figure = made(name)
    left, right = (poses_of(figure.space, name)[1] for name in ("turn left", "turn right"))
    np.testing.assert_allclose(right[1:], left[:0:-1], atol=1e-6)
    np.testing.assert_allclose(right[0], left[0], atol=1e-6)
    stand = figure.space.gaits[0]
    apart = figure.space.positions[stand.first : stand.first + stand.count] - left[0]
    assert np.abs(apart).max(axis=(1, 2)).min() < 1e-5


@pytest.mark.parametrize("rate", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("name", NAMES)
def test_feet_slip_by_less_than_20_mm_however_fast_the_turn_is(name, rate):
    turns = [0.0] * 12 + [rate] * 72 + [0.0] * 36 + [-rate] * 31 + [rate] * 20 + [0.0] * 36
    went = walk(made(name).space, [0.0] * len(turns), turns, 1.2)
    for side in ("turn left", "turn right"):
        assert (went.gaits == number_of(went.space, side)).any()
    assert np.percentile(went.slips(0.005), 95) <= 5.0
    assert went.slips(0.005).max() <= 25.0
    assert went.pops().max() <= 20.0
    assert went.gaits[-1] == 0 and not went.moves[:, 1:].any()


def test_a_body_that_turns_back_goes_on_at_the_same_pose():
    space = made("woman").space
    went = walk(space, [0.0] * 40, [2.0] * 20 + [-2.0] * 20)
    change = np.flatnonzero(np.diff(went.gaits[5:]))[0] + 5
    assert went.gaits[change] == number_of(space, "turn left")
    assert went.gaits[change + 1] == number_of(space, "turn right")
    # as far behind the whole cycle as it was on from it, and one frame on, in which it follows the
    # part of the turn that does not lead to and fro: means of 0.3 s of 20 frames there and one back
    before, after = (went.phases % 1.0)[[change, change + 1]]
    kept = np.exp(-1.0 / 24.0 / 0.3)
    part = abs(kept * (1.0 - kept**20) - (1.0 - kept)) / (1.0 - kept**21)
    cycle = space.rows[went.gaits[change]].turn
    assert after == pytest.approx((1.0 - before + part * 2.0 / 24.0 / cycle) % 1.0, abs=1e-4)


def test_feet_close_within_a_third_of_a_second_and_the_body_walks_off():
    space = made("woman").space
    for still in range(14, 24):
        went = walk(space, [0.0] * still + [0.8] * 40, [2.0] * still + [0.0] * 40)
        stops = np.flatnonzero(went.gaits < len(space.gaits))
        first = stops[stops >= still][0]
        assert first - still <= 9
        assert (went.gaits[first + 2 :] >= 1).all()


def test_slow_turns_and_trembling_headings_take_no_steps():
    space = made("woman").space
    assert not walk(space, [0.0] * 60, [0.3] * 60).gaits.any()
    went = walk(space, [0.0] * 200, np.tile([0.35, -0.35], 100))
    assert not went.gaits.any()


def test_bodies_that_fly_or_have_no_such_poses_do_not_step_round():
    for name in ("bird", "fish"):
        assert split_clips(made(name).space.clips)[1] == ()
    assert (Cast(((Row("stand", 0, 4),),)).spots()[:, 0] == -1.0).all()


def test_rows_of_turning_are_the_last_two_of_the_clips():
    wave = Row("wave", 0, 4)
    assert split_clips((wave, LEFT, RIGHT)) == ((wave,), (LEFT, RIGHT), ())
    for other in ((), (wave,), (LEFT,), (RIGHT, LEFT), (LEFT, RIGHT, wave), (wave, LEFT)):
        assert split_clips(other) == (other, (), ())
    uneven = (LEFT, replace(RIGHT, count=7))
    assert split_clips(uneven) == (uneven, (), ())
    cast = Cast(((Row("stand", 0, 4),),), clips=((wave,),), rounds=((LEFT, RIGHT),))
    np.testing.assert_array_equal(cast.spots(), [[2.0, 1.2, 20.0, -1.0, 1.0, -1.0]])
