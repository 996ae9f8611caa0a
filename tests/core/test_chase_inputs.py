"""Pursue and its kin with input that is bad, odd, turned or mirrored."""

import numpy as np
import pytest
from chase import wishes
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors.evade import Evade
from steer_addon.core.behaviors.interpose import Interpose
from steer_addon.core.behaviors.match_velocity import MatchVelocity
from steer_addon.core.behaviors.offset_pursue import OffsetPursue
from steer_addon.core.behaviors.pursue import Pursue
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import make_world

ALL = (Pursue, Evade, OffsetPursue, Interpose, MatchVelocity)
everything = pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
MOTIONS = ("GROUND", "FLY")
finite = st.floats(-1e6, 1e6, allow_nan=False, width=32)
point = st.tuples(finite, finite, finite)


def near(position, velocity, own=False):
    """A world whose first and second targets are the same."""
    targets = make_targets(position, velocity, own=own)
    return make_world(targets=targets, second_targets=targets)


@everything
def test_without_targets_there_is_no_proposal(cls):
    value, asked = wishes(cls(), make_world(), [[0, 0, 0], [1, 2, 0]])
    assert not asked.any() and not value.any()


@everything
@pytest.mark.parametrize("motion", MOTIONS)
def test_a_target_at_rest_on_the_agent_itself_gives_no_direction(cls, motion):
    entry = OffsetPursue(offset_y=0.0) if cls is OffsetPursue else cls()
    value, asked = wishes(entry, near([[3, 4, 0]], None), [[3, 4, 0]], motion=motion)
    assert asked.all() and not value.any()


@everything
@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("velocity", [[0, 0, 0], [0, 2, 0]])
def test_agents_without_speed_wish_for_none(cls, motion, velocity):
    world = near([[3, 0, 0]], [velocity])
    value, asked = wishes(cls(), world, [[0, 0, 0]], motion=motion, max_speed=0.0)
    expected = velocity if cls is MatchVelocity else [0, 0, 0]
    np.testing.assert_array_equal(value[0], expected)
    assert asked.all()


@everything
def test_a_single_agent_is_not_its_own_target(cls):
    value, asked = wishes(cls(), near([[1, 2, 0]], [[1, 0, 0]], own=True), [[1, 2, 0]])
    assert not asked.any() and not value.any()


@pytest.mark.parametrize("choice", ["NEAREST", "BY_ID"])
def test_of_two_agents_each_pursues_the_other(choice):
    points, velocity = [[0, 0, 0], [12, 0, 0]], [[0, 0, 0], [0, 1, 0]]
    world = near(points, velocity, own=True)
    value, asked = wishes(Pursue(target_choice=choice), world, points, velocity)
    np.testing.assert_allclose(value[0], 2 * np.array([12, 4, 0]) / np.hypot(12, 4), atol=1e-6)
    np.testing.assert_allclose(value[1], [-2, 0, 0], atol=1e-6)
    assert asked.all()


@pytest.mark.parametrize("count", [5, 60])
def test_in_a_crowd_each_evades_the_nearest_other(count):
    points = np.random.default_rng(count).uniform(-20, 20, (count, 3)).astype(np.float32)
    gaps = np.linalg.norm(points[:, None].astype(np.float64) - points, axis=2)
    np.fill_diagonal(gaps, np.inf)
    away = points - points[gaps.argmin(axis=1)].astype(np.float64)
    value, asked = wishes(Evade(panic_radius=0.0), near(points, None, own=True), points)
    np.testing.assert_allclose(
        value, 2 * away / np.linalg.norm(away, axis=1, keepdims=True), atol=1e-5
    )
    assert asked.all()


@settings(max_examples=tried(100))
@given(
    st.sampled_from(ALL),
    st.sampled_from(MOTIONS),
    st.sampled_from([0.0, 1e-30, 1.4, 1e4]),
    st.lists(point, min_size=6, max_size=6),
)
def test_wishes_are_finite_and_bounded_for_any_finite_input(cls, motion, max_speed, rows):
    p, v, q, q_velocity, heading, up = rows
    targets = make_targets([q], [q_velocity], [heading], [up])
    world = make_world(targets=targets, second_targets=make_targets([p], [v]))
    value, _ = wishes(cls(), world, [p, q], [v, q_velocity], motion, max_speed=max_speed)
    fastest = np.linalg.norm(q_velocity) if cls is MatchVelocity else max_speed
    assert np.isfinite(value).all()
    assert np.linalg.norm(value, axis=1).max() <= fastest * (1 + 1e-6)


def scene(seed):
    """Places and velocities of 40 agents and 7 targets, in a plane."""
    random = np.random.default_rng(seed)
    rows = [random.uniform(-6, 6, (count, 3)) for count in (40, 40, 7, 7)]
    for row in rows:
        row[:, 2] = 0.0
    return rows


@everything
@pytest.mark.parametrize("motion", MOTIONS)
def test_a_turned_and_moved_world_gives_turned_wishes(cls, motion):
    p, v, q, w = scene(1)
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    shift = np.array([3.0, -2.0, 1.0])
    value, asked = wishes(cls(), near(q, w), p, v, motion)
    turned, turned_asked = wishes(
        cls(), near(q @ turn.T + shift, w @ turn.T), p @ turn.T + shift, v @ turn.T, motion
    )
    np.testing.assert_allclose(turned, value @ turn.T, atol=1e-4)
    np.testing.assert_array_equal(turned_asked, asked)


@everything
@pytest.mark.parametrize("motion", MOTIONS)
def test_a_mirrored_world_gives_mirrored_wishes(cls, motion):
    p, v, q, w = scene(2)
    mirror = np.array([-1.0, 1.0, 1.0])
    right = {"offset_x": 1.0} if cls is OffsetPursue else {}
    left = {"offset_x": -1.0} if cls is OffsetPursue else {}
    value, asked = wishes(cls(**right), near(q, w), p, v, motion)
    flipped, flipped_asked = wishes(
        cls(**left), near(q * mirror, w * mirror), p * mirror, v * mirror, motion
    )
    np.testing.assert_allclose(flipped, value * mirror, atol=1e-5)
    np.testing.assert_array_equal(flipped_asked, asked)
