"""Curves: bodies turn about their planted feet, as people do, so that these stay where they are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from figuretools import made, poses, row_named, without_turning
from walktools import walk

from steer_addon.core.characters import curves
from steer_addon.core.characters.cast import Cast, turns_of
from steer_addon.core.characters.pose_space import PoseSpace, Row
from tests.often import often

SETTLED = 96
"""Frames after which a body has reached its gait, and taken up its curve."""
PEOPLE_RUN = ("fast walk", "slow jog", "jog", "slow run", "run", "fast run")
BETWEEN = 0.00132
"""How far a body is held back from its phase: 0.44 of the way to a pose, which is half of 6 mm."""
RUNS = (*PEOPLE_RUN, "amble", "slow trot", "trot", "fast trot")


def circle_slips(name, radius, scale=1.0):
    """Slips [mm] of walks and of runs at all speeds on a circle to the left."""
    space, found = made(name).space, ([], [])
    frames = SETTLED + 48
    for speed in np.arange(0.3, 3.55, 0.2):
        went = walk(space, [speed] * frames, [speed / radius] * frames, scale)
        assert len(set(went.gaits[SETTLED:])) == 1
        runs = space.gaits[went.gaits[-1]].name in RUNS
        found[runs].append(went.slips(0.004 * scale, SETTLED))
    return (np.concatenate(moved) for moved in found)


@pytest.mark.parametrize(
    ("name", "scale"),
    often(
        product(("woman", "man", "child", "dog"), (0.8, 1.0, 1.2)),
        *(("woman", 1.2), ("man", 1.0), ("child", 0.8), ("dog", 1.2)),
    ),
)
def test_planted_soles_stay_where_they_are_on_a_curve_of_2_meters(name, scale):
    walks, runs = circle_slips(name, 2.0, scale)
    # of the four feet of a dog not all can stay where its body turns: they are near each other
    assert np.median(walks) <= 3.0 and np.percentile(walks, 95) <= 10.0
    assert np.median(runs) <= 5.0 and np.percentile(runs, 95) <= 25.0


@pytest.mark.parametrize("name", ["woman", "man", "child", "dog"])
def test_feet_slip_by_20_mm_at_most_where_bodies_walk_for_a_turn_on_the_spot(name):
    """Characters that are made of rigs have no poses of turning round, see test_rounds."""
    space, turns = made(name).space, [1.5] * 120 + [0.0] * 48
    without = PoseSpace(space.positions[: space.clips[0].first], space.gaits)
    went = walk(without, [0.0] * len(turns), turns)
    assert went.gaits.max() >= 1  # it steps
    assert np.percentile(went.slips(0.004), 95) <= 20.0
    assert not went.moves[:, 0].any()  # on the spot there is no curve
    assert np.abs(went.moves[:, 1:]).max() < 0.03  # but its gait changes


@pytest.mark.parametrize("name", ["woman", "man", "child", "dog"])
def test_bodies_are_not_turned_where_feet_pass_and_gaits_change(name):
    for row in made(name).space.gaits:
        turning = np.array(row.turning)
        if row.stride == 0.0:
            assert not len(turning)
            continue
        assert turning.shape == (24, 3)
        assert not turning[[0, 12]].any()
        assert 0.0 < np.abs(turning[:, 0]).max() < 0.3 * row.stride


@pytest.mark.parametrize("name", ["woman", "dog"])
def test_nothing_pops_on_a_curve(name):
    speeds = np.concatenate([np.linspace(0.0, 3.0, 96), np.linspace(3.0, 0.0, 96)])
    went = walk(made(name).space, speeds, speeds / 4.0)
    assert went.pops().max() <= 20.0
    assert np.abs(went.moves[:, 0]).max() > 0.02


def test_the_other_foot_turns_the_body_as_far():
    row = row_named(made("woman"), "walk")
    turning = np.array(row.turning)
    later = np.roll(turning, 12, axis=0)
    # but it shifts ahead where that one shifts back, as it is on the outer side of the curve
    np.testing.assert_allclose(later, turning * [1.0, -1.0, 1.0], atol=2e-3)
    left, right = (walk(made("woman").space, [1.2] * 144, [turn] * 144) for turn in (0.5, -0.5))
    np.testing.assert_allclose(left.moves[:, 0], -right.moves[:, 0], atol=1e-6)
    # some way after the start, when their gaits changed
    left_after, right_after = (went.moves[SETTLED:] for went in (left, right))
    np.testing.assert_allclose(left_after[:, 2], -right_after[:, 2], atol=1e-4)
    # what both are held back by is half of their sum
    assert np.abs(left_after + right_after).max() < 2.0 * BETWEEN
    assert np.abs(left.moves[SETTLED:, 0]).max() > 0.01


def test_bodies_that_go_straight_are_not_turned_and_others_face_along_the_curve():
    space = made("woman").space
    moves = walk(space, [1.2] * 144, [0.0] * 144).moves
    assert not moves[:, 0].any() and np.abs(moves[SETTLED:, 1]).max() < BETWEEN
    # as its gaits changed at the start it was shifted, and back since
    assert 0.0 < np.abs(moves[:40, 2]).max() < 0.04 and np.abs(moves[SETTLED:, 2]).max() < 1e-3
    plain = without_turning(space)
    assert not turns_of(Cast((plain.gaits,))).any()
    went = walk(plain, [1.2] * 144, [0.6] * 144)
    # a frame leads along the heading at its end, which half of its turn is behind the curve there
    np.testing.assert_allclose(went.moves[-1, ::2], [0.5 * 0.6 / 24.0, 0.0], atol=1e-4)
    assert np.abs(went.moves[SETTLED:, 1]).max() < BETWEEN


def test_bodies_are_shifted_no_further_on_curves_of_less_than_a_meter():
    # slow bodies turn later than their headings, and their shifts with them
    usual, tight, from_rest = (
        np.linalg.norm(
            walk(made("woman").space, speeds, [turn] * 144).moves[SETTLED:, 1:3], axis=1
        ).max()
        for speeds, turn in (([0.6] * 144, 0.6), ([0.6] * 144, 2.4), ([0.0] * 48 + [0.6] * 96, 2.4))
    )
    assert usual > 0.015
    assert abs(tight - usual) < BETWEEN and abs(from_rest - usual) < BETWEEN


@pytest.mark.parametrize("speed", [0.5, 1.2, 2.8])
def test_sudden_turns_twist_bodies_by_a_bounded_angle(speed):
    went = walk(made("woman").space, [speed] * 60, [5.0] * 60)
    # slow bodies turn later, by half a radian at most
    assert 0.05 < np.abs(went.moves[:, 0]).max() < (0.3 if speed > 1.4 else 0.8)
    assert 0.005 < np.abs(went.moves[:, 1:]).max() < 0.1


def test_a_body_that_goes_back_on_a_curve_keeps_its_feet_too():
    went = walk(made("woman").space, [-0.4] * 192, [0.2] * 192)
    space = made("woman").space
    plain = without_turning(space)
    held, turned = (
        np.median(w.slips(0.004, SETTLED)) for w in (went, walk(plain, [-0.4] * 192, [0.2] * 192))
    )
    assert held < turned


def test_a_curve_is_taken_up_with_some_delay():
    went = walk(made("woman").space, [1.2] * 96, [0.0] * 48 + [0.6] * 48)
    steps = np.abs(np.diff(went.moves[:, 0]))
    assert not went.moves[:48, 0].any()
    assert steps[47] < 0.4 * steps[60:].max()


def test_without_planted_feet_there_is_nothing_to_fit():
    row = row_named(made("woman"), "walk")
    points = poses(made("woman"), row).astype(np.float32)
    assert len(curves.planted(points, row, 1.66).turning()) == 24
    assert curves.planted(points + np.float32([0.0, 0.0, 1.0]), row, 1.66) is None
    statue = np.repeat(points[:1], len(points), axis=0)
    assert curves.planted(statue, row, 1.66) is None


def runner(count=240, stride=2.4):
    """Vertices of a body each of whose feet is down in its turn, for 0.6 m."""
    aside = 0.1
    phases = np.arange(count) / count
    ahead = np.where(phases < 0.5, 0.25 - phases, 0.75 - phases) * stride
    down = np.abs(ahead) < 0.3
    side = np.where(phases < 0.5, aside, -aside)
    foot = np.stack([side, -ahead, np.where(down, 0.0, 0.5)], axis=-1)
    sole = np.array([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0], [0.04, 0.0, 0.0], [0.0, 0.0, 1.7]])
    return (foot[:, None] + sole).astype(np.float32), down


def test_a_runner_turns_about_the_foot_that_stands():
    """Where one foot is down at a time, it may stay as if the way were straight."""
    stride, count = 2.4, 240
    points, down = runner(count, stride)
    phases = np.arange(count) / count
    row = Row("run", 0, count, speed=2.4, stride=stride)
    knots = np.array(curves.planted(points, row, 1.7).turning())
    curve, frame = 0.1, 10  # 10 poses are 0.1 m, the way of a frame
    turned = curve * np.array(
        [np.interp(phases, np.arange(25) / 24, np.append(knots[:, k], 0.0)) for k in range(3)]
    )
    for first in range(count):
        last = (first + frame) % count
        within = range(first, first + frame + 1)
        if not all(down[number % count] for number in within) or last < first:
            continue
        places = []
        for number, heading, gone in ((first, -0.5, 0.0), (last, 0.5, frame / count * stride)):
            turn, shift_ahead, right = turned[:, number]
            angle = turn + heading * curve * frame / count * stride
            x, y = points[number, :3, 0], points[number, :3, 1]
            places.append(
                [np.cos(angle) * x - np.sin(angle) * y - right,
                 np.sin(angle) * x + np.cos(angle) * y - shift_ahead - gone]
            )  # fmt: skip
        assert np.abs(np.subtract(*places)).max() < 0.0005


def test_a_runner_keeps_its_feet_on_a_curve_of_2_meters():
    stride, count, speed = 2.4, 480, 3.2
    points, down = runner(count, stride)
    row = Row("run", 1, count, speed=speed, stride=stride, duration=stride / speed)
    space = PoseSpace(np.concatenate([points[:1], points]), (Row("stand", 0, 1), row))
    space = curves.with_turning(space)
    went = walk(space, [speed] * 160, [speed / 2.0] * 160)
    feet, stands = went.vertices()[:, :3], down[went.poses - 1]
    stands = (stands[1:] & stands[:-1])[80:]
    moved = 1000.0 * np.linalg.norm(np.diff(feet, axis=0)[80:], axis=-1)[stands]
    assert stands.sum() > 15
    # without it the ends of a foot of 0.2 m go by 7 mm as they turn, and by up to 20 aside
    assert np.median(moved) < 1.5 and moved.max() < 10.0
