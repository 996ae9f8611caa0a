"""Crowds in contact: dense ones come to rest, walkers stay on their ground, jumps stay jumps."""

import numpy as np
import pytest
from crowdtools import box, crowd, run, simulation
from test_contacts import bodies, lattice, overlap

from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.containment import Containment
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.geometry import ground
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.containers import make_container
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_a_crowd_that_converges_comes_to_rest(motion):
    flat = motion == "GROUND"
    start = lattice(300 if flat else 200, 1.0, flat)
    settings = bodies(Arrive(slow_radius=2.0), motion=motion, agents={"max_force": 8.0})
    positions, velocities = run(settings, start, 24 * 15, target=[start.mean(axis=0)])
    assert max(overlap(p, 0.25, flat) for p in positions[::8]) < 0.02
    speed = np.linalg.norm(velocities, axis=2)
    assert speed.max() <= 1.4 + 1e-5
    energy = (0.5 * speed**2).mean(axis=1)
    assert energy[-1] < 1e-3 * energy.max()
    apart = np.linalg.norm(positions[-1] - start.mean(axis=0), axis=1)
    core = apart < np.median(apart)
    assert np.abs(positions[-1] - positions[-24])[core].max() < 0.01
    # they stand close, not on guard
    radius = np.sort(apart)[len(start) // 2] + 0.25
    filled = core.sum() * (0.25 / radius) ** (2 if flat else 3)
    assert filled > (0.6 if flat else 0.3)


def hills(size=30.0, steps=40):
    """Ground with hills of up to 35°."""
    axis = np.linspace(-size / 2, size / 2, steps)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    points = np.stack([x, y, 1.2 * np.sin(0.6 * x) * np.cos(0.5 * y)], axis=-1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    triangles = np.concatenate([np.stack([a, b, c], -2), np.stack([a, c, d], -2)])
    return Mesh("hills", triangles.reshape(-1, 3, 3).astype(np.float32))


def test_walkers_in_contact_stay_on_their_ground():
    world = make_world(targets=[[1, 2, 0]], ground=hills(), colliders=[box((-2, 0, 0), (2, 2, 9))])
    settings = with_override(bodies(Seek()), "bodies.collide_colliders=on")
    start = lattice(150, 1.0) - [6, 6, 0]
    agents = simulation(settings, start).agents
    sim = Simulation(settings, agents, frame=1, fps=12.0, world=world)
    assert sim.in_colliders > 0
    for step in range(80):
        sim.step(world)
        placed, _, found = ground.place_many(world.ground, sim.agents.position, 0.5)
        assert found.all()
        assert sim.agents.position[:, 2] == pytest.approx(placed[:, 2], abs=2e-3)
        if step > 40:
            assert overlap(sim.agents.position, 0.25) < 0.02


@pytest.mark.slow
def test_agents_that_wrap_around_in_a_container_meet_nobody_on_the_way():
    container = make_container((0, 0, 0), 5.0)
    wrap = Containment(method="WRAP", shape="SPHERE")
    settings = bodies(wrap, motion="FLY", agents={"max_speed": 5.0})
    start = np.array([[4.8, 0, 0], [0, 0, 0], [0, 3, 0]], np.float32)
    velocity = np.array([[5, 0, 0], [0, 0, 0], [0, 0, 0]], np.float32)
    world = make_world(containers=container, colliders=[box((2, 0, 0), (1, 4, 4))])
    settings = with_override(settings, "bodies.collide_colliders=on")
    positions, _ = run(settings, start, 4, velocity, world=world)
    assert positions[-1, 0, 0] < -3.0
    assert (positions[:, 1:] == positions[0, 1:]).all()


def test_of_substeps_only_the_first_is_pushed_by_what_moved():
    def bus(frame):
        return box((-4 + 0.8 * frame, 0, 1), (4, 3, 4), "bus")

    settings = with_override(bodies(), "bodies.collide_colliders=on")
    settings = with_override(settings, "solver.substeps=4")
    agents = simulation(settings, [[0, 0, 0]]).agents
    sim = Simulation(settings, agents, frame=1, fps=24, world=make_world(colliders=[bus(0)]))
    for frame in range(1, 6):
        sim.step(make_world(colliders=[bus(frame)]))
        assert sim.agents.position[0, 0] >= min(-2 + 0.8 * frame, 0.0)
        assert sim.agents.position[0, 0] <= max(-2 + 0.8 * frame + 0.3, 0.0)


def test_settings_that_are_off_change_nothing():
    start = lattice(20, 0.3)
    settings = crowd(Seek())
    free, _ = run(settings, start, 10, target=[[50, 0, 0]])
    alone = with_override(settings, "bodies.collide_colliders=on")
    also, _ = run(alone, start, 10, target=[[50, 0, 0]])
    assert np.array_equal(free, also), "there are no colliders"
