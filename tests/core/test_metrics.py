"""Figures of a run against what can be told by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from crowdtools import box, wall
from hypothesis import given
from hypothesis import strategies as st

from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import CollidersBuilder
from steer_addon.core.results.metrics import Metrics

ALIVE, GONE = True, False


def walk(places, *, dt=0.1, radius=0.25, speed=1.0, walls=(), arrived=None, alive=None, **more):
    """Metrics of agents that go from place to place; places is (steps + 1, n, 3)."""
    places = np.asarray(places, np.float32)
    metrics = Metrics(
        places[0],
        radius=radius,
        wished_speed=speed,
        dt=dt,
        colliders=CollidersBuilder().build(walls) if walls else None,
        **more,
    )
    n = places.shape[1]
    for step, place in enumerate(places[1:]):
        metrics.add(
            place,
            alive=np.ones(n, bool) if alive is None else alive[step],
            arrived=np.zeros(n, bool) if arrived is None else arrived[step],
        )
    return metrics.figures()


def straight(start, stop, steps):
    """One agent's places on a line, shape (steps + 1, 1, 3)."""
    return np.linspace(start, stop, steps + 1)[:, None]


def still(*places, steps=1):
    """Agents that stand, shape (steps + 1, n, 3)."""
    return np.repeat(np.array([places], float), steps + 1, axis=0)


def met(*places):
    """Agents that start far apart and meet, shape (2, n, 3)."""
    there = np.array(places, float)
    return np.stack([there + 10.0 * np.arange(len(there))[:, None], there])


@pytest.mark.parametrize(("gap", "share"), [(0.4, 0.2), (0.5, 0.0), (0.0, 1.0), (0.9, 0.0)])
def test_overlap_is_the_share_of_both_radii(gap, share):
    figures = walk(met((0, 0, 0), (gap, 0, 0)))
    assert figures.overlap == pytest.approx(share, abs=1e-6)


def test_overlap_of_unequal_bodies_among_many():
    others = [(x, y, 0.0) for x in range(-5, 6) for y in range(3, 8)]
    places = met((0, 0, 0), (1.5, 0, 0), *others)
    radius = np.array([0.4, 1.2] + [0.1] * len(others))
    assert walk(places, radius=radius).overlap == pytest.approx(0.1 / 1.6, rel=1e-5)


def test_those_who_left_overlap_nobody():
    places = still((0, 0, 0), (0.1, 0, 0), steps=2)
    assert walk(places, alive=[[ALIVE, GONE]] * 2).overlap == 0.0


@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_overlap_is_the_largest_of_all_pairs(seed, count):
    rng = np.random.default_rng(seed)
    place, radius = rng.uniform(-3, 3, (count, 3)), rng.uniform(0.05, 0.6, count)
    place = place.astype(np.float32).astype(float)
    radius = radius.astype(np.float32)
    away = np.linalg.norm(place[:, None] - place[None], axis=2)
    both = radius[:, None] + radius[None]
    share = np.where(np.eye(count, dtype=bool), 0.0, (both - away) / both)
    expected = max(share.max(), 0.0)
    assert walk(met(*place), radius=radius).overlap == pytest.approx(expected, abs=2e-6)


def pair(*gaps, radius=0.25):
    """Figures of two agents at these distances, the first one at the start."""
    return walk(np.array([[[0, 0, 0], [gap, 0, 0]] for gap in gaps]), radius=radius)


def test_who_starts_inside_each_other_counts_once_they_have_come_apart():
    begun = pair(0.4, 0.4, 0.45, 0.48)
    assert (begun.overlap, begun.collisions, begun.parting) == (0.0, 0.0, 2)
    apart = pair(0.4, 0.45, 0.4999, 0.4999)
    assert (apart.overlap, apart.parting) == (pytest.approx(0.0002, rel=0.01), 0)
    again = pair(0.4, 0.495, 0.45)
    assert (again.overlap, again.collisions) == (pytest.approx(0.1, rel=1e-4), 1.0)


def test_who_starts_inside_each_other_may_not_get_deeper():
    figures = pair(0.4, 0.4, 0.3)
    assert (figures.overlap, figures.collisions) == (pytest.approx(0.4, rel=1e-4), 1.0)


def test_who_starts_inside_one_may_not_get_into_another():
    start = [[0, 0, 0], [0.4, 0, 0], [5.0, 0, 0], [5.4, 0, 0]]
    then = [[0, 0, 0], [0.4, 0, 0], [0.8, 0, 0], [5.4, 0, 0]]
    figures = walk(np.array([start, then]))
    assert figures.overlap == pytest.approx(0.2, rel=1e-4)
    assert figures.parting == 3


