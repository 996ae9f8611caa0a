"""A scenario as plain data: start places, goals, obstacles, and required figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steer_addon.core.geometry.meshes import Mesh

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Moves:
    """A goal without a fixed place, for some time."""

    kind: str
    """SEEK an agent, FLEE from one or from a place, FLOW in a direction, or STAY."""
    agent: int | None = None
    """Row of the agent that is sought or fled from."""
    to: tuple[float, float] | None = None
    """The place that is fled from, or the direction of a flow; None for that of agents nearby."""


@dataclass(frozen=True, eq=False)
class Stage:
    """A place to go to: the nearest of some points, and how near counts as there."""

    points: F64
    """Alternatives [m], shape (m, 3)."""
    reach: float
    """Distance at which the next stage begins, or the agent has arrived at the last one [m]."""
    speed: float | None = None
    """Wished speed on the way there [m/s]; None for the agent's own."""
    via: bool = False
    """Whether it is a gate of half width `reach` to pass through (see `ways`)."""
    ahead: F64 | None = None
    """Unit directions in which gates are passed, shape (m, 3); None halves the turn there."""
    box: tuple[float, float, float, float] | None = None
    """Low x, low y, high x, high y of a region that counts as there, whole [m]."""
    moves: Moves | None = None
    """What moves the place; `points` is only where it starts."""
    lasts: float = np.inf
    """Time after which it is over, and not before [s]; infinite where it has to be reached."""


Route = tuple[Stage, ...]


@dataclass(frozen=True)
class Wanted:
    """Required value of a figure. Missing figures count as failed."""

    figure: str
    """Name in the result: `arrived_share`, `overlap`, or one of the scenario's own."""
    least: float | None = None
    most: float | None = None

    def met(self, result: dict[str, Any]) -> bool:
        """Whether a result has it."""
        value = result.get(self.figure)
        if value is None:
            return False
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        low = f"{self.least:g}" if self.least is not None else ""
        high = f"{self.most:g}" if self.most is not None else ""
        if low and high:
            return f"{self.figure} {low}" if low == high else f"{self.figure} {low} to {high}"
        return f"{self.figure} ≥ {low}" if low else f"{self.figure} ≤ {high}"


SOLID = (
    Wanted("penetrations", most=0),
    Wanted("overlap", most=0.02),
    Wanted("parting", most=0),
)
"""Required of every scenario."""
ALL_ARRIVE = Wanted("arrived_share", least=1.0)


@dataclass(frozen=True)
class Area:
    """A box on the ground in which speeds and numbers are measured, for some time."""

    name: str
    low: tuple[float, float]
    """Lower corner (x, y) [m]."""
    high: tuple[float, float]
    start: float = 0.0
    """When measuring starts [s]."""
    stop: float = np.inf
    along: bool = False
    """Whether the speed is that along x, not that in any direction."""


@dataclass(frozen=True, eq=False)
class Scenario:
    """One run. All agents use the preset; the differences are in here."""

    name: str
    position: F64
    """Start places of agents [m], shape (n, 3)."""
    radius: F64
    """Radii [m], shape (n,)."""
    speed: F64
    """Wished speeds [m/s], shape (n,)."""
    routes: tuple[Route, ...]
    """Ways to go."""
    route: NDArray[np.int64]
    """Row of each agent's route, shape (n,)."""
    dt: float
    """Time step [s]."""
    duration: float
    """When the run ends [s]; it ends earlier when all have arrived."""
    colliders: tuple[Mesh, ...] = ()
    leave: bool = True
    """Whether arrived agents are removed; else they stay, and count as arrived while there."""
    heading: F64 | None = None
    velocity: F64 | None = None
    start_time: F64 | None = None
    """When agents start to walk [s], shape (n,); None for at once."""
    flying: bool = False
    patience: float = np.inf
    """The run ends after this time without any agent coming nearer to its goal than before [s]."""
    period: float | None = None
    """The world repeats along x after this length [m]: it starts at x = 0."""
    areas: tuple[Area, ...] = ()
    wanted: tuple[Wanted, ...] = (*SOLID, ALL_ARRIVE)
    stated: tuple[str, ...] = ()
    """Numbers of the preset that the scenario's page states, as `behavior.parameter=value`."""
    notes: dict[str, Any] = field(default_factory=dict)
    """More entries of the result."""

    @property
    def count(self) -> int:
        """Number of agents."""
        return len(self.position)

    @property
    def asks_for_arrivals(self) -> bool:
        """Whether agents have to arrive: else no agent can, or the goal has room for only one."""
        return any(wanted.figure == ALL_ARRIVE.figure for wanted in self.wanted)

    @property
    def led(self) -> str | None:
        """Guidance by the rig that users of Steer do not have yet: gates, and stops in sequence."""
        ways = [stage.via for route in self.routes for stage in route[:-1]]
        return ("gates" if any(ways) else "stops") if ways else None


