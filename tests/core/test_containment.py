"""Containment: nobody is left outside, speeds are kept, and walkers keep their height."""

import numpy as np
import pytest
from crowdtools import box, crowd, place, run, scatter
from hypothesis import example, given, settings
from hypothesis import strategies as st
from solids import ball, beyond_box, beyond_convex, beyond_room, corner_room, rotation
from tried import tried

from steer_addon.core.behaviors.containment import Containment
from steer_addon.core.behaviors.wander import Wander
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.containers import Container, make_container
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.solver import Solver

FREE = {"max_speed": 1e6}
SHAPES = ("BOX", "SPHERE", "MESH")


def within(
    container: Container | None,
    position,
    steps,
    velocity=None,
    *,
    motion="FLY",
    fps=24.0,
    more=(),
    agents=None,
    ground=None,
    **how,
):
    """Run agents in a container; returns positions and velocities."""
    stack = crowd(*more, Containment(**how), motion=motion, agents=agents or FREE)
    world = make_world(containers=container, ground=ground)
    return run(stack, position, steps, velocity, world=world, fps=fps)


def cube(**more):
    """A container from -1 to 1, of all three shapes."""
    return make_container((0, 0, 0), 1.0, **more)


@pytest.mark.slow
@settings(max_examples=tried(60))
@given(
    turned=st.integers(0, 1000),
    shape=st.sampled_from(["BOX", "SPHERE", "CUBE", "BALL"]),
    method=st.sampled_from(["BOUNCE", "WRAP"]),
    speed=st.floats(-3, 5),
    fps=st.sampled_from([1.0, 24.0, 240.0]),
    far=st.sampled_from([0.0, 1000.0]),
)
@example(turned=0, shape="CUBE", method="BOUNCE", speed=3.0, fps=24.0, far=0.0)
@example(turned=0, shape="BALL", method="WRAP", speed=3.0, fps=24.0, far=0.0)
def test_nobody_is_left_outside_at_any_speed(turned, shape, method, speed, fps, far):
    random = np.random.default_rng(turned)
    center = random.uniform(-1, 1, 3) * far
    half = random.uniform(0.3, 3.0, 3)
    axes = rotation(turned).astype(np.float32)
    mesh = ball(center, 2.0)
    if shape == "CUBE":
        corners = box((0, 0, 0), 2 * half).triangles.astype(np.float64) @ axes + center
        mesh = Mesh("cube", corners.astype(np.float32))
    container = make_container(center, half, axes=axes, radius=2.0, mesh=mesh)
    points = (center + random.uniform(-4, 4, (12, 3))).astype(np.float32)
    velocity = random.normal(size=(12, 3)) * 10.0**speed
    kind = shape if shape in SHAPES else "MESH"
    positions, velocities = within(
        container, points, 6, velocity, fps=fps, shape=kind, method=method
    )
    moved = positions[1:].reshape(-1, 3)
    # as wide as the rounding of 32-bit corners and centers
    slack = 5e-7 * (1.0 + np.abs(center).max())
    if shape == "BOX":
        beyond = beyond_box(moved, container.center, container.half, axes)
    elif shape == "SPHERE":
        beyond = np.linalg.norm(moved - container.center, axis=1) - 2.0
    else:
        beyond = beyond_convex(moved, mesh)
    assert beyond.max() <= slack
    before, after = (np.linalg.norm(velocities[k], axis=1) for k in (0, -1))
    np.testing.assert_allclose(after, before, rtol=1e-5)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), motion=st.sampled_from(["GROUND", "FLY"]))
@pytest.mark.parametrize("method", ["BOUNCE", "WRAP"])
def test_a_room_with_an_inner_corner_holds_them_too(method, seed, motion):
    random = np.random.default_rng(seed)
    points = random.uniform(-2.9, 2.9, (30, 3)) * [1, 1, 0.5]
    points = points[beyond_room(points) < 0]
    velocity = random.normal(size=points.shape) * 10.0 ** random.uniform(-1, 3, (len(points), 1))
    container = make_container((0, 0, 0), 3.0, mesh=corner_room())
    positions, _ = within(
        container, points, 10, velocity, motion=motion, shape="MESH", method=method
    )
    assert beyond_room(positions.reshape(-1, 3)).max() <= 1e-6


