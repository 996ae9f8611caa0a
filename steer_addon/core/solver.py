"""Solver: propose, combine, limit, integrate. One step is a pure function of its arguments.

REYNOLDS (Reynolds 1999): F = Σ wᵢ·(uᵢ - v or Δᵢ)/τ, truncated to F_max; a = F/m;
v ← truncate(v + a·dt, v_max); p ← p + v·dt.

VEX (Houdini SOP solver): u = Σ wᵢ·(uᵢ or Δᵢ); v ← v + (u - v)·α; p ← p + v·dt, with
α = 1 - (1 - acc_weight)^(24·dt); nothing is truncated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import bvh, ground, jit, neighbors
from .agents import Agents
from .behaviors.base import NEIGHBORS, VELOCITY, Behavior, own_parameters
from .integrate import LimitsView, combine_kernel, integrate_kernel
from .parameters import parameters
from .settings import CrowdSettings
from .views import AgentView, BvhView, NeighborView, WorldView
from .world import CollidersBuilder, World

F32 = NDArray[np.float32]

_NO_COLLIDERS = CollidersBuilder().build(())


@dataclass(frozen=True, eq=False, repr=False)
class Proposal:
    """What one behavior asked for, kept so that a user can see why an agent turned."""

    key: str
    """Name of the behavior in the stack."""
    output: str
    """VELOCITY or PUSH."""
    weight: F32
    """Weights, shape (1,) or (agent_count,)."""
    value: F32
    """Proposals [m/s], shape (agent_count, 3)."""
    active: NDArray[np.uint8]
    """1 where there is a proposal, shape (agent_count,)."""


@dataclass(frozen=True, eq=False, repr=False)
class StepResult:
    """A step's outcome.

    Attributes:
        agents: The crowd after the step.
        proposals: What each behavior asked for, in stack order (of the last substep).
    """

    agents: Agents
    proposals: tuple[Proposal, ...]


class Solver:
    """Moves agents through a world by a crowd's settings."""

    def __init__(self, settings: CrowdSettings) -> None:
        self.settings = settings

    def step(
        self, agents: Agents, world: World, dt: float, *, number: int, seed: int | None = None
    ) -> StepResult:
        """Move all agents on by one step of time.

        Args:
            agents: The crowd; it is not changed.
            world: What it perceives.
            dt: Time [s] > 0.
            number: Count of steps so far; random numbers are keyed by it.
            seed: Random seed; None takes the settings'.
        """
        substeps = self.settings.solver.substeps
        key = self.settings.seed if seed is None else seed
        proposals: tuple[Proposal, ...] = ()
        for substep in range(substeps):
            agents, proposals = self._substep(
                agents, world, dt / substeps, number * substeps + substep, key
            )
        return StepResult(agents, proposals)

    def _substep(
        self, agents: Agents, world: World, dt: float, number: int, seed: int
    ) -> tuple[Agents, tuple[Proposal, ...]]:
        stack = [b for b in self.settings.behaviors if b.enabled and b.weight > 0.0]
        after = agents.copy()
        desired = np.zeros_like(agents.position)
        view = _agent_view(agents, desired)
        sees = self._world_view(world, dt, number, seed)
        lists = _neighbor_lists(stack, agents)
        found: dict[str, Proposal] = {}
        values = np.zeros((len(stack), agents.count, 3), np.float32)
        active = np.zeros((len(stack), agents.count), np.uint8)
        # pushes may ask which way the agent wants to go, so the desired velocities come first
        for pushes in (False, True):
            for row, entry in enumerate(stack):
                if (entry.definition.output != VELOCITY) == pushes:
                    local = sees._replace(
                        targets=world.targets_of(entry.target).view(), neighbors=lists[entry.key]
                    )
                    found[entry.key] = _propose(
                        entry, agents, after, view, local, values[row], active[row]
                    )
            if not pushes:
                _sum_desired(found.values(), desired)
        proposals = tuple(found[entry.key] for entry in stack)
        self._move(after, view, sees, proposals, values, active, dt)
        return after, proposals

    def _world_view(self, world: World, dt: float, number: int, seed: int) -> WorldView:
        motion = self.settings.motion
        flat = motion.motion == "GROUND"
        colliders = world.colliders or _NO_COLLIDERS
        return WorldView(
            targets=world.targets_of("").view(),
            neighbors=neighbors.empty(0),
            colliders=colliders.bvh,
            collider_center=colliders.center,
            collider_radius=colliders.radius,
            collider_first=colliders.first,
            ground=_ground(world, flat),
            eye_height=float(motion.step_height) if flat else 0.0,
            min_up=ground.min_up(motion.max_slope),
            flat=flat,
            dt=float(dt),
            seed=int(seed),
            step=int(number),
        )

    def _move(
        self,
        after: Agents,
        view: AgentView,
        sees: WorldView,
        proposals: Sequence[Proposal],
        values: F32,
        active: NDArray[np.uint8],
        dt: float,
    ) -> None:
        """Combine the proposals and write positions, velocities and headings into `after`."""
        solver = self.settings.solver
        count = after.count
        limits = LimitsView(
            vex=solver.solver == "VEX",
            priority=solver.combine == "PRIORITY",
            relaxation_time=float(solver.relaxation_time),
            blend=1.0 - (1.0 - solver.acc_weight) ** (24.0 * dt),
            min_speed=float(solver.min_speed),
            max_turn=math.radians(solver.max_turn_rate) * dt,
            max_change=solver.max_acceleration * dt,
            step_height=float(self.settings.motion.step_height),
            min_turn_speed=float(self.settings.motion.min_turn_speed),
            max_body_turn=math.radians(self.settings.motion.body_turn_rate) * dt,
        )
        kinds = np.array([p.output == VELOCITY for p in proposals], np.uint8)
        weights = np.zeros((len(proposals), count), np.float32)
        for row, proposal in enumerate(proposals):
            weights[row] = proposal.weight
        wished = np.zeros((count, 3), np.float32)
        jit.parallel_for(
            combine_kernel, count, view, sees, limits, kinds, weights, values, active, wished
        )
        jit.parallel_for(
            integrate_kernel,
            count,
            view,
            sees,
            limits,
            wished,
            after.position,
            after.velocity,
            after.heading,
            after.normal,
        )


