"""Wishes of goal behaviors, and crowds with moving targets; used with crowdtools."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from crowdtools import crowd, place, simulation

from steer_addon.core.behaviors import Behavior
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.inputs.world import World
from steer_addon.core.step.solver import Solver


def wishes(entry: Behavior, world: World, position, velocity=None, motion="FLY", **body):
    """Proposals of a behavior: values (n, 3) [m/s] and flags (n,).

    `body` goes to the agents: `max_speed` (default 2 m/s), or what `make_agents` takes.
    """
    own = {"max_speed": body.pop("max_speed", 2.0)}
    settings = crowd(entry, motion=motion, agents=own)
    agents = place(settings, position, velocity, **body)
    asked = Solver(settings).step(agents, world, 1 / 24, number=0).proposals[0]
    return asked.value.astype(np.float64), asked.active.astype(bool)


def chase(
    settings: CrowdSettings,
    position,
    world_at: Callable[[float], World],
    seconds: float,
    fps: float,
    **more,
):
    """Positions (steps + 1, n, 3) of agents that see the world as it is at the start of a step."""
    sim = simulation(settings, position, fps=fps, **more)
    positions = [sim.agents.position.astype(np.float64)]
    for step in range(round(seconds * fps)):
        positions.append(sim.step(world_at(step / fps)).position.astype(np.float64))
    return np.array(positions)
