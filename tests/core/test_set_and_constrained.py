"""Velocities that are set, places that are corrected, and what behaviors show of their memory."""

import numpy as np
import pytest
from crowdtools import crowd, place, run, simulation
from toy_behaviors import Fence, Held

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.inputs.world import make_world

AHEAD = make_world(targets=[[100.0, 0.0, 0.0]])
WEAK = {"max_force": 1e-3, "mass": 100.0, "max_speed": 2.0}


def test_toys_are_not_on_the_list():
    assert {"held", "circling", "pushed", "fence"}.isdisjoint(REGISTRY)


@pytest.mark.parametrize("combine", ["WEIGHTED_SUM", "PRIORITY"])
@pytest.mark.parametrize("solver", ["REYNOLDS", "VEX"])
def test_a_set_velocity_is_the_velocity_after_the_step(solver, combine):
    # neither force, mass and relaxation time nor weights and other behaviors change it
    stack = (Seek(weight=5.0), Held(x=-0.5, y=1.5, z=0.25, weight=0.1), Seek(name="more"))
    settings = crowd(*stack, motion="FLY", agents=WEAK, solver=solver, combine=combine)
    positions, velocities = run(settings, [[0, 0, 0], [0, 0, 0]], 3, world=AHEAD)
    np.testing.assert_allclose(velocities[1:, 0], [[-0.5, 1.5, 0.25]] * 3, atol=1e-7)
    np.testing.assert_allclose(np.diff(positions[:, 0], axis=0) * 24, velocities[1:, 0], atol=1e-6)
    # the other agent was not asked: it follows the rest of the stack
    assert velocities[1, 1, 0] > 0.0 == velocities[1, 1, 1]


def test_of_several_set_velocities_the_first_in_the_list_wins():
    first, second = Held(name="first", x=1.0), Held(name="second", y=1.0)
    for stack, expected in (((first, second), [1, 0, 0]), ((second, first), [0, 1, 0])):
        _, velocities = run(crowd(Seek(), *stack), [[0, 0, 0]], 1, world=AHEAD)
        np.testing.assert_allclose(velocities[1, 0], expected, atol=1e-7)


def test_a_set_velocity_is_truncated_under_reynolds_only():
    for solver, expected in (("REYNOLDS", [0.0, 2.0, 0.0]), ("VEX", [0.0, 7.0, 0.0])):
        _, velocities = run(crowd(Held(y=7.0), agents=WEAK, solver=solver), [[0, 0, 0]], 1)
        np.testing.assert_allclose(velocities[1, 0], expected, atol=1e-6)


def test_walkers_keep_to_the_ground_and_limits_hold_for_set_velocities():
    _, velocities = run(crowd(Held(x=0.5, z=0.5)), [[0, 0, 0]], 1)
    np.testing.assert_allclose(velocities[1, 0], [0.5, 0.0, 0.0], atol=1e-7)
    _, velocities = run(crowd(Held(x=1.0), max_acceleration=2.4), [[0, 0, 0]], 3)
    np.testing.assert_allclose(velocities[:, 0, 0], [0.0, 0.1, 0.2, 0.3], atol=1e-6)
    settings = crowd(Held(x=1.0), max_turn_rate=240.0)
    _, velocities = run(settings, [[0, 0, 0]], 2, velocity=[[0, 1, 0]])
    angles = np.degrees(np.arctan2(velocities[:, 0, 0], velocities[:, 0, 1]))
    np.testing.assert_allclose(angles, [0.0, 10.0, 20.0], atol=1e-3)


def test_without_weight_an_agent_is_not_set():
    weights = {"held.weight": [1.0, 1.0, 0.0]}
    settings = crowd(Held(y=1.0), Seek())
    _, velocities = run(
        settings, [[0, 0, 0]] * 3, 1, world=AHEAD, ids=[0, 2, 4], attributes=weights
    )
    assert velocities[1, :, 1].tolist() == [1.0, 1.0, 0.0]
    assert velocities[1, :, 0].tolist() == [0.0, 0.0, pytest.approx(1.4 / 12)]


@pytest.mark.parametrize("substeps", [1, 3])
def test_a_constraint_has_the_last_word_of_every_step(substeps):
    settings = crowd(Seek(), Fence(x=0.5), substeps=substeps)
    positions, velocities = run(settings, [[0, 0, 0]], 40, world=AHEAD)
    free, _ = run(crowd(Seek(), substeps=substeps), [[0, 0, 0]], 40, world=AHEAD)
    before = free[:, 0, 0] <= 0.5
    assert np.array_equal(positions[before], free[before])
    assert (positions[~before, 0, 0] == 0.5).all() and (velocities[~before, 0, 0] == 0.0).all()
    assert before.any() and not before.all()


def test_constraints_run_in_the_order_of_the_list():
    near, far = Fence(name="near", x=0.2), Fence(name="far", x=0.4)
    for stack, bumps in (((near, far), [1.0, 0.0]), ((far, near), [1.0, 1.0])):
        sim = simulation(crowd(Held(x=1.4), *stack), [[0.39, 0, 0]])
        frame = sim.step(AHEAD)
        assert frame.position[0, 0] == np.float32(0.2)
        assert [sim.agents.memory[name][0, 0] for name in ("near", "far")] == bumps


def test_without_weight_an_agent_is_not_corrected():
    weights = {"fence.weight": [1.0, 0.0]}
    positions, velocities = run(
        crowd(Fence(x=0.0)),
        [[0, 0, 0], [0, 1, 0]],
        2,
        velocity=[[1, 0, 0], [1, 0, 0]],
        attributes=weights,
    )
    assert positions[-1, 0, 0] == 0.0 < positions[-1, 1, 0]
    assert velocities[-1, :, 0].tolist() == [0.0, 1.0]


def test_what_a_behavior_shows_becomes_an_attribute_of_the_frame():
    settings = crowd(Held(), Fence(x=10.0), Held(name="again"))
    sim = simulation(settings, [[0, 0, 0], [9, 0, 0]])
    first = sim.current().attributes
    assert set(first) == {"held_steps", "bumps", "again.held_steps"}
    assert not any(values.any() for values in first.values())
    for number in (1, 2):
        frame = sim.step(AHEAD)
        for name in ("held_steps", "again.held_steps"):
            assert frame.attributes[name].dtype == np.float32
            assert frame.attributes[name].tolist() == [number, number]
    # a frame keeps what it showed
    sim.step(AHEAD)
    assert frame.attributes["held_steps"].tolist() == [2, 2]
    assert simulation(crowd(Seek()), [[0, 0, 0]]).step(AHEAD).attributes == {}


def test_constraints_show_in_the_frame_of_their_own_step():
    sim = simulation(crowd(Held(x=1.0), Fence(x=0.1)), [[0, 0, 0], [0, 0, 0]])
    shown = [sim.step(AHEAD).attributes["bumps"].tolist() for _ in range(4)]
    # 1/24 m a step: the fence is met in the third; the agent with the odd id stands
    assert shown == [[0, 0], [0, 0], [1, 0], [2, 0]]


def test_agents_at_the_start_remember_nothing():
    assert place(crowd(Held()), [[0, 0, 0]]).memory == {}
