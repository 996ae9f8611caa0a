"""Choices of targets that agents remember: quickest, by weight, at random, assigned, in order.

They are made at the start of a step; `Targets.chosen` reads them.

RANDOM     an agent draws one of the targets, by the seed and its id, and keeps it
BY_WEIGHT  likewise, each target as often as its weight says: weight 0 is never drawn, and where all
           weights are 0, agents stay where they are
ASSIGNED   one to one, so that the sum of all ways is least, at the first step (see
           `geometry.assignment`); with keep_order k it is the sum of d + k·d²/s, where d is a way
           and s the size of the scene [m]. Agents keep their targets. Where agents have none, and
           targets are free since their agents are dead, or new, those are assigned likewise
QUICKEST   see `quickest`
IN_ORDER   see `visits`

An agent whose target is gone chooses again. The attribute `target_index` overrides all choices; an
assigned target that an agent has by it is not free. Choices are made by id: the order of agents
does not matter, but that of the targets does. Where agents draw among their own crowd, these are
the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..crowd.settings import CrowdSettings
from ..diagnoses import Diagnosis, diagnose
from ..geometry.assignment import assigned
from ..inputs.targets import Targets, remembered_target, target_memory
from ..inputs.world import World
from ..numeric.rng import random_purpose
from ..sensing.declare import Behavior, acts_for
from . import quickest, visits

I64 = NDArray[np.int64]

_PURPOSE = random_purpose("target")
_DRAWN = ("RANDOM", "BY_WEIGHT")
_REMEMBERED = (*_DRAWN, "ASSIGNED", "QUICKEST", "IN_ORDER")


def decided(
    agents: Agents, world: World, settings: CrowdSettings, dt: float, number: int, seed: int
) -> Agents:
    """The crowd at the start of a step, with its choices of targets.

    Args:
        agents: The crowd; it is not changed.
        world: The world that it perceives.
        settings: Settings of the crowd.
        dt: Length of the step [s].
        number: Number of the step.
        seed: Random seed.
    """
    for entry in settings.stack:
        how = getattr(entry, "target_choice", "")
        targets = world.targets_of(entry.target)
        if how not in _REMEMBERED or not targets.count or (targets.own and how not in _DRAWN):
            continue
        acts = acts_for(entry, agents)
        # of those that the behavior is not for, nobody queues, waits, or has a target
        part = agents if acts is None else agents.taken(np.flatnonzero(acts))
        if how == "IN_ORDER":
            columns = visits.visited(entry, part, targets, settings, dt, seed)
        else:
            rows = _chosen(entry, how, part, targets, settings, dt, number, seed)
            columns = (rows[:, None] + 1).astype(np.float32)
        if acts is not None:
            chosen, columns = columns, np.zeros((agents.count, columns.shape[1]), np.float32)
            columns[acts] = chosen
        agents = replace(agents, memory={**agents.memory, target_memory(entry): columns})
    return agents


def _chosen(
    entry: Behavior,
    how: str,
    agents: Agents,
    targets: Targets,
    settings: CrowdSettings,
    dt: float,
    number: int,
    seed: int,
) -> I64:
    """Rows of the targets that agents choose, -1 for none, shape (agent_count,)."""
    held = remembered_target(entry, agents)
    if how == "QUICKEST":
        return quickest.chosen(entry, targets, agents, held, dt, number)
    held = np.where(held < targets.count, held, -1)
    if how == "ASSIGNED":
        flat = settings.motion.motion == "GROUND"
        return _assigned(targets, agents, held, flat, getattr(entry, "keep_order", 0.0))
    if (held >= 0).all():
        return held
    share = visits.drawn(entry, seed, agents.id, targets.count, _PURPOSE)
    weights = np.ones(targets.count) if how == "RANDOM" else targets.weights
    sums = np.cumsum(weights, dtype=np.float64)
    if sums[-1] <= 0.0:
        return np.full(agents.count, -1, np.int64)
    drawn = np.searchsorted(sums, share * sums[-1], side="right")
    # a product may be rounded up to the sum
    last = int(np.flatnonzero(weights)[-1])
    return np.where(held >= 0, held, np.minimum(drawn, last))


def _assigned(targets: Targets, agents: Agents, held: I64, flat: bool, order_kept: float) -> I64:
    """Rows of the targets where those without one have the free ones."""
    living = agents.alive != 0
    told = living & (agents.target_index >= 0)
    held = np.where(living & ~told, held, -1)
    order = np.argsort(agents.id)
    mine = np.flatnonzero(held[order] >= 0)
    # of several with one target, as after another choice, the one with the least id keeps it
    keeps = order[mine[np.unique(held[order[mine]], return_index=True)[1]]]
    rows = np.full(agents.count, -1, np.int64)
    rows[keeps] = held[keeps]
    free = np.ones(targets.count, np.bool_)
    free[rows[keeps]] = False
    free[agents.target_index[told] % targets.count] = False
    seeking, found = order[(living & ~told & (rows < 0))[order]], np.flatnonzero(free)
    if len(seeking) and len(found):
        width = 2 if flat else 3
        ways = [
            np.pad(place[:, :width].astype(np.float64), ((0, 0), (0, 3 - width)))
            for place in (agents.position[seeking], targets.position[found])
        ]
        size = float(np.ptp(np.concatenate(ways), axis=0).max()) or 1.0
        taken = assigned(ways[0], ways[1], order_kept / size)
        rows[seeking[taken >= 0]] = found[taken[taken >= 0]]
    return rows


def lacking(agents: Agents, behaviors: Any) -> list[Diagnosis]:
    """How many agents have no target, for behaviors that leave some without.

    Args:
        agents: The crowd after a step.
        behaviors: Those that act.
    """
    codes: Mapping[str, str] = {"ASSIGNED": "TOO_FEW_TARGETS", "BY_WEIGHT": "NO_TARGET_WEIGHT"}
    found = []
    for entry in behaviors:
        code = codes.get(getattr(entry, "target_choice", ""))
        if code is not None and target_memory(entry) in agents.memory:
            count = int(visits.stays(entry, agents).sum())
            found += [diagnose(code, entry.title, count=count)] if count else []
    return found
