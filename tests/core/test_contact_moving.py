"""Moving colliders push agents and never swallow them: rigid, scaled, bent, fast, and thin ones."""

from dataclasses import replace

import numpy as np
import pytest
from crowdtools import box, crowd, place, same_bits
from solids import ball, beyond_convex

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.contacts import find_moved
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import CollidersBuilder, World, make_world
from steer_addon.core.step.simulation import Simulation

FPS = 24.0


def settings_of(*stack, together=True, **more):
    """Settings of a crowd that walls hold."""
    settings = with_override(crowd(*stack, **more), "bodies.collide_colliders=on")
    return with_override(settings, "bodies.collide_agents=on") if together else settings


def worlds(meshes, target=(0, 0, 0)):
    """The worlds of all frames; `meshes` gives those of a frame."""
    builder, still = CollidersBuilder(), make_world(targets=[target])

    def at(frame):
        return replace(still, colliders=builder.build(meshes(frame)))

    return at


def play(settings, start, meshes, steps, target=(0, 0, 0), fps=FPS):
    """Positions of all frames, (steps + 1, agents, 3)."""
    at = worlds(meshes, target)
    sim = Simulation(settings, place(settings, start), frame=0, fps=fps, world=at(0))
    found = [sim.agents.position.copy()]
    found += [sim.step(at(frame)).position for frame in range(1, steps + 1)]
    return np.array(found, np.float64)


def deepest(positions, meshes, lift=0.35):
    """How far outside of the convex meshes of their frame all were at least [m]."""
    return min(
        beyond_convex(p + [0, 0, lift], mesh).min()
        for frame, p in enumerate(positions)
        for mesh in meshes(frame)
    )


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("speed", [1.0, 15.0, 50.0])
def test_a_bus_pushes_whoever_stands_in_its_way(motion, speed):
    def bus(frame):
        return [box((-12 + speed * frame / FPS, 0, 0.5), (8, 2.5, 3), "bus")]

    start = [[0, 0, 0], [0, 0.9, 0], [0, -1.24, 0.1], [3, 0, 0], [0, 5, 0], [9, 1.2, 0.2]]
    if motion == "GROUND":
        start = np.array(start) * [1, 1, 0]
    positions = play(settings_of(motion=motion), start, bus, 40)
    assert deepest(positions, bus, 0.35 if motion == "GROUND" else 0.0) > 0.0
    assert (positions[:, 4] == positions[0, 4]).all(), "agents beside the way stay"
    assert positions[-1, 0, 0] > 1.0 or speed * 40 / FPS < 9.0


def test_a_moving_wall_of_one_face_takes_all_along():
    def screen(frame):
        corners = np.array([[0, -9, -2], [0, 9, -2], [0, 9, 2], [0, -9, 2]], np.float32)
        corners[:, 0] = -3 + 0.8 * frame
        return [Mesh("screen", corners[[[0, 1, 2], [0, 2, 3]]])]

    start = np.array([[x, y, 0] for x in (-1.0, 0.0, 2.0) for y in (-2.0, 0.0, 3.0)])
    positions = play(settings_of(Arrive(), together=False), start, screen, 30)
    front = -3 + 0.8 * np.arange(31)
    assert (positions[..., 0] > front[:, None]).all()


def test_turning_growing_and_bending_meshes_push_too():
    x_blade = box((0, 0, 1), (8, 0.2, 4)).triangles.astype(np.float64)
    sphere = ball((0, 0, 0.35), 1.0)

    def blade(frame):
        angle = 0.12 * frame
        turn = np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0]])
        turn = np.vstack([turn, [0, 0, 1]])
        return [Mesh("blade", (x_blade @ turn).astype(np.float32))]

    def growing(frame):
        size = 1.0 + 0.12 * frame
        return [Mesh("ball", ((sphere.triangles - [0, 0, 0.35]) * size + [0, 0, 0.35]))]

    def squashed(frame):
        size = np.array([1.0 + 0.1 * frame, 1.0 + 0.02 * frame, 1.0])
        return [Mesh("ball", (sphere.triangles * size).astype(np.float32))]

    start = np.array([[x, y, 0] for x in (-3, -1.5, 1.4, 2.6) for y in (-1.3, 0.9, 2.2)])
    for meshes in (blade, growing, squashed):
        positions = play(settings_of(together=False), start, meshes, 30)
        assert deepest(positions, meshes) > 0.0
        assert not np.array_equal(positions[-1], positions[0])


