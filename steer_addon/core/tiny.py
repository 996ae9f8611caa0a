"""A tiny run that calls the kernels which a crowd of given settings calls, with the same types.

What numba compiles depends on the types of arguments only, never on how many agents there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .agents import make_agents
from .containers import make_container
from .fields import make_field
from .meshes import Mesh
from .paths import Path
from .settings import CrowdSettings
from .simulation import Simulation
from .spheres import make_spheres
from .world import World, make_targets, make_world

_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
_FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def tiny_world(colliders: bool, ground: bool) -> World:
    """A world in which every behavior finds what it reads.

    Args:
        colliders: Whether there are meshes that block.
        ground: Whether there is terrain.
    """
    solid = _CORNERS[_FACES]
    plane = np.array([[[-9, -9, 0], [9, -9, 0], [9, 9, 0]]], np.float32)
    targets = make_targets([[2, 0, 0]], [[0.1, 0, 0]])
    return make_world(
        targets=targets,
        second_targets=targets,
        colliders=[Mesh("tiny", solid + np.array([3, 0, 0], np.float32))] if colliders else (),
        ground=Mesh("ground", plane) if ground else None,
        spheres=make_spheres([[1.5, 0, 0]], [0.5]) if colliders else None,
        paths=[Path([[0, 0, 0], [1, 0, 0], [2, 1, 0]])],
        fields=make_field(_CORNERS, np.ones((4, 3)), faces=_FACES),
        containers=make_container((0, 0, 0), 4.0, mesh=Mesh("hull", 9 * (solid - 0.25))),
    )


def run_tiny(told: dict[str, Any], colliders: bool, ground: bool) -> None:
    """Step three agents through that world.

    Args:
        told: Settings of the crowd as plain values (see `CrowdSettings.to_dict`).
        colliders: Whether the crowd has any.
        ground: Whether it has one.

    Raises:
        ParameterError: The settings are no such thing.
    """
    settings = CrowdSettings.from_dict(told)
    body = settings.agents
    agents = make_agents(
        [[0.0, 0.0, 0.0], [0.6, 0.1, 0.0], [1.2, -0.2, 0.0]],
        radius=body.radius,
        mass=body.mass,
        max_speed=body.max_speed,
        max_force=body.max_force,
        velocity=[[0.5, 0, 0], [0.4, 0.1, 0], [0, 0, 0]],
    )
    simulation = Simulation(
        settings, agents, frame=1, fps=24.0, world=tiny_world(colliders, ground)
    )
    for _ in range(2):
        # a new world each time: colliders that moved push agents, and trees are fitted anew
        simulation.step(tiny_world(colliders, ground))
