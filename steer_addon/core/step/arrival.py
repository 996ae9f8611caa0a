"""Arrival: which agents are at the goal of the crowd, and what becomes of them.

The goal of an agent is that of the first behavior in the list that is for it, by its groups, and
goes to a place: to its target, or to the end of a path, once an agent is on the last stretch to it
(`goes_to_target`, `ends`). Of targets in order it is the last one (see `visits`); agents that wait
at another one stand as the arrived do. Everything is decided from the state at the start of a step,
so the order of agents cannot matter.

LEAVE      d ≤ a + r: the body is there, and the agent is dead from this step on; where many come at
           once, bodies stop each other around the goal, and few centers would come any nearer
STAY       d ≤ a: the agent has arrived, until d > 1.5 a + r; only for crowds with bodies
HOLD_AREA  as STAY, but the place has room for all: an agent has arrived when
           - d ≤ max(a, R - r): the disc of radius R is what the arrived and itself fill, or
           - it is held up: for half a second an arrived agent nearer to the goal stood in
             its way, with a gap of at most w, and it came no nearer (v·g ≤ v_max/10); for three
             seconds, or as long as it needs to pass five of its size (10 r/v_max), where it slid
             along them (|v| > v_max/10), since it may find a way around;
           - it walks to and fro before the others: for twice as long as it may slide it was held
             up, all in all, and in the meantime it came no nearer by its radius (∫ v·g dt ≤ r);
           it stays so until d > 1.25 max(a, R) + r and no such agent is within 1.5 w

    R = √(Σ r²/0.7) in GROUND, ∛(Σ r³/0.55) in FLY, the sum over the arrived and the agent itself
    w = max(2 r, v_max · 1 s): room for another body, or the gap that agents may keep

d is the distance to the goal from the nearest point of the last step's way, so that no agent jumps
across; "in its way" is at most 60° from the direction of the goal.

An agent that has arrived follows no desired velocities but those of behaviors with targets of their
own (it flees when a hunter comes), and still gives way to pushes. When these add up to less than
v_max/10 it brakes: within 1.5 s, or harder so as to stop on the goal, as far as its maximum force
allows. The last of the motion ends at once: the agent stands, without a trace of jitter.

Symbols: r body radius [m], a arrival distance [m], v velocity [m/s], v_max maximum speed [m/s],
g unit direction to the goal.
Source: ours. Random packings of discs fill 0.82 of the plane, of spheres 0.64 of space; people
stand looser.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..agents import Agents, Mask
from ..crowd.settings import CrowdSettings
from ..inputs.targets import Choices
from ..inputs.world import World
from ..numeric.vec import EPSILON
from ..sensing.declare import TARGETS, VELOCITY, Behavior, acts_for
from . import visits
from .integrate import SLOW
from .measure import GoalView, measured, room_of, stand_behind
from .proposals import Perception, Proposal, run_kernel

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]

KEEP = 1.25
"""How much larger the place is for agents that are there than for agents that come."""
PATIENCE, SLIDING_PATIENCE = 0.5, 3.0
"""An agent held up for this time has arrived [s]: standing, and sliding along the others."""
SHUTTLED = 2.0
"""How much longer than agents that slide those have that are held up again and again: in a jam,
most of them still find a way."""
SHUTTLES = "a shuttle"
"""Name of the memory of agents that are held up again and again: for how long in sum [s], and how
far they came since [m], shape (agent_count, 2). Crowds have it from the first of them on."""
PASSED = 10.0
"""Large or slow agents slide for longer: for the time that this number of their radii takes."""

MARGIN = 0.01
"""The first agent to arrive is no farther from the goal than its body and this [m]."""


def goals_of(stack: Sequence[Behavior], agents: Agents) -> Iterator[tuple[Behavior, Mask]]:
    """The behaviors whose goals are those of agents, each with whose goal it is, (agent_count,).

    Args:
        stack: The behaviors that act, in order.
        agents: The crowd.
    """
    without = np.ones(agents.count, np.bool_)
    for entry in stack:
        if (entry.goes_to_target or entry.ends is not None) and without.any():
            acts = acts_for(entry, agents)
            yield entry, without if acts is None else without & acts
            without = np.zeros_like(without) if acts is None else without & ~acts


def acts(settings: CrowdSettings) -> bool:
    """Whether arriving changes anything in a crowd."""
    bodies = settings.bodies
    return bodies.on_arrival != "STAY" or bodies.collide_agents or bodies.collide_colliders


def _goals(
    agents: Agents, world: World, settings: CrowdSettings, dt: float, choices: Choices
) -> GoalView | None:
    """Where each agent wants to be; None where the crowd has no such place, or needs none."""
    key = np.full(agents.count, -1, np.int64)
    place = np.zeros((agents.count, 3), np.float32)
    first: dict[str, int] = {}
    after = 0
    for entry, mine in goals_of(settings.stack, agents) if acts(settings) else ():
        found = _goal(entry, agents, world, settings, choices)
        if found is None:
            continue
        numbers, places, count = found
        # those who go to the same targets by several behaviors share their room
        name = entry.key if entry.ends is not None else f"targets {entry.target}"
        begin = first.setdefault(name, after)
        after = max(after, begin + count)
        key[mine] = np.where(numbers >= 0, numbers + begin, -1)[mine]
        place[mine] = places[mine]
    return measured(agents, place, key, dt, _is_flat(settings)) if first else None


def _is_flat(settings: CrowdSettings) -> bool:
    return settings.motion.motion == "GROUND"


def _goal(
    entry: Behavior, agents: Agents, world: World, settings: CrowdSettings, choices: Choices
) -> tuple[I64, F32, int] | None:
    """Where agents would be whose goal is that of a behavior; None where it has no such place.

    Returns:
        (numbers, places, count): the number of each agent's goal, -1 for none, shape
        (agent_count,); these goals [m], shape (agent_count, 3); how many goals there are.
    """
    if entry.ends is not None:
        memory = agents.memory.get(entry.key)
        if memory is None:
            return None
        key = np.full(agents.count, -1, np.int64)
        place = np.zeros((agents.count, 3), np.float32)
        p = Perception(agents, world, (), choices).params(entry)
        options = (agents.position, p, memory, _is_flat(settings), place, key)
        run_kernel(entry, entry.ends, agents.count, *options)
        return key, place, int(key.max(initial=-1)) + 1
    found = world.targets_of(entry.target)
    if not found.count or found.own:
        return None
    key = choices.of(found, entry, agents)
    key = np.where(visits.ends_there(entry, agents, found.count, settings), key, -1)
    return key, np.take(found.position, key, axis=0), found.count


def begun(
    agents: Agents, world: World, settings: CrowdSettings, dt: float, choices: Choices
) -> tuple[Agents, F64]:
    """The crowd at the start of a step: agents that have arrived, or are gone, are marked.

    With it the distances to their goals [m], shape (agent_count,); (0,) where the crowd has none.

    Args:
        agents: The crowd; it is not changed.
        world: What it perceives.
        settings: Settings of the crowd.
        dt: Length of the step [s].
        choices: Which targets the crowd goes to.
    """
    goals = _goals(agents, world, settings, dt, choices)
    if goals is None:
        return _marked(agents, np.zeros(agents.count, np.bool_)), np.zeros(0)
    aims = (agents.alive != 0) & (goals.key >= 0)
    near = settings.bodies.arrival_distance
    if settings.bodies.on_arrival == "LEAVE":
        after = _without(agents, aims & (goals.passed <= near + agents.radius))
    elif settings.bodies.on_arrival == "HOLD_AREA":
        after = _held(agents, goals, near, _is_flat(settings), dt)
    else:
        limit = np.where(agents.arrived, 1.5 * near + agents.radius, near)
        reached = np.where(agents.arrived, goals.distance, goals.passed) <= limit
        after = _marked(agents, aims & reached)
    return after, goals.distance


def _marked(agents: Agents, arrived: NDArray[np.bool_]) -> Agents:
    """The crowd with these as the arrived among the living."""
    if not (arrived.any() or agents.arrived.any()):
        return agents
    marks = np.where(agents.alive != 0, arrived, agents.arrived != 0).astype(np.uint8)
    return agents if np.array_equal(marks, agents.arrived) else replace(agents, arrived=marks)


def _without(agents: Agents, gone: NDArray[np.bool_]) -> Agents:
    """The crowd where some are dead because they have arrived."""
    if not gone.any():
        return _marked(agents, gone)
    velocity = agents.velocity.copy()
    velocity[gone] = 0.0
    alive = np.where(gone, 0, agents.alive).astype(np.uint8)
    arrived = np.where(gone, 1, np.where(alive, 0, agents.arrived)).astype(np.uint8)
    return replace(agents, velocity=velocity, alive=alive, arrived=arrived)


def _held(agents: Agents, goals: GoalView, near: float, flat: bool, dt: float) -> Agents:
    """The crowd where the place of the arrived grows with their number."""
    alive = agents.alive != 0
    before = agents.arrived != 0
    aims = alive & (goals.key >= 0)
    there = aims & before
    if not (there.any() or agents.waited.any() or SHUTTLES in agents.memory):
        farthest = near + float(agents.radius.max(initial=0.0)) + MARGIN
        if float(goals.passed.min(initial=np.inf)) > farthest:
            return _marked(agents, there)
    radius = agents.radius.astype(np.float64)
    reach = room_of(agents.radius, goals.key, there, flat)
    coming = goals.passed <= np.maximum(near, reach - radius)
    keeping = goals.distance <= KEEP * np.maximum(near, reach) + radius
    result = aims & np.where(before, keeping, coming)
    pace = np.einsum("ij,ij->i", agents.velocity, goals.ahead)
    slow = pace <= SLOW * agents.max_speed
    unsure = aims & ~result & (before | slow)
    waited = np.zeros_like(agents.waited)
    past = PASSED * radius / np.maximum(agents.max_speed, EPSILON)
    sliding = np.maximum(SLIDING_PATIENCE, past)
    behind = np.zeros(agents.count, np.bool_)
    if there.any() and unsure.any():
        behind = stand_behind(agents, goals, there, unsure)
        stands = agents.speed <= SLOW * agents.max_speed
        counted = dt * np.where(stands, 1.0, PATIENCE / sliding)
        waited = np.where(behind & ~before, agents.waited + counted, waited)
        result |= behind & (before | (waited >= PATIENCE))
    agents, shuttled = _shuttled(agents, pace, behind & ~before, dt)
    result |= behind & (shuttled >= SHUTTLED * sliding)
    if waited.any() or agents.waited.any():
        agents = replace(agents, waited=np.where(result, 0.0, waited).astype(np.float32))
    return _marked(agents, result)


def _shuttled(
    agents: Agents, pace: F64, held_up: NDArray[np.bool_], dt: float
) -> tuple[Agents, F64]:
    """For how long agents were held up since they came nearer [s]; with the crowd that knows it.

    Args:
        agents: The crowd.
        pace: Speed toward the goal [m/s], shape (agent_count,).
        held_up: Which agents come no nearer now since an arrived one is in their way.
        dt: Length of the step [s].
    """
    known = agents.memory.get(SHUTTLES)
    if known is None:
        if not held_up.any():
            return agents, np.zeros(agents.count)
        known = np.zeros((agents.count, 2), np.float32)
    held, came = known.astype(np.float64).T
    came = np.where(held > 0.0, came + pace * dt, 0.0)
    # not the distance to the goal: those who follow one that goes away would count as held up
    nearer = (came > agents.radius) | (agents.arrived != 0)
    held = np.where(nearer, 0.0, held) + np.where(held_up, dt, 0.0)
    kept = np.stack([held, np.where(nearer, 0.0, came)], axis=1).astype(np.float32)
    return replace(agents, memory={**agents.memory, SHUTTLES: kept}), held


def standing(stack: Sequence[Behavior], agents: Agents) -> U8:
    """1 for agents that stand, shape (agent_count,): the arrived, and those that wait or stay.

    Args:
        stack: The behaviors that act.
        agents: The crowd at the start of the step.
    """
    waits = np.zeros(agents.count, np.bool_)
    for goal, mine in goals_of(stack, agents):
        waits |= visits.stays(goal, agents) & mine
    return (agents.arrived | waits).astype(np.uint8) if waits.any() else agents.arrived


def hush(stack: Sequence[Behavior], found: dict[str, Proposal], agents: Agents) -> None:
    """Let those that stand wish for nothing else, but for behaviors that have targets of their own.

    Args:
        stack: The behaviors that act.
        found: The proposals of those that wish for velocities; they are changed.
        agents: The crowd at the start of the step.
    """
    stands = standing(stack, agents) != 0
    for goal, mine in goals_of(stack, agents) if stands.any() else ():
        rows = np.flatnonzero(stands & mine)
        for entry in stack:
            if entry.definition.output != VELOCITY:
                continue
            if TARGETS in entry.definition.uses and entry.target != goal.target:
                continue
            found[entry.key].value[rows] = 0.0
            found[entry.key].active[rows] = entry is goal
