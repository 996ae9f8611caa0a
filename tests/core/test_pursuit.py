"""Pursue and evade against their closed forms."""

from itertools import product

import numpy as np
import pytest
from chase import chase, wishes
from crowdtools import crowd, run

from steer_addon.core.behaviors.evade import Evade
from steer_addon.core.behaviors.pursue import Pursue
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import make_world
from tests.often import often

DISTANCE, SPEED, PREY_SPEED = 9.0, 3.0, 1.0
HEADINGS = np.radians([0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0])
FPS = 120.0


def seen(position, velocity=None, heading=None):
    """A world with one target."""
    rows = [None if v is None else [v] for v in (velocity, heading)]
    return make_world(targets=make_targets([position], *rows))


def meeting_times(entry, motion, tau=0.01):
    """When agents reach targets that start DISTANCE ahead and keep going the way of HEADINGS.

    From rest, with a relaxation time of tau [s] and as much force as that takes.
    """
    course = np.stack([np.cos(HEADINGS), np.sin(HEADINGS), 0.0 * HEADINGS], axis=1)
    start, velocity = np.array([DISTANCE, 0.0, 0.0]), PREY_SPEED * course
    body = {"max_speed": SPEED, "max_force": 1e6}
    settings = crowd(entry, motion=motion, relaxation_time=tau, agents=body)
    slowest = DISTANCE / (SPEED - PREY_SPEED) + 2.0 * tau

    def world_at(time):
        return make_world(targets=make_targets(start + velocity * time, velocity))

    agents = np.zeros((len(HEADINGS), 3))
    positions = chase(settings, agents, world_at, 1.05 * slowest, FPS)
    times = np.arange(len(positions)) / FPS
    gaps = np.linalg.norm(start + velocity * times[:, None, None] - positions, axis=2)
    # they meet when they are first as near as they get, beside one another where speeds take time
    met = ((np.diff(gaps, axis=0) > 0.0) & (gaps[:-1] < 0.5 * DISTANCE)).argmax(axis=0)
    assert gaps[met, np.arange(len(met))].max() <= 0.02 * DISTANCE
    return times[met]


def intercepts(tau):
    """When agents that go straight to where they will meet the targets are there, for each heading.

    |d + w·t| = s·(t - τ·(1 - exp(-t/τ))), solved for t: speed is taken up exponentially.
    """
    along, across = PREY_SPEED * np.cos(HEADINGS), PREY_SPEED * np.sin(HEADINGS)
    low, high = np.zeros(len(HEADINGS)), np.full(len(HEADINGS), 100.0)
    for _ in range(60):
        t = (low + high) / 2
        way = SPEED * (t + tau * np.expm1(-t / tau))
        there = way >= np.hypot(DISTANCE + along * t, across * t)
        low, high = np.where(there, low, t), np.where(there, t, high)
    return high


@pytest.mark.parametrize(
    ("motion", "tau"),
    often(
        product(("GROUND", "FLY"), (0.01, 0.1, 0.25, 0.5)),
        *(("GROUND", 0.01), ("FLY", 0.1), ("GROUND", 0.5)),
    ),
)
def test_pursue_meets_a_target_at_its_closed_form_intercept(motion, tau):
    met = meeting_times(Pursue(target_choice="BY_ID"), motion, tau)
    np.testing.assert_allclose(met, intercepts(tau), rtol=0.02)


def test_without_delay_the_intercept_is_that_of_the_textbook():
    along, across = PREY_SPEED * np.cos(HEADINGS), PREY_SPEED * np.sin(HEADINGS)
    earliest = (
        DISTANCE * (along + np.sqrt(SPEED**2 - across**2)) / (SPEED**2 - along**2 - across**2)
    )
    np.testing.assert_allclose(intercepts(1e-9), earliest, rtol=1e-6)


def test_seek_runs_behind_a_target_that_crosses():
    # the classic curve of pursuit, d·s/(s² - w²), is 6 % longer than the way to the intercept
    crossing = 3
    assert np.degrees(HEADINGS[crossing]) == pytest.approx(90.0)
    met = meeting_times(Seek(target_choice="BY_ID"), "GROUND")[crossing]
    assert met == pytest.approx(DISTANCE * SPEED / (SPEED**2 - PREY_SPEED**2), rel=0.01)


def test_pursue_looks_ahead_by_the_time_to_close_the_gap():
    # T = 12 / (2 + 1) = 4 s
    value, asked = wishes(Pursue(), seen([12, 0, 0], [0, 1, 0]), [[0, 0, 0]])
    np.testing.assert_allclose(value[0], 2 * np.array([12, 4, 0]) / np.hypot(12, 4), atol=1e-6)
    assert asked[0]


