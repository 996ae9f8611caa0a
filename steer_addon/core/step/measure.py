"""Ways to goals, and the room that bodies take around them: what arrivals and visits go by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents
from ..compiled.jit import kernel, parallel_for
from ..geometry import neighbors
from ..numeric.vec import EPSILON, add_scaled, dot, length, load, project, scale, store, sub, unit

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

DISCS, SPHERES = 0.7, 0.55
"""Shares of an area and of a volume that bodies fill where they stand together."""
GRAIN = 2.0**-20
"""Sizes of bodies are summed in whole multiples of this: the order then does not matter."""
KEEP_GAP = 1.5
"""How much larger gaps are for agents that are there than for agents that come."""
CONE = 120.0
"""Full angle around the direction of the goal [deg] in which others stand in the way."""
MOST = 16
"""Number of neighbors among which one in the way is looked for."""


class GoalView(NamedTuple):
    """Where agents want to be."""

    place: F32  # (n, 3) [m]
    key: NDArray[np.int64]  # (n,) number of the goal, -1 for those without
    distance: F64  # (n,) [m] to the goal, in a flat crowd level
    passed: F64  # (n,) [m] least distance during the last step
    ahead: F32  # (n, 3) unit direction of the goal


def measured(agents: Agents, place: F32, key: I64, dt: float, flat: bool) -> GoalView:
    """How far agents are from their goals.

    Args:
        agents: The crowd at the start of a step.
        place: Where each wants to be [m], shape (agent_count, 3).
        key: Number of each goal, -1 for those without, shape (agent_count,).
        dt: Length of the last step [s].
        flat: Whether distances count in the plane of the ground.
    """
    distance, passed = np.zeros(agents.count), np.zeros(agents.count)
    goals = GoalView(place, key, distance, passed, np.zeros_like(place))
    parallel_for(
        _measure, agents.count, agents.position, agents.velocity, agents.normal, dt, flat, goals
    )
    return goals


def room_of(radius: F32, key: I64, there: NDArray[np.bool_], flat: bool) -> F64:
    """Radius of the disc, or ball, that those at each agent's goal and itself fill [m].

    Args:
        radius: Body radii [m], shape (agent_count,).
        key: Number of each agent's goal, -1 for none, shape (agent_count,).
        there: Whether each agent is at its goal, shape (agent_count,).
        flat: Whether bodies are discs.
    """
    wide = radius.astype(np.float64)
    size = np.rint((wide**2 if flat else wide**3) / GRAIN) * GRAIN
    filled = np.bincount(key[there], size[there], minlength=int(key.max(initial=0)) + 1)
    total = filled[np.maximum(key, 0)] + np.where(there, 0.0, size)
    reach: F64 = np.sqrt(total / DISCS) if flat else np.cbrt(total / SPHERES)
    return reach


def stand_behind(
    agents: Agents, goals: GoalView, there: NDArray[np.bool_], unsure: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which of the unsure agents stand behind one that is there, shape (agent_count,).

    Args:
        agents: The crowd.
        goals: Where agents want to be.
        there: Whether each agent is at its goal, shape (agent_count,).
        unsure: Whether each agent is asked about, shape (agent_count,).
    """
    rows = np.flatnonzero(there | unsure)
    radius = agents.radius[rows].astype(np.float64)
    gaps = np.maximum(2.0 * radius, agents.max_speed[rows] * 1.0)
    gaps = np.where(there[rows], KEEP_GAP * gaps, gaps)
    reach = gaps + radius + radius.max()
    position = np.ascontiguousarray(agents.position[rows])
    seen = neighbors.find(
        neighbors.build_grid(position, float(reach.max())),
        position,
        np.ascontiguousarray(goals.ahead[rows]),
        np.ascontiguousarray(agents.id[rows]),
        reach.astype(np.float32),
        np.where(unsure[rows], MOST, 0).astype(np.float32),
        np.array([CONE], np.float32),
    )
    blocked = np.zeros(len(rows), np.uint8)
    key, distance = goals.key[rows], goals.distance[rows]
    standing = there[rows].astype(np.uint8)
    parallel_for(_blocked_kernel, len(rows), seen, key, distance, standing, radius, gaps, blocked)
    result = np.zeros(agents.count, np.bool_)
    result[rows] = blocked != 0
    return result


@kernel
def _measure(start, stop, position, velocity, normal, dt, flat, goals):
    """Fill in distances and directions of goals."""
    for i in range(start, stop):
        if goals.key[i] < 0:
            continue
        offset = sub(load(goals.place, i), load(position, i))
        way = scale(load(velocity, i), dt)
        if flat:
            offset, way = project(offset, load(normal, i)), project(way, load(normal, i))
        goals.distance[i] = length(offset)
        store(goals.ahead, i, unit(offset))
        share = 0.0
        if dot(way, way) > EPSILON * EPSILON:
            share = min(1.0, max(0.0, -dot(offset, way) / dot(way, way)))
        goals.passed[i] = length(add_scaled(offset, way, share))


@kernel
def _blocked_kernel(start, stop, seen, key, distance, standing, radius, gaps, blocked):
    """Mark agents with one in their way that is there."""
    for i in range(start, stop):
        for n in range(seen.count[i]):
            j = seen.index[i, n]
            gap = seen.distance[i, n] - radius[i] - radius[j]
            nearer = key[j] == key[i] and distance[j] < distance[i]
            if standing[j] != 0 and nearer and gap <= gaps[i]:
                blocked[i] = 1
                break
