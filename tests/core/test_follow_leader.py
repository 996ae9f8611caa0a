"""Follow leader: the place behind it, its way kept clear, and followers apart from each other."""

import numpy as np
import pytest
from crowdtools import crowd, place, scatter, simulation
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.flock import Separation
from steer_addon.core.behaviors.follow_leader import FollowLeader
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver
from tests.often import often

SPEED = 1.4


def wishes(behavior, position, *, velocity=(1, 0, 0), leader=(0, 0, 0), motion="GROUND", **more):
    """Wished velocities of agents near a leader at a place [m/s], and flags of proposals."""
    stack = crowd(behavior, motion=motion, agents={"max_speed": SPEED})
    agents = place(stack, position, **more)
    world = make_world(targets=make_targets([leader], [velocity]))
    made = Solver(stack).step(agents, world, 1 / 24, number=0).proposals[0]
    return made.value, made.active.tolist()


def follow(stack, position, seconds, start=(0, 0, 0), velocity=(0.7, 0, 0), solver_fps=24):
    """Positions relative to a leader that goes straight, shape (steps, agents, 3)."""
    sim = simulation(stack, position)
    relative = []
    for k in range(1, int(seconds * solver_fps) + 1):
        leader = np.asarray(start) + np.asarray(velocity) * k / solver_fps
        world = make_world(targets=make_targets([leader], [velocity]))
        relative.append(sim.step(world).position.astype(np.float64) - leader)
    return np.array(relative)


def test_it_arrives_behind_the_leader():
    behavior = FollowLeader(distance=2.0, slow_radius=4.0)
    made, active = wishes(behavior, [[-2, 3, 0]], velocity=(1, 0, 0))
    np.testing.assert_allclose(made, [[0, -SPEED * 3 / 4, 0]], atol=1e-6)
    assert active == [1]
    made, _ = wishes(behavior, [[-2, 3, 0]], velocity=(0, 0, 0), leader=(-2, 3, 0))
    # one at rest looks along -Y
    np.testing.assert_allclose(made, [[0, SPEED * 2 / 4, 0]], atol=1e-6)


@pytest.mark.parametrize(("motion", "clear_radius"), [("GROUND", 1.0), ("FLY", 0.0)])
def test_it_keeps_its_distance_behind_a_leader_that_goes_straight(motion, clear_radius):
    behavior = FollowLeader(distance=1.5, slow_radius=2.0, clear_radius=clear_radius)
    stack = crowd(behavior, motion=motion, agents={"max_speed": SPEED})
    relative = follow(stack, [[-4, 2, 0]], 12)
    # it wants the leader's speed, which is half its own, 1 m behind the place
    np.testing.assert_allclose(relative[-1, 0], [-2.5, 0, 0], atol=0.03)


def test_those_in_the_way_step_straight_aside():
    behavior = FollowLeader(distance=2.0, clear_radius=1.0, slow_radius=0.0)
    points = np.array([[1, 0.5, 0], [2.5, -0.5, 0], [1, 1.5, 0], [3.5, 0.5, 0], [-0.5, 0.5, 0]])
    for row, in_the_way in enumerate([True, True, False, False, False]):
        made, _ = wishes(behavior, points[[row]])
        to_place = np.array([-2, 0, 0]) - points[row]
        expected = SPEED * to_place / np.linalg.norm(to_place)
        if in_the_way:
            expected[1] += SPEED * np.sign(points[row, 1])
        np.testing.assert_allclose(made[0], expected, atol=1e-5)


def test_those_on_the_line_itself_part_by_id():
    for motion in ("GROUND", "FLY"):
        even, odd = (
            wishes(FollowLeader(), [[1, 0, 0]], ids=[k], motion=motion)[0][0] for k in (4, 7)
        )
        np.testing.assert_allclose(even[1:], -odd[1:], atol=1e-6)
        assert even[1] == pytest.approx(-SPEED, abs=1e-6)


@pytest.mark.parametrize("y", often([0.0, 0.05, -0.4], 0.0, -0.4))
def test_a_leader_who_walks_up_finds_its_way_clear(y):
    behavior = FollowLeader(distance=1.5, clear_radius=1.0)
    stack = crowd(behavior, agents={"max_speed": SPEED, "max_force": 20.0})
    relative = follow(stack, [[3, y, 0]], 20)
    beside = np.linalg.norm(relative[:, 0], axis=1)
    assert beside.min() > 0.5
    np.testing.assert_allclose(relative[-1, 0], [-2.5, 0, 0], atol=0.05)