def test_bounce_mirrors_position_and_velocity():
    for shape, mesh in (("BOX", None), ("MESH", box((0, 0, 0), (2, 2, 2)))):
        positions, velocities = within(
            cube(mesh=mesh), [[0.9, 0, 0]], 1, [[4.8, 1.2, 0]], shape=shape, method="BOUNCE"
        )
        # 0.2 m of motion along x, half of it behind the wall
        np.testing.assert_allclose(positions[1, 0], [0.9, 0.05, 0], atol=2e-6)
        np.testing.assert_allclose(velocities[1, 0], [-4.8, 1.2, 0], atol=1e-5)
    positions, velocities = within(
        cube(), [[0.9, 0, 0]], 1, [[4.8, 0, 0]], shape="SPHERE", method="BOUNCE"
    )
    np.testing.assert_allclose(positions[1, 0], [0.9, 0, 0], atol=2e-6)
    np.testing.assert_allclose(velocities[1, 0], [-4.8, 0, 0], atol=1e-5)


@pytest.mark.parametrize("shape", ["BOX", "MESH"])
def test_bounce_in_a_corner_mirrors_at_both_walls_in_one_step(shape):
    positions, velocities = within(
        cube(), [[0.9, 0.8, 0]], 1, [[7.2, 7.2, 0]], shape=shape, method="BOUNCE"
    )
    np.testing.assert_allclose(positions[1, 0], [0.8, 0.9, 0], atol=3e-6)
    np.testing.assert_allclose(velocities[1, 0], [-7.2, -7.2, 0], atol=1e-5)