def block(name: str, low: Sequence[float], high: Sequence[float], turn: float = 0.0) -> Mesh:
    """A closed box, from below the feet to above the heads.

    Args:
        name: Its name in messages.
        low: Lower corner (x, y) [m].
        high: Upper corner (x, y) [m].
        turn: Angle about its own middle, counterclockwise seen from above [rad].
    """
    middle = (np.asarray(low, float) + np.asarray(high, float)) / 2.0
    half = (np.asarray(high, float) - np.asarray(low, float)) / 2.0
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    c, s = np.cos(turn), np.sin(turn)
    return prism(name, corners @ np.array([[c, s], [-s, c]]) + middle)


def prism(name: str, outline: Any, low: float = -0.5, high: float = 3.0) -> Mesh:
    """A closed upright prism over a convex outline, normals outward.

    Args:
        name: Its name in messages.
        outline: Corners (x, y) [m], counterclockwise, shape (m, 2).
        low: Height of the foot [m].
        high: Height of the top [m].
    """
    flat = np.asarray(outline, float)
    m = len(flat)
    foot = np.column_stack([flat, np.full(m, low)])
    top = np.column_stack([flat, np.full(m, high)])
    faces = [(top[0], top[i], top[i + 1]) for i in range(1, m - 1)]
    faces += [(foot[0], foot[i + 1], foot[i]) for i in range(1, m - 1)]
    for i in range(m):
        j = (i + 1) % m
        faces += [(foot[i], foot[j], top[j]), (foot[i], top[j], top[i])]
    return Mesh(name, np.array(faces, np.float32))


def cylinder(name: str, center: Sequence[float], radius: float, sides: int = 24) -> Mesh:
    """A closed upright cylinder, as wide as the circle at its corners."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * radius
    return prism(name, ring + np.asarray(center, float))


def fence(low: Sequence[float], high: Sequence[float], thick: float = 0.5) -> tuple[Mesh, ...]:
    """Four walls around a rectangle on the ground, outside of it."""
    (x0, y0), (x1, y1) = low, high
    return (
        block("west", (x0 - thick, y0 - thick), (x0, y1 + thick)),
        block("east", (x1, y0 - thick), (x1 + thick, y1 + thick)),
        block("south", (x0 - thick, y0 - thick), (x1 + thick, y0)),
        block("north", (x0 - thick, y1), (x1 + thick, y1 + thick)),
    )


def on_floor(points: Any) -> F64:
    """Points (x, y) as (x, y, 0), shape (m, 3)."""
    flat = np.asarray(points, float).reshape(-1, 2)
    return np.column_stack([flat, np.zeros(len(flat))])


def goal(point: Sequence[float], reach: float) -> Stage:
    """A stage with one point on the floor."""
    return Stage(on_floor(point), reach)


def via(point: Sequence[float], half_width: float) -> Stage:
    """A gate on the floor that is passed on the way to the next stage."""
    return Stage(on_floor(point), half_width, via=True)


def free_paths(scenario: Scenario) -> F64:
    """Lengths of the straight ways from stage to stage [m], shape (n,)."""
    total = np.zeros(scenario.count)
    for number, route in enumerate(scenario.routes):
        rows = np.flatnonzero(scenario.route == number)
        here = scenario.position[rows]
        for stage in route:
            if np.isfinite(stage.lasts):
                continue
            away = np.linalg.norm(stage.points[None] - here[:, None], axis=2)
            nearest = away.argmin(axis=1)
            total[rows] += away.min(axis=1)
            here = stage.points[nearest]
        total[rows] -= 0.0 if np.isfinite(route[-1].lasts) else route[-1].reach
    return np.maximum(total, 0.0)
