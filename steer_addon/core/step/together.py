"""Together: one step of several crowds that see and touch one another.

All crowds are seen as they were at the start of the step, and one contact pass moves the bodies of
all that touch, so the order of the crowds cannot matter. Where two agents are equal but for their
crowd, its rank decides: crowds are ranked by their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import contacts
from ..agents import Agents
from ..contacts import Known, MovedView, Party
from ..crowd.meets import Relation, groups_of, with_bodies
from ..crowd.settings import CrowdSettings
from ..inputs.world import Colliders, World
from ..views import AgentView
from .around import Around, look_around_together
from .crowd_step import CrowdStep, world_view
from .proposals import Proposal, StepResult

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Member:
    """A crowd at the start of a step.

    Attributes:
        settings: Settings of the crowd.
        agents: The crowd; it is not changed.
        world: The world that it perceives, but for the other crowds.
        number: Count of frames before; random numbers are keyed by it.
        key: What the crowd is told apart by, the same in the whole run.
        before: The colliders of the step before; None when they stood still.
        shown: The crowd at the end of the step, where it is known: it is played, or stands.
    """

    settings: CrowdSettings
    agents: Agents
    world: World
    number: int
    key: bytes = b""
    before: Colliders | None = None
    shown: Agents | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Meeting:
    """Which crowds meet.

    Attributes:
        sees: Whether agents of a row's crowd have those of a column's crowd as neighbors.
        touches: Whether the bodies of two crowds keep out of each other; the same both ways.
    """

    sees: Relation
    touches: Relation

    def part(self, rows: Sequence[int]) -> Meeting:
        """The same among some of the crowds."""
        chosen = np.ix_(rows, rows)
        return Meeting(self.sees[chosen], self.touches[chosen])


def everyone(count: int) -> Meeting:
    """All crowds see and touch all others."""
    all_of = np.ones((count, count), np.bool_)
    return Meeting(all_of, all_of)


def step_together(members: Sequence[Member], meeting: Meeting, dt: float) -> list[StepResult]:
    """Move several crowds on by one step of time.

    Crowds that meet take as many substeps as the one with the most.

    Args:
        members: The crowds.
        meeting: Which of them meet.
        dt: Time [s] > 0.

    Returns:
        The outcome for each crowd; one whose motion is known has it as its outcome.
    """
    ranked = sorted(range(len(members)), key=lambda k: members[k].key)
    found: dict[int, StepResult] = {}
    meets = meeting.part(ranked)
    for group in groups_of(meets.sees | meets.touches):
        rows = [ranked[k] for k in group]
        results = _step_group([members[k] for k in rows], meets.part(group), dt)
        found.update(zip(rows, results, strict=True))
    return [found[k] for k in range(len(members))]


def step_alone(member: Member, dt: float) -> StepResult:
    """Move a crowd on by one step of time; it meets the others of its world, which stand."""
    return _step_group([member], everyone(1), dt)[0]


def _step_group(members: Sequence[Member], meeting: Meeting, dt: float) -> list[StepResult]:
    """Move crowds that meet, in the order of their ranks."""
    moving = [m.settings.solver.substeps for m in members if m.shown is None]
    substeps = max(moving, default=1)
    moved = [_moved(member) for member in members]
    current = [StepResult(member.agents, ()) for member in members]
    for substep in range(substeps):
        now = [
            replace(member, agents=result.agents, number=member.number * substeps + substep)
            for member, result in zip(members, current, strict=True)
        ]
        part = 1.0 / (substeps - substep)
        current = _substep(now, meeting, moved, dt / substeps, part)
        # behaviors see the world after the step, and so colliders are there from the start
        moved = [None] * len(members)
    return current


def _moved(member: Member) -> MovedView | None:
    if member.shown is not None or not member.settings.bodies.collide_colliders:
        return None
    return contacts.find_moved(member.before, member.world.colliders)


class _Played:
    """A crowd in a substep whose motion is known."""

    def __init__(self, member: Member, shown: Agents, dt: float, part: float) -> None:
        """Begin a substep; it is the given part of the rest of the way."""
        self._whole = member.agents.copy()
        way = shown.position - member.agents.position
        self._whole.position += np.float32(part) * way
        self._whole.velocity[:] = shown.velocity
        rows = np.flatnonzero(member.agents.alive & shown.alive)
        self.before, self.after = member.agents.taken(rows), self._whole.taken(rows)
        self.stack, self._settings = (), member.settings
        seed = member.settings.seed
        self._sees = world_view(member.settings, World(), dt, member.number, seed)

    @property
    def desired(self) -> F32:
        """What it wishes is what it does."""
        return self.before.velocity

    @property
    def group(self) -> NDArray[np.int32]:
        """Nobody is known to walk with anybody."""
        return np.full(self.before.count, -1, np.int32)

    def parties(self, _moved: MovedView | None) -> list[Party]:
        """The crowd in the contact pass."""
        return [Party(self.before, self.after, self._settings, self._sees, fixed=True)]

    def touched(self) -> None:
        """Nothing moves it."""

    def ended(self) -> tuple[Agents, tuple[Proposal, ...]]:
        """The crowd after the substep."""
        return self._whole, ()


def _substep(
    members: Sequence[Member],
    meeting: Meeting,
    moved: Sequence[MovedView | None],
    dt: float,
    part: float,
) -> list[StepResult]:
    steps: list[CrowdStep | _Played] = [
        CrowdStep(m.settings, m.agents, m.world, dt, number=m.number, seed=m.settings.seed)
        if m.shown is None
        else _Played(m, m.shown, dt, part)
        for m in members
    ]
    walking = [step for step in steps if isinstance(step, CrowdStep)]
    arounds, rings = _perceive(steps, members, meeting)
    for step in walking:
        step.wish()
    for ring in rings:
        ring.share([steps[n].desired for n in ring.among], [steps[n].group for n in ring.among])
    for step in walking:
        step.push()
    for step in walking:
        step.move()
    for group in _touching(members, meeting):
        found = [steps[k].parties(moved[k]) for k in group]
        parties, parted = [party for some in found for party in some], len(group)
        if not all(party.fixed for party in parties):
            rows = [k for k, some in zip(group, found, strict=True) for _party in some]
            touches = meeting.touches[np.ix_(rows, rows)] if parted > 1 else None
            known = _known(arounds, group) if len(parties) == parted else None
            contacts.resolve(parties, known, touches)
            for k in group:
                steps[k].touched()
    return [StepResult(*step.ended()) for step in steps]


def _perceive(
    steps: Sequence[CrowdStep | _Played], members: Sequence[Member], meeting: Meeting
) -> tuple[list[Around], list[Ring]]:
    """Let crowds take in their neighbors; returns these, and the rings of those who see others."""
    first = steps[0]
    if len(steps) == 1:
        # what one crowd sees needs no arrays of several
        if isinstance(first, _Played):
            return [], []
        first.perceive()
        return [first.around], []
    stacks, living = [step.stack for step in steps], [step.before for step in steps]
    heights = [member.settings.body_height for member in members]
    arounds = look_around_together(stacks, living, meeting.sees, heights)
    rings = {among: Ring(among, [living[n] for n in among]) for among in {a.among for a in arounds}}
    for k, step in enumerate(steps):
        if isinstance(step, CrowdStep):
            step.perceive(arounds[k], rings[arounds[k].among].view(k))
    return arounds, list(rings.values())


def _touching(members: Sequence[Member], meeting: Meeting) -> list[list[int]]:
    """The crowds whose bodies touch, directly or through others; each group and all in order."""
    if len(members) == 1:
        return [[0]]
    have = [member.settings.bodies.collide_agents for member in members]
    return groups_of(with_bodies(meeting.touches, have))


def _known(arounds: Sequence[Around], group: Sequence[int]) -> Known | None:
    """The neighbors of all agents of a group, where one search found them."""
    first = arounds[group[0]]
    if len(arounds) == 1:
        return first.known
    alike = all(arounds[k].known is first.known for k in group)
    return first.known if alike and first.among == tuple(group) else None


class Ring:
    """The agents of crowds of which some see all the others.

    All arrays have them twice, one time after the other: so the part that begins with any crowd
    has all others behind it, without a copy for each.
    """

    def __init__(self, among: tuple[int, ...], crowds: Sequence[Agents]) -> None:
        """Put crowds one after another.

        Args:
            among: Their ranks.
            crowds: The living of each.
        """
        self.among = among
        counts = [agents.count for agents in crowds]
        starts = np.cumsum([0, *counts]).tolist()
        self._starts, self._count = dict(zip(among, starts, strict=False)), starts[-1]
        self._columns = {
            name: np.concatenate([getattr(agents, name) for agents in (*crowds, *crowds)])
            for name in AgentView._fields
            if name not in ("crowd", "desired", "group")
        }
        ranks = np.repeat(np.array(among, np.int64), counts)
        self._columns["crowd"] = np.concatenate([ranks, ranks])
        self._columns["desired"] = np.zeros((2 * self._count, 3), np.float32)
        self._columns["group"] = np.full(2 * self._count, -1, np.int32)

    def view(self, crowd: int) -> AgentView:
        """All agents, those of one crowd first."""
        first = self._starts[crowd]
        return AgentView(**{k: a[first : first + self._count] for k, a in self._columns.items()})

    def share(self, desired: Sequence[F32], groups: Sequence[NDArray[np.int32]]) -> None:
        """Let all see the desired velocities of each crowd [m/s], and who walks with whom."""
        self._columns["desired"][:] = np.concatenate([*desired, *desired])
        told, taken = [], 0
        for group in groups:
            # companions are of one crowd
            told.append(np.where(group >= 0, group + np.int32(taken), np.int32(-1)))
            taken += int(group.max(initial=-1)) + 1
        self._columns["group"][:] = np.concatenate([*told, *told])
