"""Crowds that are born at sources, for tests."""

from __future__ import annotations

import numpy as np

from steer_addon.core.agents import make_agents
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.inputs.emitters import joined, make_emitter
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation

FPS = 24.0
RADIUS = 0.25
SQUARE = ([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[4, 0, 0], [4, 4, 0], [0, 4, 0]])


def told(emission="PER_SECOND", stack=(), bodies=None, motion="GROUND", seed=0, **births):
    """Settings of a crowd whose agents collide and are born at sources."""
    births = {"last_frame": 100_000, **births, "emission": emission}
    return CrowdSettings.from_dict(
        {
            "behaviors": list(stack),
            "agents": {"radius": RADIUS},
            "bodies": {"collide_agents": True, "collide_colliders": True, **(bodies or {})},
            "motion": {"motion": motion},
            "births": births,
            "seed": seed,
        }
    )


def square(at=(0, 0, 0), **more):
    """A source of 4 m by 4 m that faces +X."""
    return make_emitter(np.array(SQUARE, float) + at, ahead=[1, 0, 0], **more)


def world_of(*sources, target=(40, 2, 0), **more):
    return make_world(targets=[target], emitters=joined(sources), **more)


def begun(how, world, points=(), frame=1, fps=FPS, **more):
    agents = make_agents(
        np.asarray(points, np.float32).reshape(-1, 3),
        radius=how.agents.radius,
        mass=1.0,
        max_speed=how.agents.max_speed,
        max_force=how.agents.max_force,
        may_be_none=True,
        **more,
    )
    return Simulation(how, agents, frame=frame, fps=fps, world=world)


def born_at(how, steps=100, world=None, fps=FPS):
    """How many agents are there at each frame from the first on, where all have room and stay."""
    world = world or world_of(make_emitter(np.array(SQUARE) * 500.0))
    this = begun(how, world, fps=fps)
    counts = [int(this.current().alive.sum())]
    for _ in range(steps):
        counts.append(int(this.step(world).alive.sum()))
    return np.array(counts)


def least_gap(frame, radius=RADIUS):
    """Least gap between the bodies of a frame's living [m]."""
    place = frame.position[frame.alive != 0].astype(float)
    apart = np.linalg.norm(place[:, None] - place[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return float(apart.min(initial=np.inf)) - 2.0 * radius


LEAVING = {
    "stack": [{"type": "seek"}, {"type": "avoid_neighbors"}],
    "bodies": {"on_arrival": "LEAVE", "arrival_distance": 1.0},
}
"""Agents that go to the target, and are gone there."""
