"""The answer: the proposals of all behaviors for each agent, from a step of the solver itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..crowd.membership import joined
from ..crowd.settings import CrowdSettings
from ..errors import AgentError
from ..inputs.others import agent_view
from ..inputs.world import World
from ..results.frames import shown
from ..sensing.declare import NEIGHBORS, SET, VELOCITY, WISH, Behavior
from ..step.crowd_step import world_view
from ..step.guiding import Guide, blocks_of, seen_by, shape_of, with_footing, with_ways
from ..step.proposals import Perception, Proposal, sum_desired
from ..step.solver import Solver
from ..views import AgentView, WorldView
from ..ways.looking import way_of
from ..ways.ways import Ways
from .inputs import looked_at, neighbor_rows
from .shapes import WAY, Route, Shape
from .tracing import trace

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Part:
    """The proposal of one behavior for one agent."""

    name: str
    """Name of the entry in the list."""
    label: str
    """Name of the entry as people read it."""
    group: str
    """Heading of its kind: Goals, Neighbors, Obstacles, Paths."""
    active: bool
    """Whether it proposed anything."""
    forced: bool
    """Whether it set the velocity outright."""
    value: F32
    """The proposal [m/s], shape (3,)."""
    weight: float
    share: float
    """Its share of all proposals for the agent, 0 to 1."""
    neighbors: tuple[int | str, ...]
    """Ids of the neighbors that it counted, nearest first; of another crowd as "7 of Police"."""
    looks: tuple[Shape, ...]
    """Shapes of the things that it perceived."""

    @property
    def speed(self) -> float:
        """Size of the proposal [m/s]."""
        return float(np.linalg.norm(self.value))


@dataclass(frozen=True, eq=False)
class AgentAnswer:
    """The proposals for one agent, and its motion."""

    id: int
    row: int
    velocity: F32
    after: F32
    """Velocity after the step [m/s], with all limits and bodies, shape (3,)."""
    state: Mapping[str, float]
    """Its state by name: alive, arrived, and the memory that behaviors show."""
    parts: tuple[Part, ...]
    """In the order of the list."""
    groups: tuple[str, ...] = ()
    """Names of the groups that it is in."""

    @property
    def turn(self) -> float:
        """How far the step turns it to the left in the plane [deg]."""
        a, b = self.velocity.astype(np.float64), self.after.astype(np.float64)
        if min(np.hypot(*a[:2]), np.hypot(*b[:2])) < 1.0e-4:
            return 0.0
        return float(np.degrees(np.arctan2(a[0] * b[1] - a[1] * b[0], a[:2] @ b[:2])))


@dataclass(frozen=True, eq=False)
class Answer:
    """A crowd at one frame, and all proposals of its behaviors there."""

    settings: CrowdSettings
    agents: Agents
    after: Agents
    proposals: tuple[Proposal, ...]
    """In the order of the behaviors that act."""
    world: World
    dt: float
    number: int

    @property
    def stack(self) -> list[Behavior]:
        """The behaviors that act, in order."""
        return self.settings.stack

    @cached_property
    def parts(self) -> F32:
        """How each proposal enters the sum of all [m/s], shape (proposal_count, agent_count, 3).

        REYNOLDS: w·(u - v) of a desired velocity, w·Δ of a push; VEX: w·u and w·Δ. Under PRIORITY
        the budget limits it. Where one proposal sets the velocity, no other counts.
        """
        told, agents = self.settings.solver, self.agents
        vex, priority = told.solver == "VEX", told.combine == "PRIORITY"
        flat = self.settings.motion.motion == "GROUND"
        unit = 1.0 if vex else told.relaxation_time
        left = (agents.max_speed if vex else agents.max_force * np.float32(unit)).astype(np.float64)
        free = np.ones(agents.count, bool)
        found = np.zeros((len(self.proposals), agents.count, 3))
        normal = agents.normal.astype(np.float64)
        for row, proposal in enumerate(self.proposals):
            value = proposal.value.astype(np.float64)
            if flat:
                value -= normal * np.einsum("ij,ij->i", value, normal)[:, None]
            acts = (proposal.active > 0) & (proposal.weight > 0.0) & free
            forced = acts & (proposal.active == SET)
            if proposal.output == VELOCITY and not vex:
                value = np.where(forced[:, None], value, value - agents.velocity)
            part = np.where(forced[:, None], value, value * proposal.weight[:, None])
            part[~acts] = 0.0
            if priority:
                size = np.linalg.norm(part, axis=1)
                kept = np.minimum(1.0, left / np.maximum(size, 1.0e-12))
                part = np.where(forced[:, None], part, part * kept[:, None])
                left = np.maximum(0.0, left - size * kept)
            found[:row, forced] = 0.0
            found[row] = part
            free &= ~forced
        return found.astype(np.float32)

    @cached_property
    def shares(self) -> F32:
        """Size of each part among all parts, 0 to 1, shape (proposal_count, agent_count)."""
        sizes = np.linalg.norm(self.parts, axis=2)
        total = sizes.sum(axis=0)
        result: F32 = (sizes / np.where(total > 0.0, total, 1.0)).astype(np.float32)
        return result

    @cached_property
    def _living(self) -> _Seen:
        return _Seen(self)

    def agent(self, number: int, *, looks: bool = False) -> AgentAnswer:
        """The proposals for one agent.

        Args:
            number: Its id.
            looks: Whether to trace what its behaviors perceive, which takes some milliseconds.

        Raises:
            AgentError: There is no agent of that id.
        """
        ids = self.agents.id
        rows = np.flatnonzero(ids == number)
        if not len(rows):
            raise AgentError(
                f"There is no agent {number}: this crowd has the ids {ids.min()} to {ids.max()}"
            )
        row = int(rows[0])
        state = {name: float(values[row]) for name, values in shown(self.after, self.stack).items()}
        state |= {"alive": float(self.after.alive[row]), "arrived": float(self.after.arrived[row])}
        return AgentAnswer(
            id=number,
            row=row,
            velocity=self.agents.velocity[row],
            after=self.after.velocity[row],
            state=state,
            parts=tuple(self._part(k, row, looks) for k in range(len(self.proposals))),
            groups=self.agents.groups_of(row),
        )

    def _part(self, place: int, row: int, looks: bool) -> Part:
        entry, proposal = self.stack[place], self.proposals[place]
        definition, weight = entry.definition, proposal.weight
        near, seen = self._living.of(entry, row, looks)
        return Part(
            name=entry.key,
            label=definition.label if entry.key == definition.type else entry.key,
            group=definition.group,
            active=bool(proposal.active[row]),
            forced=bool(proposal.active[row] == SET),
            value=proposal.value[row],
            weight=float(weight[row if len(weight) > 1 else 0]),
            share=float(self.shares[place, row]),
            neighbors=near,
            looks=seen,
        )


class _Seen:
    """The living as the behaviors of a step see them, for looking at single agents."""

    def __init__(self, answer: Answer) -> None:
        alive = answer.after.alive
        rows = np.flatnonzero(alive)
        self.agents, world, proposals = answer.agents, answer.world, answer.proposals
        self.memory = answer.after.memory
        self.place = np.full(len(alive), -1, np.int64)
        self.place[rows] = np.arange(len(rows))
        self.rows = rows
        if len(rows) < len(alive):
            self.agents, world = self.agents.taken(rows), world.living(alive)
        told = self._settings = answer.settings
        self._crowding = seen_by(told, answer.after)
        self._world = world
        desired = np.zeros((len(alive), 3), np.float32)
        sum_desired(proposals, desired)
        goal, self._others = np.ascontiguousarray(desired[rows]), world.others
        sum_desired(proposals, desired, WISH)
        self._wishing = self._seen(goal)
        self._pushing = self._seen(np.ascontiguousarray(desired[rows]))
        stack, seed, height = answer.stack, told.seed, told.body_height
        self.perception = Perception(
            self.agents,
            world,
            stack,
            guide=Guide(told, world, self.agents, answer.after),
            height=height,
            desired=goal,
            seed=seed,
        )
        self.perception.mark_groups(stack, self._pushing.group[: self.agents.count])
        moment = (answer.dt, answer.number, told.seed)
        self.sees: WorldView = world_view(told, world, *moment, self.agents)

    def _seen(self, desired: F32) -> AgentView:
        """The agents with those of other crowds, and what they wish for."""
        if self._others is not None:
            desired = np.concatenate([desired, self._others.desired])
        return agent_view(self.agents, desired, self._others)

    def view(self, entry: Behavior) -> AgentView:
        """The agents as a behavior sees them: with the desired velocities that it may know."""
        return self._wishing if entry.definition.output == WISH else self._pushing

    def _named(self, row: int) -> int | str:
        """An agent as it is named for people."""
        number, others = int(self._pushing.id[row]), self._others
        if others is None or row < self.agents.count:
            return number
        return f"{number} of {others.names[int(self._pushing.crowd[row])]}"

    def of(self, entry: Behavior, row: int, looks: bool) -> tuple[tuple[int | str, ...], Any]:
        """Ids of an agent's neighbors, and the shapes that a behavior perceives for it."""
        place = int(self.place[row])
        if place < 0 or not (looks or NEIGHBORS in entry.definition.uses):
            return (), ()
        sees = self.perception.local(entry, self.sees)
        p = self.perception.params(entry)
        near: tuple[int | str, ...] = ()
        if NEIGHBORS in entry.definition.uses:
            near = tuple(self._named(other) for other in neighbor_rows(place, sees, p).tolist())
        if not looks:
            return near, ()
        width = entry.definition.memory_width
        none = np.zeros((self.agents.count, width), np.float32)
        before = self.agents.memory.get(entry.key, none)
        now = self.memory.get(entry.key)
        now = none if now is None else now[self.rows]
        before = before if before.shape == none.shape else none
        view = self.view(entry)
        traced, _ = trace(entry, place, view, sees, p, before)
        looks_at = looked_at(entry, place, view, sees, p, now)
        return near, (*looks_at, *traced, *self._way(entry, place, sees))

    def _way(self, entry: Behavior, place: int, sees: WorldView) -> tuple[Shape, ...]:
        """The way that a behavior leads an agent, round corners."""
        targets, ways = sees.targets, self._world.ways
        if ways is None or not len(targets.rest) or targets.row[place] < 0:
            return ()
        agents, rows = self.agents, np.asarray(targets.row, np.int64)
        shape, blocks = (
            shape_of(self._settings, agents),
            blocks_of(self._world, agents, self._settings),
        )
        told = (agents.position, agents.id, agents.radius)
        goals = targets.position, rows
        way = way_of(ways, shape, blocks, *goals, told, place, self._crowding)
        return (Route(WAY, way.points, length=way.length),)


def ask(
    settings: CrowdSettings,
    agents: Agents,
    world: World,
    dt: float,
    number: int,
) -> Answer:
    """Ask the behaviors of a crowd for their proposals; of several substeps for the first.

    Args:
        settings: Settings of the crowd.
        agents: The crowd; it is not changed.
        world: The world that it perceives; with ways, these are used again.
        dt: Time of a frame [s] > 0.
        number: Count of frames since the start; random numbers are keyed by it.
    """
    agents, world = joined(agents, settings), with_footing(world, settings)
    world = with_ways(world, settings, Ways())
    substeps = settings.solver.substeps
    once = replace(settings, solver=replace(settings.solver, substeps=1))
    part, count = dt / substeps, number * substeps
    result = Solver(once).step(agents, world, part, number=count)
    return Answer(settings, agents, result.agents, result.proposals, world, part, count)
