"""Small crowds for tests: agents, settings and runs with few words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steer_addon.core.agents import Agents, make_agents
from steer_addon.core.behaviors import Behavior
from steer_addon.core.crowd.settings import (
    AgentsSettings,
    CrowdSettings,
    MotionSettings,
    SolverSettings,
)
from steer_addon.core.inputs.world import World, make_world
from steer_addon.core.step.simulation import Simulation


def crowd(*stack: Behavior, motion="GROUND", seed=0, agents=None, motion_settings=None, **solver):
    """Settings with a stack of behaviors; `agents` is a dict of body settings."""
    return CrowdSettings(
        agents=AgentsSettings(**{"max_force": 1000.0, **(agents or {})}),
        motion=MotionSettings(motion=motion, **(motion_settings or {})),
        solver=SolverSettings(**solver),
        behaviors=stack,
        seed=seed,
    )


def place(settings: CrowdSettings, position, velocity=None, **more) -> Agents:
    """Agents at positions, with the settings' bodies."""
    body = settings.agents
    return make_agents(
        np.asarray(position, np.float32).reshape(-1, 3),
        radius=body.radius,
        mass=body.mass,
        max_speed=body.max_speed,
        max_force=body.max_force,
        velocity=None if velocity is None else np.asarray(velocity, np.float32).reshape(-1, 3),
        **more,
    )


def simulation(settings: CrowdSettings, position, velocity=None, fps=24.0, **more) -> Simulation:
    """A simulation that starts at frame 1."""
    return Simulation(settings, place(settings, position, velocity, **more), frame=1, fps=fps)


def run(
    settings: CrowdSettings,
    position,
    steps: int,
    velocity=None,
    world: World | None = None,
    target=None,
    fps=24.0,
    **more,
):
    """Run some steps; returns positions and velocities, each (steps + 1, agents, 3) in 64 bits."""
    sim = simulation(settings, position, velocity, fps, **more)
    world = world or make_world(targets=target)
    positions = [sim.agents.position.astype(np.float64)]
    velocities = [sim.agents.velocity.astype(np.float64)]
    for _ in range(steps):
        sim.advance(world)
        positions.append(sim.agents.position.astype(np.float64))
        velocities.append(sim.agents.velocity.astype(np.float64))
    return np.array(positions), np.array(velocities)


def scatter(count: int, size: float, seed: int = 0, flat: bool = True) -> np.ndarray:
    """Random points in a square, or in a cube, around the origin."""
    points = np.random.default_rng(seed).uniform(-size / 2, size / 2, (count, 3))
    if flat:
        points[:, 2] = 0.0
    return points.astype(np.float32)


def same_bits(a: Agents, b: Agents) -> bool:
    """Whether two crowds are equal to the last bit."""
    arrays = [k for k, v in vars(a).items() if isinstance(v, np.ndarray)]
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in arrays) and all(
        np.array_equal(a.memory[k], b.memory[k]) for k in a.memory
    )


def only(settings: CrowdSettings, **changes) -> CrowdSettings:
    """The same settings with some fields of the solver changed."""
    return replace(settings, solver=replace(settings.solver, **changes))


def box(center, size, name="box"):
    """Triangles of an axis-aligned closed box, normals outward, as a collider mesh."""
    from steer_addon.core.geometry.meshes import Mesh

    c, h = np.asarray(center, np.float64), np.asarray(size, np.float64) / 2
    corners = (
        np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], np.float64) * h + c
    )
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = [t for a, b, c_, d in quads for t in ((a, b, c_), (a, c_, d))]
    return Mesh(name, corners[np.array(faces)].astype(np.float32))


def wall(x=5.0, height=3.0, width=20.0, name="wall"):
    """One quad at x, facing -x."""
    from steer_addon.core.geometry.meshes import Mesh

    w = width / 2
    a, b, c, d = (x, -w, -height), (x, -w, height), (x, w, height), (x, w, -height)
    return Mesh(name, np.array([[a, b, c], [a, c, d]], np.float32))
