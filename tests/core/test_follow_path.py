"""Following paths, from waypoint to waypoint and in corridors."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from crowdtools import crowd, run, simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from steer_addon.core.behaviors.follow_path import FollowPath
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.world import make_world
from tests.often import often

DT = 1 / 24
SPEED = 1.4
METHODS = ("WAYPOINT", "CORRIDOR")
OF_SOLVER = ("motion", "solver", "relaxation_time")
SQUARE = [[0, 0, 0], [10, 0, 0], [10, 10, 0], [0, 10, 0]]
BEND = Path([[0, 0, 0], [10, 0, 0], [10, 10, 0]])


def follow(paths, position, steps, velocity=None, attributes=None, **parameters):
    """Positions, velocities and shown waypoints of a run, and the simulation."""
    solver = {key: parameters.pop(key) for key in OF_SOLVER if key in parameters}
    sim = simulation(crowd(FollowPath(**parameters), **solver), position, velocity,
                     attributes=attributes)  # fmt: skip
    world = make_world(paths=paths)
    frames = [sim.step(world) for _ in range(steps)]
    return (
        np.array([f.position.astype(np.float64) for f in frames]),
        np.array([f.velocity.astype(np.float64) for f in frames]),
        np.array([f.attributes["waypoint"] for f in frames]).astype(int),
        sim,
    )


def visited(numbers):
    """The numbers without repetitions in a row."""
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])].tolist()


def restated_waypoints(points, cyclic, position, steps, radius, slow_radius):
    """The tutorial's path following in plain Python, from the first waypoint on, at rest."""
    p, v, current, arriving, track = list(position), [0.0, 0.0], 0, False, []
    for _ in range(steps):
        dx, dy = points[current][0] - p[0], points[current][1] - p[1]
        if math.hypot(dx, dy) <= radius:
            if current + 1 < len(points):
                current += 1
            elif cyclic:
                current = 0
            else:
                arriving = True
            dx, dy = points[current][0] - p[0], points[current][1] - p[1]
        d = math.hypot(dx, dy)
        speed = SPEED * min(1.0, d / slow_radius) if arriving else SPEED
        v[0] += (speed * dx / d - v[0]) / 0.5 * DT
        v[1] += (speed * dy / d - v[1]) / 0.5 * DT
        p[0] += v[0] * DT
        p[1] += v[1] * DT
        track.append((p[0], p[1], 0.0))
    return np.array(track)


@pytest.mark.slow
@pytest.mark.parametrize("cyclic", [True, False])
def test_waypoints_are_followed_as_restated(cyclic):
    points = [(2, 1), (7, 3), (5, 8), (-1, 4)]
    path = Path([(*p, 0) for p in points], cyclic=cyclic)
    steps = 480
    positions, _, _, _ = follow(path, [[-2, -1, 0]], steps, start="FIRST", waypoint_radius=0.7)
    expected = restated_waypoints(points, cyclic, (-2, -1), steps, 0.7, 2.0)
    walked = np.linalg.norm(np.diff(expected, axis=0), axis=1).sum()
    assert walked > 20
    assert np.abs(positions[:, 0] - expected).max() <= 1e-4 * walked


@pytest.mark.parametrize(
    ("method", "direction", "expected"),
    [
        ("WAYPOINT", 1, [1, 2, 3, 0, 1, 2]),
        pytest.param("WAYPOINT", 0, [1, 2, 3, 0, 1, 2], marks=pytest.mark.long),
        pytest.param("WAYPOINT", -1, [0, 3, 2, 1, 0, 3], marks=pytest.mark.long),
        pytest.param("CORRIDOR", 1, [0, 1, 2, 3, 0, 1], marks=pytest.mark.long),
        ("CORRIDOR", -1, [0, 3, 2, 1, 0, 3]),
    ],
)
def test_a_cyclic_square_is_gone_round_in_order(method, direction, expected):
    square = Path(np.array(SQUARE) * 0.6, cyclic=True)
    positions, _, numbers, _ = follow(
        square, [[3, 0, 0]], 24 * 25, method=method, direction=direction
    )
    assert visited(numbers[:, 0])[:6] == expected
    # never farther from the outline than a corner is cut, waypoint_radius and the way of τ
    off = np.abs(np.abs(positions[:, 0, :2] - 3).max(axis=1) - 3)
    assert off.max() <= 1.0 + SPEED * 0.5


