"""Built-in people: feet stay where they are, gaits join, bodies are whole."""

from __future__ import annotations

import numpy as np
import pytest
from figuretools import made, partners, poses, row_named, slips

PEOPLE = {"woman": 1.66, "man": 1.78, "child": 1.25}
RUNS = ("fast walk", "slow jog", "jog", "slow run", "run", "fast run")
BETWEEN = RUNS[:2]


@pytest.fixture(params=PEOPLE)
def person(request):
    return made(request.param)


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.2])
def test_planted_soles_stay_where_they_are(person, scale):
    walks, runs = [], []
    for speed in np.arange(0.3, 3.55, 0.2):
        name, moved = slips(person, speed, scale)
        (runs if name in RUNS else walks).append(moved)
    walk, run = np.concatenate(walks), np.concatenate(runs)
    assert np.median(walk) <= 3.0 and np.percentile(walk, 95) <= 10.0
    assert np.median(run) <= 5.0 and np.percentile(run, 95) <= 25.0


def test_planted_soles_stay_at_the_unluckiest_speeds(person):
    """A pose is shown for 6 mm of way, so at no speed more than half of that is left."""
    limits = {True: (5.0, 25.0), False: (3.0, 10.0)}
    for speed in np.arange(0.3, 3.55, 0.03):
        name, moved = slips(person, speed, 1.0)
        median, most = limits[name in RUNS]
        assert np.median(moved) <= median and np.percentile(moved, 95) <= most, (speed, name)


@pytest.mark.parametrize("late", np.arange(8) / 160.0)
def test_planted_soles_stay_where_each_step_is_shown_in_the_same_frames(late):
    """A large child at 1.7 m/s takes 20 frames for a cycle: a heel that lands counts in each."""
    row, scale = row_named(made("child"), "brisk walk"), 1.2
    phase = late + np.arange(21) / 20.0
    number = np.floor(phase % 1.0 * row.count + 0.5).astype(int) % row.count
    points = poses(made("child"), row)[number] * scale
    points[..., 1] -= (phase * row.stride * scale)[:, None]
    low = points[..., 2] < 0.004 * scale
    moved = 1000.0 * np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1)
    moved = moved[low[1:] & low[:-1]]
    assert np.median(moved) <= 3.0 and np.percentile(moved, 95) <= 10.0


def test_soles_go_back_as_evenly_as_the_ground(person):
    """At any pose but those of contact and of lifting, the lowest vertices move with the ground."""
    for row in person.space.gaits[1:]:
        points = poses(person, row)
        after = np.roll(points, -1, axis=0)
        low = (points[..., 2] < 0.003) & (after[..., 2] < 0.003)
        step = (after - points)[low][:, :2] - [0.0, row.stride / row.count]
        away = np.linalg.norm(step, axis=-1)
        assert np.median(away) < 1e-5
        assert np.percentile(away, 95) < 0.0015, row.name


def test_feet_never_sink_into_the_ground(person):
    assert person.space.positions[..., 2].min() > -0.002


def test_people_who_stand_have_both_feet_down(person):
    stand = person.space.gaits[0]
    assert (stand.speed, stand.stride) == (0.0, 0.0)
    points = poses(person, stand)
    still = np.ptp(points, axis=0).max(axis=-1) < 1e-6
    down = still & (points[0, :, 2] < 1e-4)
    for side in (1.0, -1.0):
        sole = points[0, down & (points[0, :, 0] * side > 0.0)]
        assert len(sole) >= 8 and np.ptp(sole[:, 1]) > 0.1 * person.height
    # slow enough that no pose is seen to follow another
    assert np.abs(np.diff(points, axis=0)).max() < 0.004


def test_walks_always_have_a_foot_down_and_runs_fly(person):
    for row in person.space.gaits[1:]:
        lowest = poses(person, row)[..., 2].min(axis=1)
        share_in_air = np.mean(lowest > 0.003)
        if row.name in BETWEEN:
            assert share_in_air < 0.08, row.name
        elif row.name in RUNS:
            assert 0.08 < share_in_air < 0.5, row.name
        else:
            assert share_in_air == 0.0, row.name


def test_left_and_right_are_half_a_cycle_apart(person):
    partner = partners(person)
    for row in person.space.gaits:
        if row.from_stand:  # the right foot goes first, and comes last
            continue
        points = poses(person, row)
        other = np.roll(points, row.count // 2, axis=0)[:, partner] * [-1.0, 1.0, 1.0]
        assert np.abs(points - other).max() < 1e-4


def test_first_steps_begin_with_either_foot(person):
    stand, first, slow = (poses(person, row) for row in person.space.gaits[:3])
    assert person.space.gaits[1].both_sides
    half = len(first) // 2
    mirrored = first[:half, partners(person)] * [-1.0, 1.0, 1.0]
    assert np.abs(first[half:] - mirrored).max() < 1e-4
    # standing and the next gait mirror themselves after half of their cycle
    assert np.abs(first[[0, half]] - stand[[0, len(stand) // 2]]).max() < 1e-3
    middle = slow[[len(slow) // 2, 0]]
    assert np.abs(first[[half // 2, half + half // 2]] - middle).max() < 2e-3


def test_gaits_are_near_each_other_where_feet_pass(person):
    for one, other in zip(person.space.gaits, person.space.gaits[1:], strict=False):
        for half in (0.0, 0.5):
            a = person.space.positions[one.first + int(half * one.count)]
            b = person.space.positions[other.first + int(half * other.count)]
            away = np.linalg.norm(a - b, axis=-1) / person.height
            assert away.mean() < 0.022, (one.name, other.name)
            assert away.max() < 0.08, (one.name, other.name)
            # the planted foot hardly moves: sideways, or along with another hip
            sole = a[:, 2] < 1e-3
            side = a[:, 0] > 0.0 if half == 0.0 else a[:, 0] < 0.0
            assert away[sole & side].max() < 0.02, (one.name, other.name)


def test_knees_bend_ahead_and_elbows_too(person):
    number = person.skeleton.names.index
    for side in ("_l", "_r"):
        hip, knee, ankle = (person.places[:, number(n + side)] for n in ("thigh", "shin", "foot"))
        normal = np.cross(knee - hip, ankle - knee)
        assert normal[:, 0].min() > 0.0  # never straight, never backward
        # arms that are raised to the side, as in clips, bend up
        last = person.space.gaits[-1]
        gaits = person.places[: last.first + last.count]
        arm = [gaits[:, number(n + side)] for n in ("upper_arm", "forearm", "hand")]
        assert np.cross(arm[1] - arm[0], arm[2] - arm[1])[:, 0].max() < 0.0


def test_strides_and_heights_are_those_of_people(person):
    walk, run = row_named(person, "walk"), row_named(person, "run")
    assert 0.8 * 1.9 < 2.0 / walk.duration < 1.25 * 1.9
    assert 0.9 * 2.7 < 2.0 / run.duration < 1.3 * 2.7
    stand = poses(person, person.space.gaits[0])
    assert np.ptp(stand[..., 2]) == pytest.approx(PEOPLE[person.name], abs=0.025)
    head = person.places[:, person.skeleton.names.index("head")]
    rows = person.space.gaits
    rise = [np.ptp(head[row.first : row.first + row.count, 2]) for row in rows]
    named = {row.name: way / person.height for row, way in zip(rows, rise, strict=True)}
    assert 0.01 < named["walk"] < 0.04 and 0.02 < named["run"] < 0.06
