"""Proposals of behaviors: parameters and inputs are packed for a kernel, which fills the values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import own_behaviors
from ..agents import Agents, Rows
from ..compiled import jit
from ..errors import SteerError
from ..inputs import companions
from ..inputs.targets import Choices, Targets
from ..inputs.world import World
from ..sensing.declare import (
    AXES,
    COMPANIONS,
    CONTAINER,
    EVERYONE,
    FIELD,
    INPUTS,
    NEIGHBORS,
    PATHS,
    SECOND_TARGETS,
    SPHERES,
    TARGETS,
    VELOCITY,
    Behavior,
    acts_for,
    params_tuple,
    per_agent,
)
from ..views import AgentView, TargetView, WorldView
from .around import Around, look_around
from .guiding import Guide

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Proposal:
    """The proposal of one behavior, kept so that a user can see why an agent turned."""

    key: str
    """Name of the behavior in the stack."""
    output: str
    """VELOCITY, PUSH or WISH."""
    weight: F32
    """Weights, shape (1,) or (agent_count,)."""
    value: F32
    """Proposals [m/s], shape (agent_count, 3)."""
    active: NDArray[np.uint8]
    """1 where there is a proposal, shape (agent_count,)."""

    def spread(self, rows: Rows, count: int) -> Proposal:
        """The same for a whole crowd, where only the agents in some rows have a proposal."""
        weight = self.weight
        if len(weight) == len(self.value) != 1:
            weight = np.zeros(count, np.float32)
            weight[rows] = self.weight
        value = np.zeros((count, 3), np.float32)
        active = np.zeros(count, np.uint8)
        value[rows], active[rows] = self.value, self.active
        return Proposal(self.key, self.output, weight, value, active)


@dataclass(frozen=True, eq=False, repr=False)
class StepResult:
    """A step's outcome.

    Attributes:
        agents: The crowd after the step.
        proposals: The proposal of each behavior, in stack order (of the last substep).
    """

    agents: Agents
    proposals: tuple[Proposal, ...]


class Perception:
    """Reads the world for each behavior of one step; inputs that several share are read once."""

    def __init__(
        self,
        agents: Agents,
        world: World,
        stack: Sequence[Behavior],
        choices: Choices | None = None,
        around: Around | None = None,
        guide: Guide | None = None,
        *,
        height: float = 0.0,
        desired: F32 | None = None,
        seed: int = 0,
    ) -> None:
        self._start = np.zeros_like(agents.position) if desired is None else desired, seed
        self._agents = agents
        self._choices = choices or Choices()
        self._world = world
        self._guide = guide
        self.around = around or look_around(stack, agents, world.others, height)
        self._params: dict[str, Any] = {}

    def local(self, entry: Behavior, sees: WorldView) -> WorldView:
        """The world as this behavior sees it: who is in none of its groups has nothing to see."""
        remembers = entry.definition.memory_width > 0
        near, acts = self.around.lists[entry.key], acts_for(entry, self._agents)
        transit = None if self._guide is None else self._guide.transit
        if transit is not None:
            near = transit.beside(near)
        if acts is not None and len(near.count):
            near = near._replace(count=np.where(acts, near.count, np.int32(0)))
        return sees._replace(
            targets=self._chosen(self._world.targets_of(entry.target), entry),
            neighbors=near,
            first=memory_of(entry, self._agents) is None if remembers else sees.first,
        )

    def params(self, entry: Behavior) -> Any:
        """Parameters and inputs of a behavior as its kernel reads them."""
        if entry.key not in self._params:
            uses = entry.definition.uses
            inputs = {INPUTS[use]: self._input(use, entry) for use in uses if use in INPUTS}
            self._params[entry.key] = pack(entry, self._agents, inputs)
        return self._params[entry.key]

    def mark_groups(self, stack: Sequence[Behavior], group: NDArray[np.int32]) -> None:
        """Write who walks with whom as the last behavior has it that keeps people together."""
        for entry in stack:
            if COMPANIONS in entry.definition.uses:
                found, acts = self.params(entry).companions.group, acts_for(entry, self._agents)
                if acts is None:
                    group[:] = found
                else:
                    group[acts] = found[acts] + np.int32(group.max(initial=-1) + 1)

    def _input(self, use: str, entry: Behavior) -> Any:
        world = self._world
        if use == AXES:
            return world.targets_of(entry.target).axes
        if use == SECOND_TARGETS:
            return self._chosen(world.second_targets_of(entry.key), entry)
        if use == SPHERES:
            return world.all_spheres().view()
        if use == PATHS:
            return world.paths_of(entry.key).view()
        if use == FIELD:
            return world.field_of(entry.key).view()
        if use == CONTAINER:
            return world.container_of(entry.key).view()
        if use == COMPANIONS:
            held = memory_of(entry, self._agents)
            return companions.find(entry, self._agents, held, *self._start)
        raise KeyError(use)

    def _chosen(self, found: Targets, entry: Behavior) -> TargetView:
        """Targets with each agent's choice among them."""
        if TARGETS not in entry.definition.uses:
            return found.view(_NO_ROWS)
        rows, acts = self._choices.of(found, entry, self._agents), acts_for(entry, self._agents)
        rows = rows if acts is None else np.where(acts, rows, -1)
        return self._guide.view(entry, found, rows) if self._guide else found.view(rows)


