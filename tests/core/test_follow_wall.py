"""Follow wall: its distance on straight walls, around corners of both kinds, and in the air."""

import numpy as np
import pytest
from crowdtools import box, crowd, place, run, wall
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors.follow_wall import FollowWall
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver

DT = 1 / 24


def plan_distance(points, low, high):
    """Distance from the outline of a rectangle in the plan, negative inside."""
    center, half = (np.asarray(high) + low) / 2, (np.asarray(high) - low) / 2.0
    q = np.abs(points[..., :2] - center) - half
    outside = np.linalg.norm(np.maximum(q, 0.0), axis=-1)
    return outside + np.minimum(q.max(axis=-1), 0.0)


def walk(positions, velocities, steps, colliders, motion="GROUND", **values):
    """Positions and velocities of agents that follow walls, and do nothing else."""
    return run(
        crowd(FollowWall(**values), motion=motion),
        positions,
        steps,
        velocity=velocities,
        world=make_world(colliders=colliders),
    )


def turns(velocities):
    """The angle of each step's velocity in the plan [rad], without jumps."""
    return np.unwrap(np.arctan2(velocities[..., 1], velocities[..., 0]), axis=0)


def test_the_wish_is_the_formula_beside_a_straight_wall():
    # 3 m before the wall at x = 5, going along it: 1.4 m ahead, 2 m nearer
    agents = place(crowd(), [[2, 0, 0]], [[0, 1.4, 0]])
    world = make_world(colliders=[wall(5.0)])
    solver = Solver(crowd(FollowWall(anticipation_time=1.0, wall_distance=1.0)))
    made = solver.step(agents, world, DT, number=0).proposals[0]
    sought = np.array([2.0, 1.4, 0.0])
    np.testing.assert_allclose(made.value[0], 1.4 * sought / np.linalg.norm(sought), atol=1e-5)


@pytest.mark.parametrize("distance", [0.5, 1.0])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_straight_wall_is_followed_at_its_distance(distance, sign):
    error = 0.1
    start, going = [5.0 - distance - error, -30 * sign, 0], [0, 1.4 * sign, 0]
    colliders = [wall(5.0, width=100.0)]
    positions, velocities = walk(
        [start], [going], 24 * 10, colliders, anticipation_time=1.0, wall_distance=distance
    )
    # e'' = -(e' + e/T)/τ with T = 1 s and τ = 0.5 s: e = e₀ · (cos t + sin t) · exp(-t) for small
    # errors; the step and the tilt of the way, (e/L)²/2, add less than a tenth of e₀
    t = np.arange(24 * 10 + 1) * DT
    e = 5.0 - positions[:, 0, 0] - distance
    expected = error * (np.cos(t) + np.sin(t)) * np.exp(-t)
    np.testing.assert_allclose(e, expected, atol=0.1 * error)
    assert abs(e[-1]) < 1e-4
    np.testing.assert_allclose(velocities[-1, 0], [0, 1.4 * sign, 0], atol=1e-3)


STARTS = [[-3.5, -3.5, 0], [0, -5, 0], [2.4, 0, 0]]
GOING = [[1, 0.3, 0], [0, 1, 0], [0, 0, 0]]


def test_a_box_is_walked_around_at_the_distance_without_stopping():
    low, high = np.array([-2.0, -2.0]), np.array([2.0, 2.0])
    house = box((0, 0, 0), (4, 4, 6))
    positions, velocities = walk(STARTS, GOING, 24 * 40, [house])
    after = 24 * 10
    # the point ahead is 1.4 m on, so a corner is cut by at most the sagitta of that chord on the
    # arc of 1 m around it: 1 - √(1 - 0.7²) = 0.29 m. Beyond the corner the agent swings out no
    # more than it cut in.
    distance = plan_distance(positions[after:], low, high)
    assert 1 - 0.29 < distance.min()
    assert distance.max() < 1 + 0.29
    assert np.linalg.norm(velocities[after:], axis=2).min() > 0.8 * 1.4
    around = turns(velocities[after:])
    # 30 s at 1.4 m/s, and 16 + 2π m once around: more than one turn and a half, all one way
    assert (np.abs(around[-1] - around[0]) > 1.5 * 2 * np.pi).all()
    assert np.abs(np.diff(around, axis=0)).max() < np.radians(6)


@pytest.mark.parametrize("wall_distance", [0.6, 1.0])
def test_a_room_is_walked_around_inside_without_stopping(wall_distance):
    low, high = np.array([-8.0, -8.0]), np.array([8.0, 8.0])
    room = box((0, 0, 0), (16, 16, 6))
    starts = [[-6.5, -6.5, 0], [0, -7.6, 0], [2.4, 0, 0]]
    positions, velocities = walk(starts, GOING, 24 * 60, [room], wall_distance=wall_distance)
    after = 24 * 15
    inside = -plan_distance(positions, low, high)
    assert inside.min() > 0.1
    # the curve of a corner ends 2.5 m after it, 0.35 m beside the way at most; 3.5 s later, in the
    # middle of the wall, √2 · exp(-3.5) = 0.04 of that is left
    middle = np.abs(positions[after:, :, :2]).min(axis=2) < 0.5
    assert middle.sum() > 100
    np.testing.assert_allclose(inside[after:][middle], wall_distance, atol=0.04 * 0.35)
    assert np.linalg.norm(velocities[after:], axis=2).min() > 0.7 * 1.4
    around = turns(velocities[after:])
    # 45 s at 1.4 m/s, and at most 60 m once around
    assert (np.abs(around[-1] - around[0]) > 2 * np.pi).all()


