"""Solver: propose, combine, limit, integrate. One step is a pure function of its arguments.

REYNOLDS (Reynolds 1999): F = Σ wᵢ·(uᵢ - v or Δᵢ)/τ, truncated to F_max; a = F/m;
v ← truncate(v + a·dt, v_max); p ← p + v·dt.

VEX (Houdini SOP solver): u = Σ wᵢ·(uᵢ or Δᵢ); v ← v + (u - v)·α; p ← p + v·dt, with
α = 1 - (1 - acc_weight)^(24·dt); nothing is truncated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import contacts
from ..agents import Agents
from ..compiled import jit
from ..crowd.settings import CrowdSettings
from ..geometry import bvh, ground, neighbors
from ..inputs.targets import NO_TARGETS, Choices
from ..inputs.world import NO_COLLIDERS, Colliders, World
from ..sensing.declare import VELOCITY, Behavior
from ..views import AgentView, BvhView, WorldView
from . import arrival, choosing
from .integrate import LimitsView, move_kernel
from .proposals import Perception, Proposal, propose, run_kernel, sum_desired

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

_NO_TARGETS = NO_TARGETS.view(np.zeros(0, np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class StepResult:
    """A step's outcome.

    Attributes:
        agents: The crowd after the step.
        proposals: The proposal of each behavior, in stack order (of the last substep).
    """

    agents: Agents
    proposals: tuple[Proposal, ...]


class Solver:
    """Moves agents through a world by a crowd's settings."""

    def __init__(self, settings: CrowdSettings) -> None:
        self.settings = settings

    def step(
        self,
        agents: Agents,
        world: World,
        dt: float,
        *,
        number: int,
        seed: int | None = None,
        before: Colliders | None = None,
    ) -> StepResult:
        """Move all agents on by one step of time.

        Args:
            agents: The crowd; it is not changed.
            world: The world that it perceives.
            dt: Time [s] > 0.
            number: Count of steps before; random numbers are keyed by it.
            seed: Random seed; None takes the settings'.
            before: The colliders of the step before, which push agents when they move; None when
                they stood still.
        """
        substeps = self.settings.solver.substeps
        key = self.settings.seed if seed is None else seed
        proposals: tuple[Proposal, ...] = ()
        moved = None
        if self.settings.bodies.collide_colliders:
            moved = contacts.find_moved(before, world.colliders)
        for substep in range(substeps):
            agents, proposals = self._substep(
                agents, world, dt / substeps, number * substeps + substep, key, moved
            )
            # behaviors see the world after the step, and so colliders are there from the start
            moved = None
        return StepResult(agents, proposals)

    def _substep(
        self,
        agents: Agents,
        world: World,
        dt: float,
        number: int,
        seed: int,
        moved: contacts.MovedView | None,
    ) -> tuple[Agents, tuple[Proposal, ...]]:
        """Move the living; nothing in a step gets the dead."""
        agents = choosing.decided(agents, world, self.settings, dt, number, seed)
        choices = Choices()
        agents, away = arrival.begun(agents, world, self.settings, dt, choices)
        if agents.alive.all():
            return self._step_living(agents, world, away, dt, number, seed, moved, choices)
        rows = np.flatnonzero(agents.alive)
        living, seen = agents.taken(rows), world.living(agents.alive)
        away = away[rows] if len(away) else away
        part, asked = self._step_living(living, seen, away, dt, number, seed, moved, Choices())
        after = agents.copy()
        after.put(rows, part)
        return after, tuple(proposal.spread(rows, agents.count) for proposal in asked)

    def _step_living(
        self,
        agents: Agents,
        world: World,
        away: F64,
        dt: float,
        number: int,
        seed: int,
        moved: contacts.MovedView | None,
        choices: Choices,
    ) -> tuple[Agents, tuple[Proposal, ...]]:
        stack = self.settings.stack
        after = agents.copy()
        desired = np.zeros_like(agents.position)
        view = agent_view(agents, desired)
        sees = self.world_view(world, dt, number, seed)
        perception = Perception(agents, world, stack, choices)
        found: dict[str, Proposal] = {}
        values = np.zeros((len(stack), agents.count, 3), np.float32)
        active = np.zeros((len(stack), agents.count), np.uint8)
        # pushes may ask which way the agent wants to go, so the desired velocities come first
        for pushes in (False, True):
            for row, entry in enumerate(stack):
                if (entry.definition.output != VELOCITY) == pushes:
                    local, params = perception.local(entry, sees), perception.params(entry)
                    found[entry.key] = propose(
                        entry, agents, after, view, local, params, values[row], active[row]
                    )
            if not pushes:
                arrival.hush(stack, found, agents)
                sum_desired(found.values(), desired)
        proposals = tuple(found[entry.key] for entry in stack)
        self._move(agents, away, after, view, sees, proposals, values, active, dt)
        _constrain(stack, proposals, perception, after, view, sees)
        contacts.resolve(agents, after, self.settings, sees, moved, perception.known)
        return after, proposals

    def world_view(self, world: World, dt: float, number: int, seed: int) -> WorldView:
        """The kernels' view of the world, without targets and neighbors: see `Perception`."""
        motion = self.settings.motion
        flat = motion.motion == "GROUND"
        colliders = world.colliders or NO_COLLIDERS
        return WorldView(
            targets=_NO_TARGETS,
            neighbors=neighbors.NONE,
            colliders=colliders.bvh,
            collider_center=colliders.center,
            collider_radius=colliders.radius,
            collider_first=colliders.first,
            ground=_ground(world, flat),
            eye_height=float(motion.step_height) if flat else 0.0,
            min_up=ground.min_up(motion.max_slope),
            flat=flat,
            relaxation_time=float(self.settings.solver.relaxation_time),
            dt=float(dt),
            seed=int(seed),
            step=int(number),
            time=float(number * dt),
            first=bool(number == 0),
        )

    def _limits(self, dt: float) -> LimitsView:
        solver, motion = self.settings.solver, self.settings.motion
        return LimitsView(
            vex=solver.solver == "VEX",
            priority=solver.combine == "PRIORITY",
            relaxation_time=float(solver.relaxation_time),
            blend=1.0 - (1.0 - solver.acc_weight) ** (24.0 * dt),
            min_speed=float(solver.min_speed),
            max_turn=math.radians(solver.max_turn_rate) * dt,
            max_change=solver.max_acceleration * dt,
            step_height=float(motion.step_height),
            min_turn_speed=float(motion.min_turn_speed),
            max_body_turn=math.radians(motion.body_turn_rate) * dt,
            banking=float(motion.banking),
            max_bank=math.radians(motion.max_bank),
        )

    def _move(
        self,
        before: Agents,
        away: F64,
        after: Agents,
        view: AgentView,
        sees: WorldView,
        proposals: Sequence[Proposal],
        values: F32,
        active: NDArray[np.uint8],
        dt: float,
    ) -> None:
        """Combine the proposals and write positions, velocities and headings into `after`."""
        limits = self._limits(dt)
        stands = arrival.standing(self.settings.stack, before)
        if stands is not before.arrived:
            # those that wait are on no way to a goal: they need not stop at one
            away = np.where(before.arrived, away if len(away) else np.inf, np.inf)
        kinds = np.array([p.output == VELOCITY for p in proposals], np.uint8)
        jit.parallel_for(
            move_kernel,
            after.count,
            view,
            sees,
            limits,
            (kinds, _weights(proposals), values, active),
            stands,
            away,
            before.roll,
            (after.position, after.velocity, after.heading, after.normal, after.roll),
        )


