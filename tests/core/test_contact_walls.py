"""Walls hold: thin ones, corners, doors barely wider than a body, and those with faults."""

import numpy as np
import pytest
from crowdtools import box, crowd, run, scatter, simulation, wall
from solids import beyond_convex

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation


def bodies(*stack, **more):
    """Settings of a crowd whose bodies touch one another, and walls."""
    settings = with_override(crowd(*stack, **more), "bodies.collide_agents=on")
    return with_override(settings, "bodies.collide_colliders=on")


def door(width, x=5.0, name="door"):
    """Two thick walls across the way, with a door in the middle."""
    side = 5.0 + width / 2
    return [
        box((x, -side, 1), (0.2, 10, 4), f"{name} left"),
        box((x, side, 1), (0.2, 10, 4), f"{name} right"),
    ]


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("speed, fps", [(1.4, 24.0), (50.0, 12.0), (50.0, 240.0)])
def test_a_wall_of_one_face_stops_at_any_speed(motion, speed, fps):
    settings = bodies(Seek(), motion=motion, agents={"max_speed": speed})
    world = make_world(targets=[[20, 0, 0]], colliders=[wall(5.0, width=60.0)])
    start = [[0, 0, 0], [0, 1, 0], [0, -3, 0]]
    positions, _ = run(settings, start, 100, world=world, fps=fps)
    assert positions[..., 0].max() <= 4.75 + 1e-5


@pytest.mark.parametrize("width", [0.6, 0.52, 0.502])
def test_a_door_barely_wider_than_a_body_is_passed(width):
    world = make_world(targets=[[10, 0, 0]], colliders=door(width))
    start = [[0, 0.3, 0], [-1, -0.3, 0]]
    positions, _ = run(bodies(Seek()), start, 24 * 9, world=world)
    assert (positions[-1][:, 0] > 5.3).all()


@pytest.mark.parametrize("radius", [0.3, 5.0])
def test_a_body_wider_than_the_door_stays_outside(radius):
    world = make_world(targets=[[10, 0, 0]], colliders=door(0.5))
    settings = bodies(Seek(), agents={"radius": radius})
    positions, _ = run(settings, [[-2, 0.1, 0]], 24 * 9, world=world)
    assert positions[-1, 0, 0] < 5.0


def test_walls_keep_the_radius_away_where_there_is_room():
    world = make_world(targets=[[10, 0, 0]], colliders=[box((5, 0, 1), (2, 2, 4))])
    start = np.array([[0, y, 0] for y in np.linspace(-1.6, 1.6, 9)])
    settings = with_override(bodies(Seek()), "bodies.collide_agents=off")
    positions, _ = run(settings, start, 24 * 8, world=world)
    aside = np.linalg.norm(np.maximum(np.abs(positions[..., :2] - [5, 0]) - 1.0, 0.0), axis=-1)
    assert aside.min() >= 0.25 - 1e-4


def test_a_wall_below_the_step_height_is_stepped_over():
    world = make_world(targets=[[10, 0, 0]], colliders=[box((5, 0, 0), (1, 8, 0.6))])
    positions, _ = run(bodies(Seek()), [[0, 0, 0]], 24 * 6, world=world)
    assert positions[-1, 0, 0] > 6.0


def test_a_crowd_at_a_door_goes_through_no_wall():
    start = scatter(120, 7.0) + [0.0, 0.0, 0.0]
    world = make_world(targets=[[12, 0, 0]], colliders=door(1.4))
    settings = bodies(Arrive(), agents={"max_speed": 3.0})
    positions, _ = run(settings, start, 150, world=world)
    for mesh in door(1.4):
        for p in positions:
            assert beyond_convex(p + [0, 0, 0.35], mesh).min() > 0.0
    beside = (np.abs(positions[..., 1]) > 0.7) & (np.abs(positions[..., 0] - 5.0) < 0.1)
    assert not beside.any()
    assert (positions[-1][:, 0] > 5.2).any()


def test_a_corner_is_not_cut_in_one_step():
    block = box((4, 0, 1), (4, 4, 4))
    world = make_world(targets=[[6, 6, 0]], colliders=[block])
    settings = bodies(Seek(), agents={"max_speed": 40.0, "radius": 0.1})
    positions, _ = run(settings, [[0, 1.8, 0]], 40, world=world, fps=12)
    for share in np.linspace(0, 1, 11):
        between = positions[1:] * share + positions[:-1] * (1 - share) + [0, 0, 0.35]
        assert beyond_convex(between.reshape(-1, 3), block).min() > -1e-6
    assert np.linalg.norm(positions[-1, 0, :2] - [6, 6]) < 4.0