_NO_ROWS = np.zeros(0, np.int64)


def pack(entry: Behavior, agents: Agents, inputs: dict[str, Any] | None = None) -> Any:
    """A behavior's parameters as its kernel reads them: arrays of one value, or one per agent."""
    if not (inputs or agents.attributes or entry.group):
        return entry.packed
    acts = acts_for(entry, agents)
    values: dict[str, Any] = dict(inputs or {})
    values["acts"] = EVERYONE if acts is None else acts.astype(np.float32)
    for name in entry.own_constants:
        values[name] = per_agent(entry, name, agents)
    return params_tuple(type(entry))(**values)


def memory_of(entry: Behavior, agents: Agents) -> F32 | None:
    """Memory of a behavior, shape (agent_count, memory_width); None before its first step."""
    remembered = agents.memory.get(entry.key)
    shape = (agents.count, entry.definition.memory_width)
    return None if remembered is None or remembered.shape != shape else remembered


def run_kernel(entry: Behavior, kernel: Any, count: int, *args: Any) -> None:
    """Run a kernel of a behavior over all agents.

    Args:
        entry: The behavior.
        kernel: One of its kernels.
        count: Number of agents.
        args: Arguments of the kernel after the range of agents.

    Raises:
        BehaviorFileError: The behavior is a user's, and its kernel fails.
    """
    # to look at neighbors takes long enough to be shared out earlier, as in several small crowds
    chunk = jit.CHUNK // 2 if NEIGHBORS in entry.definition.uses else jit.CHUNK
    try:
        jit.parallel_for(kernel, count, *args, chunk=chunk)
    except SteerError:
        raise
    except Exception as error:
        fault = own_behaviors.fault_of(type(entry), error)
        if fault is None:
            raise
        raise fault from error


def propose(
    entry: Behavior,
    before: Agents,
    after: Agents,
    view: AgentView,
    sees: WorldView,
    params: Any,
    value: F32,
    active: NDArray[np.uint8],
) -> Proposal:
    """Run one behavior; its memory is written to `after`, a copy of `before`."""
    definition = entry.definition
    remembered = memory_of(entry, after)
    if remembered is None:
        remembered = np.zeros((before.count, definition.memory_width), np.float32)
    run_kernel(entry, entry.kernel, before.count, view, sees, params, remembered, value, active)
    if definition.memory_width:
        after.memory[entry.key] = remembered
    acts = acts_for(entry, before)
    if acts is not None:
        value[~acts], active[~acts] = 0.0, 0
    return Proposal(entry.key, definition.output, per_agent(entry, "weight", before), value, active)


def sum_desired(proposals: Iterable[Proposal], desired: F32, output: str = VELOCITY) -> None:
    """Add Σ wᵢ·uᵢ of the desired velocities, or of the changes of the wish."""
    for proposal in proposals:
        if proposal.output == output:
            desired += proposal.weight[:, None] * proposal.value
