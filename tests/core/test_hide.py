"""Hide: spots by hand calculation, lines of sight, and what happens where there is no cover."""

from collections import namedtuple

import numpy as np
import pytest
from crowdtools import box, crowd, place, run
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried

from steer_addon.core.behaviors.evade import Evade
from steer_addon.core.behaviors.hide import Hide, _nearest_spot, hiding_spot
from steer_addon.core.inputs.spheres import make_spheres
from steer_addon.core.inputs.targets import make_targets
from steer_addon.core.inputs.world import make_world
from steer_addon.core.numeric.vec import add_scaled, dot, length, load, project, sub
from steer_addon.core.step.solver import Solver

SPEED = 1.4
Standing, Around = namedtuple("Standing", "position normal"), namedtuple("Around", "flat")


def step(behavior, position, world, motion="GROUND", velocity=None):
    """One step: (the proposal, the agents after it)."""
    stack = crowd(behavior, motion=motion, agents={"max_speed": SPEED})
    agents = place(stack, position, velocity)
    result = Solver(stack).step(agents, world, 1 / 24, number=0)
    return result.proposals[0], result.agents


def wished(position, *, threat=(0, 0, 0), spheres=None, colliders=(), motion="GROUND", **how):
    """Wished velocity of a single agent [m/s]; None without a proposal."""
    world = make_world(targets=[threat], spheres=spheres, colliders=colliders)
    made, _ = step(Hide(**how), [position], world, motion)
    return made.value[0] if made.active[0] else None


def hidden(position, world, **how):
    """The attribute `hidden` of agents after one step."""
    stack = crowd(Hide(**how), motion="FLY")
    agents = place(stack, position)
    return Solver(stack).step(agents, world, 1 / 24, number=0).agents.memory["hide"][:, 0].tolist()


def test_the_spot_lies_behind_the_obstacle():
    # behind a ball at (4, 3), 5 m off: 5 + 1 + 0.5 m along (0.8, 0.6)
    spot = np.array([5.2, 3.9, 0])
    start = np.array([5.2, 0.9, 0])
    wish = wished(
        start, spheres=make_spheres([[4, 3, 0]], 1.0), distance_from_boundary=0.5, slow_radius=2.0
    )
    np.testing.assert_allclose(wish, SPEED * (spot - start) / 3.0, atol=1e-6)
    wish = wished(
        start, spheres=make_spheres([[4, 3, 0]], 1.0), distance_from_boundary=0.5, slow_radius=6.0
    )
    np.testing.assert_allclose(wish, 0.5 * SPEED * (spot - start) / 3.0, atol=1e-6)
    resting = wished(spot, spheres=make_spheres([[4, 3, 0]], 1.0), distance_from_boundary=0.5)
    np.testing.assert_allclose(resting, 0.0, atol=1e-6)


def test_the_nearest_spot_counts_and_of_equal_ones_the_first():
    balls = make_spheres([[6, 4, 0], [6, -4, 0], [-9, 0, 0]], [1.0, 1.0, 3.0])
    assert wished((9, 1, 0), spheres=balls)[1] > 0
    assert wished((9, -1, 0), spheres=balls)[1] < 0
    assert wished((9, 0, 0), spheres=balls)[1] > 0
    # a large ball hides farther behind it: its spot is at -13
    np.testing.assert_allclose(wished((-8, 0, 0), spheres=balls), [-SPEED, 0, 0], atol=1e-6)


def test_bounding_spheres_of_colliders_are_obstacles():
    block = box((5, 0, 0), (2, 2, 2))
    radius = np.sqrt(3)
    wish = wished((9, 0, 0), colliders=[block], distance_from_boundary=1.0, slow_radius=8.0)
    np.testing.assert_allclose(wish, [SPEED * (5 + radius + 1 - 9) / 8, 0, 0], atol=1e-6)


