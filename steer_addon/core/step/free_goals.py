"""Free goals: where agents go whose target lies inside of a collider that stops them.

The nearest place counts that is outside of all colliders and has room for a body, as for agents
that start inside of one (see `contacts.free`). In GROUND motion it is looked for level, at the
height at which walkers meet colliders, above the ground below the target, or above their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .. import contacts
from ..agents import Agents, make_agents
from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis, add_new, diagnose
from ..geometry import ground
from ..inputs.paths import Paths
from ..inputs.targets import Targets
from ..inputs.world import Colliders, World

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class _Found:
    """What was found, and what it depends on."""

    feet: F32
    colliders: Colliders
    told: tuple[float, ...]
    offset: F32


@dataclass(eq=False, repr=False)
class FreeGoals:
    """Keeps free places of targets from frame to frame: they are looked for when something moves.

    Attributes:
        warnings: What the user may want to change, once a goal was inside of a collider.
    """

    warnings: list[Diagnosis] = field(default_factory=list)
    _found: dict[str, _Found] = field(default_factory=dict)

    def freed(self, world: World, agents: Agents, settings: CrowdSettings) -> World:
        """The world where no goal of a crowd that colliders stop is inside of one.

        Args:
            world: The world.
            agents: The crowd, whose heights count where there is no ground.
            settings: Settings of the crowd.
        """
        colliders = world.colliders
        if colliders is None or not settings.bodies.collide_colliders:
            return world
        going = {b.target for b in settings.behaviors if b.enabled and b.goes_to_target}
        changed: dict[str, Targets] = {}
        for name in sorted(going & world.targets.keys()):
            targets = world.targets[name]
            if targets.own or not targets.count:
                continue
            feet = _feet(targets.position, world, agents, settings)
            offset = self._offset(name, feet, colliders, settings, "TARGET_INSIDE")
            if offset.any():
                changed[name] = replace(targets, position=targets.position + offset)
        if changed:
            named: Mapping[str, Targets] = {**world.targets, **changed}
            world = replace(world, targets=named)
        return self._with_free_ends(world, colliders, agents, settings)

    def _with_free_ends(
        self, world: World, colliders: Colliders, agents: Agents, settings: CrowdSettings
    ) -> World:
        """The world where no open path whose end agents go to ends inside."""
        changed: dict[str, Paths] = {}
        for entry in settings.behaviors:
            if not entry.enabled or entry.ends is None:
                continue
            paths = world.paths_of(entry.key)
            ends = paths.ends()
            if not len(ends):
                continue
            feet = _feet(paths.point[ends], world, agents, settings)
            offset = self._offset(f"path {entry.key}", feet, colliders, settings, "PATH_END_INSIDE")
            if offset.any():
                point = paths.point.copy()
                point[ends] += offset
                changed[entry.key] = paths.with_points(point)
        return replace(world, paths={**world.paths, **changed}) if changed else world

    def _offset(
        self,
        name: str,
        feet: F32,
        colliders: Colliders,
        settings: CrowdSettings,
        code: str,
    ) -> F32:
        """The way from goals to free places [m], shape (goal_count, 3)."""
        told = (settings.agents.radius, settings.motion.step_height, settings.body_height)
        known = self._found.get(name)
        if (
            known is not None
            and (known.colliders, known.told) == (colliders, told)
            and np.array_equal(known.feet, feet)
        ):
            return known.offset
        body = settings.agents
        there = make_agents(
            feet,
            radius=body.radius,
            mass=body.mass,
            max_speed=body.max_speed,
            max_force=body.max_force,
        )
        moved = contacts.put_free(there, settings, colliders)
        if moved.any():
            add_new(self.warnings, [diagnose(code)])
        self._found[name] = _Found(feet, colliders, told, there.position - feet)
        return self._found[name].offset


def _feet(position: F32, world: World, agents: Agents, settings: CrowdSettings) -> F32:
    """Where the agents' own positions would be at the targets."""
    if settings.motion.motion != "GROUND":
        return position
    feet, found = position.copy(), np.zeros(len(position), np.bool_)
    if world.ground is not None:
        steepest = ground.min_up(settings.motion.max_slope)
        feet, _, found = ground.place_many(world.ground, position, steepest)
    if not found.all():
        heights = agents.position[:, 2]
        low, high = heights.min(initial=np.inf), heights.max(initial=-np.inf)
        feet[~found, 2] = low if low == high else np.median(heights)
    return feet
