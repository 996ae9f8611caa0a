"""Bodies do not overlap: discs on the ground, spheres in the air, whatever they wish."""

import numpy as np
import pytest
from crowdtools import crowd, place, run, same_bits, scatter, simulation

from steer_addon.core.agents import make_agents
from steer_addon.core.behaviors.arrive import Arrive
from steer_addon.core.behaviors.seek import Seek
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.overrides import with_override
from steer_addon.core.crowd.settings import BodiesSettings
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation


def bodies(*stack, **more):
    """Settings of a crowd whose bodies touch."""
    return with_override(crowd(*stack, **more), "bodies.collide_agents=on")


def overlap(position, radius, flat=True):
    """Largest share of two radii by which two bodies overlap."""
    p = np.asarray(position, np.float64)[:, : 2 if flat else 3]
    distance = np.linalg.norm(p[:, None] - p[None], axis=2)
    touch = np.broadcast_to(radius, len(p))[:, None] + np.broadcast_to(radius, len(p))[None]
    share = 1.0 - distance / touch
    np.fill_diagonal(share, -1.0)
    return share.max()


def lattice(count, spacing=0.6, flat=True):
    """Places with room for bodies of 0.25 m."""
    side = int(np.ceil(count ** (1 / 2 if flat else 1 / 3)))
    places = np.indices((side, side, 1 if flat else side)).reshape(3, -1).T
    return (places[:count] * spacing).astype(np.float32)


def test_bodies_touch_only_when_they_are_told_to():
    assert BodiesSettings() == BodiesSettings(
        collide_agents=False, collide_colliders=False, iterations=4
    )
    settings = crowd(Seek())
    positions, _ = run(settings, [[-1, 0, 0], [1, 0, 0]], 40, target=[[0, 0, 0]])
    assert min(overlap(p, 0.25) for p in positions) < 0.0 < max(overlap(p, 0.25) for p in positions)


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
@pytest.mark.parametrize("fps", [12.0, 24.0])
def test_a_crowd_that_wants_one_point_never_overlaps(motion, fps):
    flat = motion == "GROUND"
    start = lattice(100, flat=flat)
    settings = bodies(Seek(), motion=motion, agents={"max_speed": 50.0, "radius": 0.25})
    positions, velocities = run(settings, start, 30, target=[start.mean(axis=0)], fps=fps)
    assert max(overlap(p, 0.25, flat) for p in positions) < 1e-4
    assert np.linalg.norm(velocities, axis=2).max() <= 50.0 + 1e-4


def test_radii_are_those_of_the_agents():
    radius = np.array([0.1, 1.0, 0.3, 0.6], np.float32)
    start = np.array([[-3, 0, 0], [3, 0, 0], [0, 3, 0], [0, -3, 0]], np.float32)
    settings = bodies(Seek())
    sim = Simulation(
        settings, place(settings, start, attributes={"radius": radius}), frame=1, fps=24
    )
    world = make_world(targets=[[0, 0, 0]])
    for _ in range(90):
        assert overlap(sim.step(world).position, radius) < 1e-4
    # arrived agents stand against each other
    assert overlap(sim.agents.position, radius) > -0.2


def test_two_that_overlap_back_out_by_the_mass_of_the_other():
    settings = bodies()
    agents = make_agents(
        [[0, 0, 0], [0.1, 0, 0]], radius=0.25, mass=1.0, max_speed=1.4, max_force=10.0,
        attributes={"mass": [3.0, 1.0]},
    )  # fmt: skip
    sim = Simulation(settings, agents, frame=1, fps=24.0)
    for _ in range(60):
        sim.step(make_world())
    left, right = sim.agents.position[:, 0]
    assert right - left == pytest.approx(0.5, rel=2e-4)
    # 0.4 m in all, a quarter of it for the one of 3 kg
    assert left == pytest.approx(-0.1, abs=1e-3)
    assert right == pytest.approx(0.4, abs=1e-3)


def test_who_stands_and_does_not_overlap_does_not_move_at_all():
    start = lattice(30, spacing=0.5)
    positions, velocities = run(bodies(), start, 10)
    assert (positions == positions[0]).all()
    assert (velocities == 0.0).all()


def test_many_on_one_point_spread_without_haste():
    settings = bodies()
    sim = simulation(settings, np.zeros((60, 3), np.float32))
    world, before = make_world(), None
    for _ in range(24 * 8):
        before = sim.agents.position.copy()
        sim.step(world)
        assert np.isfinite(sim.agents.position).all()
        assert np.linalg.norm(sim.agents.position - before, axis=1).max() <= 1.4 / 24 + 1e-6
        assert sim.agents.speed.max() <= 1.4 + 1e-5
    assert overlap(sim.agents.position, 0.25) < 0.02


def test_floors_above_one_another_do_not_touch():
    start = np.array([[0, 0, 0], [0.1, 0, 3.0]], np.float32)
    positions, _ = run(bodies(), start, 5)
    assert (positions == positions[0]).all()


def test_a_follower_closes_up_in_the_step_of_the_leader():
    start = np.array([[0, 0, 0], [0.5, 0, 0], [1.0, 0, 0]], np.float32)
    velocity = np.tile([1.0, 0.0, 0.0], (3, 1))
    positions, _ = run(bodies(), start, 24, velocity)
    # in a row without any gap all go as one, for as many as there are passes
    assert positions[-1][:, 0] == pytest.approx([1.0, 1.5, 2.0], abs=1e-3)


def test_radius_zero_and_points_at_one_place_are_no_trouble():
    settings = bodies(Seek(), agents={"radius": 0.0})
    positions, velocities = run(settings, np.zeros((20, 3)), 20, target=[[1, 0, 0]])
    assert np.isfinite(positions).all() and np.isfinite(velocities).all()


def test_order_threads_and_resuming_change_no_bit():
    settings = bodies(Arrive(), agents={"max_force": 8.0})
    start = scatter(1500, 30.0)
    world = make_world(targets=[[0, 0, 0]])
    sim = simulation(settings, start)
    before = jit.set_threads(1)
    try:
        alone = simulation(settings, start)
        for _ in range(5):
            alone.step(world)
    finally:
        jit.set_threads(before)
    for _ in range(5):
        sim.step(world)
    assert same_bits(sim.agents, alone.agents)
    order = np.random.default_rng(1).permutation(len(start))
    shuffled = simulation(settings, start[order], ids=order)
    for _ in range(5):
        shuffled.step(world)
    assert np.array_equal(shuffled.agents.position, sim.agents.position[order])
    resumed = Simulation(settings, sim.agents, frame=6, fps=24.0)
    sim.step(world)
    resumed.step(world)
    assert same_bits(sim.agents, resumed.agents)


@pytest.mark.parametrize("motion", ["GROUND", "FLY"])
def test_those_without_a_size_are_in_nobodys_way(motion):
    settings = bodies(Seek(), motion=motion, agents={"radius": 0.0, "max_speed": 1.4})
    positions, _velocities = run(settings, np.zeros((60, 3)), 48, target=[10.0, 0.0, 0.0])
    assert (positions[-1, :, 0] > 2.0).all()
