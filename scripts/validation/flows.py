"""Six flow scenes: crowds that cross, meet, squeeze and turn, 100 to 2,000 of them.

Lengths grow with k = √(agents/100), and so does the time; agents, door and mouth do not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .placing import Room
from .scenario import F64, SOLID, Route, Scenario, Wanted, block, fence, goal, prism, via

DT = 1.0 / 30.0
WANTED = {
    "corridor": 0.90,
    "crossing": 0.95,
    "bottleneck": 0.60,
    "dense_flow": 0.95,
    "circle": 0.95,
    "l_corridor": 0.90,
}
"""Shares that have to arrive, up to 1,000 agents."""
OTHERS = {
    "corridor": (0.89, 0.40, 0.29, 0.19),
    "crossing": (0.81, 0.38, 0.25, 0.17),
    "bottleneck": (0.88, 0.51, 0.36, 0.28),
    "dense_flow": (1.00, 0.56, 0.34, 0.31),
    "circle": (1.00, 0.90, 0.42, 0.11),
    "l_corridor": (0.40, 0.18, 0.15, 0.11),
}
"""Shares that arrive with the best of the publishing project's three solvers, by COUNTS."""
COUNTS = (100, 500, 1000, 2000)
REVERSALS = 5.0
DOOR = 1.6
MOUTH = 6.0
THICK = 0.2
SCENES = tuple(WANTED)

Rectangle = tuple[float, float, float, float]


def flow(name: str, agents: int, seed: int = 0) -> Scenario:
    """One of the scenes.

    Args:
        name: One of SCENES.
        agents: Number of agents.
        seed: Random seed of start places, radii and speeds.
    """
    k = float(np.sqrt(agents / 100.0))
    areas, routes, walls, seconds = _LAYOUTS[name](k)
    rng = np.random.default_rng([seed, SCENES.index(name), agents])
    radius = rng.uniform(0.24, 0.38, agents)
    speed = np.clip(rng.normal(1.35, 0.18, agents), 0.81, 1.89)
    group = np.arange(agents) % len(areas)
    room, position = Room(), np.zeros((agents, 3))
    for number, (x0, x1, y0, y1) in enumerate(areas):
        rows = group == number
        low, high = (x0 * k, y0 * k), (x1 * k, y1 * k)
        position[rows, :2] = room.fill(low, high, radius[rows], rng, f"area {number} of {name}")
    share = WANTED[name] - (0.1 if agents > 1000 else 0.0)
    return Scenario(
        name=f"{name} {agents}",
        position=position,
        radius=radius,
        speed=speed,
        routes=routes,
        route=group % len(routes),
        dt=DT,
        duration=seconds * k,
        colliders=walls,
        patience=60.0,
        wanted=(*SOLID, Wanted("arrived_share", least=share), Wanted("reversals", most=REVERSALS)),
    )


def _ends(k: float, *points: tuple[float, float]) -> tuple[Route, ...]:
    return tuple((goal((x * k, y * k), k),) for x, y in points)


Layout = tuple[list[Rectangle], tuple[Route, ...], tuple, float]


def _corridor(k: float) -> Layout:
    areas = [(0.5, 6.0, 0.5, 7.5), (34.0, 39.5, 0.5, 7.5)]
    return areas, _ends(k, (38, 4), (2, 4)), fence((0, 0), (40 * k, 8 * k)), 60.0


def _crossing(k: float) -> Layout:
    areas = [(0.5, 6.0, 15.0, 25.0), (15.0, 25.0, 0.5, 6.0)]
    return areas, _ends(k, (38, 20), (20, 38)), fence((0, 0), (40 * k, 40 * k)), 60.0


def _bottleneck(k: float) -> Layout:
    x, middle = 20.0 * k, 10.0 * k
    low, high = middle - DOOR / 2.0, middle + DOOR / 2.0
    half = THICK / 2.0
    walls = (
        *fence((0, 0), (40 * k, 20 * k)),
        block("below the door", (x - half, 0.0), (x + half, low)),
        block("above the door", (x - half, high), (x + half, 20 * k)),
    )
    return [(1.0, 14.0, 2.0, 18.0)], _ends(k, (34, 10)), walls, 120.0


def _dense_flow(k: float) -> Layout:
    middle, top = 15.0 * k, 30.0 * k
    low, high = middle - MOUTH / 2.0, middle + MOUTH / 2.0
    a, b, c = 24.0 * k, 28.0 * k, 40.0 * k
    walls = (
        *fence((0, 0), (c, top)),
        prism("south of the mouth", [(a, 0.0), (c, 0.0), (c, low), (b, low)]),
        prism("north of the mouth", [(a, top), (b, high), (c, high), (c, top)]),
    )
    return [(1.0, 18.0, 2.0, 28.0)], _ends(k, (38, 15)), walls, 120.0


def _circle(k: float) -> Layout:
    angle = 2.0 * np.pi * np.arange(16) / 16
    middles: F64 = 15.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    areas = [(x - 1.5, x + 1.5, y - 1.5, y + 1.5) for x, y in middles]
    return areas, _ends(k, *(-middles)), (), 60.0


def _l_corridor(k: float) -> Layout:
    walls = (
        *fence((0, 0), (40 * k, 40 * k)),
        block("block", (10 * k, 0.0), (40 * k, 28 * k)),
    )
    # a gate across the corridor, which is 5.7 k to the outer corner and 8.5 k to the inner one
    route = (via((4.0 * k, 34.0 * k), 5.0 * k), goal((36.0 * k, 34.0 * k), k))
    return [(0.5, 9.5, 0.5, 10.0)], (route,), walls, 80.0


_LAYOUTS: dict[str, Callable[[float], Layout]] = {
    "corridor": _corridor,
    "crossing": _crossing,
    "bottleneck": _bottleneck,
    "dense_flow": _dense_flow,
    "circle": _circle,
    "l_corridor": _l_corridor,
}
