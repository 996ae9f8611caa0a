"""Walking crowds on terrain: on their ground, around pillars, and never through a steep face."""

import numpy as np
import pytest
from crowdtools import box, crowd, run, simulation
from meshfiles import shared_triangles

from steer_addon.core.behaviors.obstacle_avoidance.behavior import ObstacleAvoidance
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.inputs.world import make_world


def sheet(heights, size=40.0, name="ground"):
    """A grid mesh over ±size/2 whose height is a function of x and y."""
    axis = np.linspace(-size / 2, size / 2, 41)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    points = np.stack([x, y, heights(x, y)], axis=-1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    triangles = np.concatenate([np.stack([a, b, c], -2), np.stack([a, c, d], -2)])
    return Mesh(name, triangles.reshape(-1, 3, 3).astype(np.float32))


def test_agents_are_put_on_the_ground_at_the_start_and_counted_when_there_is_none():
    world = make_world(ground=sheet(lambda x, y: 0.2 * x))
    settings = crowd(Seek())
    sim = simulation(settings, [[1, 0, 1.0], [-3, 2, 0.0], [90, 0, 0]])
    placed = type(sim)(settings, sim.agents, frame=1, fps=24, world=world)
    np.testing.assert_allclose(placed.agents.position[:2, 2], [0.2, -0.6], atol=1e-5)
    assert placed.off_ground == 1


def test_walkers_keep_their_speed_on_slopes_and_stay_on_them():
    slope = np.radians(30)
    world = make_world(targets=[[15, 0, 0]], ground=sheet(lambda x, y: np.tan(slope) * x))
    positions, velocities = run(crowd(Seek()), [[-10, 0, -10 * np.tan(slope)]], 150, world=world)
    x, z = positions[:, 0, 0], positions[:, 0, 2]
    np.testing.assert_allclose(z, np.tan(slope) * x, atol=1e-3)
    assert np.linalg.norm(velocities[-1, 0]) == pytest.approx(1.4, rel=1e-3)
    assert positions[-1, 0, 0] > -4


def test_a_cliff_is_not_climbed():
    world = make_world(targets=[[15, 0, 0]], ground=sheet(lambda x, y: np.where(x > 0.5, 4.0, 0.0)))
    positions, velocities = run(crowd(Seek()), [[-5, 3, 0]], 24 * 12, world=world)
    assert positions[:, 0, 0].max() < 1.0
    assert np.abs(positions[:, 0, 2]).max() < 0.6


def test_steep_ground_is_steered_around_as_an_obstacle():
    pillar = box((0, 0, 1), (2, 2, 4))
    floor = sheet(lambda x, y: 0 * x)
    ground = Mesh("ground", np.concatenate([floor.triangles, pillar.triangles]))
    settings = crowd(Seek(), ObstacleAvoidance(weight=2.0))
    positions, _ = run(
        settings, [[-8, 0.2, 0]], 24 * 16, world=make_world(targets=[[8, 0, 0]], ground=ground)
    )
    assert np.linalg.norm(positions[-1, 0, :2] - [8, 0]) < 2.0
    assert np.linalg.norm(positions[:, 0, :2], axis=1).min() > 1.0


@pytest.mark.parametrize("name", ["nav_test.obj", "dungeon.obj"])
def test_pedestrians_on_real_terrain(name):
    triangles = shared_triangles(name)
    settings = load_preset("pedestrians").settings
    rng = np.random.default_rng(1)
    flat = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = np.linalg.norm(flat, axis=1)
    walkable = np.where(flat[:, 2] > 0.9 * area, area, 0.0)
    rows = rng.choice(len(triangles), 300, p=walkable / walkable.sum())
    points = triangles[rows].mean(axis=1)
    world = make_world(targets=[[20, 0, 0]], ground=Mesh("ground", triangles))
    start = simulation(settings, points)
    sim = type(start)(settings, start.agents, frame=1, fps=24, world=world)
    assert sim.off_ground == 0
    before = sim.agents.position.copy()
    for _ in range(120):
        sim.step(world)
        assert np.isfinite(sim.agents.position).all()
        assert (sim.agents.normal[:, 2] > np.cos(np.radians(45.1))).all()
        assert sim.agents.speed.max() <= 1.4 + 1e-3
    moved = np.linalg.norm(sim.agents.position - before, axis=1)
    assert np.median(moved) > 2.0
