"""Companions: who walks with whom, for behaviors that use COMPANIONS.

A point attribute `group_id` says it: agents with the same number, from 1 on, walk together, and
those with 0 walk alone, as do those that the behavior is not for. For all others, with -1, groups
are formed when they are first asked for, and remembered from then on. A group goes on with those of
its members that are still there.

Forming: of n agents, share_k·n/k groups of k are wanted, rounded up or down by lot. Groups of four
come first, then threes, then pairs. Agents take their turn in an order that is drawn; each takes
the nearest others within 5 m that are still free and wish to go the same way, up to 37° apart. An
agent that finds too few is asked again for a smaller group, and is alone in the end. Draws are
keyed by the seed and the ids, so the order of agents in memory does not matter.

Source: ours; the shares are measured ones, see `keep_together`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..bounds import lengths
from ..compiled.jit import kernel, parallel_for
from ..geometry import neighbors
from ..numeric.rng import random_purpose, uniform, uniform4
from ..numeric.vec import dot, load
from ..sensing.declare import acts_for, per_agent
from ..sensing.grouped import GroupedBehavior
from ..views import CompanionView, NeighborView

I64 = NDArray[np.int64]
F32 = NDArray[np.float32]

REACH = 5.0
"""Largest distance between two that are put into one group [m]."""
ASKED = 24
"""Number of the nearest that an agent looks at for companions."""
SAME_WAY = 0.8
"""Least cosine between the wishes of two that are put into one group."""
SIZES = {4: "four_share", 3: "three_share", 2: "pair_share"}
"""Sizes of groups in the order in which they are formed, each with its share of all agents."""
ALONE = "alone_share"
_TURN, _COUNT = random_purpose("companions"), random_purpose("numbers of companions")


def find(
    entry: Any, agents: Agents, remembered: F32 | None, desired: F32, seed: int
) -> CompanionView:
    """Groups of the agents in this step.

    Args:
        entry: The behavior, with the shares of each size.
        agents: The living.
        remembered: Its memory, whose first column holds the number of a group that was formed,
            from 1 on, and 0 for agents that were not asked yet; None before the first step.
        desired: Desired velocities [m/s], shape (agent_count, 3).
        seed: Random seed of the crowd.
    """
    given = np.broadcast_to(per_agent(entry, "group_id", agents), agents.count).astype(np.int64)
    acts = acts_for(entry, agents)
    if acts is not None:
        given = np.where(acts, given, 0)
    number = np.zeros(agents.count, np.int64)
    if remembered is not None:
        number[:] = remembered[:, 0]
    fresh = (given < 0) & (number == 0)
    if fresh.any():
        _form(entry, agents, desired, seed, np.flatnonzero(fresh), number)
    return _sorted(agents, given, number)


def _sorted(agents: Agents, given: I64, number: I64) -> CompanionView:
    """The view, from the numbers that users gave, or else from those of groups that were formed."""
    alone = given == 0
    kind = np.where(alone, 2, np.where(given > 0, 1, 0))
    name = np.where(alone, agents.id, np.where(given > 0, given, number))
    order = np.lexsort((agents.id, name, kind))
    new = np.ones(agents.count, np.bool_)
    new[1:] = (np.diff(kind[order]) != 0) | (np.diff(name[order]) != 0)
    first = np.flatnonzero(new)
    group, place = np.empty((2, agents.count), np.int32)
    group[order], place[order] = np.cumsum(new) - 1, np.arange(agents.count)
    places = agents.position[order].astype(np.float64)
    return CompanionView(
        group=group,
        first=np.append(first, agents.count).astype(np.int32),
        member=order.astype(np.int32),
        place=place,
        # in the order of their ids, so that the sums have the same bits in any order of agents
        total=np.add.reduceat(places, first, axis=0) if len(first) else np.zeros((0, 3)),
        number=number.astype(np.float32),
    )


def _form(
    entry: GroupedBehavior, agents: Agents, desired: F32, seed: int, rows: I64, number: I64
) -> None:
    """Put agents that have no group into new ones.

    Args:
        entry: The behavior.
        agents: All agents.
        desired: Desired velocities [m/s], shape (agent_count, 3).
        seed: Random seed.
        rows: Agents without a group.
        number: Numbers of the groups, shape (agent_count,); those of the rows are written.
    """
    ids = np.ascontiguousarray(agents.id[rows])
    turn = np.empty(len(rows))
    parallel_for(_draw, len(rows), seed, ids, turn)
    order = np.lexsort((ids, turn))
    found = np.zeros(len(rows), np.int64)
    start = int(number.max(initial=0))
    near = _nearest(agents, rows, ids)
    speed = lengths(desired[rows])[:, None]
    way = np.where(speed > 1e-6, desired[rows] / np.maximum(speed, 1e-6), 0.0).astype(np.float32)
    total = sum(float(getattr(entry, name)) for name in (ALONE, *SIZES.values()))
    draws = uniform4(seed, 0, 0, _COUNT)
    for (size, name), draw in zip(SIZES.items(), draws, strict=False):
        wanted = len(rows) * getattr(entry, name) / (size * total) if total > 0.0 else 0.0
        goal = int(wanted + draw)
        if goal > 0:
            parallel_for(_gather, 1, order, size, goal, near, way, found)
    found[found > 0] += start
    left = order[found[order] == 0]
    found[left] = max(start, int(found.max(initial=0))) + 1 + np.arange(len(left))
    number[rows] = found


def _nearest(agents: Agents, rows: I64, ids: I64) -> NeighborView:
    position = np.ascontiguousarray(agents.position[rows])
    if len(rows) < 2:
        return neighbors.empty(len(rows))
    grid = neighbors.build_grid(position, REACH, ASKED)
    heading = np.ascontiguousarray(agents.heading[rows])
    wanted: Any = (np.array([value], np.float32) for value in (REACH, ASKED, 360.0))
    return neighbors.find(grid, position, heading, ids, *wanted)


@kernel
def _draw(start, stop, seed, ids, turn):
    """Draw the order in which agents take their turn."""
    for i in range(start, stop):
        turn[i] = uniform(seed, ids[i], 0, _TURN)


@kernel
def _free(i, k, near, way, found):
    """Row of the k-th nearest agent, -1 where that cannot be a companion of agent i."""
    j = near.index[i, k]
    mine, other = load(way, i), load(way, j)
    both_stand = dot(mine, mine) == 0.0 and dot(other, other) == 0.0
    same = both_stand or dot(mine, other) >= SAME_WAY
    return j if found[j] == 0 and same else -1


@kernel
def _gather(start, stop, order, size, count, near, way, found):
    """Form up to a number of groups of one size: one after the other, each takes who is free."""
    last = 0
    for i in range(len(found)):
        last = max(last, found[i])
    for t in range(len(order)):
        i = order[t]
        if count == 0:
            break
        if found[i] != 0:
            continue
        free = 0
        for k in range(near.count[i]):
            free += int(_free(i, k, near, way, found) >= 0)
        if free < size - 1:
            continue
        last, count, left = last + 1, count - 1, size - 1
        found[i] = last
        for k in range(near.count[i]):
            j = _free(i, k, near, way, found)
            if left > 0 and j >= 0:
                found[j], left = last, left - 1
