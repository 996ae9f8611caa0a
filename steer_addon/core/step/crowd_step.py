"""Crowd step: one crowd in a substep, from what it perceives to where it wishes to go."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .. import contacts
from ..agents import Agents, Rows, rows_of
from ..compiled import jit
from ..crowd.heights import tall
from ..crowd.membership import joined
from ..crowd.settings import CrowdSettings
from ..geometry import bvh, ground, neighbors
from ..inputs.others import agent_view
from ..inputs.targets import NO_TARGETS, Choices
from ..inputs.world import NO_COLLIDERS, World
from ..sensing.declare import PUSH, VELOCITY, WISH
from ..views import NO_HEADS, AgentView, BvhView, WorldView
from . import arrival, choosing
from .around import Around
from .guiding import Guide, looked
from .integrate import LimitsView, move_kernel
from .proposals import Perception, Proposal, propose, run_kernel, sum_desired

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

_NO_TARGETS = NO_TARGETS.view(np.zeros(0, np.int64))


class CrowdStep:
    """The living of a crowd in one substep; nothing in it gets the dead.

    The steps are, in this order: the neighbors are known, `wish`, `push`, `move`, the contacts,
    and `ended`. Several crowds do each of them before any does the next.
    """

    def __init__(
        self,
        settings: CrowdSettings,
        agents: Agents,
        world: World,
        dt: float,
        *,
        number: int,
        seed: int,
    ) -> None:
        """Begin a substep.

        Args:
            settings: Settings of the crowd.
            agents: The crowd; it is not changed.
            world: The world that it perceives.
            dt: Time [s] > 0.
            number: Count of substeps before; random numbers are keyed by it.
            seed: Random seed.
        """
        self.settings, self.stack = settings, settings.stack
        agents = joined(agents, settings)
        agents = choosing.decided(agents, world, settings, dt, number, seed)
        self._choices = Choices()
        agents, self._away = arrival.begun(agents, world, settings, dt, self._choices)
        agents = looked(agents, settings, dt, number)
        self._whole: Agents = agents
        self._rows: Rows | None = None
        if not agents.alive.all():
            rows = rows_of(agents.alive)
            self._rows, self._choices = rows, self._choices.taken(rows)
            self._away = self._away[rows] if len(self._away) else self._away
            agents, world = agents.taken(rows), world.living(agents.alive)
        self._after = self._whole.copy()
        # where the living stand one after another, what is written to them is there at once
        after = self._after if self._rows is None else self._after.taken(self._rows)
        self.before, self.after, self._world = agents, after, world
        self.sees = world_view(settings, world, dt, number, seed, agents)
        self._found: dict[str, Proposal] = {}
        count = len(self.stack)
        self._values = np.zeros((count, agents.count, 3), np.float32)
        self._active = np.zeros((count, agents.count), np.uint8)
        self._through = np.zeros(0, np.int64)
        self._free = self._through, agents

    def perceive(self, around: Around | None = None, view: AgentView | None = None) -> None:
        """Take in the neighbors.

        Args:
            around: Neighbors that were found for several crowds; None to look for them.
            view: The agents of all crowds that are seen, those of this one first; None to put
                together those of the crowd and the others of its world.
        """
        before, others = self.before, self._world.others
        if view is None:
            wishes = np.zeros((before.count, 3), np.float32)
            if others is not None:
                wishes = np.concatenate([wishes, others.desired])
            view = agent_view(before, wishes, others)
        self._view = view
        self._guide = Guide(self.settings, self._world, before, self._whole, self.sees.dt)
        self._perception = Perception(
            before,
            self._world,
            self.stack,
            self._choices,
            around,
            self._guide,
            height=self.settings.body_height,
            desired=self.desired,
            seed=self.sees.seed,
        )

    @property
    def desired(self) -> F32:
        """Weighted sums of the desired velocities [m/s], shape (agent_count, 3), after `wish`."""
        return self._view.desired[: self.before.count]

    @property
    def group(self) -> NDArray[np.int32]:
        """Who walks with whom, see `AgentView.group`, shape (agent_count,), after `wish`."""
        return self._view.group[: self.before.count]

    @property
    def around(self) -> Around:
        """The neighbors."""
        return self._perception.around

    def wish(self) -> None:
        """Ask for the desired velocities, and then for changes of the wish."""
        self._ask(VELOCITY)
        arrival.hush(self.stack, self._found, self.before)
        transit = self._guide.transit
        if transit is not None:
            for found in self._found.values():
                found.value[transit.inside], found.active[transit.inside] = 0.0, 0
        sum_desired(self._found.values(), self.desired)
        self._ask(WISH)
        sum_desired(self._found.values(), self.desired, WISH)
        self._perception.mark_groups(self.stack, self.group)

    def push(self) -> None:
        """Ask for pushes, which depend on the ways that all agents that are seen want to go."""
        self._ask(PUSH)

    def _ask(self, output: str) -> None:
        for row, entry in enumerate(self.stack):
            if entry.definition.output == output:
                local = self._perception.local(entry, self.sees)
                params = self._perception.params(entry)
                local = self._guide.beyond(entry, self._view, local, params)
                if output == PUSH:
                    local = local._replace(heads=self._guide.heads)
                self.after.memory.update(self._guide.kept)
                asked = (self.before, self.after, self._view, local, params)
                self._found[entry.key] = propose(
                    entry, *asked, self._values[row], self._active[row]
                )

    def move(self) -> None:
        """Combine the proposals and write positions, velocities and headings into `after`."""
        before, after, proposals = self.before, self.after, self._proposals
        stands, away = arrival.standing(self.stack, before), self._away
        if stands is not before.arrived:
            # those that wait are on no way to a goal: they need not stop at one
            away = np.where(before.arrived, away if len(away) else np.inf, np.inf)
        kinds = np.array([p.output == VELOCITY for p in proposals], np.uint8)
        jit.parallel_for(
            move_kernel,
            after.count,
            self._view,
            self.sees,
            _limits(self.settings, self.sees.dt),
            (kinds, _weights(proposals), self._values, self._active),
            stands,
            away,
            before.roll,
            (after.position, after.velocity, after.heading, after.normal, after.roll),
        )
        self._guide.keep_out(after, self.sees.dt)
        self._constrain()
        transit = self._guide.transit
        if transit is not None:
            self._through = transit.move(self._view, self.sees, before, after)

    def _constrain(self) -> None:
        """Let behaviors correct where the agents went, in the order of the stack.

        Agents for which a behavior has no weight stay where they are.
        """
        after = self.after
        for entry, proposal in zip(self.stack, self._proposals, strict=True):
            if entry.definition.constraint is not None:
                free = np.flatnonzero(np.broadcast_to(proposal.weight, after.count) <= 0.0)
                position, velocity = after.position[free], after.velocity[free]
                run_kernel(
                    entry,
                    entry.definition.constraint,
                    after.count,
                    self._view,
                    self._perception.local(entry, self.sees),
                    self._perception.params(entry),
                    after.memory.get(entry.key, np.zeros((after.count, 0), np.float32)),
                    after.position,
                    after.velocity,
                )
                after.position[free], after.velocity[free] = position, velocity

    @property
    def _proposals(self) -> tuple[Proposal, ...]:
        return tuple(self._found[entry.key] for entry in self.stack)

    def parties(self, moved: contacts.MovedView | None) -> list[contacts.Party]:
        """The crowd in the contact pass: those in portals, whom nothing moves, apart from others.

        Args:
            moved: The colliders that moved in the step.
        """
        told = self.settings, self.sees
        if not len(self._through):
            return [contacts.Party(self.before, self.after, *told, moved)]
        free = np.delete(np.arange(self.before.count), self._through)
        parts = [
            (self.before.taken(rows), self.after.taken(rows)) for rows in (free, self._through)
        ]
        self._free = free, parts[0][1]
        return [
            contacts.Party(*parts[0], *told, moved),
            contacts.Party(*parts[1], *told, fixed=True),
        ]

    def touched(self) -> None:
        """Take over what the contact pass made of the parties."""
        if len(self._through):
            rows, part = self._free
            for name in ("position", "velocity", "normal"):
                getattr(self.after, name)[rows] = getattr(part, name)

    def ended(self) -> tuple[Agents, tuple[Proposal, ...]]:
        """The whole crowd after the substep, and what each behavior proposed."""
        if self._rows is None:
            return self.after, self._proposals
        whole, rows = self._after, self._rows
        whole.put(rows, self.after)
        return whole, tuple(proposal.spread(rows, whole.count) for proposal in self._proposals)


def world_view(
    settings: CrowdSettings,
    world: World,
    dt: float,
    number: int,
    seed: int,
    agents: Agents | None = None,
) -> WorldView:
    """The kernels' view of the world, without targets and neighbors: see `Perception`.

    Args:
        settings: Settings of the crowd.
        world: The world.
        dt: Length of the step [s].
        number: Count of substeps before.
        seed: Random seed.
        agents: The crowd; without it bodies have no height.
    """
    motion = settings.motion
    flat = motion.motion == "GROUND"
    colliders = world.colliders or NO_COLLIDERS
    return WorldView(
        targets=_NO_TARGETS,
        heads=NO_HEADS,
        neighbors=neighbors.NONE,
        colliders=colliders.bvh,
        collider_center=colliders.center,
        collider_radius=colliders.radius,
        collider_first=colliders.first,
        ground=_ground(world, flat),
        eye_height=float(motion.step_height) if flat else 0.0,
        tall=0.0 if agents is None else _tall(agents, settings, world),
        min_up=ground.min_up(motion.max_slope),
        flat=flat,
        relaxation_time=float(settings.solver.relaxation_time),
        dt=float(dt),
        seed=int(seed),
        step=int(number),
        time=float(number * dt),
        first=bool(number == 0),
    )


def _tall(agents: Agents, settings: CrowdSettings, world: World) -> float:
    """How far the highest of the bodies reaches above where rays start [m]; 0 if that is no matter.

    Above a level place, among walls up to above the heads, it takes less time to look at one height
    only.
    """
    most = float(tall(agents, settings).max(initial=0.0))
    if world.colliders is None or not most:
        return 0.0
    feet = agents.position[:, 2]
    if world.ground is not None and len(world.ground.box):
        feet = np.append(feet, world.ground.box[0, [2, 5]])
    eye = settings.motion.step_height
    low, high = float(feet.min()) + eye, float(feet.max()) + eye + most
    return most if world.colliders.hangs(low, high) else 0.0


def _limits(settings: CrowdSettings, dt: float) -> LimitsView:
    solver, motion, cast = settings.solver, settings.motion, settings.cast
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
        # in a scene in centimeters characters are shown at 100 times their size
        banking=float(motion.banking) / (cast.scale if cast and cast.scale > 0.0 else 1.0),
        max_bank=math.radians(motion.max_bank),
    )


def _weights(proposals: Sequence[Proposal]) -> F32:
    """Weights of the proposals, shape (proposal_count, 1), or (proposal_count, agent_count)."""
    columns = next((len(p.weight) for p in proposals if len(p.weight) != 1), 1)
    weights = np.empty((len(proposals), columns), np.float32)
    for row, proposal in enumerate(proposals):
        weights[row] = proposal.weight
    return weights


def _ground(world: World, flat: bool) -> BvhView:
    return world.ground if flat and world.ground is not None else bvh.empty()
