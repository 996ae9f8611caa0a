"""Guiding: behaviors that go to a target head for the next corner on the way to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents, rows_of
from ..bounds import lengths
from ..compiled.jit import parallel_for
from ..crowd.groups import unknown_groups
from ..crowd.heights import heights
from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis, diagnose
from ..geometry import bvh
from ..inputs.targets import Choices, Targets
from ..inputs.world import NO_COLLIDERS, World
from ..sensing.declare import LEADS, TARGETS, Behavior, acts_for, per_agent
from ..views import NO_HEADS, AgentView, TargetView, WorldView
from ..ways import outs
from ..ways.areas.declared import Rules, grouped
from ..ways.costs import MOST
from ..ways.known import Blocks
from ..ways.portals.gates import no_gates
from ..ways.portals.transit import Transit
from ..ways.surface import Shape
from ..ways.ways import Ways

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

SEEN = "ways seen"
"""Name of the memory of where agents were when the crowd last looked for the quickest ways: x, y, z
[m] and how much they hold the way up (see `ways.costs`), shape (agent_count, 4)."""
COSTLY = ("SAFE", "QUICKEST")
"""Kinds of ways for which costs count."""
EVERY = 2.0
"""Time between two looks [s]."""
NEAR_OUT = 1.0
"""An agent this near to a way out is there [m]."""
LEAST_REST = 1.0e-3
"""Length of ways out that are as good as gone [m]."""
GIGABYTE = 1.0e9
LEAST_REACH = 0.5
"""Clearance is known up to this distance at least [m], so that it serves crowds of most sizes."""


def with_ways(world: World, settings: CrowdSettings, ways: Ways) -> World:
    """The world with ways, where the crowd asks for them and it has none.

    Args:
        world: The world of a step.
        settings: Settings of the crowd.
        ways: What is kept from step to step.
    """
    if world.ways is not None or not guided(settings, world):
        return world
    return replace(world, ways=ways)


def with_footing(world: World, settings: CrowdSettings) -> World:
    """The world with low colliders as ground, where the crowd walks and collides with them.

    Args:
        world: The world as it is.
        settings: Settings of the crowd.
    """
    motion, ground, colliders = settings.motion, world.ground, world.colliders
    if ground is None or colliders is None or not colliders.trees or motion.motion != "GROUND":
        return world
    if not settings.bodies.collide_colliders or not motion.step_height > 0.0:
        return world
    footing = colliders.footing(ground, motion.step_height, motion.max_slope)
    return world if footing is ground else replace(world, ground=footing)


def guided(settings: CrowdSettings, world: World) -> bool:
    """Whether the agents of a crowd find their ways: walkers do, where anything may be in them."""
    walks = settings.ways.ways != "NONE" and settings.motion.motion == "GROUND"
    colliders = world.colliders or NO_COLLIDERS
    there = world.ground is not None or len(colliders.bvh.triangles) > 0
    return walks and (there or world.areas is not None)


def goes(entry: Behavior) -> bool:
    """Whether a behavior goes to its target, or along with it."""
    return entry.goes_to_target or entry.target_role == LEADS


class Guide:
    """Where the agents of a crowd head for in one step."""

    def __init__(
        self,
        settings: CrowdSettings,
        world: World,
        agents: Agents,
        whole: Agents,
        dt: float = 1.0,
    ) -> None:
        """Begin a step.

        Args:
            settings: Settings of the crowd.
            world: The world that it perceives.
            agents: The living.
            whole: The crowd, which remembers where it last saw its agents.
            dt: Length of the step [s].
        """
        self._ways = world.ways if guided(settings, world) else None
        self._agents, self._dt = agents, dt
        areas = None if self._ways is None else world.areas
        portals = () if areas is None else areas.portals
        touch = portals and settings.bodies.collide_agents and agents.count
        tall = float(heights(agents, settings).max()) if touch else 0.0
        self.transit = Transit.begun(portals, agents, tall)
        """Who goes through portals; None where there are none."""
        self.kept: dict[str, F32] = {}
        """Memory of the ways that agents keep, by its name, as behaviors have asked for it."""
        # where agents head for, or the places and rows of their targets if that is straight there
        self._heads: F32 | tuple[F32, I64] = NO_HEADS
        if self._ways is not None:
            self._shape = shape_of(settings, agents)
            self._blocks = blocks_of(world, agents, settings)
            self._seen = seen_by(settings, whole)

    def view(self, entry: Behavior, targets: Targets, rows: I64) -> TargetView:
        """The targets of a behavior, with where agents head for.

        Args:
            entry: The behavior.
            targets: Its targets.
            rows: Each agent's target, -1 for none, shape (agent_count,).
        """
        view = targets.view(rows)
        if not goes(entry) or not targets.count:
            return view
        if self._ways is None:
            self._heads = targets.position, rows
            return view
        via, rest = self._led(entry, targets.position, rows)
        return view._replace(via=via, rest=rest)

    def _led(
        self, entry: Behavior, places: F32, rows: I64, *, each: bool = False
    ) -> tuple[F32, F32]:
        """Where agents head for on the way to places, and how long it is from there [m]."""
        agents, name, transit = self._agents, kept_by(entry), self.transit
        told = (agents.position, agents.id, agents.radius)
        gates = no_gates(agents.count)
        assert self._ways is not None
        if transit is not None:
            rows = np.where(transit.inside, -1, rows)
        goals = self._shape, self._blocks, places, rows, told, self._seen, agents.memory.get(name)
        via, rest, kept = self._ways.lead(*goals, each=each, gates=gates)
        if kept is not None:
            self.kept[name] = kept
        if transit is not None:
            transit.wait(gates, via, agents)
        self._heads = via
        return via, rest

    @property
    def heads(self) -> F32:
        """Where agents head for [m], by the last behavior that leads them, see `WorldView`."""
        if isinstance(self._heads, tuple):
            places, rows = self._heads
            there = places[np.maximum(rows, 0)]
            self._heads = np.where(rows[:, None] >= 0, there, self._agents.position)
        return self._heads

    def beyond(self, entry: Behavior, view: AgentView, sees: WorldView, params: Any) -> WorldView:
        """The world of a behavior, with where its agents head for on ways of their own.

        Those that hide go to their hiding places, those that flee and are cornered to a way out.

        Args:
            entry: The behavior.
            view: The agents.
            sees: The world as it sees it.
            params: Its parameters.
        """
        agents, targets = self._agents, sees.targets
        if self._ways is None or not agents.count or not len(targets.position):
            return sees
        places, row = agents.position.copy(), np.full(agents.count, -1, np.int64)
        if entry.definition.places is not None:
            run = (view, sees, params, places, row)
            parallel_for(entry.definition.places, agents.count, *run)
        elif entry.looks_for_ways_out:
            out = self._outs(entry, targets, sees.step)
            places, row = (
                out[:, : outs.ON].copy(),
                np.where(out[:, outs.ON] > 0.0, np.arange(len(out)), -1),
            )
        else:
            return sees
        via, rest = self._led(entry, places, row, each=True)
        if entry.looks_for_ways_out:
            # whoever goes to a way out has some way to go
            rest = np.where(row >= 0, np.maximum(rest, LEAST_REST), np.float32(0.0))
        return sees._replace(targets=targets._replace(via=via, rest=rest))

    def _outs(self, entry: Behavior, targets: TargetView, number: int) -> F32:
        """Ways out of those that a threat corners, see `outs.WIDTH`."""
        agents, name = self._agents, f"{entry.key} way out"
        threat = np.take(targets.position, np.maximum(targets.row, 0), axis=0)
        panic = per_agent(entry, "panic_radius", agents)
        near = (panic <= 0.0) | (lengths(threat - agents.position) < panic)
        every = max(1, round(outs.REVIEW / self._dt))
        before = agents.memory.get(name)
        kept = np.zeros((agents.count, outs.WIDTH), np.float32)
        if before is not None and before.shape == kept.shape:
            kept[:] = before
        there = lengths(kept[:, : outs.ON] - agents.position) < NEAR_OUT
        kept[there] = 0.0
        flight = outs.Flight(
            threat, near & (targets.row >= 0), (number + agents.id) % every == 0, kept
        )
        told = (agents.position, agents.id, agents.radius)
        assert self._ways is not None
        self._ways.look_out(self._shape, self._blocks, flight, told)
        if kept.any() or before is not None:
            self.kept[name] = kept
        return kept

    def keep_out(self, after: Agents, dt: float) -> None:
        """Keep agents out of forbidden areas where they went in a step.

        Args:
            after: The living where they went; changed.
            dt: Length of the step [s].
        """
        if self._ways is not None and self._agents.count:
            self._ways.keep_out(self._shape, self._blocks, self._agents, after, dt)


def kept_by(entry: Behavior) -> str:
    """Name of the memory of the ways that agents keep by a behavior (see `ways.own`)."""
    return f"{entry.key} way"


def looked(agents: Agents, settings: CrowdSettings, dt: float, number: int) -> Agents:
    """The crowd that has looked where its agents are, which it does for QUICKEST now and then.

    Args:
        agents: The crowd at the start of a step; it is not changed.
        settings: Settings of the crowd.
        dt: Length of the step [s].
        number: Count of substeps before.
    """
    if settings.motion.motion != "GROUND" or settings.ways.ways != "QUICKEST":
        return agents
    seen = agents.memory.get(SEEN)
    if seen is None or len(seen) != agents.count or number % max(1, round(EVERY / dt)) == 0:
        holds = np.ones(agents.count, np.float32)
        if seen is not None and len(seen) == agents.count:
            came = lengths(agents.position - seen[:, :3]) / EVERY
            holds = np.clip(agents.max_speed / np.maximum(came, 1.0e-6), 1.0, MOST)
            holds[seen[:, 3] == 0.0] = 1.0
        holds[(agents.alive == 0) | (agents.arrived != 0)] = 0.0
        now = np.column_stack([agents.position, holds]).astype(np.float32)
        agents = replace(agents, memory={**agents.memory, SEEN: now})
    return agents


def seen_by(settings: CrowdSettings, agents: Agents) -> F32 | None:
    """The people that make ways seem longer; None where only the length counts."""
    seen = agents.memory.get(SEEN) if settings.ways.ways == "QUICKEST" else None
    return None if seen is None else np.ascontiguousarray(seen)


def ways_advice(settings: CrowdSettings, world: World, agents: Agents) -> list[Diagnosis]:
    """What keeps agents from finding their ways: that there is none, or that cells are coarse.

    Args:
        settings: Settings of the crowd.
        world: The world that it perceived.
        agents: The crowd after a step.
    """
    if world.ways is None or not guided(settings, world) or not agents.alive.any():
        return []
    agents = agents.taken(rows_of(agents.alive))
    found: list[Diagnosis] = []
    shape, blocks = shape_of(settings, agents), blocks_of(world, agents, settings)
    choices = Choices()
    told = (agents.position, agents.id, agents.radius)
    if world.areas is not None:
        known = [group.name for group in settings.groups]
        for area in grouped(world.areas):
            found += unknown_groups(area.name, area.group, known)
        for name in world.ways.empty_areas(shape, blocks):
            found.append(diagnose("AREA_EMPTY", name).having(object=name))
        for name, why in world.ways.loose_portals(shape, blocks, told):
            found.append(diagnose("PORTAL_LOOSE", name, why=why).having(object=name))
    for entry in settings.stack:
        targets = world.targets_of(entry.target)
        if not goes(entry) or TARGETS not in entry.definition.uses or not targets.count:
            continue
        rows, acts = choices.of(targets, entry, agents), acts_for(entry, agents)
        rows = rows if acts is None else np.where(acts, rows, -1)
        lost = world.ways.without_way(shape, blocks, targets.position, rows, told)
        if lost.any():
            place = targets.position[rows[int(lost.argmax())]]
            where = ", ".join(f"{x:.1f}" for x in place)
            found.append(diagnose("NO_WAY", entry.title, count=int(lost.sum()), place=where))
        surface = world.ways.surface(shape, blocks, targets.position)
        wanted, size = shape.cell_size, surface.view.size
        if size > 1.01 * wanted:
            memory = surface.bytes * (size / wanted) ** 2 / GIGABYTE
            found.append(diagnose("COARSE_CELLS", wanted=wanted, size=size, memory=memory))
    return list(dict.fromkeys(found))


def shape_of(settings: CrowdSettings, agents: Agents) -> Shape:
    """What the surface of a crowd is made for."""
    motion, largest = settings.motion, float(agents.radius.max(initial=0.0))
    return Shape(
        cell_size=settings.ways.cell_size,
        step_height=motion.step_height,
        max_slope=motion.max_slope,
        height=settings.bodies.height,
        reach=max(LEAST_REACH, largest),
    )


def blocks_of(world: World, agents: Agents, settings: CrowdSettings) -> Blocks:
    """What the surface of a crowd is found on, with the areas that count for its agents."""
    colliders = world.colliders or NO_COLLIDERS
    trees = dict(zip(colliders.names, colliders.trees, strict=True))
    rules = _rules_of(world, agents, settings)
    if world.ground is not None:
        return Blocks(world.ground, colliders.bvh, trees, rules=rules)
    # walkers without terrain stay at their own height
    level = float(np.median(agents.position[:, 2])) if agents.count else 0.0
    return Blocks(bvh.empty(), colliders.bvh, trees, round(level, 2), rules)


def _rules_of(world: World, agents: Agents, settings: CrowdSettings) -> Rules | None:
    """What areas mean for agents; None where there are none."""
    areas = world.areas
    if areas is None or (world.ground is None and not (areas.areas or areas.portals)):
        return None
    bits = np.zeros(agents.count, np.int64)
    for k, area in enumerate(grouped(areas)):
        bits |= agents.among(area.group).astype(np.int64) << k
    return Rules(areas, settings.ways.ways in COSTLY, bits, float(settings.agents.max_speed))
