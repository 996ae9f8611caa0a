"""Start and target of a crowd: agents on one side, the target on the other.

Only numbers go in and come out; nothing here needs Blender.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SceneError
from .distribute import throw_darts
from .walkable import Ints, Walkable

Floats = NDArray[np.float64]

WHOLE, CORNER, DISC = "whole", "corner", "disc"

BODIES_APART = 2.1
"""Smallest distance of two agents, in body radii."""
_COMFORT = 5.0
"""Preferred distance of agents, if there is room, in body radii."""


@dataclass(frozen=True)
class Spawn:
    """Start region of agents.

    Attributes:
        kind: WHOLE, CORNER or DISC.
        center: Center of the disc [m].
        radius: Its radius [m].
    """

    kind: str = WHOLE
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 0.0


@dataclass(frozen=True)
class Group:
    """Agents that need places.

    Attributes:
        agents: Number of agents.
        radius: Their body radius [m].
        spawn: Start region; of flyers, a disc is a ball.
        targets: Targets [m]; none puts one target far away.
        seed: Random seed.
    """

    agents: int
    radius: float
    spawn: Spawn = Spawn()
    targets: tuple[tuple[float, ...], ...] = ()
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Plan:
    """Start positions and targets of a crowd."""

    positions: NDArray[np.float32]
    """Agents [m], shape (agent_count, 3)."""
    targets: Floats
    """Targets [m], shape (target_count, 3)."""
    warnings: list[Diagnosis] = field(default_factory=list)


def plan_walk(places: Walkable, group: Group) -> Plan:
    """Put walking agents and their target on the same region of the ground.

    Args:
        places: Places where they can stand.
        group: The agents; without a target, it is put where the way is longest.

    Raises:
        SceneError: There is no walkable ground there, or not enough.
    """
    warnings: list[Diagnosis] = []
    start = _start(places, group, warnings)
    rows = np.flatnonzero(places.region == places.region[start])
    if group.targets:
        goals = np.array(group.targets, np.float64)
        goal = int(rows[np.linalg.norm(places.position[rows] - goals[0], axis=1).argmin()])
    else:
        if group.spawn.kind != DISC:
            start = _far_end(places, rows, start)
        goal = _far_end(places, rows, start)
        goals = places.position[[goal]]
    chosen = _starting_rows(places, rows, places.ways(goal)[rows], group)
    _check_room(len(chosen if group.spawn.kind == DISC else rows), places, group)
    random = np.random.default_rng(group.seed)
    positions = _throw(places, chosen, group, random)
    if len(positions) < group.agents and group.spawn.kind != DISC:
        positions = _throw(places, rows, group, random)
    if len(positions) < group.agents:
        raise _too_many(len(positions), group.agents)
    return Plan(positions, goals, warnings)


def _check_room(count: int, places: Walkable, group: Group) -> None:
    """Reject a crowd that is far too large, without a search."""
    # more than 55 % of an area is never covered by discs put there at random (Feder 1980)
    disc = math.pi * (BODIES_APART * group.radius / 2.0) ** 2
    most = int(0.55 * count * places.cell**2 / disc)
    if group.agents > 1.1 * most + 10:
        raise _too_many(most, group.agents)


def _too_many(room: int, agents: int) -> SceneError:
    return SceneError(
        f"There is room for some {room} of {agents} agents only: "
        "give fewer --agents, a smaller --radius, or more ground to start from with --spawn"
    )


def _start(places: Walkable, group: Group, warnings: list[Diagnosis]) -> int:
    """A place in the region to use."""
    spawn = group.spawn
    if spawn.kind == DISC:
        row, distance = places.nearest(np.array(spawn.center))
        if distance > spawn.radius + places.cell:
            x, y, z = spawn.center
            near = ", ".join(f"{value:.1f}" for value in places.position[row])
            raise SceneError(
                f"There is no walkable ground within {spawn.radius:g} m of {x:g}, {y:g}, {z:g}: "
                f"the nearest is at {near}"
            )
        return row
    if group.targets:
        row, distance = places.nearest(np.array(group.targets[0]))
        if distance <= 12.0 * group.radius:
            return row
        warnings.append(diagnose("TARGET_OFF_GROUND", distance=float(distance)))
    largest = np.bincount(places.region).argmax()
    return int(np.flatnonzero(places.region == largest)[0])


def _far_end(places: Walkable, rows: Ints, start: int) -> int:
    """A roomy place among those that are farthest from another one."""
    ways = places.ways(start)[rows]
    far = rows[ways >= 0.92 * ways.max()]
    return int(far[places.depth[far].argmax()])


def _starting_rows(places: Walkable, rows: Ints, ways: Floats, group: Group) -> Ints:
    """The rows to start from, by their ways to the target [m]."""
    chosen: NDArray[Any]
    spawn = group.spawn
    if spawn.kind == WHOLE:
        chosen = ways >= 0.3 * ways.max()
    elif spawn.kind == CORNER:
        wanted = math.ceil(1.5 * group.agents * (_COMFORT * group.radius / places.cell) ** 2)
        chosen = np.argsort(-ways, kind="stable")[:wanted]
    else:
        offset = places.position[rows] - np.array(spawn.center)
        chosen = np.linalg.norm(offset, axis=1) <= spawn.radius + places.cell / 2
    found: Ints = rows[chosen]
    return found


def _throw(
    places: Walkable, rows: Ints, group: Group, random: np.random.Generator
) -> NDArray[np.float32]:
    """Random positions around some of the places [m], far apart if there is room."""
    if not len(rows):
        return np.zeros((0, 3), np.float32)
    least = BODIES_APART * group.radius
    room = len(rows) * places.cell**2 / group.agents
    # random places leave half of the space empty
    comfort = min(_COMFORT * group.radius, math.sqrt(0.55 * room))
    for distance in (max(comfort, least), least):
        points = throw_darts(
            lambda count: places.scatter(rows, random, count), group.agents, distance
        )
        if len(points) == group.agents:
            break
    return points


def plan_flight(low: Floats, high: Floats, group: Group) -> Plan:
    """Put flying agents into a ball above one side of a box, and their target above the other.

    Args:
        low: Lower corner of the scene's bounding box [m], shape (3,).
        high: Upper corner.
        group: The agents; without a target, it is put on the far side.

    Raises:
        SceneError: The ball has no room for this number of agents.
    """
    size = high - low
    distance = 3.0 * _COMFORT * group.radius
    ball = 0.7 * distance * group.agents ** (1.0 / 3.0)
    center = (low + high) / 2.0
    center[2] = high[2] + ball + distance
    goal = center.copy()
    along = int(np.argmax(size[:2]))
    reach = max(0.35 * size[along], 1.5 * ball)
    center[along] -= reach
    goal[along] += reach
    if group.spawn.kind == DISC:
        center, ball = np.array(group.spawn.center), group.spawn.radius
        distance = ball / (0.7 * group.agents ** (1.0 / 3.0))
    random = np.random.default_rng(group.seed)

    def draw(count: int) -> Floats:
        way = random.normal(size=(count, 3))
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        places: Floats = center + way * ball * np.cbrt(random.uniform(size=(count, 1)))
        return places

    spacing = max(0.7 * distance, BODIES_APART * group.radius)
    positions = throw_darts(draw, group.agents, spacing)
    if len(positions) < group.agents:
        raise SceneError(
            f"There is room for {len(positions)} of {group.agents} agents only: "
            "give fewer --agents, a smaller --radius, or a larger --spawn"
        )
    return Plan(positions, np.array(group.targets, np.float64) if group.targets else goal[None])