@pytest.mark.parametrize("method", METHODS)
def test_direction_back_is_the_reversed_path(method):
    path = Path.random(7, seed=5)
    reverse = Path(path.points[::-1], cyclic=True)
    there = follow(path, [[1, 2, 0]], 300, method=method, direction=-1, lane=0.5)[0]
    back = follow(reverse, [[1, 2, 0]], 300, method=method, lane=0.5)[0]
    np.testing.assert_allclose(there, back, atol=1e-4)


@pytest.mark.parametrize(
    ("start", "direction", "first"),
    [("FIRST", 1, 0), ("FIRST", -1, 2), ("NEAREST", 1, 2), ("NEAREST", -1, 1)],
)
def test_where_an_agent_begins(start, direction, first):
    numbers = follow(BEND, [[11, 5, 0]], 1, start=start, direction=direction)[2]
    assert numbers[0, 0] == first


def test_an_agent_in_front_of_the_path_begins_with_its_first_waypoint():
    assert follow(BEND, [[-4, 0, 0]], 1)[2][0, 0] == 0
    assert follow(BEND, [[10, 14, 0]], 1, direction=-1)[2][0, 0] == 2


@pytest.mark.parametrize(
    ("method", "motion"),
    often(product(METHODS, ("GROUND", "FLY")), ("WAYPOINT", "FLY"), ("CORRIDOR", "GROUND")),
)
def test_at_the_end_of_an_open_path_agents_stand(method, motion):
    positions, velocities, numbers, _ = follow(
        BEND, [[6, 0.5, 0], [9.5, 8, 0]], 24 * 22, method=method, motion=motion
    )
    np.testing.assert_allclose(positions[-1], [[10, 10, 0]] * 2, atol=1e-2)
    assert np.abs(velocities[-1]).max() < 1e-3
    assert numbers[-1].tolist() == ([2, 2] if method == "WAYPOINT" else [1, 1])


@pytest.mark.parametrize("method", METHODS)
def test_who_is_pushed_off_the_end_comes_back(method):
    world = make_world(paths=BEND)
    sim = simulation(crowd(FollowPath(method=method)), [[9, 9, 0]])
    for _ in range(24 * 8):
        sim.step(world)
    sim.agents.position += np.array([0.0, 1.5, 0.0], np.float32)
    for _ in range(24 * 9):
        frame = sim.step(world)
    np.testing.assert_allclose(frame.position, [[10, 10, 0]], atol=1e-2)


@pytest.mark.parametrize(("direction", "side"), often([(1, -1), (-1, 1)], (1, -1)))
def test_a_lane_keeps_its_offset_on_a_long_straight(direction, side):
    street = Path([[-60, 0, 0], [60, 0, 0]])
    start = [[-40.0 * direction, 0, 0], [-40.0 * direction, 5, 0]]
    parameters = {"direction": direction, "lane": 2.0}
    along = follow(street, start, 24 * 18, **parameters)[0]
    # straight at the end of the lane: the offset shrinks with the way left, of 100 m
    left = 60.0 - along[-1, :, 0] * direction
    assert (left < 77.0).all()
    expected = 2.0 * side + (np.array([0.0, 5.0]) - 2.0 * side) * left / 100.0
    np.testing.assert_allclose(along[-1, :, 1], expected, atol=0.02)
    inside = follow(street, start, 24 * 24, method="CORRIDOR", path_radius=0.2, **parameters)[0]
    # at the edge of the corridor e + de/dt · T = path_radius: e falls to it like exp(-t / T)
    assert (np.abs(inside[-24 * 10 :, :, 1] - 2.0 * side) <= 0.2 + 1e-3).all()