def test_walkers_take_spheres_whole_and_level():
    low, high = (make_spheres([[5, 0, z]], 1.0) for z in (0.0, 7.0))
    on_level, above = (wished((9, 2, 0), threat=(0, 1, 3), spheres=balls) for balls in (low, high))
    np.testing.assert_allclose(on_level, above, atol=1e-6)
    assert on_level[2] == 0.0
    flying = wished((9, 2, 0), threat=(0, 1, 3), spheres=high, motion="FLY")
    assert flying[2] > 0.1


@pytest.mark.parametrize("panic_radius", [0.0, 6.0])
def test_without_obstacles_it_evades(panic_radius):
    random = np.random.default_rng(0)
    points = random.uniform(-6, 6, (30, 3))
    threats = make_targets(random.uniform(-3, 3, (4, 3)), random.normal(size=(4, 3)))
    for motion in ("GROUND", "FLY"):
        world = make_world(targets=threats)
        hide, _ = step(Hide(panic_radius=panic_radius), points, world, motion)
        evade, _ = step(Evade(panic_radius=panic_radius), points, world, motion)
        np.testing.assert_array_equal(hide.value, evade.value)
        np.testing.assert_array_equal(hide.active, evade.active)
        assert hide.active.any()


def test_a_threat_in_the_middle_of_the_obstacle_leaves_the_own_side():
    ball = make_spheres([[0, 0, 0]], 1.0)
    wish = wished((6, 0, 0), spheres=ball, distance_from_boundary=1.0)
    np.testing.assert_allclose(wish, [-SPEED, 0, 0], atol=1e-6)
    wish = wished((0, 1.5, 0), spheres=ball, distance_from_boundary=1.0, slow_radius=1.0)
    np.testing.assert_allclose(wish, [0, 0.5 * SPEED, 0], atol=1e-6)


def test_a_threat_on_the_agent():
    ball = make_spheres([[3, 0, 0]], 1.0)
    np.testing.assert_allclose(wished((0, 0, 0), spheres=ball), [SPEED, 0, 0], atol=1e-6)
    np.testing.assert_array_equal(wished((0, 0, 0)), 0.0)
    assert wished((0, 0, 0), spheres=ball, sight_distance=1.0) is not None
    # all three in one place
    np.testing.assert_array_equal(wished((3, 0, 0), threat=(3, 0, 0), spheres=ball), 0.0)


def test_without_a_threat_there_is_nothing_to_hide_from():
    world = make_world(spheres=make_spheres([[3, 0, 0]], 1.0))
    made, after = step(Hide(), [[0, 0, 0]], world)
    assert not made.active.any()
    assert after.memory["hide"][0, 0] == 0.0


def test_sight_ends_at_its_distance_and_at_obstacles():
    block = box((3, 0, 0), (1, 1, 1))
    seen, behind, far = (3, 4, 0), (6, 0, 0), (0, 11, 0)
    for motion in ("GROUND", "FLY"):
        how = {"colliders": [block], "motion": motion, "threat": (0, 0, 0)}
        assert wished(seen, sight_distance=10.0, **how) is not None
        assert wished(behind, sight_distance=10.0, **how) is None
        assert wished(far, sight_distance=10.0, **how) is None
        assert all(wished(p, **how) is not None for p in (seen, behind, far))


def test_walkers_see_over_what_is_lower_than_their_eyes():
    curb = box((3, 0, 0.1), (1, 1, 0.2))
    assert wished((6, 0, 0), colliders=[curb], sight_distance=10.0) is not None
    # an agent in the air looks straight at it
    below = {"colliders": [curb], "sight_distance": 10.0, "motion": "FLY"}
    assert wished((6, 0, 0.1), threat=(0, 0, 0.1), **below) is None


def test_hidden_tells_who_is_out_of_sight():
    ball = make_spheres([[0, 5, 0]], 1.0)
    world = make_world(targets=[[0, 0, 0]], colliders=[box((3, 0, 0), (1, 1, 1))], spheres=ball)
    points = [[6, 0, 0], [6, 6, 0], [0, 9, 0], [0, 3, 0], [2, 9, 0], [-6, 0, 0]]
    assert hidden(points, world) == [1, 0, 1, 0, 0, 0]
    assert hidden(points, world, sight_distance=1.0) == [1, 0, 1, 0, 0, 0]
    assert Hide.definition.shows == {"hidden": 0}