def test_thousands_on_one_point_are_coming_apart():
    figures = walk(still(*np.zeros((3000, 3))))
    assert (figures.overlap, figures.parting) == (0.0, 3000)


def test_a_step_through_a_wall_counts_once():
    figures = walk(straight((0, 0, 0), (8, 0, 0), 4), walls=[wall(5.0)])
    assert figures.penetrations == 1


def test_a_step_beside_a_wall_does_not_count():
    figures = walk(straight((0, 15, 0), (8, 15, 0), 4), walls=[wall(5.0)])
    assert figures.penetrations == 0


def test_steps_inside_a_closed_mesh_count():
    # enters between 3 and 4, is inside at 4 and at 5, and leaves between 5 and 7
    places = np.array([[[x, 0.1, 0.2]] for x in (2.0, 3.0, 4.0, 5.0, 7.0, 8.0)])
    assert walk(places, walls=[box((4.5, 0, 0), (2, 2, 2))]).penetrations == 3


def test_inside_out_meshes_have_an_inside_too():
    mesh = box((0, 0, 0), (2, 2, 2))
    mesh = Mesh("inside out", mesh.triangles[:, ::-1])
    assert walk(still((0.3, 0.2, 0.1)), walls=[mesh]).penetrations == 1


def test_overlapping_meshes_have_one_inside():
    boxes = [box((0, 0, 0), (2, 2, 2), "a"), box((0.5, 0, 0), (2, 2, 2), "b")]
    assert walk(still((0.3, 0.2, 0.1)), walls=boxes).penetrations == 1


def test_open_meshes_have_no_inside():
    mesh = box((0, 0, 0), (2, 2, 2))
    lidless = Mesh("open", mesh.triangles[:-2])
    assert walk(still((0.3, 0.2, 0.1)), walls=[lidless]).penetrations == 0


def test_standing_at_a_face_and_leaving_it_again_is_allowed():
    places = np.array([[[x, 0.3, 0.2]] for x in (4.0, 5.0, 5.0, 4.0)])
    assert walk(places, walls=[wall(5.0)]).penetrations == 0


def test_a_face_is_not_slipped_through_by_resting_on_it():
    places = np.array([[[x, 0.3, 0.2]] for x in (4.0, 5.0, 5.0, 6.0)])
    assert walk(places, walls=[wall(5.0)]).penetrations == 1


def test_two_faces_in_one_step_after_one_at_the_start():
    places = np.array([[[5.0, 0.3, 0.2]], [[7.0, 0.3, 0.2]]])
    assert walk(places, walls=[wall(5.0), wall(6.0, name="second")]).penetrations == 1


def test_walkers_are_held_against_walls_at_the_height_of_their_eyes():
    low = box((5, 0, 0.1), (2, 2, 0.2))
    places = straight((3, 0, 0), (7, 0, 0), 8)
    assert walk(places, walls=[low]).penetrations > 0
    assert walk(places, walls=[low], eye_height=0.35).penetrations == 0


def test_bodies_pressed_into_a_wall():
    places = still((4.9, 0.0, 0.0))
    assert walk(places, walls=[wall(5.0)]).wall_overlap == pytest.approx(0.6, abs=1e-5)


def moving(start, stop, agent):
    """Penetrations of one agent, given its places, by a box that jumps from x to x."""
    builder = CollidersBuilder()
    agent = np.asarray(agent, np.float32).reshape(2, 1, 3)
    first = builder.build([box((start, 0, 0), (2, 2, 2))])
    metrics = Metrics(agent[0], radius=0.25, wished_speed=1.0, dt=0.1, colliders=first)
    then = builder.build([box((stop, 0, 0), (2, 2, 2))])
    metrics.add(agent[1], alive=[True], arrived=[False], colliders=then)
    return metrics.figures().penetrations


def test_a_moving_collider_that_jumps_over_an_agent():
    assert moving(0.0, 10.0, [(5, 0.1, 0), (5, 0.1, 0)]) == 1


def test_a_moving_collider_that_pushes_an_agent():
    assert moving(0.0, 4.0, [(1.5, 0.1, 0), (5.5, 0.1, 0)]) == 0