def test_a_lane_of_waypoints_is_parallel_to_every_side_of_a_square():
    square = Path(SQUARE, cyclic=True)
    # an agent that turns immediately is not carried past the corners
    parameters = {"lane": -1.5, "waypoint_radius": 0.1, "relaxation_time": DT}
    positions, _, numbers, _ = follow(square, [[5, 1.5, 0]], 24 * 24, **parameters)
    sides = {2: (0, 8.5), 3: (1, 8.5), 0: (0, 1.5), 1: (1, 1.5)}
    for waypoint, (axis, value) in sides.items():
        track = positions[numbers[:, 0] == waypoint, 0]
        middle = track[np.abs(track[:, 1 - axis] - 5) < 2]
        assert len(middle) > 24
        np.testing.assert_allclose(middle[:, axis], value, atol=0.15)


@pytest.mark.parametrize("method", METHODS)
def test_opposite_directions_pass_each_other_on_their_right(method):
    street = Path([[-25, 0, 0], [25, 0, 0]])
    positions, _, _, _ = follow(
        street,
        [[-5, -1, 0], [5, 1, 0]],
        24 * 13,
        attributes={"direction": [1, -1]},
        lane=1.0,
        method=method,
        path_radius=0.3,
    )
    assert positions[-1, 0, 0] > 10 and positions[-1, 1, 0] < -10
    # +X has its right at -Y
    assert positions[:, 0, 1].max() <= -0.7 and positions[:, 1, 1].min() >= 0.7
    gap = np.linalg.norm(positions[:, 0] - positions[:, 1], axis=1)
    assert gap.min() >= 2 * (1.0 - 0.3)


def test_the_lane_of_an_attribute_wins():
    positions = follow(
        Path([[0, 0, 0], [50, 0, 0]]),
        [[0, 0, 0]] * 3,
        24 * 15,
        attributes={"lane": [-2, 0, 2]},
        method="CORRIDOR",
        path_radius=0.1,
    )[0]
    np.testing.assert_allclose(positions[-1, :, 1], [2, 0, -2], atol=0.101)


@pytest.mark.parametrize(("direction", "radius"), often(product([1, -1], [6.0, 12.0]), (-1, 6.0)))
def test_a_corridor_is_not_left_on_a_gentle_curve(direction, radius):
    width, seconds = 0.5, 1.0
    angle = np.linspace(0, 2 * np.pi, 129)[:-1]
    ring = Path(np.c_[radius * np.cos(angle), radius * np.sin(angle), 0 * angle], cyclic=True)
    positions = follow(
        ring,
        [[radius, 0, 0], [0, -radius, 0], [-radius - width, 0, 0]],
        round(24 * 4.5 * radius),
        method="CORRIDOR",
        path_radius=width,
        anticipation_time=seconds,
        direction=direction,
    )[0]
    # The predicted point q is at most `width` off when steering back sets in. An agent lies inside
    # of q's circle by the sagitta of its prediction, and drifts for a relaxation time at the rate
    # at which u turns ahead of it: v · sin(v·T / R).
    sagitta = (SPEED * seconds) ** 2 / (2 * radius)
    drift = SPEED * math.sin(SPEED * seconds / radius) * 0.5
    off = np.abs(np.linalg.norm(positions, axis=2) - radius)
    assert off.max() <= width + sagitta + drift
    turned = np.unwrap(np.arctan2(positions[..., 1], positions[..., 0]), axis=0)
    # 54 s at 1.4 m/s are one round of a circle of 12 m, when the first second is spent on starting,
    # and 27 s one of 6 m
    assert (direction * (turned[-1] - turned[0]) > 2 * np.pi * 0.95).all()


