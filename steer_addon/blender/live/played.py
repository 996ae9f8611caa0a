"""Played: crowds that play a bake, as others meet them: they go where the bake has them go."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.agents import Agents, make_agents
from ...core.cache import MANIFEST, Cache, open_cache
from ...core.errors import SteerError
from ...core.inputs.world import World
from ...core.results.frames import Frame
from ...core.results.memories import stood_up
from ...core.step.simulation import Simulation, Taking
from ..crowd import baked_file
from ..crowd.properties import settings_of
from ..crowd.records import Part
from ..crowd.state import plays_back


class Played:
    """A baked crowd with its frames."""

    def __init__(self, obj: bpy.types.Object, cache: Cache) -> None:
        """Begin with a crowd and its bake, which has frames."""
        self._cache = cache
        self._settings, first = settings_of(obj), cache.frame(cache.frames[0])
        told = self._settings.agents
        self._like = make_agents(
            first.position,
            radius=told.radius,
            mass=told.mass,
            max_speed=told.max_speed,
            max_force=told.max_force,
            ids=first.id,
        )
        self._simulation = Simulation(
            self._settings, self._like, frame=first.number, fps=cache.header.fps, placed=True
        )

    def frame(self, number: int) -> Frame:
        """The frame that is shown at a number: outside of the bake its first or last one."""
        frames = self._cache.frames
        return self._cache.frame(min(max(number, frames[0]), frames[-1]))

    def taking(self, number: int) -> Taking:
        """What the crowd takes part with in the step to a frame."""
        self._simulation.adopt(self._agents(number - 1))
        return Taking(self._simulation, World(), shown=self._agents(number))

    def _agents(self, number: int) -> Agents:
        agents = stood_up(self.frame(number), self._like, self._settings.motion)
        if number not in self._cache.frames:
            agents.velocity[:] = 0.0
        return agents


_opened: Part[dict[Any, Played]] = Part(dict, until_undo=True)
"""The opened bake of a crowd, by its mark."""


def played(obj: bpy.types.Object) -> Played | None:
    """A crowd as its bake has it; None for one that is simulated, or whose bake is unreadable."""
    path = baked_file.file_of(obj) if plays_back(obj) else None
    if path is None:
        return None
    try:
        found = (path.parent / MANIFEST).stat()
        told = (obj.steer.motion.motion, obj.steer.bodies.collide_agents, obj.steer.bodies.height)
        mark = (str(path), found.st_mtime_ns, found.st_size, told)
        known = _opened.ensure(obj)
        if mark not in known:
            cache = open_cache(path.parent)
            if not len(cache.frames):
                return None
            known.clear()
            known[mark] = Played(obj, cache)
    except (OSError, SteerError):
        return None
    return known[mark]
