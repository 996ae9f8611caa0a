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

_BODIES_APART = 2.1
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


@dataclass(frozen=True, eq=False)
class Plan:
    """Start positions and targets of a crowd."""

    positions: NDArray[np.float32]
    """Agents [m], shape (agent_count, 3)."""
    targets: Floats
    """Targets [m], shape (target_count, 3)."""
    warnings: list[Diagnosis] = field(default_factory=list)


def plan_walk(
    places: Walkable,
    agents: int,
    radius: float,
    spawn: Spawn,
    targets: tuple[tuple[float, ...], ...],
    seed: int,
) -> Plan:
    """Put walking agents and their target on the same region of the ground.

    Args:
        places: Places where they can stand.
        agents: Number of agents.
        radius: Their body radius [m].
        spawn: Start region of the agents.
        targets: Targets [m]; none puts one target where the way is longest.
        seed: Random seed.

    Raises:
        SceneError: There is no walkable ground there, or not enough.
    """
    warnings: list[Diagnosis] = []
    start = _start(places, radius, spawn, targets, warnings)
    rows = np.flatnonzero(places.region == places.region[start])
    if targets:
        goals = np.array(targets, np.float64)
        goal = _nearest_of(places, rows, goals[0])
    else:
        if spawn.kind != DISC:
            start = _far_end(places, rows, start)
        goal = _far_end(places, rows, start)
        goals = places.position[[goal]]
    ways = places.ways(goal)[rows]
    chosen = _starting_rows(places, rows, ways, agents, radius, spawn)
    _check_room(len(chosen if spawn.kind == DISC else rows), places, agents, radius)
    random = np.random.default_rng(seed)
    positions = _throw(places, chosen, agents, radius, random)
    if len(positions) < agents and spawn.kind != DISC:
        positions = _throw(places, rows, agents, radius, random)
    if len(positions) < agents:
        raise _too_many(len(positions), agents)
    return Plan(positions, goals, warnings)


def _check_room(count: int, places: Walkable, agents: int, radius: float) -> None:
    """Reject a crowd that is far too large, without a search."""
    # more than 55 % of an area is never covered by discs put there at random (Feder 1980)
    disc = math.pi * (_BODIES_APART * radius / 2.0) ** 2
    most = int(0.55 * count * places.cell**2 / disc)
    if agents > 1.1 * most + 10:
        raise _too_many(most, agents)


def _too_many(room: int, agents: int) -> SceneError:
    return SceneError(
        f"There is room for some {room} of {agents} agents only: "
        "give fewer --agents, a smaller --radius, or more ground to start from with --spawn"
    )


def _start(
    places: Walkable,
    radius: float,
    spawn: Spawn,
    targets: tuple[tuple[float, ...], ...],
    warnings: list[Diagnosis],
) -> int:
    """A place in the region to use."""
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
    if targets:
        row, distance = places.nearest(np.array(targets[0]))
        if distance <= 12.0 * radius:
            return row
        warnings.append(diagnose("TARGET_OFF_GROUND", distance=float(distance)))
    return int(np.flatnonzero(places.region == places.largest())[0])


def _nearest_of(places: Walkable, rows: Ints, point: Floats) -> int:
    return int(rows[np.linalg.norm(places.position[rows] - point, axis=1).argmin()])


def _far_end(places: Walkable, rows: Ints, start: int) -> int:
    """A roomy place among those that are farthest from another one."""
    ways = places.ways(start)[rows]
    far = rows[ways >= 0.92 * ways.max()]
    return int(far[places.depth[far].argmax()])


def _starting_rows(
    places: Walkable, rows: Ints, ways: Floats, agents: int, radius: float, spawn: Spawn
) -> Ints:
    chosen: NDArray[Any]
    if spawn.kind == WHOLE:
        chosen = ways >= 0.3 * ways.max()
    elif spawn.kind == CORNER:
        wanted = math.ceil(1.5 * agents * (_COMFORT * radius / places.cell) ** 2)
        chosen = np.argsort(-ways, kind="stable")[:wanted]
    else:
        offset = places.position[rows] - np.array(spawn.center)
        chosen = np.linalg.norm(offset, axis=1) <= spawn.radius + places.cell / 2
    found: Ints = rows[chosen]
    return found


def _throw(
    places: Walkable, rows: Ints, agents: int, radius: float, random: np.random.Generator
) -> NDArray[np.float32]:
    if not len(rows):
        return np.zeros((0, 3), np.float32)
    room = len(rows) * places.cell**2 / agents
    # random places leave half of the space empty
    spacing = min(_COMFORT * radius, math.sqrt(0.55 * room))
    for distance in (spacing, _BODIES_APART * radius):
        points = throw_darts(
            lambda count: places.scatter(rows, random, count),
            agents,
            max(distance, _BODIES_APART * radius),
        )
        if len(points) == agents:
            break
    return points


def plan_flight(
    low: Floats,
    high: Floats,
    agents: int,
    radius: float,
    spawn: Spawn,
    targets: tuple[tuple[float, ...], ...],
    seed: int,
) -> Plan:
    """Put flying agents into a ball above one side of a box, and their target above the other.

    Args:
        low: Lower corner of the scene's bounding box [m], shape (3,).
        high: Upper corner.
        agents: Number of agents.
        radius: Their body radius [m].
        spawn: Start region; a disc is the ball itself.
        targets: Targets [m]; none puts one target on the far side.
        seed: Random seed.

    Raises:
        SceneError: The ball has no room for this number of agents.
    """
    size = high - low
    distance = 3.0 * _COMFORT * radius
    ball = 0.7 * distance * agents ** (1.0 / 3.0)
    center = (low + high) / 2.0
    center[2] = high[2] + ball + distance
    goal = center.copy()
    along = int(np.argmax(size[:2]))
    reach = max(0.35 * size[along], 1.5 * ball)
    center[along] -= reach
    goal[along] += reach
    if spawn.kind == DISC:
        center, ball = np.array(spawn.center), spawn.radius
        distance = ball / (0.7 * agents ** (1.0 / 3.0))
    random = np.random.default_rng(seed)

    def draw(count: int) -> Floats:
        way = random.normal(size=(count, 3))
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        places: Floats = center + way * ball * np.cbrt(random.uniform(size=(count, 1)))
        return places

    positions = throw_darts(draw, agents, max(0.7 * distance, _BODIES_APART * radius))
    if len(positions) < agents:
        raise SceneError(
            f"There is room for {len(positions)} of {agents} agents only: "
            "give fewer --agents, a smaller --radius, or a larger --spawn"
        )
    return Plan(positions, np.array(targets, np.float64) if targets else goal[None], [])