@pytest.mark.parametrize(
    ("method", "direction"),
    often(product(METHODS, (1, -1)), ("WAYPOINT", 1), ("CORRIDOR", -1)),
)
def test_a_crossing_leads_nobody_astray(method, direction):
    t = np.linspace(0, 2 * np.pi, 49)[:-1]
    eight = Path(np.c_[12 * np.sin(t), 6 * np.sin(2 * t), 0 * t], cyclic=True)
    _, _, numbers, _ = follow(
        eight, [[8.5, 6, 0]], 24 * 54, method=method, direction=direction, path_radius=0.5,
        waypoint_radius=0.5, anticipation_time=0.5,
    )  # fmt: skip
    order = np.array(visited(numbers[:, 0]))
    ahead = (np.diff(order) * direction) % 48
    # piece by piece; backward at the most by one, when a slowed agent predicts less far
    assert set(ahead.tolist()) <= {1, 2, 47}
    assert len(set(order.tolist())) == 48


@pytest.mark.parametrize("method", METHODS)
def test_paths_are_chosen_once_by_id_or_by_number(method):
    paths = [Path([[-10, y, 0], [10, y, 0]]) for y in (0, 4, 8)]
    start = [[0, 0.8, 0], [0, 3.6, 0], [0, 4.8, 0], [0, 12, 0]]

    def ends(attributes=None, **more):
        positions = follow(
            paths, start, 24 * 10, method=method, path_radius=0.2, attributes=attributes, **more
        )[0]
        return np.round(positions[-1, :, 1] / 4).astype(int).tolist()

    assert ends() == [0, 1, 1, 2]
    assert ends(path_choice="BY_ID") == [0, 1, 2, 0]
    assert ends(path_index=4) == [1, 1, 1, 1]
    assert ends({"path_index": [2, -1, 0, 5]}) == [2, 1, 0, 2]


def test_the_nearest_path_is_kept_when_another_one_comes_nearer():
    paths = [Path([[0, 0, 0], [10, 0, 0]]), Path([[5, -1, 0], [5, 30, 0]])]
    positions = follow(paths, [[0, 0.2, 0]], 24 * 17, method="CORRIDOR")[0]
    np.testing.assert_allclose(positions[-1, 0], [10, 0, 0], atol=0.01)


def test_who_is_carried_off_goes_on_at_the_nearest_place_and_who_is_pushed_returns():
    path = Path([[0, 0, 0], [40, 0, 0], [40, 40, 0], [0, 40, 0]])
    world = make_world(paths=path)
    sim = simulation(crowd(FollowPath(method="CORRIDOR")), [[5, 0, 0], [5, 0, 0]])
    for _ in range(48):
        sim.step(world)
    sim.agents.position[0] = [20, 39, 0]
    sim.agents.position[1] += np.array([0, 3, 0], np.float32)
    frame = sim.step(world)
    assert frame.attributes["waypoint"].tolist() == [2, 0]


def test_turning_round_leads_back_to_the_waypoint_that_was_left():
    settings_ = crowd(FollowPath(waypoint_radius=0.2))
    world = make_world(paths=Path([[0, 0, 0], [10, 0, 0], [20, 0, 0]]))
    sim = simulation(settings_, [[4, 0, 0]])
    assert sim.step(world).attributes["waypoint"][0] == 1
    back = replace(settings_, behaviors=(FollowPath(waypoint_radius=0.2, direction=-1),))
    assert sim.step(world, back).attributes["waypoint"][0] == 0