def test_followers_part_and_come_to_rest():
    behavior = FollowLeader(strength=2.0, neighbor_distance=1.5)
    stack = crowd(behavior, agents={"max_speed": SPEED, "max_force": 20.0})
    relative = follow(
        stack, [[-3, 0, 0]] * 2 + [[-4, 1, 0], [-4, -1, 0]], 20, velocity=(0, -0.5, 0)
    )
    last = relative[-1]
    gaps = np.linalg.norm(last[:, None] - last[None], axis=2) + 9 * np.eye(4)
    assert gaps.min() > 0.3
    assert np.abs(relative[-1] - relative[-24]).max() < 0.02


def test_separation_is_that_of_the_behavior():
    points = scatter(30, 5.0, flat=False)
    for motion in ("GROUND", "FLY"):
        together, _ = wishes(FollowLeader(strength=1.3), points, motion=motion)
        alone, _ = wishes(FollowLeader(strength=0.0), points, motion=motion)
        apart, _ = wishes(Separation(strength=1.3, falloff="DISTANCE"), points, motion=motion)
        np.testing.assert_allclose(together - alone, apart, atol=1e-5)


@pytest.mark.parametrize("solver", ["REYNOLDS", "VEX"])
def test_one_proposal_moves_like_arrive_and_separation_together(solver):
    points = scatter(20, 4.0, seed=1)
    target = make_targets([[6, 0, 0]])
    both = (Arrive(), Separation(falloff="DISTANCE"))
    after = []
    for stack in (both, (FollowLeader(distance=0.0, clear_radius=0.0),)):
        crowd_settings = crowd(*stack, solver=solver)
        agents = place(crowd_settings, points, scatter(20, 1.0, seed=2))
        world = make_world(targets=target)
        after.append(Solver(crowd_settings).step(agents, world, 1 / 24, number=0).agents)
    np.testing.assert_allclose(after[0].velocity, after[1].velocity, atol=1e-5)


def test_a_leader_of_the_own_crowd_is_nobody_elses_self():
    points = np.array([[0, 0, 0], [5, 0, 0], [9, 0, 0]], np.float32)
    stack = crowd(FollowLeader(strength=0.0), agents={"max_speed": SPEED})
    agents = place(stack, points, attributes={"target_index": [0, 0, 0]})
    world = make_world(targets=make_targets(points, own=True))
    made = Solver(stack).step(agents, world, 1 / 24, number=0).proposals[0]
    assert made.active.all()
    assert made.value[1, 0] < 0 and made.value[2, 0] < 0
    # the leader would have to follow itself: it takes the next one
    assert made.value[0, 0] > 0
    alone = place(stack, points[:1])
    world = make_world(targets=make_targets(points[:1], own=True))
    assert not Solver(stack).step(alone, world, 1 / 24, number=0).proposals[0].active.any()


def test_without_a_leader_there_is_no_proposal():
    stack = crowd(FollowLeader())
    agents = place(stack, [[0, 0, 0], [0.1, 0, 0]])
    made = Solver(stack).step(agents, make_world(), 1 / 24, number=0).proposals[0]
    assert not made.active.any()


numbers = st.floats(-1e6, 1e6, allow_nan=False, width=32)
point = st.one_of(st.tuples(numbers, numbers, numbers), st.just((0.0, 0.0, 0.0)))


@settings(max_examples=tried(60))
@given(
    p=point,
    v=point,
    leader=point,
    going=point,
    motion=st.sampled_from(["GROUND", "FLY"]),
    distance=st.sampled_from([0.0, 1.5, 1e6]),
)
def test_all_is_finite_for_any_finite_input(p, v, leader, going, motion, distance):
    stack = crowd(FollowLeader(distance=distance, slow_radius=0.0), motion=motion)
    agents = place(stack, [p, p, leader], [v, v, v])
    world = make_world(targets=make_targets([leader], [going]))
    result = Solver(stack).step(agents, world, 1 / 24, number=0)
    assert np.isfinite(result.proposals[0].value).all()
    assert np.isfinite(result.agents.position).all()