def test_bounce_crosses_a_box_many_times_in_one_step():
    positions, velocities = within(
        cube(), [[0, 0, 0]], 1, [[24 * 10.25, 0, 0]], shape="BOX", method="BOUNCE"
    )
    # 10.25 m: out at 1, 3, 5, 7 and 9 m, which is five times
    assert positions[1, 0, 0] == pytest.approx(-0.25, abs=1e-5)
    assert velocities[1, 0, 0] == pytest.approx(-246.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_wrap_comes_back_on_the_far_side(shape):
    mesh = box((0, 0, 0), (2, 2, 2))
    positions, velocities = within(
        cube(mesh=mesh), [[0.9, 0, 0]], 1, [[4.8, 0, 0]], shape=shape, method="WRAP"
    )
    np.testing.assert_allclose(positions[1, 0], [-0.9, 0, 0], atol=2e-6)
    np.testing.assert_allclose(velocities[1, 0], [4.8, 0, 0], atol=1e-5)


def test_wrap_of_a_sphere_follows_the_motion_backward():
    positions, _ = within(
        cube(radius=2.0), [[1.9, 0.5, 0]], 1, [[2.4, 0, 0]], shape="SPHERE", method="WRAP"
    )
    out = np.sqrt(2.0**2 - 0.5**2)
    np.testing.assert_allclose(positions[1, 0], [-out + (2.0 - out), 0.5, 0], atol=5e-6)


def test_wrap_goes_round_a_sphere_many_times_in_one_step():
    positions, velocities = within(
        cube(radius=2.0), [[0, 1.2, 0]], 1, [[24 * 33.0, 0, 0]], shape="SPHERE", method="WRAP"
    )
    # a chord of 3.2 m: 33 m are ten rounds and one meter
    np.testing.assert_allclose(positions[1, 0], [1.0, 1.2, 0], atol=2e-5)
    np.testing.assert_allclose(velocities[1, 0], [24 * 33.0, 0, 0])


@pytest.mark.parametrize("depth", [1e-2, 1e-4, 1e-6, 0.0])
def test_who_grazes_a_sphere_comes_back_where_it_was_grazed(depth):
    # a chord that is short goes on forever: neither is the step lost, nor is it a leap to and fro
    positions, _ = within(
        cube(radius=2.0), [[0, 2.0 - depth, 0]], 8, [[2.4, 0, 0]], shape="SPHERE", method="WRAP"
    )
    half = np.sqrt(2.0**2 - (2.0 - depth) ** 2)
    assert np.abs(positions[..., 0]).max() <= half + 1e-6
    np.testing.assert_allclose(positions[..., 1], 2.0 - depth, atol=2e-6)


def test_a_short_step_does_not_lead_astray_on_the_far_side():
    # places are rounded to 1.2e-7 m, 3e-5 of a way of 4 mm: over the room that would be 0.1 mm
    velocity = np.array([[0.0791, 0.0547, 0.0263]])
    start = np.array([[1.999, 1.1713, 0.3577]], np.float32)
    for shape in ("BOX", "MESH"):
        container = make_container((0, 0, 0), 2.0, mesh=box((0, 0, 0), (4, 4, 4)))
        positions, _ = within(container, start, 1, velocity, shape=shape, method="WRAP")
        back = 4.0 / velocity[0, 0] * (shape == "MESH")
        expected = start[0] + velocity[0] / 24 - np.array([4.0, 0, 0]) * (shape == "BOX")
        np.testing.assert_allclose(positions[1, 0], expected - velocity[0] * back, atol=6e-6)


def test_wrap_of_a_mesh_follows_the_motion_backward():
    container = make_container((0, 0, 0), 3.0, mesh=corner_room())
    # beside the inner corner the room is 3 m wide, not 6
    positions, _ = within(container, [[-0.1, 2, 0]], 1, [[4.8, 0, 0]], shape="MESH", method="WRAP")
    np.testing.assert_allclose(positions[1, 0], [-2.9, 2, 0], atol=5e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_avoid_keeps_wanderers_inside(shape, motion):
    container = make_container((5, 0, 0), 4.0, mesh=ball((5, 0, 0), 4.0))
    points = scatter(20, 3.0, seed=2, flat=motion == "GROUND") + [5, 0, 0]
    positions, _ = within(
        container,
        points,
        500,
        motion=motion,
        more=[Wander()],
        agents={"max_speed": 1.4, "max_force": 10.0},
        shape=shape,
        weight=3.0,
    )
    offset = positions[..., :2] - [5, 0] if motion == "GROUND" else positions - [5, 0, 0]
    reach = np.abs(offset).max(axis=-1) if shape == "BOX" else np.linalg.norm(offset, axis=-1)
    assert reach.max() < 4.0
    # they do use the room
    assert reach.max() > 2.0


def test_avoid_keeps_wanderers_in_a_room_with_an_inner_corner():
    container = make_container((0, 0, 0), 3.0, mesh=corner_room())
    points = scatter(20, 2.0, seed=3) + [-1.5, -1.5, 0]
    positions, _ = within(
        container,
        points,
        500,
        motion="GROUND",
        more=[Wander()],
        agents={"max_speed": 1.4, "max_force": 10.0},
        shape="MESH",
        weight=3.0,
    )
    assert beyond_room(positions.reshape(-1, 3)).max() < 0.0


def test_avoid_turns_away_and_keeps_what_runs_along_the_wall():
    for shape in ("BOX", "MESH"):
        stack = crowd(Containment(shape=shape), motion="FLY", agents={"max_speed": 2.0})
        agents = place(stack, [[0.5, 0, 0], [-0.5, 0, 0]], [[1.0, 0.5, 0], [1.0, 0.5, 0]])
        made = Solver(stack).step(agents, make_world(containers=cube()), 1 / 24, number=0)
        proposal = made.proposals[0]
        assert proposal.active.tolist() == [1, 0]
        wanted = 2.0 * np.array([-2.0, 0.5, 0]) / np.hypot(2.0, 0.5)
        np.testing.assert_allclose(proposal.value[0], wanted, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("method", ["AVOID", "BOUNCE", "WRAP"])
def test_those_who_start_outside_come_in(shape, motion, method):
    points = [[5, 1, 0], [-4, 0.3, 0], [0.2, 6, 0]]
    steps = 240 if method == "AVOID" else 1
    positions, _ = within(
        make_container((0, 0, 0), 2.0, mesh=ball(radius=2.0)),
        points,
        steps,
        motion=motion,
        agents={"max_speed": 1.4},
        shape=shape,
        method=method,
    )
    size = np.abs(positions[-1]).max(axis=1)
    if shape != "BOX":
        size = np.linalg.norm(positions[-1], axis=1)
    assert size.max() <= 2.0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", ["AVOID", "BOUNCE", "WRAP"])
def test_walkers_keep_their_height(shape, method):
    points = scatter(20, 3.0) + [0, 0, 0.6]
    velocity = scatter(20, 200.0, seed=5)
    positions, velocities = within(
        make_container((0, 0, 0), 2.0, mesh=ball(radius=2.0)),
        points,
        10,
        velocity,
        motion="GROUND",
        shape=shape,
        method=method,
    )
    np.testing.assert_array_equal(positions[..., 2], np.float32(0.6))
    np.testing.assert_array_equal(velocities[..., 2], 0.0)


def test_walkers_far_above_a_flat_outline_are_held_by_it():
    plane = make_container((0, 0, 0), (3, 2, 0))
    positions, _ = within(
        plane, [[0, 0, 50]], 20, [[30, 17, 0]], motion="GROUND", shape="BOX", method="BOUNCE"
    )
    assert (np.abs(positions[:, 0, :2]) <= [3, 2]).all()
    assert np.ptp(positions[:, 0, 0]) > 2


def test_a_tilted_box_stands_upright_for_walkers():
    # its own Z lies 30 degrees off the vertical, its X is level
    cos, sin = np.cos(np.pi / 6), np.sin(np.pi / 6)
    axes = [[1, 0, 0], [0, cos, sin], [0, -sin, cos]]
    container = make_container((0, 0, 0), (3, 2, 1), axes=axes)
    random = np.random.default_rng(0)
    positions, _ = within(
        container,
        scatter(30, 2.0),
        30,
        random.normal(size=(30, 3)) * [50, 50, 0],
        motion="GROUND",
        shape="BOX",
        method="BOUNCE",
    )
    reach = np.abs(positions[..., :2]).max(axis=(0, 1))
    assert (reach <= [3, 2]).all() and (reach > [2.8, 1.8]).all()


def test_walkers_who_wrap_stand_on_the_ground_where_they_come_to():
    a, b, c, d = (-5, -5, -1), (5, -5, 1), (5, 5, 1), (-5, 5, -1)
    slope = Mesh("slope", np.array([[a, b, c], [a, c, d]], np.float32))
    container = make_container((0, 0, 0), 3.0)
    positions, _ = within(
        container,
        [[2.9, 0, 0.58]],
        3,
        [[9.6, 0, 0]],
        motion="GROUND",
        ground=slope,
        shape="BOX",
        method="WRAP",
    )
    assert positions[1, 0, 0] < 0
    np.testing.assert_allclose(positions[1:, 0, 2], positions[1:, 0, 0] / 5, atol=1e-4)
    assert positions[3, 0, 0] > positions[1, 0, 0] + 0.5


def test_normals_may_point_inward():
    inside_out = Mesh("ball", ball(radius=2.0).triangles[:, ::-1])
    points, velocity = scatter(20, 2.0, flat=False), scatter(20, 300.0, seed=4, flat=False)
    runs = [
        within(cube(mesh=mesh), points, 10, velocity, shape="MESH", method="BOUNCE")[0]
        for mesh in (ball(radius=2.0), inside_out)
    ]
    np.testing.assert_allclose(*runs, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", ["AVOID", "BOUNCE", "WRAP"])
def test_without_a_container_there_is_nothing_to_stay_in(shape, method):
    stack = crowd(Containment(shape=shape, method=method), motion="FLY", agents=FREE)
    agents = place(stack, [[3, 0, 0]], [[1, 0, 0]])
    nothing = make_container((0, 0, 0), 0.0)
    for container in (None, nothing):
        world = make_world(containers=container)
        result = Solver(stack).step(agents, world, 1.0, number=0)
        assert not result.proposals[0].active.any()
        np.testing.assert_array_equal(result.agents.position, [[4, 0, 0]])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", ["BOUNCE", "WRAP"])
def test_a_container_without_room_holds_them_on_the_spot(shape, method):
    # it has a radius, so that it is one, but no size worth mentioning
    container = make_container((7, 0, 0), 1e-7, radius=1e-7)
    positions, velocities = within(
        container, [[3, 0, 0], [7, 0, 0]], 4, [[1, 2, 0], [3, 4, 5]], shape=shape, method=method
    )
    assert np.isfinite(positions).all()
    if shape != "MESH":
        np.testing.assert_allclose(positions[-1], [[7, 0, 0]] * 2, atol=1e-5)
    np.testing.assert_allclose(
        np.linalg.norm(velocities[-1], axis=1), np.linalg.norm(velocities[0], axis=1), rtol=1e-6
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_those_who_stay_inside_are_not_touched(shape):
    points, velocity = scatter(50, 1.0, flat=False), scatter(50, 1.0, seed=9, flat=False)
    free, _ = within(None, points, 5, velocity, method="BOUNCE")
    for method in ("AVOID", "BOUNCE", "WRAP"):
        held, _ = within(
            make_container((0, 0, 0), 3.0), points, 5, velocity, shape=shape, method=method
        )
        np.testing.assert_array_equal(held, free)
