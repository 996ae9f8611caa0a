"""Avoid neighbors: meeting agents pass, standing ones stay, and no agents lock each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import box, crowd, run, same_bits, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.avoid_neighbors import AvoidNeighbors
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.inputs.world import make_targets, make_world
from tests.often import often

RADIUS = 0.25
SPEED = 1.4


def walkers(goal=None, bodies=True, motion="GROUND", **avoid):
    """Settings of people who each have a target of their own."""
    go = goal or Arrive(slow_radius=1.0, target_choice="BY_ID")
    made = crowd(
        AvoidNeighbors(**avoid),
        go,
        motion=motion,
        agents={"radius": RADIUS, "max_speed": SPEED, "max_force": 20.0},
        relaxation_time=0.2,
    )
    return replace(made, bodies=BodiesSettings(collide_agents=bodies, collide_colliders=bodies))


def overlap(positions, radius=RADIUS):
    """Deepest overlap of any two over all steps, as a share of the sum of their radii."""
    offsets = positions[:, :, None] - positions[:, None]
    distance = np.linalg.norm(offsets, axis=3) + 1.0e9 * np.eye(positions.shape[1])
    return float(1.0 - distance.min() / (2.0 * radius))


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("side", ["RIGHT", "LEFT", "NONE"])
def test_two_who_meet_head_on_pass_without_turning_back(side, motion):
    start, goals = [[-5, 0.001, 0], [5, 0, 0]], [[5, 0.001, 0], [-5, 0, 0]]
    places, velocities = run(
        walkers(bodies=False, side=side, motion=motion), start, 24 * 10, target=goals
    )
    assert overlap(places) <= 0.0
    assert np.linalg.norm(places[-1] - goals, axis=1).max() < 0.1
    assert velocities[:, 0, 0].min() > -0.01
    assert velocities[:, 1, 0].max() < 0.01
    passed = places[np.abs(places[:, 0, 0] - places[:, 1, 0]).argmin()]
    sign = np.sign(passed[1, 1] - passed[0, 1])
    assert side == "NONE" or sign == {"RIGHT": 1.0, "LEFT": -1.0}[side]


def ring(count, radius):
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle])


@pytest.mark.parametrize("count", often([3, 6, 12, 25], 6, 12))
def test_all_who_want_across_a_circle_arrive(count):
    start = ring(count, max(4.0, 0.13 * count))
    places, velocities = run(walkers(), start, 24 * 30, target=-start)
    assert overlap(places) <= 0.02
    # an agent within the arrival distance brakes there, wherever that leads
    away = np.linalg.norm(places + start, axis=2)
    assert away.min(axis=0).max() <= BodiesSettings().arrival_distance
    assert away[-1].max() < 1.5 * BodiesSettings().arrival_distance
    assert not velocities[-1].any()


def test_large_bodies_that_form_an_arch_get_out_of_it():
    # twelve bodies touch in a ring before the opposite ones are among the seen
    start = ring(12, 10.0)
    made = walkers(neighbor_distance=2.0, max_neighbors=4)
    bodies = replace(made.agents, radius=0.5)
    places, _ = run(replace(made, agents=bodies), start, 24 * 60, target=-start)
    assert np.linalg.norm(places[-1] + start, axis=1).max() < 0.5


@pytest.mark.slow
def test_two_streams_in_a_corridor_form_lanes():
    rng = np.random.default_rng(3)
    count, length, width = 40, 16.0, 4.0
    x, y = np.divmod(np.arange(count), 4)
    start = np.column_stack([1.5 * x, 0.8 + 0.8 * y, 0.0 * x]) + rng.uniform(-0.1, 0.1, (count, 3))
    start[:, 2] = 0.0
    east = np.arange(count) % 2 == 0
    goals = start + np.where(east, 40.0, -40.0)[:, None] * [1.0, 0.0, 0.0]
    walls = [
        box((length / 2, -0.5, 1.0), (200.0, 1.0, 4.0), "south"),
        box((length / 2, width + 0.5, 1.0), (200.0, 1.0, 4.0), "north"),
    ]
    world = make_world(targets=goals, colliders=walls)
    places, velocities = run(walkers(goal=Seek(target_choice="BY_ID")), start, 24 * 10, world=world)
    forward = np.where(east, 1.0, -1.0) * velocities[-72:, :, 0]
    assert forward.mean() > 0.8 * SPEED
    assert overlap(places) <= 0.02


def test_the_one_behind_follows_at_the_headway():
    # no room to pass: v = (gap - personal space) / headway, behind an agent that walks at 0.7 m/s
    walls = [box((50.0, y, 1.0), (120.0, 1.0, 4.0), f"at {y}") for y in (-0.8, 0.8)]
    world = make_world(targets=[[100.0, 0.0, 0.0]], colliders=walls)
    made = walkers(goal=Seek(), time_headway=1.0, personal_space=0.1)
    slow = {"max_speed": np.array([SPEED, 0.7], np.float32)}
    sim = simulation(made, [[0, 0, 0], [2, 0, 0]], attributes=slow)
    for _ in range(24 * 15):
        sim.step(world)
    gap = sim.agents.position[1, 0] - sim.agents.position[0, 0] - 2.0 * RADIUS
    assert np.isclose(gap, 0.7 * 1.0 + 0.1, atol=0.02)


def test_who_wishes_nothing_stands_still():
    start = [[0, 0, 0], [0.6, 0, 0], [0, 0.6, 0]]
    places, velocities = run(walkers(), start, 48, target=start)
    assert np.abs(velocities).max() < 1.0e-3
    assert np.abs(places - places[0]).max() < 1.0e-3


def test_walls_are_walked_around_as_wide_as_the_body_is():
    world = make_world(
        targets=[[10.0, 0.0, 0.0]], colliders=[box((5.0, 0.3, 1.0), (1.0, 2.0, 4.0))]
    )
    places, velocities = run(walkers(), [[0, 0, 0]], 24 * 14, world=world)
    # it has arrived, and stands
    assert np.linalg.norm(places[-1, 0] - [10.0, 0.0, 0.0]) < 0.25
    assert velocities[:, 0, 0].min() > -0.05
    blind = walkers(see_colliders=False)
    places, _ = run(blind, [[0, 0.3, 0]], 24 * 14, world=world)
    assert places[-1, 0, 0] < 5.0


@pytest.mark.slow
def test_a_queue_gets_through_a_door():
    walls = [
        box((5.0, -5.6, 1.0), (0.2, 10.0, 4.0), "right"),
        box((5.0, 5.6, 1.0), (0.2, 10.0, 4.0), "left"),
    ]
    x, y = np.divmod(np.arange(20), 5)
    start = np.column_stack([0.8 * x, 0.8 * (y - 2.0), 0.0 * x])
    world = make_world(targets=[[12.0, 0.0, 0.0]], colliders=walls)
    places, _ = run(walkers(goal=Seek()), start, 24 * 30, world=world)
    assert (places.max(axis=0)[:, 0] > 6.0).all()


def test_the_same_again_to_the_last_bit():
    start = ring(9, 3.0)
    found = []
    for _ in range(2):
        sim = simulation(walkers(), start)
        for _step in range(60):
            sim.step(make_world(targets=-start))
        found.append(sim.agents)
    assert same_bits(*found)


wild = st.floats(-1.0e6, 1.0e6, width=32)
row = st.tuples(wild, wild, wild)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(row, row, row), min_size=2, max_size=6),
    st.sampled_from(["GROUND", "FLY"]),
    st.floats(0.0, 1.0e3, width=32),
)
def test_whatever_it_is_given_it_stays_finite(rows, motion, size):
    position, velocity, goal = (np.array([r[k] for r in rows], np.float32) for k in range(3))
    made = walkers(bodies=False, motion=motion, neighbor_distance=1.0e6, personal_space=1.0)
    made = replace(made, agents=replace(made.agents, radius=size, max_speed=size))
    sim = simulation(made, position, velocity)
    for _ in range(3):
        sim.step(make_world(targets=make_targets(goal)))
    assert np.isfinite(sim.agents.position).all()
    assert np.isfinite(sim.agents.velocity).all()


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("relaxation", [0.02, 0.2, 0.5, 1.0])
def test_a_step_longer_than_the_relaxation_time_ends_at_what_is_chosen(relaxation, motion):
    start = [[0.0, 0.0, 0.0], [1.2, 0.1, 0.0], [0.9, -0.6, 0.0]]
    velocity = [[0.9, 0.3, 0.0], [-1.0, 0.0, 0.0], [0.4, 0.2, 0.0]]
    goals, dt = [[9.0, 0.0, 0.0], [-9.0, 0.0, 0.0], [9.0, 1.0, 0.0]], 0.5
    made = walkers(goal=Seek(target_choice="BY_ID"), bodies=False, motion=motion)
    made = replace(made, agents=replace(made.agents, max_force=1000.0))

    def step(tau):
        settings = replace(made, solver=replace(made.solver, relaxation_time=tau))
        return run(settings, start, 1, velocity, target=goals, fps=1.0 / dt)[1]

    # as long as the step: the solver goes right to what is chosen
    before, chosen = step(dt)
    assert np.abs(chosen - before).max() > 0.1
    share = min(1.0, dt / relaxation)
    assert step(relaxation)[1] == pytest.approx(before + share * (chosen - before), abs=1.0e-5)
