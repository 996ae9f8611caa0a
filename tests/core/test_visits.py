"""Targets in order: one after the other, with a time of waiting at each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import crowd, place, same_bits, simulation
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.flee import Flee
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.inputs.world import make_world
from steer_addon.core.results.frames import make_frame
from steer_addon.core.step.choosing import decided

LINE = [[5.0, 0, 0], [10.0, 0, 0], [15.0, 0, 0]]
FPS = 24


def arrive(**more):
    return Arrive(**{"target_choice": "IN_ORDER", "slow_radius": 1.0, **more})


def tour(settings, points, targets, seconds, **more):
    """Targets, visits and times left to wait, each (steps, agents), and the simulation."""
    sim = simulation(settings, points, **more)
    found = []
    for _ in range(int(seconds * FPS)):
        sim.advance(make_world(targets=targets))
        found.append(sim.agents.memory["arrive.target"].copy())
    return *np.moveaxis(np.array(found), 2, 0), sim


def runs(column):
    """Values of a column one after the other, without repeats."""
    return [int(v) for k, v in enumerate(column) if k == 0 or v != column[k - 1]]


@pytest.mark.slow
def test_three_targets_in_a_line_are_visited_in_order_with_waits_between_the_limits():
    settings = crowd(arrive(min_wait=2.0, max_wait=4.0), agents={"max_speed": 5.0})
    points = np.random.default_rng(0).uniform(-1, 1, (60, 3)) * [1, 1, 0]
    target, visits, wait, sim = tour(settings, points, LINE, 17)
    for agent in range(60):
        assert runs(target[:, agent]) == [1, 2, 3]
        assert runs(visits[:, agent]) == [0, 1, 2]
    times = (wait > 0.0).sum(axis=0) / FPS
    # two waits of each, and each may be longer by the rest of a step
    assert times.min() >= 4.0
    assert times.max() <= 8.0 + 2 / FPS
    first = np.array([(wait[visits[:, a] == 1, a] > 0.0).sum() / FPS for a in range(60)])
    assert first.min() < 2.4
    assert first.max() > 3.6
    assert abs(first.mean() - 3.0) < 5 * (2.0 / np.sqrt(12 * 60)) + 1 / FPS
    np.testing.assert_allclose(sim.agents.position[:, 0], 15.0, atol=0.1)


def test_who_waits_stands():
    settings = crowd(arrive(min_wait=5.0, max_wait=5.0))
    sim = simulation(settings, [[4.0, 0, 0]])
    speeds, waits = [], []
    for _ in range(6 * FPS):
        sim.advance(make_world(targets=LINE))
        speeds.append(sim.agents.speed[0])
        waits.append(sim.agents.memory["arrive.target"][0, 2] > 0.0)
    start = waits.index(True)
    assert sum(waits) == 5 * FPS
    # to a halt within 1.5 s, and then not a trace of motion
    assert not any(speeds[start + int(1.5 * FPS) + 1 : start + 5 * FPS])
    assert speeds[-1] > 0.5


def test_who_waits_flees_from_what_another_behavior_sees():
    settings = crowd(arrive(min_wait=60.0, max_wait=60.0), Flee(target="wolf", panic_radius=3.0))
    sim = simulation(settings, [[4.9, 0, 0]])
    for _ in range(4 * FPS):
        sim.advance(make_world(targets={"": LINE, "wolf": [[4.0, 0, 0]]}))
    assert np.linalg.norm(sim.agents.position[0] - [4.0, 0, 0]) > 1.8


@pytest.mark.parametrize(
    ("after", "expected"),
    [("STOP", [1, 2, 3]), ("LOOP", [1, 2, 3, 1, 2, 3, 1]),
     ("BACK_AND_FORTH", [1, 2, 3, -2, -1, 2, 3, -2])],
)  # fmt: skip
def test_what_follows_the_last_target(after, expected):
    settings = crowd(
        Seek(target_choice="IN_ORDER", after_last=after, visit_radius=0.5, name="arrive")
    )
    near = [[1.0, 0, 0], [2.0, 1.0, 0], [3.0, 0, 0]]
    target, _, _, _ = tour(settings, [[0.0, 0, 0]], near, 16)
    assert runs(target[:, 0])[: len(expected)] == expected


@pytest.mark.parametrize("after", ["STOP", "LOOP", "BACK_AND_FORTH"])
def test_a_single_target_is_visited_again_and_again_or_once(after):
    settings = crowd(arrive(after_last=after, min_wait=1.0, max_wait=1.0))
    _, visits, _, sim = tour(settings, [[2.0, 0, 0]], [[0.0, 0, 0]], 12)
    assert visits[-1, 0] == 0 if after == "STOP" else visits[-1, 0] > 5
    np.testing.assert_allclose(sim.agents.position[0], 0.0, atol=1.1)


@pytest.mark.parametrize("waiting", [0.0, 3.0])
def test_agents_leave_after_the_last_target_alone(waiting):
    settings = replace(
        crowd(arrive(min_wait=waiting, max_wait=waiting), agents={"max_speed": 4.0}),
        bodies=BodiesSettings(on_arrival="LEAVE", arrival_distance=0.2),
    )
    sim = simulation(settings, [[0.0, 0, 0], [0.0, 3.0, 0]])
    alive = []
    for _ in range(18 * FPS):
        sim.advance(make_world(targets=LINE))
        alive.append(sim.agents.alive.copy())
        if sim.agents.alive.all():
            assert not sim.agents.arrived.any()
    assert not alive[-1].any()
    died = FPS * 18 - np.sum(alive, axis=0)
    walk = 15.0 / 4.0
    gone = 18 - died / FPS
    assert (gone > walk + 3 * waiting - 1.0).all()
    assert sim.agents.arrived.all()
    assert sim.agents.memory["arrive.target"][:, 1].tolist() == [3, 3]
    np.testing.assert_allclose(sim.agents.position[:, 0], 15.0, atol=0.6)


def test_only_at_the_last_target_agents_have_arrived():
    settings = replace(
        crowd(arrive(min_wait=2.0, max_wait=2.0), agents={"max_speed": 4.0}),
        bodies=BodiesSettings(on_arrival="HOLD_AREA", collide_agents=True),
    )
    points = np.random.default_rng(1).uniform(-2, 2, (20, 3)) * [1, 1, 0]
    target, _, wait, sim = tour(settings, points, LINE, 20)
    assert (wait[target != 3] > 0.0).any()
    assert sim.agents.arrived.all()
    assert not sim.agents.speed.any()
    shown = make_frame(1, sim.agents, settings.motion, settings.behaviors, arriving=True)
    assert shown.attributes["arrived"].all()


def test_nobody_has_arrived_on_the_way():
    settings = replace(
        crowd(arrive(min_wait=9.0, max_wait=9.0)), bodies=BodiesSettings(on_arrival="HOLD_AREA")
    )
    sim = simulation(settings, [[4.5, 0, 0]])
    for _ in range(5 * FPS):
        sim.advance(make_world(targets=LINE))
    assert sim.agents.memory["arrive.target"][0, 2] > 0.0
    assert not sim.agents.arrived.any()


def test_many_that_wait_at_a_place_make_room_for_those_who_come():
    settings = replace(
        crowd(arrive(min_wait=60.0, max_wait=60.0, visit_radius=0.3)),
        bodies=BodiesSettings(collide_agents=True),
    )
    points = np.random.default_rng(2).uniform(-4, 4, (40, 3)) * [1, 1, 0]
    _, visits, _, sim = tour(settings, points, [[0.0, 0, 0], [50.0, 0, 0]], 25)
    assert (visits[-1] == 1).mean() > 0.9
    # discs that stand loose: the area of all over 0.7
    assert np.linalg.norm(sim.agents.position[visits[-1] == 1], axis=1).max() < 2.6


def test_moving_targets_are_followed():
    sim = simulation(crowd(arrive()), [[0.0, 0, 0]])
    for step in range(12 * FPS):
        shift = [0.0, 0.3 * step / FPS, 0.0]
        sim.advance(make_world(targets=np.array([[3.0, 0, 0], [6.0, 0, 0]]) + shift))
    np.testing.assert_allclose(sim.agents.position[0], [6.0, 3.6, 0.0], atol=0.5)


@pytest.mark.parametrize(("after", "next_one"), [("STOP", 2), ("LOOP", 1), ("BACK_AND_FORTH", -2)])
def test_a_target_that_is_gone_is_passed_over(after, next_one):
    settings = crowd(arrive(after_last=after, min_wait=50.0, max_wait=50.0))
    sim = simulation(settings, [[0.0, 0, 0]])
    sim.advance(make_world(targets=LINE))
    # waiting at the third, which is gone then
    sim.agents.memory["arrive.target"][0] = [3, 3, 40.0]
    sim.advance(make_world(targets=LINE[:2]))
    assert sim.agents.memory["arrive.target"][0, 0] == next_one
    assert sim.agents.memory["arrive.target"][0, 2] <= 0.0


def test_the_attribute_target_index_wins():
    settings = crowd(arrive(min_wait=5.0, max_wait=5.0))
    sim = simulation(settings, [[4.9, 0, 0]], attributes={"target_index": [2.0]})
    for _ in range(12 * FPS):
        sim.advance(make_world(targets=LINE))
    np.testing.assert_allclose(sim.agents.position[0], LINE[2], atol=0.1)


def test_limits_in_the_wrong_order_are_the_same_limits():
    points = np.tile([[4.9, 0.0, 0.0]], (50, 1))
    waits = [
        tour(crowd(arrive(min_wait=a, max_wait=b)), points, LINE, 0.2)[2].max(axis=0)
        for a, b in ((3.0, 1.0), (1.0, 3.0))
    ]
    for wait in waits:
        assert wait.min() >= 1.0 - 1e-6
        assert wait.max() <= 3.0
        assert np.ptp(wait) > 1.0


def test_point_attributes_override_waits():
    times = [0.0, 1.0, 2.0]
    settings = crowd(arrive())
    points = [[4.9, y, 0.0] for y in (-0.5, 0.0, 0.5)]
    attributes = {"min_wait": times, "max_wait": times}
    _, _, wait, _ = tour(settings, points, LINE, 4, attributes=attributes)
    assert ((wait > 0.0).sum(axis=0) / FPS).tolist() == pytest.approx(times, abs=1.01 / FPS)


@given(
    st.integers(1, 5), st.integers(1, 5), st.sampled_from(["STOP", "LOOP", "BACK_AND_FORTH"]),
    st.floats(0.0, 1.0), st.integers(0, 20),
)  # fmt: skip
def test_whatever_comes_the_target_is_one_that_is_there(before, then, after, wait, steps):
    settings = crowd(arrive(after_last=after, max_wait=wait, visit_radius=3.0), seed=steps)
    agents = place(settings, np.zeros((3, 3)))
    for step in range(steps + 2):
        count = before if step < steps // 2 else then
        points = np.stack([np.arange(count), np.zeros(count), np.zeros(count)], axis=1)
        world = make_world(targets=points)
        agents = decided(agents, world, settings, 0.1, step, steps)
        memory = agents.memory["arrive.target"]
        assert (np.abs(memory[:, 0]) >= 1).all()
        assert (np.abs(memory[:, 0]) <= count).all()
        assert (memory[:, 2] <= wait).all()


def test_neither_order_nor_threads_nor_resuming_change_a_bit():
    settings = replace(
        crowd(arrive(min_wait=0.2, max_wait=1.0, after_last="LOOP"), agents={"max_speed": 3.0}),
        bodies=BodiesSettings(collide_agents=True),
    )
    points = np.random.default_rng(4).uniform(2, 7, (50, 3)) * [1, 1, 0]
    world, order = make_world(targets=LINE), np.random.default_rng(5).permutation(50)
    whole = simulation(settings, points)
    for _ in range(120):
        whole.step(world)
    before = jit.set_threads(3)
    try:
        part = simulation(settings, points)
        for _ in range(60):
            part.step(world)
    finally:
        jit.set_threads(before)
    resumed = simulation(settings, points)
    resumed.agents, resumed.frame = part.agents.copy(), part.frame
    for _ in range(60):
        resumed.step(world)
    assert same_bits(whole.agents, resumed.agents)
    assert (whole.agents.memory["arrive.target"][:, 1] > 0).mean() > 0.8
    # bodies that meet have an order of their own
    alone = replace(settings, bodies=BodiesSettings())
    plain, shuffled = (simulation(alone, points[rows]) for rows in (np.arange(50), order))
    shuffled.agents = place(alone, points[order], ids=order)
    for _ in range(120):
        plain.step(world)
        shuffled.step(world)
    assert same_bits(plain.agents.taken(order), shuffled.agents)