@pytest.mark.parametrize("method", METHODS)
def test_the_height_of_a_path_does_not_matter_to_walkers_and_does_to_flyers(method):
    level = follow(BEND, [[6, 1, 0]], 120, method=method)[0]
    slanted = Path(BEND.points + np.array([[0, 0, 7], [0, 0, -4], [0, 0, 30]]))
    np.testing.assert_allclose(
        follow(slanted, [[6, 1, 0]], 120, method=method)[0], level, atol=1e-6
    )
    climbing = Path([[0, 0, 0], [5, 0, 5], [10, 0, 5]])
    end = follow(climbing, [[0, 0, 0]], 24 * 17, method=method, motion="FLY")[0][-1, 0]
    np.testing.assert_allclose(end, [10, 0, 5], atol=1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_a_lane_wider_than_a_curve_does_not_hold_agents_up(method):
    angle = np.linspace(0, np.pi / 2, 9)
    curve = np.c_[10 + np.sin(angle), 1 - np.cos(angle), 0 * angle]
    bend = Path(np.concatenate([[[0, 0, 0]], curve, [[11, 12, 0]]]))
    positions = follow(bend, [[2, 3, 0]], 24 * 22, method=method, lane=-3.0)[0]
    np.testing.assert_allclose(positions[-1, 0], [8, 12, 0], atol=1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_no_path_makes_no_proposal(method):
    for paths in (None, [], [Path()], [Path([[1, 2, 3]])], [Path([[1, 2, 3]] * 3, cyclic=True)]):
        _, velocities, _, sim = follow(paths, [[0, 0, 0]], 5, [[0, 1, 0]], method=method)
        assert not sim.proposals[0].active.any()
        np.testing.assert_allclose(velocities[:, 0], [[0, 1, 0]] * 5, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_to_and_fro_on_a_cyclic_path_of_two_points(method):
    shuttle = Path([[0, 0, 0], [8, 0, 0]], cyclic=True)
    x = follow(shuttle, [[4, 0, 0]], 24 * 40, method=method)[0][:, 0, 0]
    assert x.max() > 6 and x.min() < 2 and (np.abs(x - 4) < 5.5).all()
    # 40 s at 1.4 m/s are 56 m: three turns at least
    assert (np.diff(np.sign(np.diff(x)[np.abs(np.diff(x)) > 1e-4])) != 0).sum() >= 3


@pytest.mark.parametrize("method", METHODS)
def test_without_radii_and_anticipation_agents_still_get_to_the_end(method):
    zero = {"waypoint_radius": 0.0, "path_radius": 0.0, "anticipation_time": 0.0}
    positions = follow(BEND, [[4, 1, 0], [3, 0, 0]], 24 * 22, method=method, **zero)[0]
    np.testing.assert_allclose(positions[-1], [[10, 10, 0]] * 2, atol=0.05)


big = st.sampled_from([0.0, 1.0, -1.0, 1e-7, 3.5, -40.0, 1e6, -1e6, 3e38])
points = st.tuples(big, big, big)
lengths = st.sampled_from([0.0, 1e-6, 0.5, 100.0, 1e9])


@settings(deadline=None)
@given(
    st.lists(st.lists(points, max_size=6), max_size=2),
    st.booleans(),
    st.tuples(*[st.floats(-1e6, 1e6, width=32)] * 3),
    st.tuples(*[st.floats(-1e4, 1e4, width=32)] * 3),
    st.tuples(lengths, lengths, lengths, big.filter(lambda x: abs(x) <= 1e9)),
    st.sampled_from([-1, 0, 1]),
    st.sampled_from(METHODS),
    st.sampled_from(["GROUND", "FLY"]),
)
def test_velocities_are_finite_and_bounded_for_any_finite_input(
    lines, cyclic, position, velocity, sizes, direction, method, motion
):
    parameters = {
        "waypoint_radius": sizes[0],
        "path_radius": sizes[0],
        "anticipation_time": min(sizes[1], 1000.0),
        "slow_radius": sizes[2],
        "lane": sizes[3],
        "direction": direction,
    }
    stack = crowd(FollowPath(method=method, **parameters), motion=motion)
    world = make_world(paths=[Path(line, cyclic=cyclic) for line in lines])
    positions, velocities = run(stack, [position], 4, velocity=[velocity], world=world)
    assert np.isfinite(positions).all() and np.isfinite(velocities).all()
    assert (np.linalg.norm(velocities[1:], axis=2) <= SPEED * (1 + 1e-6)).all()
