"""Built-in animals: paws that stay where they are, wings and fins that beat by speed."""

from __future__ import annotations

import numpy as np
import pytest
from figuretools import made, partners, poses, row_named, slips

from steer_addon.core.agents import make_agents
from steer_addon.core.characters.cast import MEMORY, POSTURE, Cast
from steer_addon.core.crowd.settings import CrowdSettings, MotionSettings
from steer_addon.core.step.gaits import gait

TROTS = ("trot", "fast trot", "run")


def test_paws_stay_where_they_are():
    walks, trots = [], []
    for speed in np.arange(0.3, 3.55, 0.2):
        name, moved = slips(made("dog"), speed, 1.0)
        (trots if name in TROTS else walks).append(moved)
    walk, trot = np.concatenate(walks), np.concatenate(trots)
    assert np.median(walk) <= 3.0 and np.percentile(walk, 95) <= 10.0
    assert np.median(trot) <= 5.0 and np.percentile(trot, 95) <= 25.0


def test_paws_go_back_as_evenly_as_the_ground():
    dog = made("dog")
    for row in dog.space.gaits[1:]:
        points = poses(dog, row)
        after = np.roll(points, -1, axis=0)
        low = (points[..., 2] < 0.002) & (after[..., 2] < 0.002)
        step = (after - points)[low][:, :2] - [0.0, row.stride / row.count]
        away = np.linalg.norm(step, axis=-1)
        assert np.median(away) < 1e-5, row.name
        # also where paws roll while first steps lead them away from standing
        assert np.percentile(away, 95) < 0.001, row.name
    assert dog.space.positions[..., 2].min() > -0.002


def test_a_dog_trots_with_diagonal_pairs_and_walks_with_all_paws_apart():
    dog = made("dog")
    names = [f"{part}_{side}" for part in ("fore_foot", "hind_foot") for side in "lr"]
    joints = [dog.skeleton.names.index(name) for name in names]
    for name, together in (("trot", True), ("walk", False)):
        row = row_named(dog, name)
        places = dog.places[row.first : row.first + row.count, joints, 1].astype(float)
        waves = places - places.mean(axis=0)
        waves /= np.linalg.norm(waves, axis=0)
        diagonal = [(waves[:, 0] * waves[:, 3]).sum(), (waves[:, 1] * waves[:, 2]).sum()]
        assert (min(diagonal) > 0.9) == together
        beside = [(waves[:, 0] * waves[:, 1]).sum(), (waves[:, 2] * waves[:, 3]).sum()]
        assert max(beside) < -0.7


def test_dogs_gaits_are_near_each_other_where_feet_pass():
    dog = made("dog")
    for one, other in zip(dog.space.gaits, dog.space.gaits[1:], strict=False):
        for half in (0.0, 0.5):
            a = dog.space.positions[one.first + int(half * one.count)]
            b = dog.space.positions[other.first + int(half * other.count)]
            away = np.linalg.norm(a - b, axis=-1)
            assert away.mean() < 0.06 and away.max() < 0.27, (one.name, other.name)


def test_wings_beat_alike_on_both_sides():
    bird = made("bird")
    mirrored = bird.space.positions[:, partners(bird)] * [-1.0, 1.0, 1.0]
    assert np.abs(mirrored - bird.space.positions).max() < 1e-4
    tips = np.abs(bird.rest[:, 0]) > 0.4
    beats = {row.name: np.ptp(poses(bird, row)[:, tips, 2]) for row in bird.space.rows}
    assert beats["hover"] > beats["cruise"] > 0.3
    assert beats["glide"] < 0.1


def test_a_fish_waves_more_toward_its_tail_and_with_speed():
    fish = made("fish")
    tail, nose = np.argmax(fish.rest[:, 1]), np.argmin(fish.rest[:, 1])
    sways = []
    for row in fish.space.gaits:
        x = poses(fish, row)[..., 0]
        sways.append(np.ptp(x[:, tail]))
        assert np.ptp(x[:, nose]) < 0.5 * sways[-1]
        assert abs(x.mean()) < 0.002  # the body's middle goes straight on
    assert sways == sorted(sways) and 0.08 < sways[-1] < 0.16
    durations = [row.duration for row in fish.space.gaits]
    assert durations == sorted(durations, reverse=True)


def test_fliers_and_swimmers_have_their_middle_at_the_origin():
    for name in ("bird", "fish"):
        figure = made(name)
        middle = figure.space.positions.reshape(-1, 3).mean(axis=0)
        assert np.abs(middle).max() < 0.05
        assert all(row.stride == 0.0 for row in figure.space.rows)


def flown(spaces, velocities, motion="FLY"):
    """Name of the gait of the first character after it had each velocity for four seconds."""
    # the gaits of the others may be more than its own
    cast = Cast(tuple(space.gaits for space in spaces), weights=(1.0, 0.0)[: len(spaces)])
    settings = CrowdSettings(motion=MotionSettings(motion=motion), cast=cast)
    agents = make_agents([[0.0, 0.0, 0.0]], radius=0.25, mass=1.0, max_speed=20.0, max_force=20.0)
    agents.velocity[:] = velocities[0]
    gait.begin(agents, settings)
    for velocity in velocities:
        for _ in range(96):
            after = agents.copy()
            after.velocity[:] = velocity
            after.position += after.velocity / np.float32(24.0)
            gait.advance(agents, after, settings, 1.0 / 24.0)
            agents = after
    return spaces[0].rows[int(agents.memory[MEMORY][0, POSTURE.index("gait")])].name


@pytest.mark.parametrize("motion", ["FLY", "GROUND"])
@pytest.mark.parametrize(
    ("name", "fast", "slow", "wanted"),
    [("bird", 14.0, 8.0, "cruise"), ("bird", 8.0, 3.0, "slow flight"), ("fish", 1.5, 0.7, "swim")],
)
def test_beats_are_those_of_the_speed_after_a_faster_one_too(name, fast, slow, wanted, motion):
    space = made(name).space
    velocities = [(0.0, -fast, 0.0), (0.0, -slow, 0.0)]
    assert flown([space], velocities[1:], motion) == wanted
    assert flown([space], velocities, motion) == wanted


@pytest.mark.parametrize("casting", [("{}",), ("{}", "woman")])
@pytest.mark.parametrize(
    ("name", "velocity", "wanted"),
    [
        ("bird", (0.0, -8.0, 0.0), "cruise"),
        ("bird", (0.0, -8.0, 4.0), "fast flight"),
        ("bird", (0.0, -8.0, -6.0), "cruise"),
        ("bird", (0.0, 0.0, -14.0), "cruise"),
        ("bird", (0.0, -2.0, -2.0), "slow flight"),
        ("bird", (0.0, 0.0, 0.0), "hover"),
        ("fish", (0.0, -0.7, 0.0), "swim"),
        ("fish", (0.0, -0.7, -0.5), "idle"),
    ],
)
def test_who_sinks_does_not_beat_as_strongly_as_one_that_hovers(name, velocity, wanted, casting):
    assert flown([made(one.format(name)).space for one in casting], [velocity]) == wanted
