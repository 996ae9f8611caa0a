"""Agents that arrive: they stand, make room, or are removed."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from crowdtools import crowd, place, same_bits, scatter

from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.inputs.paths import Path
from steer_addon.core.inputs.world import make_targets, make_world
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.step.solver import Solver
from tests.often import often, triples_of

GOAL = make_world(targets=[[0.0, 0.0, 0.0]])
FPS = 24
ENDS = (((-9, 0, 0), (9, 0, 0)), ((-9, 0, 0), (8, 0, 0), (9, 0, 0)))
"""Paths whose last stretch is long, and short."""


def arriving(
    mode, *stack, motion="GROUND", distance=0.25, collide=True, solver="REYNOLDS", **agents
):
    bodies = BodiesSettings(on_arrival=mode, arrival_distance=distance, collide_agents=collide)
    stack = [REGISTRY[entry]() if isinstance(entry, str) else entry for entry in stack]
    body = {"max_force": 8.0, **agents}
    return replace(crowd(*stack, motion=motion, agents=body, solver=solver), bodies=bodies)


def go(settings, points, seconds, world=GOAL, **more):
    """The crowd after each step."""
    simulation = Simulation(settings, place(settings, points, **more), frame=1, fps=FPS)
    states = [simulation.agents]
    for _ in range(int(seconds * FPS)):
        simulation.advance(world)
        states.append(simulation.agents)
    return states


def crowd_from_afar(count, motion, **more):
    return scatter(count, 6.0, flat=motion == "GROUND", **more) + np.float32([8.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("motion", "goal", "mode", "solver"),
    triples_of(("GROUND", "FLY"), ("seek", "arrive"), ("STAY", "HOLD_AREA"), ("REYNOLDS", "VEX")),
)
def test_who_has_arrived_stands_after_two_seconds_and_for_good(motion, goal, mode, solver):
    settings = arriving(mode, goal, motion=motion, solver=solver)
    states = go(settings, crowd_from_afar(1, motion), 11.0)
    first = next(k for k, state in enumerate(states) if state.arrived[0])
    assert max(state.speed[0] for state in states[first + 2 * FPS :]) == 0.0
    assert all(state.arrived[0] for state in states[first:])
    assert np.array_equal(states[first + 2 * FPS].position, states[-1].position)
    assert np.linalg.norm(states[-1].position) <= 0.25


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_a_crowd_arrives_as_a_whole_and_nobody_flickers(motion):
    settings = arriving("HOLD_AREA", "arrive", motion=motion)
    states = go(settings, crowd_from_afar(40, motion), 18.0)
    marks = np.array([state.arrived for state in states])
    assert marks[-1].all()
    assert (np.diff(marks.astype(int), axis=0) != 0).sum() == 40
    for state, later in zip(states, states[2 * FPS :], strict=False):
        assert not later.velocity[state.arrived != 0].any()
    # all from one side: no more than a half circle, or a half ball, of them
    assert np.linalg.norm(states[-1].position, axis=1).max() < 5.0


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_the_held_area_is_what_the_bodies_fill(motion):
    settings = arriving("HOLD_AREA", "arrive", motion=motion, collide=False)
    state = go(settings, crowd_from_afar(40, motion), 13.0)[-1]
    assert state.arrived.all()
    radius = 0.25 * (np.sqrt(40 / 0.7) if motion == "GROUND" else np.cbrt(40 / 0.55))
    farthest = np.linalg.norm(state.position, axis=1).max()
    assert 0.3 * radius < farthest <= radius - 0.25


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_those_who_leave_are_dead_from_the_step_at_which_they_are_there(motion):
    points = crowd_from_afar(20, motion)
    states = go(arriving("LEAVE", "seek", motion=motion, distance=0.5), points, 12.0)
    for before, after in zip(states[:-1], states[1:], strict=True):
        there = np.linalg.norm(before.position, axis=1) <= 0.5 + 0.25
        assert not after.alive[there].any()
        gone = after.alive == 0
        assert not after.velocity[gone].any()
        assert after.arrived[gone].all()
    assert not states[-1].alive.any()


def test_nobody_jumps_across_the_place_to_leave_at():
    settings = arriving("LEAVE", "seek", max_speed=50.0, max_force=1.0e4)
    simulation = Simulation(settings, place(settings, [[20.3, 0.1, 0.0]]), frame=1, fps=12)
    for _ in range(12):
        simulation.advance(GOAL)
    assert not simulation.agents.alive[0]


def test_without_bodies_staying_changes_nothing():
    points = scatter(12, 3.0)
    plain = crowd(*(REGISTRY[name]() for name in ("arrive", "separation")))
    wide = replace(plain, bodies=BodiesSettings(on_arrival="STAY", arrival_distance=100.0))
    assert same_bits(go(plain, points, 2.0)[-1], go(wide, points, 2.0)[-1])
    assert not go(wide, points, 2.0)[-1].arrived.any()


def test_the_order_of_agents_does_not_matter():
    settings = arriving("HOLD_AREA", "arrive", "separation")
    points, radius = scatter(30, 3.0), np.linspace(0.1, 0.4, 30)
    order = np.random.default_rng(1).permutation(30)
    given = {"ids": np.arange(30), "attributes": {"radius": radius}}
    turned = {"ids": order, "attributes": {"radius": radius[order]}}
    one = go(settings, points, 4.0, **given)[-1]
    other = go(settings, points[order], 4.0, **turned)[-1]
    assert np.array_equal(one.position[order], other.position)
    assert np.array_equal(one.arrived[order], other.arrived)
    assert one.arrived.any()


@pytest.mark.parametrize("mode", ["STAY", "HOLD_AREA", "LEAVE"])
def test_going_on_from_any_frame_gives_the_same_bits(mode):
    settings = arriving(mode, "arrive", "wander")
    states = go(settings, crowd_from_afar(20, "GROUND"), 10.0)
    for number in (120, 200):
        agents = states[number].copy()
        for k in range(number, number + 20):
            agents = Solver(settings).step(agents, GOAL, 1 / FPS, number=k).agents
        assert same_bits(agents, states[number + 20])


def test_who_is_pushed_a_little_stays_there_and_who_is_pushed_far_comes_back():
    settings = arriving("HOLD_AREA", "seek")
    points = np.float32([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    stood = go(settings, points, 3.0)[-1]
    assert stood.arrived.all()
    for push, comes_back in ((0.2, False), (6.0, True)):
        moved = stood.copy()
        moved.position[1, 0] += push
        simulation = Simulation(settings, moved, frame=1, fps=FPS)
        marks = []
        for _ in range(7 * FPS):
            simulation.advance(GOAL)
            marks.append(simulation.agents.arrived[1])
        assert (marks[0] == 0) == comes_back
        assert np.count_nonzero(np.diff(np.array(marks, int))) == int(comes_back)
        assert np.array_equal(simulation.agents.position[1], moved.position[1]) != comes_back
        assert not simulation.agents.velocity.any()


def test_those_who_wait_follow_a_target_that_goes_away():
    settings = arriving("HOLD_AREA", "arrive")
    stood = go(settings, scatter(12, 1.0), 3.0)[-1]
    assert stood.arrived.all()
    simulation = Simulation(settings, stood, frame=1, fps=FPS)
    away = make_world(targets=[[10.0, 0.0, 0.0]])
    for _ in range(11 * FPS):
        simulation.advance(away)
    assert simulation.agents.arrived.all()
    assert np.linalg.norm(simulation.agents.position - np.float32([10, 0, 0]), axis=1).max() < 3.0


def test_who_is_held_up_by_one_who_stands_in_the_way_has_arrived_after_half_a_second():
    settings = arriving("HOLD_AREA", "seek")
    # without any force they are held up; the third has nobody in its way, the fourth no room
    points = np.float32([[0.1, 0, 0], [1.2, 0.2, 0], [0, 9, 0], [0, -0.8, 0]])
    states = go(settings, points, 2.0, attributes={"max_force": [8.0, 0.0, 0.0, 0.0]})
    marks = np.array([state.arrived for state in states])
    assert marks[1].tolist() == [1, 0, 0, 0]
    assert marks[-1].tolist() == [1, 1, 0, 1]
    assert np.flatnonzero(marks[:, 1])[0] == pytest.approx(0.5 * FPS, abs=2)


@pytest.mark.parametrize(("radius", "seconds"), [(0.25, 3.0), (0.5, 5.0), (2.0, 20.0)])
def test_who_slides_along_those_who_stand_has_time_to_pass_five_like_itself(radius, seconds):
    settings = arriving("HOLD_AREA", "seek", distance=0.1, radius=radius, max_speed=1.0)
    # without any force the second one goes past the first, and comes no nearer
    points = np.float32([[0.0, 0.0, 0.0], [0.0, -2.0 * radius - 0.01, 0.0]])
    going = {"velocity": [[0.0, 0.0, 0.0], [0.11, 0.0, 0.0]]}
    states = go(settings, points, 1.1 * seconds, attributes={"max_force": [8.0, 0.0]}, **going)
    marks = np.array([state.arrived for state in states])
    assert np.flatnonzero(marks[:, 1])[0] == pytest.approx(seconds * FPS, abs=3)


def swinging(pace, seconds):
    """Whether an agent that walks to and fro before one that stands has arrived, at each step."""
    settings = arriving("HOLD_AREA", "seek", distance=0.1, max_speed=1.0)
    points = np.float32([[0.0, 0.0, 0.0], [1.2, 0.0, 0.0]])
    start = place(settings, points, attributes={"max_force": [8.0, 0.0]})
    simulation, marks = Simulation(settings, start, frame=1, fps=FPS), []
    for k in range(int(seconds * FPS)):
        simulation.agents.velocity[1] = [pace if k // FPS % 2 else -pace, 0.0, 0.0]
        simulation.advance(GOAL)
        marks.append(int(simulation.agents.arrived[1]))
    return np.array(marks)


def test_who_walks_to_and_fro_before_those_who_stand_has_arrived():
    # a swing of 0.3 m takes two seconds: for half of them it comes nearer, by more than v_max/10
    marks = swinging(0.3, 16.0)
    assert marks[-1] == 1
    # held up for half of the time, it has twice the three seconds of agents that slide along others
    assert np.flatnonzero(marks)[0] == pytest.approx(12.0 * FPS, abs=FPS)
    assert (np.diff(marks) != 0).sum() == 1


def test_who_comes_nearer_by_its_size_between_two_halts_goes_on():
    settings = arriving("HOLD_AREA", "seek", distance=0.1, max_speed=1.0)
    points = np.float32([[0.0, 0.0, 0.0], [1.6, 0.0, 0.0]])
    start = place(settings, points, attributes={"max_force": [8.0, 0.0]})
    simulation = Simulation(settings, start, frame=1, fps=FPS)
    # 0.3 m on in a second, then 0.4 s of waiting; and back to the start as if it came once more
    for k in range(15 * FPS):
        part = k % 34
        if part == 0:
            simulation.agents.position[1] = points[1]
        simulation.agents.velocity[1] = [-0.3 if part < 24 else 0.0, 0.0, 0.0]
        simulation.advance(GOAL)
        assert not simulation.agents.arrived[1], k


def test_each_target_has_a_place_of_its_own():
    world = make_world(targets=[[0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    settings = arriving("HOLD_AREA", "arrive")
    points = np.concatenate([scatter(25, 1.0), np.float32([[0.0, 2.2, 0.0]])])
    index = [0.0] * 25 + [1.0]
    states = go(settings, points, 2.0, world, attributes={"target_index": index})
    first = next(k for k, state in enumerate(states) if state.arrived[:25].all())
    # among these it would have stood long ago: it continues to where it is alone
    assert not states[first].arrived[25]
    assert np.linalg.norm(states[-1].position[25] - np.float32([0, 3, 0])) <= 0.25


def test_the_arrived_still_flee_from_what_hunts_them():
    world = make_world(targets={"": make_targets([[0, 0, 0]]), "cat": make_targets([[1, 0, 0]])})
    settings = arriving("HOLD_AREA", "seek", REGISTRY["flee"](target="cat"), "wander")
    alone = go(settings, [[0.0, 0.0, 0.0]], 1.0)[-1]
    assert np.array_equal(alone.position, np.zeros((1, 3)))
    hunted = go(settings, [[0.0, 0.0, 0.0]], 1.0, world)[-1]
    assert hunted.position[0, 0] < -0.1


@pytest.mark.slow
def test_the_end_of_a_path_is_a_goal():
    path = Path([[0, 0, 0], [4, 0, 0], [4, 4, 0]])
    world = make_world(paths=path)
    follow = REGISTRY["follow_path"](method="WAYPOINT", slow_radius=1.0)
    settings = arriving("LEAVE", follow, distance=0.5)
    states = go(settings, [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]], 12.0, world)
    assert not states[-1].alive.any()
    assert np.linalg.norm(states[-1].position - path.points[-1], axis=1).max() <= 0.75


@pytest.mark.slow
@pytest.mark.parametrize(
    ("motion", "points", "count"),
    [
        *often(
            product(("GROUND", "FLY"), ENDS, (30,)), ("GROUND", ENDS[1], 30), ("FLY", ENDS[0], 30)
        ),
        # one of them is at the end before it was at the waypoint before that
        ("GROUND", ENDS[1], 20),
    ],
)
def test_the_end_of_a_path_has_room_for_all(motion, points, count):
    # agents that stand there keep the others out of the last waypoint's radius
    follow = REGISTRY["follow_path"](method="WAYPOINT", waypoint_radius=1.0)
    settings = arriving("HOLD_AREA", REGISTRY["avoid_neighbors"](), follow, motion=motion)
    start = crowd_from_afar(count, motion) - np.float32([12.0, 1.0, 0.0])
    states = go(settings, start, 30.0, make_world(paths=Path(points)))
    assert states[-1].arrived.all()
    assert not states[-1].velocity.any()
    assert np.linalg.norm(states[-1].position - np.float32([9, 0, 0]), axis=1).max() < 4.0


def test_who_passes_by_the_end_of_its_path_goes_on():
    # by way of a place 6 m to the north, past the agents that stand at the end
    path = Path([[-6, 0, 0], [0.5, 0, 0], [0, 6, 0], [0, 0, 0]])
    follow = REGISTRY["follow_path"](method="WAYPOINT", start="FIRST")
    settings = arriving("HOLD_AREA", follow, collide=False, max_force=40.0)
    states = go(settings, crowd_from_afar(12, "GROUND") - np.float32([15, 1, 0]), 22.0,
                make_world(paths=path))  # fmt: skip
    north = np.max([state.position[:, 1] for state in states], axis=0)
    assert (north > 4.5).all()
    assert states[-1].arrived.all()


def test_crowds_without_a_goal_go_on_as_ever():
    settings = arriving("LEAVE", "wander", "separation", collide=False)
    plain = replace(settings, bodies=BodiesSettings())
    points = scatter(9, 2.0)
    assert same_bits(go(settings, points, 1.0)[-1], go(plain, points, 1.0)[-1])


@pytest.mark.parametrize("mode", ["STAY", "HOLD_AREA", "LEAVE"])
@pytest.mark.parametrize("size", [0.0, 1.0e6])
def test_extreme_sizes_give_finite_numbers(mode, size):
    settings = arriving(mode, "arrive", radius=size, max_speed=size, distance=size)
    state = go(settings, np.float32([[0, 0, 0], [0, 0, 0], [1e6, -1e6, 0]]), 0.5)[-1]
    assert np.isfinite(state.position).all()
    assert np.isfinite(state.velocity).all()