def odd_colliders():
    good = box((5, 0, 1), (2, 2, 4), "good")
    inside_out = Mesh("inside out", good.triangles[:, ::-1])
    opened = Mesh("open", good.triangles[2:])
    return {
        "overlapping": [good, box((5.5, 0.5, 1), (2, 2, 4), "other"), box((5, 0, 1), (1, 1, 3))],
        "open": [opened],
        "inside out": [inside_out],
        "no area": [Mesh("flat", np.zeros((3, 3, 3), np.float32)), good],
        "twice": [good, Mesh("again", good.triangles)],
    }


@pytest.mark.parametrize("name", odd_colliders())
@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_colliders_with_faults_hold(name, motion):
    world = make_world(targets=[[5, 0, 0.5]], colliders=odd_colliders()[name])
    settings = bodies(Seek(), motion=motion, agents={"max_speed": 30.0})
    start = [[0, 0.3, 0.2], [5, -4, 0.1], [10, 0.1, 0], [5.2, 6, 0.3]]
    if motion == "GROUND":
        start = np.array(start) * [1, 1, 0]
    positions, velocities = run(settings, start, 60, world=world)
    lift = [0, 0, 0.35 if motion == "GROUND" else 0.0]
    assert np.isfinite(velocities).all()
    for p in positions:
        assert beyond_convex(p + lift, box((5, 0, 1), (2, 2, 4))).min() > -1e-6


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_agents_inside_walls_start_at_the_nearest_free_place(motion):
    settings = bodies(motion=motion)
    start = [[4.2, 0.1, 0.5], [5, 0.9, 0.5], [0, 0, 0.5], [5.9, -0.2, 0.5]]
    world = make_world(colliders=[box((5, 0, 1), (2, 2, 4))])
    agents = simulation(settings, start).agents
    sim = Simulation(settings, agents, frame=1, fps=24.0, world=world)
    assert sim.in_colliders == 3
    wanted = [[3.75, 0.1, 0.5], [5, 1.25, 0.5], [0, 0, 0.5], [6.25, -0.2, 0.5]]
    assert sim.agents.position == pytest.approx(np.array(wanted, np.float32), abs=1e-5)


def test_in_two_walls_that_overlap_the_way_out_leads_out_of_both():
    meshes = [box((0, 0, 1), (2, 2, 4), "a"), box((1.5, 0, 1), (2, 6, 4), "b")]
    settings = bodies()
    agents = simulation(settings, [[0.8, 0.1, 0], [1.2, 0, 0]]).agents
    sim = Simulation(settings, agents, frame=1, fps=24, world=make_world(colliders=meshes))
    assert sim.in_colliders == 2
    for mesh in meshes:
        assert beyond_convex(sim.agents.position + [0, 0, 0.35], mesh).min() > 0.2


def test_a_room_whose_walls_face_inward_is_no_solid():
    room = Mesh("room", box((0, 0, 1), (10, 10, 4)).triangles[:, ::-1])
    settings = bodies(Seek())
    world = make_world(targets=[[30, 0, 0]], colliders=[room])
    agents = simulation(settings, [[0, 0, 0]]).agents
    sim = Simulation(settings, agents, frame=1, fps=24.0, world=world)
    assert sim.in_colliders == 0
    for _ in range(24 * 8):
        sim.step(world)
    assert sim.agents.position[0, 0] == pytest.approx(4.75, abs=1e-4)


def without(mesh, *sides):
    """A box from which some sides are left out, by axis and whether the upper one."""
    corners, keep = mesh.triangles, np.ones(len(mesh.triangles), bool)
    for axis, upper in sides:
        end = corners[:, :, axis].max() if upper else corners[:, :, axis].min()
        keep &= ~(corners[:, :, axis] == end).all(axis=1)
    return Mesh(mesh.name, corners[keep])


FLOOR, CEILING, FRONT = (2, False), (2, True), (0, True)


@pytest.mark.parametrize("sides", [(FLOOR,), (CEILING,), (FLOOR, CEILING), (FRONT,)])
@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_who_starts_in_an_open_room_stays_in_it(motion, sides):
    room = without(box((0, 0, 2), (10, 8, 4)), *sides)
    places = np.random.default_rng(3).uniform([-4.7, -3.7, 0.3], [4.7, 3.7, 3.0], (60, 3))
    if motion == "GROUND":
        places[:, 2] = 0.0
    settings = bodies(motion=motion)
    settings = with_override(settings, "bodies.collide_agents=off")
    agents = simulation(settings, places).agents
    sim = Simulation(settings, agents, frame=1, fps=24.0, world=make_world(colliders=[room]))
    assert sim.in_colliders == 0
    solid = make_world(colliders=[box((0, 0, 2), (10, 8, 4))])
    assert Simulation(settings, agents, frame=1, fps=24.0, world=solid).in_colliders == 60
