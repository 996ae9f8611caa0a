"""Match velocity: the target's velocity is taken up, whatever lies between."""

import numpy as np
import pytest
from chase import wishes
from crowdtools import crowd, run

from steer_addon.core.behaviors.match_velocity import MatchVelocity
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import make_world

DT = 1 / 24


def moving(*velocities):
    """A world with targets that move, ten meters apart."""
    count = len(velocities)
    places = np.stack([10.0 * np.arange(count), np.zeros(count), np.zeros(count)], axis=1)
    return make_world(targets=make_targets(places, velocities))


def test_the_difference_fades_with_the_relaxation_time():
    # v' = v + (v_q - v)·dt/τ leaves (1 - dt/τ)^n of the difference
    tau, goal, start = 0.5, np.array([0.9, -0.5, 0.3]), np.array([-0.4, 1.0, 0.0])
    settings = crowd(MatchVelocity(), motion="FLY", relaxation_time=tau)
    world = moving(goal)
    _, velocities = run(settings, [[3, 4, 5]], 48, velocity=[start], world=world)
    left = (1 - DT / tau) ** np.arange(49)
    np.testing.assert_allclose(velocities[:, 0], goal + left[:, None] * (start - goal), atol=1e-5)


def test_a_target_at_rest_brings_agents_to_rest():
    settings = crowd(MatchVelocity())
    _, velocities = run(
        settings, [[3, 4, 0]], 24 * 10, velocity=[[1, 1, 0]], world=moving([0, 0, 0])
    )
    assert np.linalg.norm(velocities[-1]) < 1e-6


def test_a_target_faster_than_the_agent_is_followed_at_maximum_speed():
    settings = crowd(MatchVelocity(), agents={"max_speed": 1.0})
    _, velocities = run(settings, [[0, 0, 0]], 48, world=moving([30, 40, 0]))
    np.testing.assert_allclose(velocities[-1, 0], [0.6, 0.8, 0], atol=1e-5)


@pytest.mark.parametrize(("motion", "climb"), [("GROUND", 0.0), ("FLY", 3.0)])
def test_walkers_do_not_climb_with_a_flying_target(motion, climb):
    value, _ = wishes(MatchVelocity(), moving([1, 2, 3]), [[5, 5, 0]], motion=motion)
    np.testing.assert_allclose(value[0], [1, 2, climb], atol=1e-6)


def test_each_agent_matches_its_own_target():
    points = [[9, 0, 0], [1, 0, 0]]
    world = moving([1, 0, 0], [0, 1, 0])
    nearest, _ = wishes(MatchVelocity(), world, points)
    by_id, _ = wishes(MatchVelocity(target_choice="BY_ID"), world, points)
    np.testing.assert_allclose(nearest, [[0, 1, 0], [1, 0, 0]])
    np.testing.assert_allclose(by_id, [[1, 0, 0], [0, 1, 0]])
