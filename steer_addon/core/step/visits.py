"""Visits: targets in the order of the list, one after the other, with a time of waiting at each.

An agent visits its target when it comes as near as visit_radius, or where those who wait there fill
more room, into their disc; or when it is as good as at rest, and one of them is in its way:

    d ≤ max(visit_radius, R),    R = √(Σ r²/0.7) in GROUND, ∛(Σ r³/0.55) in FLY

Then it stands for a time that is drawn evenly between min_wait and max_wait, from the seed, its id
and the number of its visit, and goes on to the next target. At the last one the order stops, begins
again, or turns back. Where it stops, the last target is the goal of the agent, and `arrival` says
what becomes of it there; it waits there only if it leaves afterwards.

A target that is gone is passed over. The attribute `target_index` overrides the order.

Symbols: d least distance to the target in the last step [m], r body radius [m], the sum over the
agents that wait at the target and the agent itself.
Source: ours.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..crowd.settings import CrowdSettings
from ..crowd.spread import drawn_words
from ..inputs.targets import Targets, target_memory
from ..numeric.rng import random_purpose
from ..sensing.declare import Behavior, acts_for, per_agent
from .integrate import SLOW
from .measure import measured, room_of, stand_behind

F32 = NDArray[np.float32]
Mask = NDArray[np.bool_]

TARGET, VISITS, WAIT = 0, 1, 2
"""Columns of the memory: number of the target + 1, negative on the way back; number of visits; time
that is left to wait [s], or DONE."""
GRAIN = 1.0e-4
"""Times shorter than this are over [s]."""
DONE = -1.0
"""The time left of an agent that has waited at the last target too."""

_PURPOSE = random_purpose("waiting")


def drawn(entry: Behavior, seed: int, ids: Any, number: Any, purpose: int) -> Any:
    """A number in [0, 1) for each agent, of its own for each behavior and each count of draws.

    Args:
        entry: The behavior.
        seed: Random seed.
        ids: Ids of the agents, shape (agent_count,).
        number: Count of draws before, a number or shape (agent_count,).
        purpose: See `random_purpose`.
    """
    step = (zlib.crc32(entry.key.encode()) + np.asarray(number, np.int64)) % 2**32
    return drawn_words(seed, ids, purpose, step)[0] / 2.0**32


def is_in_order(entry: Behavior) -> bool:
    """Whether a behavior visits targets one after the other."""
    return getattr(entry, "target_choice", "") == "IN_ORDER"


def _remembered(entry: Behavior, agents: Agents) -> F32 | None:
    memory = agents.memory.get(target_memory(entry))
    return None if memory is None or memory.shape != (agents.count, 3) else memory


def stays(entry: Behavior, agents: Agents) -> Mask:
    """Which agents stand since they wait at a target, or have none, shape (agent_count,).

    Args:
        entry: The behavior that goes to the goal of the crowd.
        agents: The crowd.
    """
    memory = agents.memory.get(target_memory(entry))
    if memory is None or len(memory) != agents.count:
        return np.zeros(agents.count, np.bool_)
    waits = memory[:, WAIT] > 0.0 if memory.shape[1] > WAIT else False
    stands: Mask = ((memory[:, TARGET] == 0.0) | waits) & (agents.target_index < 0)
    stands &= agents.alive != 0
    acts = acts_for(entry, agents)
    return stands if acts is None else stands & acts


def ends_there(entry: Behavior, agents: Agents, count: int, settings: CrowdSettings) -> Mask:
    """Whose goal its target is, and no stop on the way, shape (agent_count,).

    Args:
        entry: The behavior.
        agents: The crowd.
        count: Number of targets.
        settings: Settings of the crowd.
    """
    memory = _remembered(entry, agents) if is_in_order(entry) else None
    if memory is None:
        return np.ones(agents.count, np.bool_)
    last: Mask = (memory[:, TARGET] == count) & (entry.after_last == "STOP")  # type: ignore[attr-defined]
    if settings.bodies.on_arrival == "LEAVE":
        last &= (_waits(entry, agents) == 0.0) | (memory[:, WAIT] == DONE)
    last |= agents.target_index >= 0
    return last


def _waits(entry: Behavior, agents: Agents) -> Any:
    """The longest time for which each agent may wait at a target [s]."""
    return np.maximum(per_agent(entry, "min_wait", agents), per_agent(entry, "max_wait", agents))


def visited(
    entry: Behavior, agents: Agents, targets: Targets, settings: CrowdSettings, dt: float, seed: int
) -> F32:
    """What agents remember at the start of a step, shape (agent_count, 3): see the columns above.

    Args:
        entry: The behavior.
        agents: The crowd.
        targets: Its targets, at least one.
        settings: Settings of the crowd.
        dt: Length of the step [s].
        seed: Random seed.
    """
    known = _remembered(entry, agents)
    memory = np.zeros((agents.count, 3)) if known is None else known.astype(np.float64)
    after = entry.after_last  # type: ignore[attr-defined]
    goes = (agents.alive != 0) & (agents.target_index < 0)
    code, visits, wait = memory.T
    row, back = np.abs(code).astype(np.int64) - 1, code < 0
    row = np.where(goes & (row < 0), 0, row)
    # those whose target is gone pass on to the next, as from the end of the list
    lost = goes & (row >= targets.count)
    row = np.where(lost, 0 if after == "LOOP" else targets.count - 1, row)
    back |= lost & (after == "BACK_AND_FORTH")
    wait = np.where(lost, 0.0, wait)

    there = goes & (wait > 0.0)
    # the sum of many steps is not exact
    left = np.where(wait - dt > GRAIN, wait - dt, 0.0)
    wait = np.where(there, left, wait)
    over = there & (wait == 0.0)
    final = (row == targets.count - 1) & (after == "STOP")
    stops = final & (settings.bodies.on_arrival != "LEAVE")
    came = goes & ~there & ~stops & (wait == 0.0)
    key = np.where(goes, row, -1)
    flat = settings.motion.motion == "GROUND"
    goals = measured(agents, np.take(targets.position, key, axis=0), key, dt, flat)
    stands = there & ~over
    room = room_of(agents.radius, key, stands, flat)
    near = goals.passed <= np.maximum(per_agent(entry, "visit_radius", agents), room)
    slow = came & ~near & (agents.speed <= SLOW * agents.max_speed)
    if stands.any() and slow.any():
        near |= stand_behind(agents, goals, stands, slow)
    came &= near
    if came.any():
        low, high = (per_agent(entry, name, agents) for name in ("min_wait", "max_wait"))
        share = drawn(entry, seed, agents.id, visits, _PURPOSE)
        wait = np.where(came, low + share * (high.astype(np.float64) - low), wait)
        visits = visits + came
    goes_on = over | (came & (wait == 0.0))
    wait = np.where(goes_on & final, DONE, wait)
    row, back = _next(row, back, goes_on & ~final, targets.count, after)
    code = np.where(back, -(row + 1), row + 1)
    columns: F32 = np.stack([code, visits, wait], axis=1).astype(np.float32)
    return columns


def _next(row: Any, back: Mask, goes_on: Mask, count: int, after: str) -> tuple[Any, Mask]:
    """Numbers of the targets after those, and whether agents are on the way back."""
    if after == "BACK_AND_FORTH":
        # who comes to an end turns; the only target is both ends
        back = np.where(goes_on, np.where(back, row > 0, row == count - 1), back)
        step = np.where(back, -1, 1) if count > 1 else 0
    else:
        step = np.where(row == count - 1, 1 - count, 1)
    return np.where(goes_on, row + step, row), back