def _weights(proposals: Sequence[Proposal]) -> F32:
    """Weights of the proposals, shape (proposal_count, 1), or (proposal_count, agent_count)."""
    columns = next((len(p.weight) for p in proposals if len(p.weight) != 1), 1)
    weights = np.empty((len(proposals), columns), np.float32)
    for row, proposal in enumerate(proposals):
        weights[row] = proposal.weight
    return weights


def _constrain(
    stack: Sequence[Behavior],
    proposals: Sequence[Proposal],
    perception: Perception,
    after: Agents,
    view: AgentView,
    sees: WorldView,
) -> None:
    """Let behaviors correct where the agents went, in the order of the stack.

    Agents for which a behavior has no weight stay where they are.
    """
    for entry, proposal in zip(stack, proposals, strict=True):
        if entry.definition.constraint is not None:
            free = np.flatnonzero(np.broadcast_to(proposal.weight, after.count) <= 0.0)
            position, velocity = after.position[free], after.velocity[free]
            run_kernel(
                entry,
                entry.definition.constraint,
                after.count,
                view,
                perception.local(entry, sees),
                perception.params(entry),
                after.memory.get(entry.key, np.zeros((after.count, 0), np.float32)),
                after.position,
                after.velocity,
            )
            after.position[free], after.velocity[free] = position, velocity


def _ground(world: World, flat: bool) -> BvhView:
    return world.ground if flat and world.ground is not None else bvh.empty()


def agent_view(agents: Agents, desired: F32) -> AgentView:
    """The kernels' view of the agents."""
    columns = {name: getattr(agents, name) for name in AgentView._fields if name != "desired"}
    return AgentView(**columns, desired=desired)