def _ground(world: World, flat: bool) -> BvhView:
    return world.ground if flat and world.ground is not None else bvh.empty()


def _agent_view(agents: Agents, desired: F32) -> AgentView:
    columns = {name: getattr(agents, name) for name in AgentView._fields if name != "desired"}
    return AgentView(**columns, desired=desired)


def pack(entry: Behavior, agents: Agents) -> Any:
    """A behavior's parameters as its kernel reads them: arrays of one value, or one per agent."""
    values = {}
    for name, info in own_parameters(type(entry)).items():
        if info.kind == "choice":
            index = list(info.choices).index(getattr(entry, name))
            values[name] = np.array([index], np.float32)
        elif info.kind != "text":
            values[name] = _per_agent(entry, name, agents)
    return entry.definition.params_tuple(**values)


def _per_agent(entry: Behavior, name: str, agents: Agents) -> F32:
    info = parameters(entry)[name]
    if info.per_agent:
        names = [f"{entry.key}.{name}", f"{entry.definition.type}.{name}"]
        if name != "weight":
            names.append(name)
        for key in names:
            if key in agents.attributes:
                column: F32 = np.clip(agents.attributes[key], info.minimum, info.maximum)
                return column.astype(np.float32)
    return np.array([getattr(entry, name)], np.float32)


def _neighbor_lists(stack: Sequence[Behavior], agents: Agents) -> dict[str, NeighborView]:
    """One search for all behaviors with the same field of view; each reads its part of the list."""
    none = neighbors.empty(0)
    lists = dict.fromkeys((entry.key for entry in stack), none)
    asking = [(entry, pack(entry, agents)) for entry in stack if NEIGHBORS in entry.definition.uses]
    if not asking or agents.count < 2:
        empty = neighbors.empty(agents.count)
        return lists | {entry.key: empty for entry, _ in asking}
    reach = max(float(params.neighbor_distance.max()) for _, params in asking)
    grid = neighbors.build_grid(agents.position, reach)
    groups: dict[bytes, list[tuple[Behavior, Any]]] = {}
    for entry, params in asking:
        groups.setdefault(params.field_of_view.tobytes(), []).append((entry, params))
    for members in groups.values():
        radius = members[0][1].neighbor_distance
        most = members[0][1].max_neighbors
        for _, params in members[1:]:
            radius = np.maximum(radius, params.neighbor_distance)
            most = np.maximum(most, params.max_neighbors)
        found = neighbors.find(
            grid,
            agents.position,
            agents.heading,
            agents.id,
            radius,
            most,
            members[0][1].field_of_view,
        )
        lists.update({entry.key: found for entry, _ in members})
    return lists


def _propose(
    entry: Behavior,
    before: Agents,
    after: Agents,
    view: AgentView,
    sees: WorldView,
    value: F32,
    active: NDArray[np.uint8],
) -> Proposal:
    """Run one behavior; what it remembers is written to `after`."""
    definition = entry.definition
    remembered = np.zeros((before.count, definition.memory_width), np.float32)
    if entry.key in before.memory and before.memory[entry.key].shape == remembered.shape:
        remembered = before.memory[entry.key].copy()
    params = pack(entry, before)
    jit.parallel_for(definition.kernel, before.count, view, sees, params, remembered, value, active)
    if definition.memory_width:
        after.memory[entry.key] = remembered
    return Proposal(
        entry.key, definition.output, _per_agent(entry, "weight", before), value, active
    )


def _sum_desired(proposals: Iterable[Proposal], desired: F32) -> None:
    """Σ wᵢ·uᵢ of the desired velocities."""
    for proposal in proposals:
        if proposal.output == VELOCITY:
            desired += proposal.weight[:, None] * proposal.value