@pytest.mark.parametrize(
    ("place", "turn", "straight"),
    [
        ((10.0, 3.0), 180.0, True),
        ((10.0, 3.0), 180.0 - 18.0, True),  # cos 18° = 0.951
        ((10.0, 3.0), 180.0 - 19.0, False),  # cos 19° = 0.946
        ((-10.0, 3.0), 180.0, False),  # behind the agent
        ((10.0, 3.0), 0.0, False),
    ],
)
def test_pursue_goes_straight_at_a_target_that_comes_head_on(place, turn, straight):
    course = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn)), 0.0])
    offset = np.array([*place, 0.0])
    velocity = [[1.0, 0.0, 0.0]]  # which is also where the agent looks
    value, _ = wishes(Pursue(), seen(offset, course), [[0, 0, 0]], velocity)
    ahead = offset if straight else offset + course * np.linalg.norm(offset) / (2 + 1)
    np.testing.assert_allclose(value[0], 2 * ahead / np.linalg.norm(ahead), atol=1e-6)


def test_a_standing_target_is_sought_whichever_way_it_looks():
    for heading in ([-1, 0, 0], [1, 0, 0], [0, 1, 0]):
        world = seen([3, 4, 0], heading=heading)
        value, _ = wishes(Pursue(), world, [[0, 0, 0]], [[1, 0, 0]])
        np.testing.assert_allclose(value[0], [1.2, 1.6, 0], atol=1e-6)


@pytest.mark.parametrize("entry", [Pursue(), Evade(panic_radius=0.0)])
def test_on_the_ground_the_height_and_climb_of_a_target_do_not_count(entry):
    level, _ = wishes(entry, seen([12, 0, 0], [0, 1, 0]), [[0, 0, 0]], motion="GROUND")
    high, _ = wishes(entry, seen([12, 0, 40], [0, 1, 7]), [[0, 0, 0]], motion="GROUND")
    flying, _ = wishes(entry, seen([12, 0, 40], [0, 1, 7]), [[0, 0, 0]], motion="FLY")
    np.testing.assert_allclose(high, level, atol=1e-6)
    assert abs(flying[0, 2]) > 1.0


@pytest.mark.parametrize(
    ("place", "speed", "panic_radius", "falloff", "expected"),
    [
        # the predicted point is where v·|q| / (2 + |v|) takes the target
        (6.0, -1.0, 5.0, "LINEAR", -0.4),  # at 4 m: k = 0.2
        (6.0, -1.0, 5.0, "NONE", -2.0),
        (1.5, -1.0, 5.0, "LINEAR", -1.6),  # at 1 m: k = 0.8
        (4.0, 1.0, 5.0, "LINEAR", None),  # at 5.33 m, though the target itself is near
        (4.0, 1.0, 5.0, "NONE", None),
        (4.0, 1.0, 0.0, "LINEAR", -2.0),  # no limit, and nothing to fade toward
        (400.0, 1.0, 0.0, "NONE", -2.0),
    ],
)
def test_evade_flees_from_where_the_target_will_be(place, speed, panic_radius, falloff, expected):
    entry = Evade(panic_radius=panic_radius, falloff=falloff)
    value, asked = wishes(entry, seen([place, 0, 0], [speed, 0, 0]), [[0, 0, 0]])
    assert asked[0] == (expected is not None)
    np.testing.assert_allclose(value[0], [expected or 0.0, 0, 0], atol=1e-6)


def test_evade_makes_no_exception_for_a_target_that_comes_head_on():
    offset = np.array([6.0, 3.0, 0.0])
    world = seen(offset, [-1, 0, 0])
    value, _ = wishes(Evade(panic_radius=0.0), world, [[0, 0, 0]], [[1, 0, 0]])
    ahead = offset - [np.linalg.norm(offset) / 3, 0, 0]
    np.testing.assert_allclose(value[0], -2 * ahead / np.linalg.norm(ahead), atol=1e-6)


def test_an_agent_that_nobody_comes_near_coasts():
    world = seen([9, 0, 0], [1, 0, 0])
    _, velocities = run(crowd(Evade()), [[0, 0, 0]], 5, velocity=[[0, 1, 0]], world=world)
    np.testing.assert_allclose(velocities[:, 0], [[0, 1, 0]] * 6, atol=1e-6)
