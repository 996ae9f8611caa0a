"""The examples of RVO2 (van den Berg et al. 2011), and its circle with any number of agents.

Wished speed 1 m/s as there. The maximum speed of RVO2, 2 m/s, is for dodging; here
no agent moves faster than its wished speed. Distance, time and neighbor count of looking ahead are
those of the examples; in all of them RVO2's horizon for obstacles equals that for agents.
"""

from __future__ import annotations

import numpy as np

from .scenario import ALL_ARRIVE, SOLID, Scenario, Stage, Wanted, block, on_floor

RADIUS = 1.5
CIRCLE = 200.0
RVO2_TIME = 886.0
"""RVO2's own time for Circle [s]."""


def _stated(horizon: float) -> tuple[str, ...]:
    """Neighbor distance [m], most neighbors and time horizon [s] of an example."""
    return (
        "avoid_neighbors.neighbor_distance=15",
        "avoid_neighbors.max_neighbors=10",
        f"avoid_neighbors.anticipation_time={horizon:g}",
    )


def antipodal(count: int, name: str | None = None) -> Scenario:
    """Agents on a circle of radius 200, each with the opposite place as its goal."""
    angle = 2.0 * np.pi * np.arange(count) / count
    place = on_floor(CIRCLE * np.column_stack([np.cos(angle), np.sin(angle)]))
    return Scenario(
        name=name or f"antipodal {count}",
        position=place,
        radius=np.full(count, RADIUS),
        speed=np.ones(count),
        routes=tuple((Stage(-place[i : i + 1], RADIUS),) for i in range(count)),
        route=np.arange(count),
        dt=0.25,
        duration=2000.0,
        leave=False,
        heading=-place / CIRCLE,
        patience=300.0,
        stated=_stated(10.0),
    )


def circle() -> Scenario:
    """Circle: 250 agents; RVO2 needs 886 s."""
    scenario = antipodal(250, "rvo2 circle")
    wanted = (*SOLID, ALL_ARRIVE, Wanted("end", most=RVO2_TIME))
    return Scenario(**{**vars(scenario), "wanted": wanted})


def blocks(side: int = 5) -> Scenario:
    """Blocks: four groups of 5 x 5 cross between four square houses."""
    step = 55.0 + 10.0 * np.arange(side)
    grid = np.array([(x, y) for x in step for y in step])
    signs = np.array([(1, 1), (-1, 1), (1, -1), (-1, -1)])
    place = on_floor(np.concatenate([grid * sign for sign in signs]))
    walls = []
    for sx, sy in signs:
        xs, ys = sorted((10.0 * sx, 40.0 * sx)), sorted((10.0 * sy, 40.0 * sy))
        walls.append(block(f"house {len(walls)}", (xs[0], ys[0]), (xs[1], ys[1])))
    ends = on_floor(-75.0 * signs)
    return Scenario(
        name="rvo2 blocks",
        position=place,
        radius=np.full(len(place), 2.0),
        speed=np.ones(len(place)),
        routes=tuple((Stage(ends[i : i + 1], 20.0),) for i in range(4)),
        route=np.repeat(np.arange(4), side * side),
        dt=0.25,
        duration=2000.0,
        colliders=tuple(walls),
        leave=False,
        patience=300.0,
        stated=_stated(5.0),
    )


def sphere() -> Scenario:
    """Sphere: 812 agents in 3D on a sphere of radius 100, all to the opposite place."""
    place = np.array(_rings())
    n = len(place)
    return Scenario(
        name="rvo2 sphere",
        position=place,
        radius=np.full(n, RADIUS),
        speed=np.ones(n),
        routes=tuple((Stage(-place[i : i + 1], 2.0 * RADIUS),) for i in range(n)),
        route=np.arange(n),
        dt=0.125,
        duration=1000.0,
        leave=False,
        heading=-place / 100.0,
        flying=True,
        patience=200.0,
        stated=_stated(10.0),
    )


def _rings() -> list[tuple[float, float, float]]:
    """Rings of latitude 0.1 rad apart, on each one agent every 2.5 m along its circle."""
    points: list[tuple[float, float, float]] = []
    for angle in np.arange(0.0, np.pi, 0.1):
        z, ring = 100.0 * np.cos(angle), 100.0 * np.sin(angle)
        for turn in 2.0 * np.pi * np.arange(np.ceil(ring / 2.5)) / max(ring / 2.5, 1.0):
            points.append((ring * np.cos(turn), ring * np.sin(turn), z))
    return points
