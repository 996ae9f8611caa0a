"""Stuck agents: they are led to a goal, and have come no nearer for a while.

They are looked for once a second of scene time, among what a step leaves; no step reads it.

An agent is led when it is farther than w from its target, u > v_max/10, what else it desires is
less than u/2, and it neither fled nor hid since the last look. It gets nowhere when it was led at
all looks of the last T seconds, each within D of where it is now, and came on by at most u·T/10 in
that time: nearer to its target, or along its way. It is free when it came on by u·T/4 or more, or
is not led at all, as one at its goal.

An agent waits for those in its way: with a gap of at most w, and not behind it as u points. Where
one of these is free, or waits for a free one, the queue moves, or stands at its goal. Those that
get nowhere otherwise are stuck, once five looks have found it; of many at a time, one is enough.

Symbols: T `PATIENCE`, u what the behaviors that lead to a goal propose in sum [m/s], r body radius
[m], v_max maximum speed [m/s], w = 2 r + v_max · 1 s, D = min(10 r, u·T/2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..bounds import lengths
from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis, diagnose
from ..geometry import neighbors
from ..inputs.targets import Choices
from ..inputs.world import World
from ..sensing.declare import FIELD, NEIGHBORS, PATHS, RUNS_AWAY, Behavior, acts_for
from .guiding import guided
from .integrate import SLOW
from .proposals import Proposal, sum_desired

Mask = NDArray[np.bool_]

PATIENCE = 5
"""Time for which stuck agents came no nearer [s]."""
ROOM = 10.0
"""Number of radii within which an agent that sways from side to side gets nowhere."""
LOOKS = 5
"""Number of looks, one after the other, that have to find an agent stuck before users are told."""
SOON, MANY, SHARE = 1, 5, 0.1
"""Number of looks that is enough where at least `MANY` agents, a `SHARE` of all, are stuck."""
CREEPS, GOES = 0.1, 0.25
"""Shares of the wished way: less is getting nowhere, more is getting on."""
CONE = 180.0
"""Full angle around the wished direction [deg] in which others stand in the way."""
MOST = 16
"""Number of others for which an agent waits."""


def leads(entry: Behavior) -> bool:
    """Whether a behavior leads agents to a goal, or along a way."""
    uses = entry.definition.uses
    return entry.goes_to_target or PATHS in uses or FIELD in uses


class Headway:
    """Which agents get on, from step to step.

    Attributes:
        diagnosis: How many agents are stuck; None where none is.
    """

    def __init__(self) -> None:
        self.diagnosis: Diagnosis | None = None
        self._places: deque[Any] = deque(maxlen=PATIENCE)
        """Where agents were at the last looks [m], shape (agent_count, 3); NaN if not led."""
        self._found: deque[Mask] = deque(maxlen=LOOKS)
        self._fled = np.zeros(0, np.bool_)

    def note(self, stack: Sequence[Behavior], asked: Sequence[Proposal]) -> None:
        """Keep in mind which agents flee or hide, until the next look; to be called at every step.

        Args:
            stack: The behaviors that act.
            asked: The proposal of each.
        """
        for entry, proposal in zip(stack, asked, strict=True):
            if entry.target_role == RUNS_AWAY:
                if len(self._fled) != len(proposal.active):
                    self._fled = np.zeros(len(proposal.active), np.bool_)
                self._fled |= proposal.active != 0

    def look(
        self, agents: Agents, world: World, settings: CrowdSettings, asked: Sequence[Proposal]
    ) -> None:
        """Look at a crowd; to be called once a second.

        Args:
            agents: The crowd after a step.
            world: The world that it perceived.
            settings: Settings of the crowd.
            asked: The proposals of the step.
        """
        leading = [entry for entry in settings.stack if leads(entry)]
        if not leading:
            self.diagnosis = None
            return
        keys = {entry.key for entry in leading}
        wished = _summed((p for p in asked if p.key in keys), agents)
        other = _summed((p for p in asked if p.key not in keys), agents)
        speed = lengths(wished)
        led = (agents.alive != 0) & (agents.arrived == 0)
        led &= (speed > SLOW * agents.max_speed) & (lengths(other) < speed / 2.0)
        if len(self._fled) == agents.count:
            led &= ~self._fled
        goal = _goals(leading, agents, world, guided(settings, world))
        led &= ~(lengths(goal - agents.position) <= _gaps(agents))
        if self._places and len(self._places[0]) != agents.count:
            self._places.clear()
            self._found.clear()
        self.diagnosis = None
        if len(self._places) == PATIENCE:
            came = _came(self._places[0], agents.position, goal)
            nowhere = led & (came <= CREEPS * speed * PATIENCE)
            room = np.minimum(ROOM * agents.radius, speed * PATIENCE / 2.0)
            for place in self._places:
                # a comparison with NaN is false
                nowhere &= lengths(agents.position - place) <= room
            free = ~led | (came >= GOES * speed * PATIENCE)
            self._found.append(_without_queues(nowhere, free, wished, agents, settings))
            self.diagnosis = _told(self._found, agents)
        self._places.append(np.where(led[:, None], agents.position, np.nan))
        # at the end: kernels that are missing make the same look happen again
        self._fled[:] = False


def _goals(leading: Sequence[Behavior], agents: Agents, world: World, around: bool) -> Any:
    """Targets that agents go to [m], shape (agent_count, 3); NaN for those on a way."""
    place, choices = np.full((agents.count, 3), np.nan, np.float32), Choices()
    if around:
        return place
    without = np.ones(agents.count, np.bool_)
    for entry in leading:
        targets = world.targets_of(entry.target)
        if entry.goes_to_target and targets.count and not targets.own:
            goals = np.take(targets.position, choices.of(targets, entry, agents), axis=0)
            acts = acts_for(entry, agents)
            mine = without if acts is None else without & acts
            place[mine] = goals[mine]
            without = without & ~mine
    return place


def _came(before: Any, now: Any, goal: Any) -> Any:
    """How far agents came on [m], shape (agent_count,); NaN where it is not known."""
    nearer = lengths(goal - before) - lengths(goal - now)
    return np.where(np.isnan(goal[:, 0]), lengths(now - before), nearer)


def _summed(proposals: Iterable[Proposal], agents: Agents) -> Any:
    """What behaviors desire in sum [m/s], shape (agent_count, 3)."""
    total = np.zeros((agents.count, 3), np.float32)
    sum_desired(proposals, total)
    return total


def _gaps(agents: Agents) -> Any:
    return 2.0 * agents.radius + agents.max_speed * 1.0


def _without_queues(
    nowhere: Mask, free: Mask, wished: Any, agents: Agents, settings: CrowdSettings
) -> Mask:
    """Those that get nowhere which do not wait for a free agent."""
    meets = any(NEIGHBORS in entry.definition.uses for entry in settings.stack)
    if not ((meets or settings.bodies.collide_agents) and nowhere.any()):
        return nowhere
    rows = np.flatnonzero(agents.alive)
    size = lengths(wished)[rows, None]
    ahead = np.where(size > 0.0, wished[rows] / np.maximum(size, 1.0e-6), agents.heading[rows])
    position = np.ascontiguousarray(agents.position[rows])
    reach = (_gaps(agents) + agents.radius + agents.radius.max())[rows].astype(np.float32)
    seen = neighbors.find(
        neighbors.build_grid(position, float(reach.max())),
        position,
        np.ascontiguousarray(ahead, np.float32),
        np.ascontiguousarray(agents.id[rows]),
        reach,
        np.where(free[rows], 0, MOST).astype(np.float32),
        np.array([CONE], np.float32),
    )
    # the last one stands for nobody, which -1 asks for
    held = np.append(free[rows], False)
    unknown = np.flatnonzero(~held[:-1])
    while len(unknown):
        waits = held[seen.index[unknown]].any(axis=1)
        if not waits.any():
            break
        held[unknown[waits]] = True
        unknown = unknown[~waits]
    stuck = nowhere.copy()
    stuck[rows] &= ~held[:-1]
    return stuck


def _told(looks: Sequence[Mask], agents: Agents) -> Diagnosis | None:
    """The diagnosis after these looks, the last one at the end; None where no agent is stuck."""
    total = int((agents.alive != 0).sum())
    for needed, least in ((SOON, max(MANY, SHARE * total)), (LOOKS, 1)):
        if len(looks) < needed:
            return None
        found = np.logical_and.reduce(list(looks)[-needed:])
        count = int(found.sum())
        if count >= least:
            ids = ", ".join(map(str, agents.id[found]))
            return diagnose("STUCK", count=count, total=total, seconds=PATIENCE, agents=ids)
    return None
