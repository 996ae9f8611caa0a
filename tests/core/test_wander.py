"""Both sources of wandering."""

import math

import numpy as np
import pytest
from crowdtools import crowd, run, simulation

from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.inputs.world import make_world
from steer_addon.core.numeric.noise import value_noise


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_random_walk_turns_by_at_most_jitter_per_root_second(motion):
    settings = crowd(Wander(jitter=2.0), motion=motion)
    sim = simulation(settings, np.zeros((200, 3)))
    world = make_world()
    sim.step(world)
    for _ in range(30):
        before = sim.agents.memory["wander"].astype(np.float64)
        sim.step(world)
        after = sim.agents.memory["wander"].astype(np.float64)
        np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1.0, atol=1e-6)
        angle = np.arccos(np.clip((before * after).sum(1), -1, 1))
        assert angle.max() <= 2.0 / math.sqrt(24) + 1e-3
        assert angle.mean() > 0.1 * 2.0 / math.sqrt(24)
    if motion == "GROUND":
        assert (sim.agents.memory["wander"][:, 2] == 0).all()


def test_random_walk_has_no_favorite_direction():
    settings = crowd(Wander(jitter=3.0))
    angles = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    heading = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    positions, _ = run(settings, np.zeros((400, 3)), 24 * 20, heading=heading)
    mean = positions[-1].mean(axis=0)
    spread = np.linalg.norm(positions[-1], axis=1).mean()
    assert np.linalg.norm(mean) < 0.12 * spread


def test_seeds_differ_and_repeat():
    def end(seed):
        return run(crowd(Wander(), seed=seed), np.zeros((5, 3)), 48)[0][-1]

    assert np.array_equal(end(1), end(1))
    assert not np.allclose(end(1), end(2), atol=1e-2)


def test_position_noise_is_the_formula_of_the_node():
    p = np.float32([0.37, -1.2, 0.9])
    settings = crowd(
        Wander(source="POSITION_NOISE", speed=0.48), motion="FLY", solver="VEX", acc_weight=1.0
    )
    _, velocities = run(settings, [p], 1, velocity=[[0, 2, 0]])
    x, y, z = (float(c) for c in p)
    theta = 2 * math.pi * value_noise(37.0 * x, 37.0 * y, 37.0 * z)
    phi = math.pi * value_noise(10.0 * x + 234.0, 10.0 * y + 234.0, 10.0 * z + 234.0)
    ahead = np.array(
        [
            math.sin(theta) * math.cos(phi),
            math.sin(theta) * math.sin(phi) + 2.0,
            math.cos(theta),
        ]
    )
    np.testing.assert_allclose(velocities[1, 0], 0.48 * ahead / np.linalg.norm(ahead), atol=1e-6)
