"""Whiskers: the fan and the choice by hand, and ways around a box and through a gap."""

import numpy as np
import pytest
from crowdtools import box, crowd, place, run, wall
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors.obstacle_avoidance.behavior import ObstacleAvoidance
from steer_addon.core.behaviors.obstacle_avoidance.whiskers import whisker
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver

BODY = {"max_speed": 2.0, "radius": 0.0}


def push(velocity, colliders, *, stack=(), motion="GROUND", target=None, agents=BODY, **more):
    """Proposal of one agent at the origin: value and flag."""
    values = {"look_ahead": 4.0, "max_avoid": 50.0, "samples": 5, "field_of_view": 90.0}
    placing = {name: more.pop(name) for name in ("ids", "heading") if name in more}
    avoid = ObstacleAvoidance(method="WHISKERS", **{**values, **more})
    crowd_settings = crowd(*stack, avoid, motion=motion, agents=agents)
    agent = place(crowd_settings, (0, 0, 0), velocity, **placing)
    world = make_world(colliders=colliders, targets=target)
    made = Solver(crowd_settings).step(agent, world, 1 / 24, number=0).proposals[-1]
    return made.value[0], bool(made.active[0])


def fan(count, half, flat=False):
    axes = (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)
    pairs = (count - 1) // 2
    return np.array([whisker(k, pairs, half, flat, *axes) for k in range(count)])


def test_the_fan_on_the_ground_is_even_and_mirrored():
    angles = np.degrees(
        np.arctan2(fan(7, np.radians(60), True)[:, 1], fan(7, np.radians(60), True)[:, 0])
    )
    np.testing.assert_allclose(angles, [0, -20, 20, -40, 40, -60, 60], atol=1e-9)


