"""Bodies have a height: what hangs lower than a head blocks, what is lower than a step does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import box, crowd, place, run, same_bits, scatter, simulation
from solids import ball
from test_contact_walls import bodies

from steer_addon.core.behaviors.obstacle_avoidance.behavior import ObstacleAvoidance
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.behaviors.wall_avoidance.behavior import WallAvoidance
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.errors import AgentError
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import CollidersBuilder, World, make_world
from steer_addon.core.sensing.sight import first_hit
from steer_addon.core.step.crowd_step import world_view
from steer_addon.core.step.simulation import Simulation


def beyond(positions, center, size):
    """Level distance of places from the outline of a box [m], 0 inside."""
    half = np.asarray(size, float)[:2] / 2
    off = np.abs(np.asarray(positions)[..., :2] - np.asarray(center, float)[:2]) - half
    return np.linalg.norm(np.maximum(off, 0.0), axis=-1)


def hanging(bottom, center=(5, 0), size=(2, 2, 1), name="hanging"):
    """A box that hangs with its bottom at a height."""
    return box((*center, bottom + size[2] / 2), size, name)


@pytest.mark.parametrize("bottom", [0.36, 0.6, 1.2, 1.7])
def test_what_hangs_lower_than_a_head_keeps_the_radius_away(bottom):
    world = make_world(targets=[[10, 0, 0]], colliders=[hanging(bottom)])
    start = np.array([[0, y, 0] for y in np.linspace(-1.6, 1.6, 9)])
    settings = with_override(bodies(Seek()), "bodies.collide_agents=off")
    positions, _ = run(settings, start, 24 * 8, world=world)
    assert beyond(positions, (5, 0), (2, 2)).min() == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize("bottom", [1.81, 3.0])
def test_what_hangs_above_all_heads_is_passed_below(bottom):
    world = make_world(targets=[[10, 0, 0]], colliders=[hanging(bottom)])
    positions, _ = run(bodies(Seek()), [[0, 0, 0]], 24 * 8, world=world)
    assert positions[-1, 0, 0] > 9.0
    assert np.abs(positions[:, 0, 1]).max() == 0.0


@pytest.mark.parametrize(
    ("height", "passes"), [(0.5, True), (1.19, True), (1.21, False), (5.0, False)]
)
def test_the_height_decides(height, passes):
    world = make_world(targets=[[10, 0, 0]], colliders=[hanging(1.2)])
    settings = with_override(bodies(Seek()), f"bodies.height={height}")
    positions, _ = run(settings, [[0, 0, 0]], 24 * 8, world=world)
    assert (positions[-1, 0, 0] > 6.0) == passes


def test_a_point_attribute_overrides_the_height_of_the_crowd():
    world = make_world(targets=[[10, 0, 0]], colliders=[hanging(1.2, size=(2, 20, 1))])
    start = [[0, 2.0 * k, 0] for k in range(4)]
    tall = np.array([1.1, 1.3, 0.2, 1.9], np.float32)
    positions, _ = run(bodies(Seek()), start, 24 * 8, world=world, attributes={"height": tall})
    assert ((positions[-1, :, 0] > 4.0) == [True, False, True, False]).all()
    with pytest.raises(AgentError, match="'height' of agent 1"):
        place(crowd(), start, attributes={"height": np.array([1.0, -1.0, 1.0, 1.0], np.float32)})


def test_people_below_a_cube_start_at_the_nearest_free_place():
    start = [[5, 0.9, 0], [4.2, 0.1, 0], [5.9, -0.2, 0], [0, 0, 0], [5.1, -0.8, 0]]
    settings = bodies()
    world = make_world(colliders=[hanging(0.6)])
    agents = simulation(settings, start).agents
    sim = Simulation(settings, agents, frame=1, fps=24.0, world=world)
    assert sim.in_colliders == 4
    wanted = [[5, 1.25, 0], [3.75, 0.1, 0], [6.25, -0.2, 0], [0, 0, 0], [5.1, -1.25, 0]]
    assert sim.agents.position == pytest.approx(np.array(wanted, np.float32), abs=1e-5)


def test_nobody_starts_below_a_table_without_thickness():
    table = Mesh("table", hanging(0.7).triangles[:2])
    settings = bodies()
    agents = simulation(settings, scatter(40, 2.4) + [5, 0, 0]).agents
    world = make_world(colliders=[table])
    sim = Simulation(settings, agents, frame=1, fps=24.0, world=world)
    below = beyond(agents.position, (5, 0), (2, 2)) == 0.0
    assert sim.in_colliders == below.sum() > 20
    assert beyond(sim.agents.position[below], (5, 0), (2, 2)).min() > 0.24
    moved = np.linalg.norm((sim.agents.position - agents.position)[below], axis=1)
    assert moved.max() < 1.25 * 1.5


def test_a_crowd_pressed_against_a_table_goes_not_below_it():
    table = hanging(0.7, size=(2, 4, 0.05))
    world = make_world(targets=[[5, 0, 0]], colliders=[table])
    settings = bodies(Seek(), agents={"max_speed": 4.0})
    positions, _ = run(settings, scatter(60, 5.0), 100, world=world)
    assert beyond(positions, (5, 0), (2, 4)).min() > 0.0
    assert beyond(positions, (5, 0), (2, 4)).min() < 0.26


def test_who_climbs_toward_a_beam_does_not_put_the_head_into_it():
    ramp = np.array([[[0, -9, 0], [20, -9, 10], [20, 9, 10]], [[0, -9, 0], [20, 9, 10], [0, 9, 0]]])
    beam = box((8, 0, 3.6), (4, 30, 1), "beam")  # its bottom is at 3.1 m, reached at x = 2.6 m
    settings = with_override(bodies(Seek()), "bodies.height=1.8")
    world = make_world(
        targets=[[18, 0, 9]], colliders=[beam], ground=Mesh("ramp", ramp.astype(np.float32))
    )
    positions, _ = run(settings, [[0.5, 0, 0.25], [0.5, 2, 0.25]], 24 * 12, world=world)
    head = positions + [0, 0, 1.8]
    below = (positions[..., 0] > 6.0) & (positions[..., 0] < 10.0)
    assert not (below & (head[..., 2] > 3.1 + 1e-4)).any()


@pytest.mark.parametrize("speed", [2.0, 20.0])
def test_a_truck_pushes_with_what_hangs_between_its_wheels(speed):
    settings, builder = bodies(), CollidersBuilder()
    start = np.array([[3, 0, 0], [4, 0.8, 0], [5, -0.9, 0], [6, 0.2, 0], [4, 3, 0]])
    truck = hanging(0.6, center=(0, 0), size=(4, 2, 2), name="truck").triangles

    def world(frame):
        shift = np.float32([speed * frame / 24.0, 0, 0])
        return World(colliders=builder.build([Mesh("truck", truck + shift, True)]))

    agents = simulation(settings, start).agents
    sim = Simulation(settings, agents, frame=0, fps=24.0, world=world(0))
    for frame in range(1, 30):
        sim.step(replace(make_world(), colliders=world(frame).colliders))
        center = (speed * frame / 24.0, 0)
        assert beyond(sim.agents.position, center, (4, 2)).min() > 0.0
    assert sim.agents.position[4] == pytest.approx([4, 3, 0])


def test_a_press_that_comes_down_leaves_nobody_below():
    settings, builder = bodies(), CollidersBuilder()
    press = hanging(0.0, center=(0, 0), size=(2, 2, 1), name="press").triangles

    def world(frame):
        lift = np.float32([0, 0, 2.0 - frame * 0.1])
        return World(colliders=builder.build([Mesh("press", press + lift, True)]))

    agents = simulation(settings, [[0.3, 0.2, 0], [-0.6, 0.1, 0], [2, 0, 0]]).agents
    sim = Simulation(settings, agents, frame=0, fps=24.0, world=world(0))
    assert sim.in_colliders == 0
    for frame in range(1, 15):
        sim.step(replace(make_world(), colliders=world(frame).colliders))
        if 2.0 - frame * 0.1 < 1.79:
            assert beyond(sim.agents.position, (0, 0), (2, 2)).min() > 0.0


@pytest.mark.parametrize("far", [[], [hanging(0.6, center=(60, 60))]])
def test_walls_up_to_above_the_head_stop_as_those_of_a_floor_plan(far):
    """Where nothing hangs, a body with a height moves as one without."""
    pillars = [box((x, y, 1), (0.7, 0.7, 4), f"{x} {y}") for x in (-3, 0, 3) for y in (-3, 0, 3)]
    world = make_world(targets=[[4, 1, 0], [-4, 2, 0]], colliders=[*pillars, *far])
    start = scatter(60, 9.0, seed=4)
    settings = bodies(Seek(target_choice="BY_ID"), WallAvoidance())
    low = with_override(settings, "bodies.height=0.0")
    one, other = (run(s, start, 60, world=world)[0] for s in (settings, low))
    assert np.abs(one - one[0]).max() > 1.0
    assert one == pytest.approx(other, abs=1e-5)


def turned(mesh, angle):
    c, s = np.cos(angle), np.sin(angle)
    return Mesh(mesh.name, (mesh.triangles @ [[c, s, 0], [-s, c, 0], [0, 0, 1]]).astype(np.float32))


@pytest.mark.parametrize(
    ("mesh", "expected"),
    [
        (box((0, 0, 1), (1, 1, 4)), False),
        (turned(box((7, 3, 1), (1, 1, 4)), 0.3), False),
        (box((0, 0, 0.1), (1, 1, 0.4)), False),
        (box((0, 0, 0.2), (1, 1, 0.4)), True),
        (hanging(0.6), True),
        (hanging(1.7), True),
        (hanging(1.8), False),
        (ball(radius=3.0, rounds=1), True),
        (Mesh("ramp", np.float32([[[0, 0, -1], [5, 0, 9], [0, 5, 9]]])), True),
    ],
)
def test_what_has_the_same_plan_up_to_the_heads_does_not_hang(mesh, expected):
    colliders = make_world(colliders=[box((9, 9, 1), (1, 1, 6), "other"), mesh]).colliders
    assert colliders.hangs(0.35, 1.8) == expected
    assert colliders.hangs(0.35, 1.8) == expected


TABLE = hanging(0.7, size=(2, 2, 0.05))
SHEET = Mesh("sheet", TABLE.triangles[:2])


@pytest.mark.parametrize("table", [TABLE, SHEET], ids=["table", "sheet"])
@pytest.mark.parametrize(
    "avoiding",
    [
        WallAvoidance(feeler_mode="FIXED", feeler_length=2.0),
        ObstacleAvoidance(look_ahead=3.0, max_avoid=4.0),
        ObstacleAvoidance(method="WHISKERS"),
    ],
    ids=["wall_avoidance", "rays", "whiskers"],
)
def test_who_looks_ahead_sees_a_table_as_a_pillar_of_its_outline(avoiding, table):
    settings = crowd(avoiding, Seek())  # no contacts: nothing else keeps agents away
    start, pillar = [[0, 0.6, 0], [0, -0.7, 0], [0, 0.9, 0]], box((5, 0, 1), (2, 2, 4))
    world, solid = (make_world(targets=[[12, 0, 0]], colliders=[m]) for m in (table, pillar))
    positions, _ = run(settings, start, 24 * 9, world=world)
    assert beyond(positions, (5, 0), (2, 2)).min() > 0.0
    assert positions == pytest.approx(run(settings, start, 24 * 9, world=solid)[0], abs=1e-3)
    below = with_override(settings, "bodies.height=0.6")
    positions, _ = run(below, start, 24 * 9, world=world)
    assert np.abs(positions[..., 1]).max() <= 0.9 + 1e-6
    assert (positions[-1, :, 0] > 11.0).all()


def test_the_rim_of_a_table_is_seen_as_a_wall():
    agents = place(crowd(), [[0, 0, 0]])
    seen = world_view(crowd(), make_world(colliders=[SHEET]), 1 / 24, 0, 0, agents)
    for side in (-1.0, 1.0):
        along = (side * np.cos(0.2), np.sin(0.2), 0.0)
        origin = (5.0 - 5.0 * side, -0.5, 0.35)
        _triangle, distance, normal = first_hit(seen, origin, along, 9.0)
        assert distance == pytest.approx(4.0 / np.cos(0.2), abs=1e-6)
        assert normal == pytest.approx((-side, 0.0, 0.0), abs=1e-6)


def test_flyers_have_no_height():
    world = make_world(targets=[[10, 0, 0]], colliders=[hanging(0.6)])
    start = [[0, 0, 0.2], [0, 0.5, 0.1]]
    settings = bodies(Seek(), motion="FLY")
    positions, _ = run(settings, start, 100, world=world)
    taller = with_override(settings, "bodies.height=9.0")
    assert np.array_equal(positions, run(taller, start, 100, world=world)[0])


def test_threads_have_no_say():
    world = make_world(targets=[[5, 0, 0]], colliders=[hanging(0.6), hanging(1.0, (0, 4))])
    settings = bodies(Seek(), agents={"max_speed": 3.0})
    start, ends = scatter(1500, 30.0), []
    for threads in (1, 2):
        before = jit.set_threads(threads)
        sim = Simulation(settings, place(settings, start), frame=1, fps=24.0, world=world)
        for _ in range(12):
            sim.step(world)
        jit.set_threads(before)
        ends.append(sim.agents)
    assert same_bits(*ends)
