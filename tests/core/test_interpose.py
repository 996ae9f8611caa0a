"""Interpose: between two targets, wherever they go."""

import numpy as np
import pytest
from chase import chase, wishes
from crowdtools import crowd, run

from steer_addon.core.behaviors.interpose import Interpose
from steer_addon.core.inputs.targets import NO_TARGETS, make_targets
from steer_addon.core.inputs.world import make_world


def between(a, b, velocity_a=None, velocity_b=None):
    """A world with one first and one second target."""
    first = make_targets([a], None if velocity_a is None else [velocity_a])
    second = make_targets([b], None if velocity_b is None else [velocity_b])
    return make_world(targets=first, second_targets=second)


def test_both_targets_are_moved_ahead_by_the_time_to_their_midpoint():
    # the midpoint (6, 0, 0) is 3 s away; the targets' mean velocity takes it to (6, 4.5, 0)
    world = between([6, -2, 5], [6, 2, -5], [0, 1, 0], [0, 2, 0])
    value, asked = wishes(Interpose(), world, [[0, 0, 0]])
    np.testing.assert_allclose(value[0], [1.2, 0.9, 0] / np.hypot(0.6, 0.45), atol=1e-6)
    assert asked[0]


def test_agents_brake_near_the_midpoint_and_stand_within_the_stop_radius():
    world = between([4, 0, 0], [-4, 0, 0])
    points = [[0, -3, 0], [0, -1, 0], [0, -0.4, 0], [0, 0, 0]]
    value, asked = wishes(Interpose(slow_radius=2.0, stop_radius=0.5), world, points)
    np.testing.assert_allclose(value[:, 1], [2.0, 1.0, 0.0, 0.0], atol=1e-6)
    assert asked.all()


def test_an_agent_comes_to_stand_between_targets_at_rest():
    world = between([8, 2, 0], [2, 6, 0])
    positions, velocities = run(crowd(Interpose()), [[0, 0, 0]], 24 * 20, world=world)
    np.testing.assert_allclose(positions[-1, 0], [5, 4, 0], atol=1e-2)
    assert np.linalg.norm(velocities[-1, 0]) < 1e-2


def test_it_keeps_up_with_two_targets_that_drift_and_spread():
    # only the mean velocity V counts: v_max·(e + V·T)/slow = V with T = e/v_max is the steady lag
    top, slow, drift = 3.0, 2.0, np.array([1.0, 0.0, 0.0])
    lag = slow * (1.0 / top) / (1 + 1.0 / top)
    spread = np.array([0.0, 0.4, 0.0])
    start = np.array([5.0, 1.0, 0.0])
    settings = crowd(Interpose(slow_radius=slow), agents={"max_speed": top})

    def world_at(time):
        a, b = start + (drift + spread) * time, start + (drift - spread) * time
        return between(a, b, drift + spread, drift - spread)

    positions = chase(settings, [[0, 0, 0]], world_at, 20.0, 24.0)
    np.testing.assert_allclose(positions[-1, 0], start + drift * (20.0 - lag), atol=2e-3)


def test_on_the_ground_the_heights_of_the_targets_do_not_count():
    level, _ = wishes(
        Interpose(),
        between([6, -2, 0], [6, 2, 0], [0, 1, 0], [0, 2, 0]),
        [[0, 0, 0]],
        None,
        "GROUND",
    )
    high, _ = wishes(
        Interpose(),
        between([6, -2, 9], [6, 2, 7], [0, 1, 3], [0, 2, 0]),
        [[0, 0, 0]],
        None,
        "GROUND",
    )
    np.testing.assert_allclose(high, level, atol=1e-6)


def test_each_agent_takes_the_nearest_of_either_kind():
    world = make_world(
        targets=[[0, 2, 0], [100, 2, 0]], second_targets=[[100, -2, 0], [0, -2, 0], [50, 0, 0]]
    )
    value, _ = wishes(Interpose(slow_radius=0.0), world, [[-1, 0, 0], [99, 0, 0]])
    np.testing.assert_allclose(value, [[2, 0, 0], [2, 0, 0]], atol=1e-6)


def test_two_behaviors_can_have_second_targets_of_their_own():
    entry = Interpose(name="guard", slow_radius=0.0)
    seconds = {"guard": [[4, 0, 0]], "": [[-40, 0, 0]]}
    world = make_world(targets=[[2, 0, 0]], second_targets=seconds)
    assert wishes(entry, world, [[0, 0, 0]])[0][0, 0] == pytest.approx(2.0)
    other = Interpose(name="other", slow_radius=0.0)
    assert wishes(other, world, [[0, 0, 0]])[0][0, 0] == pytest.approx(-2.0)


@pytest.mark.parametrize(
    "world",
    [
        make_world(),
        make_world(targets=[[1, 0, 0]]),
        make_world(second_targets=[[1, 0, 0]]),
        make_world(targets=[[1, 0, 0]], second_targets=NO_TARGETS),
    ],
)
def test_without_two_targets_there_is_no_proposal(world):
    value, asked = wishes(Interpose(), world, [[0, 0, 0], [5, 0, 0]])
    assert not asked.any() and not value.any()