def test_both_ends_of_a_thin_wall_are_rounded():
    a, b, c, d = (-3, 0, -1), (3, 0, -1), (3, 0, 3), (-3, 0, 3)
    thin = Mesh("thin", np.array([[a, b, c], [a, c, d]], np.float32))
    positions, velocities = walk([[0, -2, 0], [1, 1, 0]], [[1, 0, 0], [-1, 0, 0]], 24 * 30, [thin])
    distance = plan_distance(positions[24 * 10 :], np.array([-3.0, 0]), np.array([3.0, 0]))
    assert 1 - 0.29 < distance.min()
    assert distance.max() < 1 + 0.29
    around = turns(velocities[24 * 10 :])
    assert (np.abs(around[-1] - around[0]) > 2 * np.pi).all()


def ball(radius, rings=12, sectors=24):
    """A sphere of triangles."""
    u = np.linspace(0, np.pi, rings + 1)[:, None]
    v = np.linspace(0, 2 * np.pi, sectors, endpoint=False)[None, :]
    grid = radius * np.stack(
        [np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u) + 0 * v], axis=-1
    )
    faces = []
    for r in range(rings):
        for s in range(sectors):
            a, b = grid[r, s], grid[r, (s + 1) % sectors]
            c, d = grid[r + 1, (s + 1) % sectors], grid[r + 1, s]
            faces += [(a, c, b), (a, d, c)]
    return Mesh("ball", np.array(faces, np.float32))


def test_flyers_circle_a_ball_at_the_distance():
    starts = [[-6, 0.5, 1], [0, 0, 5], [0.5, -6, -2]]
    going = [[1, 0, 0], [1, 0.5, 0], [0, 0, 0]]
    positions, velocities = walk(starts, going, 24 * 40, [ball(3.0)], motion="FLY")
    radius = np.linalg.norm(positions[24 * 10 :], axis=2)
    # the facets are up to 3 · (1 - cos 11°) = 0.05 m inside the sphere; on a circle the wish lags:
    # the velocity is τ late, which needs an inward pull of v²τ/v_max = v·τ·(v/4 m), 0.25 m of 1.4 m
    assert 4 - 0.1 < radius.min()
    assert radius.max() < 4 + 0.3
    assert np.linalg.norm(velocities[24 * 10 :], axis=2).min() > 0.8 * 1.4


def test_standing_agents_look_along_their_heading():
    agents = place(crowd(), [[2, 0, 0], [2, 0, 0]], heading=[[0, 1, 0], [0, -1, 0]])
    solver = Solver(crowd(FollowWall()))
    made = solver.step(agents, make_world(colliders=[wall(5.0)]), DT, number=0).proposals[0]
    assert made.value[0, 1] == -made.value[1, 1]
    assert made.value[0, 1] > 0.5


def test_the_lower_edge_of_a_leaning_wall_does_not_change_the_height():
    leaning = Mesh("leaning", np.array([[[5, -20, 0], [6, 0, 9], [5, 20, 0]]], np.float32))
    positions, velocities = walk([[2, -3, 0]], [[0, 1, 0]], 24 * 4, [leaning])
    assert (positions[:, 0, 2] == 0.0).all()
    assert (velocities[:, 0, 2] == 0.0).all()


def test_without_colliders_and_above_a_floor_there_is_no_proposal():
    floor = Mesh("floor", np.array([[[-9, -9, -1], [9, -9, -1], [0, 20, -1]]], np.float32))
    for colliders in ([], [floor]):
        agents = place(crowd(), [[0, 0, 0]], [[1, 0, 0]])
        made = Solver(crowd(FollowWall())).step(
            agents, make_world(colliders=colliders), DT, number=0
        )
        assert not made.proposals[0].active.any()


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_inside_an_obstacle_and_on_its_face_agents_go_along_it(motion):
    starts = [[0, 0, 0], [1, 0, 0], [0.5, 0.2, 0]]
    still, obstacle = [[0, 0, 0]] * 3, box((0, 0, 0), (2, 2, 2))
    positions, _ = walk(starts, still, 48, [obstacle], motion=motion, wall_distance=0.3)
    assert (np.linalg.norm(np.diff(positions, axis=0), axis=2).sum(axis=0) > 1.4).all()


number = st.floats(-1e6, 1e6, width=32)
near = st.floats(-2, 2, width=32)
point = st.one_of(st.tuples(number, number, number), st.tuples(near, near, near))


@settings(max_examples=tried(60), deadline=None)
@given(
    point,
    point,
    st.sampled_from([0.0, 1.0, 1000.0]),
    st.sampled_from([0.0, 1.0, 1e6]),
    st.sampled_from(["GROUND", "FLY"]),
)
def test_follow_wall_is_finite_for_any_finite_input(p, v, time, distance, motion):
    degenerate = Mesh("line", np.zeros((2, 3, 3), np.float32))
    positions, velocities = walk(
        [p, p],
        [v, (0, 0, 0)],
        5,
        [box((0, 0, 0), (2, 2, 2)), degenerate],
        motion=motion,
        anticipation_time=time,
        wall_distance=distance,
    )
    assert np.isfinite(positions).all()
    assert np.isfinite(velocities).all()
    # the desired velocity never exceeds the top speed, nor then does the motion
    assert np.linalg.norm(velocities[1:], axis=2).max() <= 1.4 + 1e-4