@pytest.mark.parametrize("half", [0.0, 0.5, 1.5, np.pi])
def test_the_cone_in_the_air_is_mirrored_and_fills_its_angle_evenly(half):
    rays = fan(201, half)
    np.testing.assert_allclose(np.linalg.norm(rays, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(rays[1::2], rays[2::2] * [1, -1, 1], atol=1e-12)
    # equal shares of the cap: the cosines are even
    np.testing.assert_allclose(rays[2::2, 0], np.linspace(1, np.cos(half), 101)[1:], atol=1e-12)
    if half == 1.5:
        # and no direction inside is far from a ray
        rng = np.random.default_rng(0)
        probe = rng.normal(size=(2000, 3))
        probe /= np.linalg.norm(probe, axis=1)[:, None]
        probe = probe[probe[:, 0] > np.cos(half)]
        assert np.degrees(np.arccos((probe @ rays.T).max(axis=1).clip(-1, 1))).max() < 20.0


def test_before_a_wide_wall_it_turns_outward_and_brakes():
    # straight on 2 of 4 m are free; the outermost rays see farthest: 2 √2 m at 45°
    for number, side in ((4, -1), (5, 1)):
        value, active = push((1, 0, 0), [wall(2.0)], ids=[number])
        assert active
        best = np.array([1, side, 0]) / np.sqrt(2)
        np.testing.assert_allclose(value, best * 1.0 * 2 / 4 - [1, 0, 0], atol=1e-5)


def test_a_free_side_is_taken_at_a_quarter_of_the_speed_at_least():
    # the wall ends 0.1 m to the left; rays lie at 0, ±22.5, ±45 degrees
    half_wall = box((0.5, -4.9, 0), (0.2, 10.0, 4.0))
    value, _ = push((1, 0, 0), [half_wall], agents={**BODY, "radius": 0.3})
    best = np.array([np.cos(np.pi / 8), np.sin(np.pi / 8), 0])
    np.testing.assert_allclose(value, 0.25 * best - [1, 0, 0], atol=1e-5)


def test_of_free_rays_the_one_nearest_to_the_wish_is_taken():
    # the way to the target, at 21.8 degrees, is blocked; 0 degrees lies nearer to it than 45
    post = box((2, 0.8, 0), (0.5, 0.5, 4.0))
    wish = 2.0 * np.array([10, 4, 0]) / np.hypot(10, 4)
    goal = {"stack": (Seek(),), "target": [[10.0, 4.0, 0.0]]}
    value, _ = push((1, 0, 0), [post], **goal)
    np.testing.assert_allclose(value, [2 - wish[0], -wish[1], 0], atol=1e-5)


def test_an_agent_whose_wished_way_is_free_is_left_alone():
    post = box((2, -1.4, 0), (0.5, 0.5, 4.0))
    goal = {"stack": (Seek(),), "target": [[10.0, 4.0, 0.0]]}
    assert not push((1, 0, 0), [post], **goal)[1]
    assert push((1, 0, 0), [post])[1] is False
    assert push((1, -0.6, 0), [post])[1] is True


def test_pushes_are_bounded_by_max_avoid():
    value, _ = push((2, 0, 0), [wall(0.5)], max_avoid=0.75)
    assert np.linalg.norm(value) == pytest.approx(0.75)


def test_in_the_air_it_leaves_through_the_top():
    # walls in front and at both sides, open above
    front = [box((1.5, 0, -5), (0.2, 20, 11))]
    sides = [box((0, s * 1.0, -5), (20, 0.2, 11), name=f"s{s}") for s in (-1, 1)]
    value, _ = push((1, 0, 0), front + sides, motion="FLY", samples=41, field_of_view=150.0)
    way = value + [1, 0, 0]
    assert way[2] > 0.4 * np.linalg.norm(way) > 0.0


def test_nothing_near_nothing_wished_and_nothing_ahead_make_no_proposal():
    assert not push((1, 0, 0), [wall(5.0)])[1]
    assert not push((1, 0, 0), [])[1]
    assert not push((0, 0, 0), [wall(1.0)], heading=[[1, 0, 0]])[1]
    assert not push((1, 0, 0), [wall(1.0)], look_ahead=0.0)[1]
    assert not push((1, 0, 0), [wall(1.0)], agents={"max_speed": 0.0})[1]


def test_an_agent_that_stands_looks_along_its_heading():
    goal = {"stack": (Seek(),), "target": [[0.0, -9.0, 0.0]]}
    assert not push((0, 0, 0), [wall(1.0)], heading=[[-1, 0, 0]], **goal)[1]
    # the way to the target is free, but 1 of 4 m are in front
    value, active = push((0, 0, 0), [wall(1.0)], heading=[[1, 0, 0]], **goal)
    assert active
    np.testing.assert_allclose(value, [0, 2 - 2 / 4, 0], atol=1e-5)


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_agents_go_around_a_box_to_their_target(motion):
    stack = (Seek(), ObstacleAvoidance(method="WHISKERS", max_avoid=5.0))
    world = make_world(targets=[[12, 0, 0]], colliders=[box((6, 0, 0), (2, 2, 4))])
    start = [[0, y, 0] for y in (-0.8, -0.3, 0.0, 0.2, 0.7)]
    positions, _ = run(crowd(*stack, motion=motion), start, 24 * 14, world=world)
    assert not (np.abs(positions - [6, 0, 0]) < [1, 1, 2]).all(axis=2).any()
    assert np.linalg.norm(positions - [12, 0, 0], axis=2).min(axis=0).max() < 0.5


def test_agents_find_a_gap_in_a_wall():
    stack = (
        Seek(),
        ObstacleAvoidance(method="WHISKERS", max_avoid=5.0, samples=25, field_of_view=150.0),
    )
    parts = [box((6, y, 0), (0.4, 10, 4), name=f"{y}") for y in (-6.2, 6.2)]
    world = make_world(targets=[[12, 0, 0]], colliders=parts)
    start = [[0, y, 0] for y in (-2.0, -1.0, 0.0, 1.5)]
    positions, _ = run(crowd(*stack), start, 24 * 20, world=world)
    for part in (-6.2, 6.2):
        assert not (np.abs(positions - [6, part, 0]) < [0.2, 5, 2]).all(axis=2).any()
    assert np.linalg.norm(positions - [12, 0, 0], axis=2).min(axis=0).max() < 0.5


number = st.floats(-1e6, 1e6, width=32)
vector = st.tuples(number, number, number)


@settings(max_examples=tried(60), deadline=None)
@given(
    st.sampled_from(["GROUND", "FLY"]),
    vector,
    vector,
    st.floats(0, 1e6),
    st.integers(1, 40),
    st.floats(0, 360),
    st.floats(0, 1e3),
)
def test_proposals_are_finite_and_bounded(motion, velocity, target, look, samples, view, most):
    value, active = push(
        velocity,
        [wall(1.0), box((0, 0, 0), (3, 3, 3))],
        stack=(Seek(),),
        target=[target],
        motion=motion,
        look_ahead=look,
        samples=samples,
        field_of_view=view,
        max_avoid=most,
    )
    assert np.isfinite(value).all()
    assert np.linalg.norm(value) <= most * (1 + 1e-5)
    assert active or not value.any()
