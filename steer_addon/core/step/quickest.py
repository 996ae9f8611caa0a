"""Quickest: the target among several that an agent reaches soonest, counting the queue before it.

    T_k = max(d_k/v_max, n_k/J)

Agents with the same target reach it one after the other, J of them per second; an agent whose walk
takes longer than the others before it need does not wait. An agent keeps its target until it can
reach another one sooner by 2 s and by a fifth of the time. It considers this once a second, at a
moment of its own (given by its id): so agents do not dither, and not all leave a queue at once.

An agent without a target starts with the nearest. Such agents consider at once, several times, one
part of them after the other: each takes the target of least T, and the next ones count it there.

Agents that have arrived wait for nothing. The attribute `target_index` overrides the choice, and an
agent that has its target by it counts there. Agents remember their target; the order of agents does
not matter.

Symbols: d_k distance to target k [m], v_max maximum speed [m/s], n_k how many go to it and are
nearer to it, J target flow [1/s].
Source: ours. Waiting is that of a queue which is served at a constant rate; a door passes at most
1.3 persons per meter and second (IMO 2016, "Revised guidelines on evacuation analysis").
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..compiled.jit import kernel, parallel_for
from ..inputs.targets import NEAREST, Targets
from ..numeric.vec import EPSILON, length, load, sub
from ..sensing.declare import Behavior, per_agent

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

THINKING = 1.0
"""Interval at which agents consider their target [s]."""
SOONER = 2.0
"""An agent changes its target if it reaches another one sooner by this time [s], and by this share
of the time:"""
SHARE = 0.2
PARTS, SWEEPS = 16, 3
"""Number of parts in which agents without a target consider, and how many times each."""


def chosen(
    entry: Behavior, targets: Targets, agents: Agents, held: I64, dt: float, number: int
) -> I64:
    """Each agent's target for a behavior; see `choose`."""
    flow = np.broadcast_to(per_agent(entry, "target_flow", agents), agents.count)
    return choose(targets, agents, held, flow, dt, number)


def choose(targets: Targets, agents: Agents, held: I64, flow: Any, dt: float, number: int) -> I64:
    """Each agent's target.

    Args:
        targets: Targets to choose from.
        agents: Agents that choose.
        held: Rows of the targets that they have now, -1 for none, shape (agent_count,).
        flow: Agents that reach a target per second, shape (agent_count,).
        dt: Length of the step [s].
        number: Number of the step.

    Returns:
        Rows of targets, shape (agent_count,).
    """
    count = targets.count
    held = np.where(agents.target_index >= 0, agents.target_index % count, held)
    held = np.where(held < count, held, -1)
    new = (held < 0) & (agents.alive != 0)
    rows = np.where(new, targets.choose(replace(agents, target_index=held), NEAREST), held)
    queues = _Queues(targets, agents, flow)
    for turn in range(SWEEPS * PARTS if new.any() else 0):
        queues.rethink(rows, new & (agents.id % PARTS == turn % PARTS), 0.0, 0.0)
    period = max(1, round(THINKING / dt))
    thinks = ~new & (agents.target_index < 0) & ((number + agents.id) % period == 0)
    queues.rethink(rows, thinks, SOONER, SHARE)
    return rows


class _Queues:
    """Agents with the same target, sorted by their distance."""

    def __init__(self, targets: Targets, agents: Agents, flow: Any) -> None:
        self._agents = agents
        self._places = targets.position
        self._flow = np.maximum(np.asarray(flow, np.float64), EPSILON)
        self._pace = np.maximum(agents.max_speed.astype(np.float64), EPSILON)
        self._waits = (agents.arrived == 0) & (agents.alive != 0)

    def rethink(self, rows: I64, thinks: NDArray[np.bool_], sooner: float, share: float) -> None:
        """Let some agents go to another target.

        Args:
            rows: Each agent's target, -1 for none, shape (agent_count,); it is changed.
            thinks: Whether each agent considers its target, shape (agent_count,).
            sooner: Time by which it has to reach another target sooner [s].
            share: Share of the time by which it has to, too.
        """
        if not thinks.any():
            return
        agents, count = self._agents, len(self._places)
        away = np.zeros(agents.count)
        parallel_for(_away, agents.count, agents.position, self._places, rows, away)
        goes = self._waits & (rows >= 0)
        order = np.lexsort((away[goes], rows[goes]))
        begin = np.concatenate([[0], np.cumsum(np.bincount(rows[goes], minlength=count))])
        parallel_for(
            _rethink,
            agents.count,
            agents.position,
            self._pace,
            self._flow,
            thinks.astype(np.uint8),
            self._places,
            begin,
            away[goes][order],
            sooner,
            share,
            rows,
        )


@kernel
def _distance(position, i, targets, k):
    """Distance of an agent to a target [m]."""
    return length(sub(load(targets, k), load(position, i)))


@kernel
def _away(start, stop, position, targets, rows, away):
    """Distances to the targets that agents go to."""
    for i in range(start, stop):
        if rows[i] >= 0:
            away[i] = _distance(position, i, targets, rows[i])


@kernel
def _before(waiting, first, last, distance):
    """How many of some sorted distances are shorter than one."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if waiting[middle] < distance:
            low = middle + 1
        else:
            high = middle
    return low - first


@kernel
def _rethink(
    start, stop, position, pace, flow, thinks, targets, begin, waiting, sooner, share, rows
):
    """Let agents that consider their target change it where they reach another one sooner."""
    for i in range(start, stop):
        if thinks[i] == 0:
            continue
        best, soonest, now = rows[i], math.inf, math.inf
        for k in range(len(targets)):
            away = _distance(position, i, targets, k)
            time = away / pace[i]
            if k != rows[i] and time >= soonest:
                continue
            time = max(time, _before(waiting, begin[k], begin[k + 1], away) / flow[i])
            if k == rows[i]:
                now = time
            if time < soonest:
                best, soonest = k, time
        if soonest < now - max(sooner, share * now):
            rows[i] = best