def test_a_collider_that_appears_on_agents_puts_them_outside():
    block = box((0, 0, 1), (2, 2, 4), "block")

    def appears(frame):
        return [box((30, 0, 0), (1, 1, 1), "other")] + ([block] if frame >= 2 else [])

    start = np.array([[0.4, 0, 0], [-0.2, 0.7, 0], [3, 0, 0]])
    positions = play(settings_of(together=False), start, appears, 4)
    assert (positions[1] == positions[0]).all()
    assert beyond_convex(positions[2] + [0, 0, 0.35], block).min() >= 0.25 - 1e-4
    assert positions[2, 0] == pytest.approx([1.25, 0, 0], abs=1e-4)


def test_between_a_bus_and_a_wall_agents_get_out_of_both():
    wall = box((4, 0, 1), (0.5, 30, 4), "wall")

    def squeeze(frame):
        return [wall, box((-6 + 0.4 * min(frame, 17), 0, 1), (8, 2, 4), "bus")]

    positions = play(settings_of(), [[2, 0, 0], [3, 0.5, 0]], squeeze, 25)
    assert deepest(positions, squeeze) > 0.0
    assert (positions[..., 0] < 3.75).all(), "nobody went through the wall"


def test_a_lift_that_goes_up_and_a_door_that_shuts_in_one_step():
    def shuts(frame):
        gap = 2.0 if frame < 3 else 0.0
        return [
            box((0, -5 - gap / 2, 1), (0.4, 10, 4), "left"),
            box((0, 5 + gap / 2, 1), (0.4, 10, 4), "right"),
        ]

    positions = play(settings_of(), [[0, 0.2, 0], [0, -0.3, 0]], shuts, 8)
    assert deepest(positions, shuts) > 0.0


def test_only_what_moved_is_told_apart():
    still, bus = box((9, 0, 0), (1, 1, 1), "still"), box((0, 0, 0), (2, 1, 1), "bus")
    builder = CollidersBuilder()
    first = builder.build([still, bus])
    assert find_moved(first, builder.build([still, bus])) is None
    assert find_moved(None, first) is None
    again = Mesh("bus", bus.triangles.copy())
    assert find_moved(first, builder.build([still, again])) is None, "read again, but as it was"
    moved = find_moved(first, builder.build([still, Mesh("bus", bus.triangles + 1)]))
    assert moved is not None
    assert moved.kind.tolist() == [0, 1]
    assert find_moved(first, CollidersBuilder().build([bus])) is None
    fewer = builder.build([still, Mesh("bus", bus.triangles[:6])])
    assert find_moved(first, fewer).kind.tolist() == [0, 2]


def test_going_on_from_a_frame_with_its_world_changes_no_bit():
    def bus(frame):
        return [box((-5 + 0.5 * frame, 0, 1), (4, 3, 4), "bus")]

    settings = settings_of(Seek())
    start = np.array([[x, y, 0] for x in (0, 1, 2) for y in (-1, 0, 1)])
    at = worlds(bus, (8, 0, 0))
    whole = Simulation(settings, place(settings, start), frame=0, fps=FPS, world=at(0))
    for frame in range(1, 8):
        whole.step(at(frame))
    resumed = Simulation(
        settings, whole.agents, frame=7, fps=FPS, world=worlds(bus)(7), placed=True
    )
    assert same_bits(resumed.agents, whole.agents)
    for frame in range(8, 20):
        world = at(frame)
        whole.step(world)
        resumed.step(World(targets=world.targets, colliders=world.colliders))
    assert same_bits(resumed.agents, whole.agents)
