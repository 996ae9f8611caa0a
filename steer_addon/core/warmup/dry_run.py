"""A tiny run that calls the kernels which a crowd of given settings calls, with the same types.

The kernels that numba compiles depend on the types of arguments only, never on the agent count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..agents import Agents, make_agents
from ..characters.cast import Cast
from ..characters.pose_space import Row
from ..crowd.clips import ClipsSettings
from ..crowd.settings import CrowdSettings
from ..geometry.grid import FEW
from ..geometry.meshes import Mesh
from ..inputs.containers import make_container
from ..inputs.emitters import joined, make_emitter
from ..inputs.fields import make_field
from ..inputs.paths import Path
from ..inputs.spheres import make_spheres
from ..inputs.world import World, make_targets, make_world
from ..step.simulation import Simulation

COUNTS = (3, FEW + 2)
"""Agent count of each run: some kernels are called for a few agents only, some only for more."""

_CAST = Cast(
    ((Row("stand", 0, 1), Row("walk", 1, 1, speed=0.2, stride=0.5)),),
    clips=((Row("wave", 2, 1, loops=False),),),
    rounds=((Row("turn left", 3, 1, turn=1.0), Row("turn right", 4, 1, turn=-1.0)),),
)
_CLIPS = ClipsSettings(idle="*", arrival="*")
_CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
_FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def tiny_world(colliders: bool, ground: bool, shift: float = 0.0) -> World:
    """A world in which every behavior finds what it reads.

    Args:
        colliders: Whether there are meshes that block.
        ground: Whether there is terrain.
        shift: How far the meshes have moved toward the agents [m].
    """
    solid = _CORNERS[_FACES]
    # several, as their trees are joined then
    places = (3.0 - shift, 5.0)
    solids = [
        Mesh(f"tiny {n}", solid + np.array([x, 0, 0], np.float32)) for n, x in enumerate(places)
    ]
    plane = np.array([[[-9, -9, 0], [9, -9, 0], [9, 9, 0]]], np.float32)
    targets = make_targets([[2, 0, 0]], [[0.1, 0, 0]])
    return make_world(
        targets=targets,
        second_targets=targets,
        colliders=solids if colliders else (),
        ground=Mesh("ground", plane) if ground else None,
        spheres=make_spheres([[1.5, 0, 0]], [0.5]) if colliders else None,
        paths=[Path([[0, 0, 0], [1, 0, 0], [2, 1, 0]])],
        fields=make_field(_CORNERS, np.ones((4, 3)), faces=_FACES),
        containers=make_container((0, 0, 0), 4.0, mesh=Mesh("hull", 9 * (solid - 0.25))),
        emitters=joined([make_emitter(_CORNERS[None, :3] - 9.0)]),
        exits=solids,
    )


def run_tiny(told: dict[str, Any], colliders: bool, ground: bool) -> None:
    """Step small crowds through that world.

    Args:
        told: Settings of the crowd as plain values (see `CrowdSettings.to_dict`).
        colliders: Whether the crowd has any.
        ground: Whether it has one.

    Raises:
        ParameterError: The settings are no such thing.
    """
    settings = replace(CrowdSettings.from_dict(told), cast=_CAST, clips=_CLIPS)
    for count in COUNTS:
        agents = tiny_agents(settings, count)
        world = tiny_world(colliders, ground)
        simulation = Simulation(settings, agents, frame=1, fps=24.0, world=world)
        for _ in range(2):
            # a new world each time: colliders that moved push agents, and trees are refitted
            simulation.step(tiny_world(colliders, ground))


def tiny_agents(settings: CrowdSettings, count: int) -> Agents:
    """Agents that meet one another; every third of them stands."""
    body = settings.agents
    rows = np.arange(count)
    return make_agents(
        np.stack([0.6 * (rows % 3), 0.1 * (rows % 2) + 0.5 * (rows // 3), 0.0 * rows], axis=1),
        radius=body.radius,
        mass=body.mass,
        max_speed=body.max_speed,
        max_force=body.max_force,
        velocity=np.array([[0.5, 0.0, 0.0], [0.4, 0.1, 0.0], [0.0, 0.0, 0.0]])[rows % 3],
    )
