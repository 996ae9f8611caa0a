"""Last steps: a body that stops sets its foot down beside the planted one, and slides no more."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from figuretools import made
from walktools import FPS, walk

from steer_addon.core.characters.cast import Cast
from steer_addon.core.characters.pose_space import Row, split_clips
from tests.often import often

NAMES = ("woman", "man", "child", "dog")
STAYS = {"dog": 0.011}
"""How far a planted foot goes in a frame at most, else 3 mm: paws that go are nearer to each other
than those that stand [m]."""
STEPS = Row("last", 8, 30, last_steps=True)
SET_DOWN = 12
"""Poses of each half from the slowest gait on, with one before and one after."""


def last_of(space):
    """Number of the row, and the row itself."""
    number = len(space.rows) - 1
    assert space.rows[number].last_steps
    return number, space.rows[number]


def slowest_of(row):
    """Number of the pose, in each half of such a row, that is as the slowest gait has it."""
    return row.count // 2 - SET_DOWN + 1


def slowed(speed, slows, steady):
    """Speeds of a body that goes, and slows down until it stands [m/s]; and when it does."""
    slowing = np.arange(speed, 0.0, -slows / FPS)
    speeds = np.concatenate([np.linspace(0.0, speed, 36), [speed] * steady, slowing])
    return np.concatenate([speeds, [0.0] * 72]), len(speeds)


@pytest.mark.parametrize("name", NAMES)
def test_feet_that_pass_each_other_come_to_stand(name):
    space = made(name).space
    _, row = last_of(space)
    stand, slowest = space.positions[0], space.gaits[2]
    half = row.count // 2
    for first, passing in ((0, 0), (half, slowest.count // 2)):
        # one pose before these, and the last one of each half, are there for velocities only
        first += slowest_of(row)
        points = space.positions[row.first + first :][: SET_DOWN - 2].astype(float)
        np.testing.assert_allclose(points[0], space.positions[slowest.first + passing], atol=1e-3)
        # what they say of their speed, by the poses beside them, begins and ends as small
        beside = np.concatenate([points[:1], points, points[-1:]])
        said = 0.5 * np.linalg.norm(beside[2:] - beside[:-2], axis=-1).max(axis=1)
        assert max(said[0], said[-1]) < 0.6 * said.max()
        # who stands on the other foot stands alike, but for the weight
        left = min(np.abs(points[-1] - stand).max(), np.abs(points[-1] - stand * [-1, 1, 1]).max())
        away = np.linalg.norm(points[0] - points[-1], axis=-1).max()
        assert 0.03 < away and left < 0.6 * away
        assert points[..., 2].min() > -0.003
        steps = np.linalg.norm(np.diff(points, axis=0), axis=-1)
        assert steps.max() < 0.021
        # what is planted where they pass stays
        planted = points[0, :, 2] < 0.002
        assert planted.sum() > 4 and steps[:, planted].max() < STAYS.get(name, 0.003)


@pytest.mark.parametrize("name", NAMES)
def test_a_body_falls_through_all_gaits_where_their_feet_pass_each_other(name):
    space = made(name).space
    _, row = last_of(space)
    gaits, half = space.gaits[:1:-1], row.count // 2
    assert slowest_of(row) == len(gaits)
    for second in (0, 1):
        passing = [gait.first + second * gait.count // 2 for gait in gaits]
        # that of the fastest gait is there twice, as it has a velocity too
        expected = space.positions[[passing[0], *passing]]
        shown = space.positions[row.first + second * half :][: len(expected)]
        np.testing.assert_allclose(shown, expected, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "speed"),
    often(
        product(NAMES, (0.9, 1.6, 3.0)),
        *(("woman", 0.9), ("man", 1.6), ("child", 3.0), ("dog", 0.9), ("dog", 3.0)),
    ),
)
def test_limbs_of_a_body_that_stops_at_once_move_as_their_poses_say(name, speed):
    space = made(name).space
    number, row = last_of(space)
    from_gaits, longest = set(), 0
    for steady in range(24, 48, 3):
        speeds, rest = slowed(speed, 24.0, steady)
        went = walk(space, speeds, 0.0 * speeds)
        lands = np.flatnonzero(went.gaits == number)
        if len(lands) == 0:
            continue
        from_gaits.add(int(went.gaits[lands[0] - 1]))
        # in one go, through the poses from that gait on, and it stands soon after
        assert (np.diff(lands) == 1).all() and went.gaits[lands[-1] + 1] == 0
        entered = (went.phases[lands[0]] % 0.5) * row.count
        assert entered == pytest.approx(slowest_of(row) + 2 - went.gaits[lands[0] - 1], abs=0.01)
        assert went.pops()[lands[0] - 1 :].max() <= 10.0
        longest = max(longest, len(lands))
    assert from_gaits and longest <= SET_DOWN + slowest_of(row)
    assert max(from_gaits) > 2 or speed < 1.0


@pytest.mark.parametrize("name", NAMES)
def test_a_foot_stays_while_the_other_one_is_set_down(name):
    space = made(name).space
    number, row = last_of(space)
    seen = set()
    for steady, slows in product(range(24, 40, 3), (1.0, 2.0)):
        speeds, rest = slowed(1.0, slows, steady)
        went = walk(space, speeds, 0.0 * speeds)
        assert went.gaits[-1] == 0
        lands = went.gaits == number
        if not lands.any():
            continue
        first = np.flatnonzero(lands)[0]
        # in one go, after the body has stopped
        assert first >= rest - 12 and lands[first:].sum() == np.argmin(lands[first:])
        assert (went.gaits[first + lands.sum() :] == 0).all()
        part = went.phases[first] % 1.0
        assert 1.0 - 1e-3 <= part % 0.5 * row.count < row.count // 2 - 1.5
        seen.add(part >= 0.5)
        # it stands with its weight on the foot that was planted
        stood = went.phases[first + lands.sum()] % 1.0
        assert stood == pytest.approx(0.5 * (part >= 0.5), abs=0.02)
        points = went.vertices()[first : first + lands.sum()]
        moved = np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1)
        low = (points[:-1, :, 2] < 0.004) & (points[1:, :, 2] < 0.004)
        # but for what is left of its shift
        left = np.abs(np.diff(went.moves[first : first + lands.sum(), 1]))
        poses = went.phases[first : first + lands.sum()] % 0.5 * row.count
        for step, down, shift, pose in zip(moved, low, left, poses, strict=False):
            # gaits have their planted feet elsewhere: it goes there as slowly as feet that land
            most = STAYS.get(name, 0.003) if pose >= slowest_of(row) else 0.015
            assert down.any() and np.percentile(step[down], 40) < shift + most
    assert seen


def test_soles_slide_less_than_half_as_far():
    """Under a body at rest, against one without such poses."""
    space = made("woman").space
    clips, rounds, _ = split_clips(space.clips)
    low = space.positions[..., 2].min(axis=0) < 0.03
    feet = replace(space, positions=space.positions[:, low])
    first = last_of(feet)[1].first
    without = replace(feet, positions=feet.positions[:first], clips=(*clips, *rounds))
    slides = []
    for shown in (feet, without):
        total = 0.0
        for steady in range(24, 48, 2):
            speeds, rest = slowed(1.3, 1.0, steady)
            went = walk(shown, speeds, 0.0 * speeds)
            points = went.vertices()[rest - 1 :]
            moved = np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1)
            order = np.argsort(points[1:, :, 2], axis=1)[:, :4]
            # the lowest vertices are those of the foot that bears
            total += np.median(np.take_along_axis(moved, order, axis=1), axis=1).sum()
        slides.append(total)
    assert slides[0] < 0.5 * slides[1]


@pytest.mark.parametrize("name", ["woman", "dog"])
def test_a_body_that_walks_off_meanwhile_takes_its_foot_up_or_stands_first(name):
    space = made(name).space
    number, _ = last_of(space)
    speeds, _ = slowed(1.0, 2.0, 28)
    lands = np.flatnonzero(walk(space, speeds, 0.0 * speeds).gaits == number)
    assert len(lands) > 5
    after = set()
    for frame in lands[1:].tolist():
        again = np.concatenate([speeds[:frame], [0.7] * 48])
        went = walk(space, again, 0.0 * again)
        on = went.gaits[frame:]
        steps = on[on != number]
        after.add(int(steps[0]))
        assert len(on) - len(steps) <= 6 and (steps[2:] > 0).all()
        assert went.pops()[frame - 2 :].max() <= 20.0
    # or goes on as the gait that it shows, if that is slow enough
    fits = np.searchsorted([gait.speed for gait in space.gaits], 0.7)
    assert {0, 2} <= after and max(after) <= fits and 1 not in after


def test_bodies_that_fly_or_have_no_such_poses_do_without():
    for name in ("bird", "fish"):
        assert split_clips(made(name).space.clips)[2] == ()
    wave, turns = Row("wave", 4, 4), (Row("l", 0, 4, turn=1.0), Row("r", 4, 4, turn=-1.0))
    assert split_clips((wave, *turns, STEPS)) == ((wave,), turns, (STEPS,))
    assert split_clips((wave, STEPS)) == ((wave,), (), (STEPS,))
    assert split_clips((STEPS, wave)) == ((STEPS, wave), (), ())
    stand = ((Row("stand", 0, 4),),)
    cast = Cast(stand, clips=((wave,),), rounds=(turns,), lasts=((replace(STEPS, duration=0.7),),))
    np.testing.assert_array_equal(cast.spots(), [[2.0, 1.0, 4.0, 4.0, 0.7, 5.0]])
    np.testing.assert_array_equal(Cast(stand).spots(), [[-1.0, 1.0, 1.0, -1.0, 1.0, -1.0]])
