"""Separation, cohesion, alignment: formulas restated for a handful of agents."""

import numpy as np
import pytest
from crowdtools import crowd, place, run, scatter
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors.flock import Alignment, Cohesion, Separation
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver


def proposals(behavior, points, velocity=None, motion="FLY"):
    crowd_settings = crowd(behavior, motion=motion)
    agents = place(crowd_settings, points, velocity)
    return Solver(crowd_settings).step(agents, make_world(), 1 / 24, number=0).proposals[0]


def weight(distance, reach):
    return max(0.0, 1.0 - distance / reach) ** 2


def restated(kind, points, velocity, reach, most, strength):
    points = points.astype(np.float64)
    result = np.zeros_like(points)
    for i, p in enumerate(points):
        others = sorted((np.linalg.norm(q - p), j) for j, q in enumerate(points) if j != i)
        near = [(d, j) for d, j in others if d <= reach][:most]
        if not near:
            continue
        if kind == "separation":
            total = sum((p - points[j]) / d * weight(d, reach) for d, j in near)
            result[i] = strength * total / np.linalg.norm(total)
        elif kind == "cohesion":
            offset = np.mean([points[j] for _, j in near], axis=0) - p
            size = np.linalg.norm(offset)
            result[i] = strength * weight(size, reach) * offset / size
        else:
            total = sum(
                velocity[j] / np.linalg.norm(velocity[j]) * weight(d, reach) for d, j in near
            )
            result[i] = strength * total / np.linalg.norm(total)
    return result


@pytest.mark.parametrize(
    ("kind", "cls"), [("separation", Separation), ("cohesion", Cohesion), ("alignment", Alignment)]
)
def test_formulas(kind, cls):
    points = scatter(80, 6, flat=False)
    velocity = np.random.default_rng(3).normal(size=(80, 3)).astype(np.float32)
    made = proposals(cls(strength=1.7, neighbor_distance=2.5, max_neighbors=6), points, velocity)
    expected = restated(kind, points, velocity, 2.5, 6, 1.7)
    np.testing.assert_allclose(made.value, expected, atol=2e-5)


def test_each_behavior_reads_its_own_part_of_the_shared_list():
    points = scatter(80, 6, flat=False)
    alone = proposals(Separation(neighbor_distance=1.0, max_neighbors=3), points).value
    crowd_settings = crowd(
        Separation(neighbor_distance=1.0, max_neighbors=3),
        Cohesion(neighbor_distance=4.0, max_neighbors=30),
        motion="FLY",
    )
    beside = Solver(crowd_settings).step(
        place(crowd_settings, points), make_world(), 1 / 24, number=0
    )
    assert np.array_equal(beside.proposals[0].value, alone)


def test_coincident_agents_part_equally_and_oppositely():
    positions, velocities = run(crowd(Separation()), [[1, 1, 0], [1, 1, 0]], 20)
    assert np.linalg.norm(positions[-1, 0] - positions[-1, 1]) > 0.2
    np.testing.assert_allclose(velocities[:, 0], -velocities[:, 1], atol=1e-6)


def test_a_pair_keeps_its_momentum():
    _, velocities = run(
        crowd(Separation(), motion="FLY", agents={"max_speed": 100.0}),
        [[0, 0, 0], [0.6, 0.2, 0.1]],
        30,
        velocity=[[0.3, 0, 0], [0, 0.2, 0]],
    )
    momentum = velocities.sum(axis=1)
    np.testing.assert_allclose(momentum, momentum[:1].repeat(31, axis=0), atol=1e-5)


def test_field_of_view_hides_those_behind():
    velocity = [[1, 0, 0], [1, 0, 0]]
    seeing = proposals(Separation(field_of_view=120.0), [[0, 0, 0], [1, 0, 0]], velocity)
    assert seeing.active.tolist() == [1, 0]


def test_alone_is_inactive_not_braked():
    for cls in (Separation, Cohesion, Alignment):
        assert not proposals(cls(), [[0, 0, 0]]).active.any()
        assert not proposals(cls(), [[0, 0, 0], [50, 0, 0]]).active.any()


@settings(max_examples=tried(40), deadline=None)
@given(
    st.lists(st.tuples(*[st.floats(-3, 3, width=32)] * 3), min_size=1, max_size=12),
    st.sampled_from(["GROUND", "FLY"]),
)
def test_finite_for_any_points(points, motion):
    stack = (Separation(), Cohesion(), Alignment())
    positions, velocities = run(crowd(*stack, motion=motion), points, 4)
    assert np.isfinite(positions).all() and np.isfinite(velocities).all()


def test_separation_by_distance_adds_up_and_fades():
    made = proposals(
        Separation(strength=2.0, neighbor_distance=2.0, falloff="DISTANCE"),
        [[0, 0, 0], [1, 0, 0], [0, -0.5, 0]],
    )
    expected = 2.0 * np.array([-weight(1, 2), weight(0.5, 2), 0])
    np.testing.assert_allclose(made.value[0], expected, atol=1e-6)