def test_meshes_block_sight_and_not_their_bounding_spheres():
    for y, blocked in ((0.8, 1), (1.2, 0)):
        world = make_world(targets=[[0, 0, 0]], colliders=[box((4, y, 0), (2, 2, 2))])
        assert hidden([[8, 0, 0]], world) == [blocked]


def test_agents_get_out_of_sight_and_rest_there():
    world = make_world(targets=[[0, 0, 0]], colliders=[box((6, 0, 0), (2, 2, 2))])
    points = np.array([[4, 3, 0], [3, -4, 0], [7, 5, 0]], np.float32)
    positions, velocities = run(crowd(Hide(slow_radius=1.0)), points, 24 * 12, world=world)
    np.testing.assert_allclose(positions[-1], [[6 + np.sqrt(3) + 1, 0, 0]] * 3, atol=0.05)
    assert np.abs(velocities[-1]).max() < 0.05


numbers = st.floats(-1e6, 1e6, allow_nan=False, width=32)
point = st.tuples(numbers, numbers, numbers)
place_ = st.one_of(point, st.just((0.0, 0.0, 0.0)))


@settings(max_examples=tried(60))
@given(
    p=place_,
    v=point,
    threat=place_,
    motion=st.sampled_from(["GROUND", "FLY"]),
    balls=st.lists(st.tuples(place_, st.floats(0, 1e6, width=32)), max_size=3),
    sight=st.sampled_from([0.0, 5.0, 1e8]),
)
def test_all_is_finite_for_any_finite_input(p, v, threat, motion, balls, sight):
    spheres = make_spheres([c for c, _ in balls], [r for _, r in balls]) if balls else None
    world = make_world(
        targets=make_targets([threat], [v]), spheres=spheres, colliders=[box((0, 0, 0), (1, 1, 1))]
    )
    made, after = step(Hide(sight_distance=sight), [p], world, motion, [v])
    assert np.isfinite(made.value).all() and np.isfinite(after.position).all()
    assert np.linalg.norm(made.value) <= SPEED * 1.00001


def spot_by_all(center, radius, position, up, threat, beyond):
    """The nearest spot of all obstacles, of equally near ones that of the first one."""
    spots = []
    for number, (c, r) in enumerate(zip(center, radius, strict=True)):
        offset = sub(load(np.array([c]), 0), position)
        offset = add_scaled(offset, up, -dot(offset, up))
        spot = hiding_spot(offset, np.float64(r), threat, beyond)
        spots.append((length(spot), number, spot))
    return min(spots)[2]


@settings(max_examples=tried(150), deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.02, 1.0]),
    st.booleans(),
    st.floats(0.0, 3.0),
)
def test_the_spot_is_the_nearest_of_all_to_the_last_bit(seed, count, tilt, flat, beyond):
    rng = np.random.default_rng(seed)
    # some are in one place, and some share their x
    center = rng.normal(0.0, 20.0, (count, 3)).astype(np.float32)
    center[rng.integers(0, count, count // 3)] = center[0]
    center[rng.integers(0, count, count // 3), 0] = 5.0
    radius = (10.0 ** rng.uniform(-2, 1, count)).astype(np.float32)
    normal = np.array([[0.0, 0.0, 1.0]]) + tilt * rng.normal(0.0, 1.0, (1, 3))
    normal = (normal / np.linalg.norm(normal)).astype(np.float32)
    position = rng.normal(0.0, 20.0, (1, 3)).astype(np.float32)
    agents, world = Standing(position, normal), Around(flat)
    up = load(normal, 0) if flat else (0.0, 0.0, 0.0)
    threat = project(tuple(rng.normal(0.0, 20.0, 3).tolist()), up)
    spheres = make_spheres(center, radius).view()
    expected = spot_by_all(center, radius, load(position, 0), up, threat, beyond)
    assert _nearest_spot.function(0, agents, world, spheres, threat, beyond) == expected