def test_a_moving_collider_that_leaves_free_what_it_held():
    assert moving(0.0, 10.0, [(1.5, 0.1, 0), (1.5, 0.1, 0)]) == 1
    assert moving(0.0, -10.0, [(1.5, 0.1, 0), (1.5, 0.1, 0)]) == 0


def test_time_and_path_of_those_who_arrive():
    places = straight((0, 0, 0), (3, 4, 0), 10)
    arrived = [[False]] * 9 + [[True]]
    figures = walk(places, arrived=arrived, free_path=[4.0], speed=2.0)
    assert (figures.agents, figures.arrived) == (1, 1)
    assert figures.time == pytest.approx(1.0)
    assert figures.end == pytest.approx(1.0)
    assert figures.path == pytest.approx(5.0, rel=1e-6)
    assert figures.free_path == 4.0
    assert figures.free_time == 2.0
    assert figures.fastest == pytest.approx(2.5, rel=1e-5)


def test_nobody_arrived():
    figures = walk(still((0, 0, 0)))
    assert figures.arrived == 0
    assert math.isnan(figures.time)
    assert figures.as_dict()["time"] is None


def test_score_by_hand():
    # two steps of 0.1 m in 0.1 s from rest: v = 1, then 1; |a| = 10, then 0; Σ v²/2 = 0.5 + 0.5
    places = np.array([[[0.1 * k, 0, 0]] for k in range(3)])
    figures = walk(places, arrived=[[False], [True]])
    assert figures.score == pytest.approx(0.2 + 1.0 + 10.0, rel=1e-5)


def test_collisions_are_counted_when_they_begin():
    # in, in, out, in: two collisions each
    gaps = (1.0, 0.4, 0.4, 1.0, 0.4)
    places = np.array([[[0, 0, 0], [gap, 0, 0]] for gap in gaps])
    figures = walk(places)
    assert figures.collisions == 2.0


def test_stuck_are_those_who_did_not_move_for_ten_seconds():
    slow = straight((0, 0, 0), (0.4, 0, 0), 10)
    assert walk(slow, dt=1.0).stuck == 1
    assert walk(slow, dt=0.99).stuck == 0
    assert walk(slow, dt=1.0, arrived=[[True]] * 10).stuck == 0
    assert walk(straight((0, 0, 0), (0.6, 0, 0), 10), dt=1.0).stuck == 0


def turned(degrees, dt=0.1, speed=1.0):
    """Reversals of an agent that heads into these directions, one step each."""
    angle = np.radians(degrees)
    moves = speed * dt * np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)])
    places = np.concatenate([np.zeros((1, 3)), np.cumsum(moves, axis=0)])[:, None]
    return walk(places, dt=dt).reversals


def test_reversals():
    assert turned([0, 0, 0]) == 0
    assert turned([0, 89, 0, 89]) == 0
    assert turned([0, 91]) == 1
    assert turned([0, 180, 0, 180]) == 3
    assert turned([0, 50, 100]) == 1
    assert turned([0, 180, 180, 180]) == 1


def test_slow_turns_are_no_reversals():
    assert turned(np.linspace(0, 360, 40)) == 0


def test_crawling_is_no_direction():
    assert turned([0, 180, 0, 180], speed=0.04) == 0


def test_an_agent_gone_counts_no_more():
    places = straight((0, 0, 0), (8, 0, 0), 4)
    alive = [[ALIVE], [GONE], [GONE], [GONE]]
    figures = walk(places, walls=[wall(5.0)], alive=alive, arrived=[[False], *[[True]] * 3])
    assert figures.penetrations == 0
    assert figures.path == pytest.approx(4.0)


def test_worlds_that_repeat_count_no_step_when_they_wrap():
    metrics = Metrics([[9.9, 0, 0]], radius=0.25, wished_speed=1.0, dt=0.1)
    metrics.add([[10.0, 0, 0]], alive=[True], arrived=[False])
    metrics.shift([[-10.0, 0, 0]])
    metrics.add([[0.1, 0, 0]], alive=[True], arrived=[True])
    figures = metrics.figures()
    assert figures.path == pytest.approx(0.2, rel=1e-4)
    assert figures.fastest == pytest.approx(1.0, rel=1e-4)


def test_bodies_overlap_across_the_ends_of_a_world_that_repeats():
    places = still((0.1, 0, 0), (9.8, 0, 0), (5.0, 0, 0))
    assert walk(places).overlap == 0.0
    assert walk(places, period=10.0).overlap == pytest.approx(0.4, rel=1e-5)
    assert walk(places, period=10.0).collisions == pytest.approx(2 / 3)
