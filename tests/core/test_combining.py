"""PRIORITY, turn limits, and settings that change from frame to frame."""

import numpy as np
import pytest
from crowdtools import crowd, only, run, same_bits, simulation
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st
from toy_behaviors import Pushed
from tried import tried

from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.inputs.world import make_world

DT = 1 / 24
AHEAD = make_world(targets=[[100.0, 0.0, 0.0]])
numbers = st.floats(-3.0, 3.0, width=32)
asked = st.tuples(numbers, numbers, st.floats(0.0625, 4.0, width=32))


def spent(wanted, budget):
    """Result of PRIORITY for forces in order, restated with 64-bit numbers."""
    total, left = np.zeros(2), budget
    for force in wanted:
        size = np.linalg.norm(force)
        share = min(1.0, left / size) if size > 0.0 else 0.0
        total += force * share
        left -= size * share
    return total


@profile(max_examples=tried(60))
@given(st.lists(asked, min_size=1, max_size=4), st.floats(0.5, 8.0, width=32))
def test_priority_walks_the_list_until_the_force_is_used_up(pushes, budget):
    stack = [Pushed(name=f"{k}", x=x, y=y, weight=w) for k, (x, y, w) in enumerate(pushes)]
    settings = crowd(
        *stack,
        combine="PRIORITY",
        relaxation_time=0.5,
        agents={"max_force": budget, "max_speed": 1e3},
    )
    _, velocities = run(settings, [[0, 0, 0]], 1)
    expected = spent([np.array([x, y]) * w / 0.5 for x, y, w in pushes], budget)
    np.testing.assert_allclose(velocities[1, 0, :2] / DT, expected, atol=1e-4)


def test_priority_cuts_the_last_one_to_what_is_left_and_ignores_the_rest():
    # forces of 2, 2 and 2 N, with 3 N to spend
    stack = (Pushed(name="a", x=1.0), Pushed(name="b", y=-1.0), Pushed(name="c", x=-1.0))
    settings = crowd(*stack, combine="PRIORITY", agents={"max_force": 3.0})
    _, velocities = run(settings, [[0, 0, 0]], 1)
    np.testing.assert_allclose(velocities[1, 0] / DT, [2.0, -1.0, 0.0], atol=1e-5)


def test_who_asks_for_nothing_or_has_no_weight_uses_nothing_up():
    body = {"max_force": 2.0}
    alone = run(crowd(Pushed(x=1.0), combine="PRIORITY", agents=body), [[0, 0, 0]], 1)[1]
    idle = (Seek(), Pushed(name="nothing"), Pushed(name="off", y=1.0))
    stack = crowd(*idle, Pushed(x=1.0), combine="PRIORITY", agents=body)
    weights = {"off.weight": [0.0]}
    found = run(stack, [[0, 0, 0]], 1, attributes=weights)[1]
    assert np.array_equal(found, alone)


def test_under_vex_the_budget_of_priority_is_the_maximum_speed():
    stack = (Pushed(name="a", x=1.0), Pushed(name="b", y=1.0))
    settings = crowd(
        *stack, solver="VEX", acc_weight=1.0, combine="PRIORITY", agents={"max_speed": 1.5}
    )
    _, velocities = run(settings, [[0, 0, 0]], 1)
    np.testing.assert_allclose(velocities[1, 0], [1.0, 0.5, 0.0], atol=1e-6)


@profile(max_examples=tried(40))
@given(
    st.floats(-np.pi, np.pi),
    st.floats(1.0, 720.0),
    st.sampled_from(["GROUND", "FLY"]),
    st.sampled_from(["REYNOLDS", "VEX"]),
)
def test_no_turn_is_faster_than_allowed_nor_to_the_wrong_side(angle, rate, motion, solver):
    settings = crowd(Seek(), motion=motion, solver=solver, max_turn_rate=rate)
    start = 1.4 * np.array([[np.cos(angle), np.sin(angle), 0.0]])
    free = run(only(settings, max_turn_rate=0.0), [[0, 0, 0]], 1, velocity=start, world=AHEAD)[1]
    held = run(settings, [[0, 0, 0]], 1, velocity=start, world=AHEAD)[1]

    def turn(track):
        a, b = track[0, 0], track[1, 0]
        return np.arctan2(np.cross(a, b)[2], a @ b)

    most = np.radians(rate) * DT
    assert abs(turn(held)) <= most + 1e-5
    # the speed is kept, and so is the turn where it is allowed
    np.testing.assert_allclose(np.linalg.norm(held[1]), np.linalg.norm(free[1]), rtol=1e-5)
    if abs(turn(free)) < most:
        np.testing.assert_allclose(held, free, atol=1e-6)
    elif abs(turn(free)) < 3.0:
        assert turn(held) == pytest.approx(np.sign(turn(free)) * most, abs=1e-5)


def going_on(settings, agents, frame, steps):
    """The crowd some steps later."""
    sim = simulation(settings, [[0, 0, 0], [2, 1, 0]])
    sim.agents, sim.frame = agents.copy(), frame
    for _ in range(steps):
        sim.step(AHEAD)
    return sim.agents


@pytest.mark.parametrize(
    "change",
    [
        "solver.combine=PRIORITY",
        "solver.max_turn_rate=1",
        "solver.solver=VEX",
        "seek.weight=0",
        "push.weight=3",
        "push.x=-2",
        "push.enabled=false",
        "motion.banking=1",
    ],
)
def test_keyed_changes_take_effect_from_the_next_step_on(change):
    first = crowd(
        Seek(), Pushed(name="push", y=1.0), motion="FLY", agents={"max_force": 2.5, "max_speed": 9}
    )
    second = with_override(first, change)
    sim = simulation(first, [[0, 0, 0], [2, 1, 0]], [[0, -1, 0], [-1, 1, 0]])
    for _ in range(6):
        sim.step(AHEAD)
    before, frame = sim.agents.copy(), sim.frame
    sim.step(AHEAD, second)
    assert same_bits(sim.agents, going_on(second, before, frame, 1))
    # and they stay, without being given again
    sim.step(AHEAD)
    assert same_bits(sim.agents, going_on(second, before, frame, 2))
    assert not same_bits(sim.agents, going_on(first, before, frame, 2))
