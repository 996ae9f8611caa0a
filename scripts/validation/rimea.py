"""The flat tests of RiMEA, edition 3.0, that a crowd without a route planner can run.

Row 4 is in `density`. Rooms have walls 0.2 m thick; a door's way leads to its middle and on. Bodies
have the preset's radius. Choices that a row leaves open are explained where they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .placing import Room
from .rooms import BEYOND, FAR, ROOM_TO_PASS, through, wall_x, wall_y
from .scenario import (
    ALL_ARRIVE,
    F64,
    SOLID,
    Area,
    Route,
    Scenario,
    Wanted,
    block,
    goal,
    on_floor,
    via,
)

DT = 1.0 / 24.0
RADIUS = 0.25
SPEED = 1.33
FIFTEEN = ("rimea 15 straight 44 m", "rimea 15 corner", "rimea 15 straight 75.4 m")
NINE = ("rimea 9 four doors", "rimea 9 two doors")
AGES = (20.0, 40.0, 60.0, 80.0)
AGE_SPEEDS = (1.61, 1.48, 1.27, 0.68)
SPREAD = 0.20


def _scenario(name: str, place: F64, routes: tuple[Route, ...], **more: Any) -> Scenario:
    n = len(place)
    given: dict[str, Any] = {
        "radius": np.full(n, RADIUS),
        "speed": np.full(n, SPEED),
        "route": np.zeros(n, np.int64),
        "dt": DT,
        "patience": 120.0,
    }
    return Scenario(name=name, position=place, routes=routes, **{**given, **more})


def _crowd(number: int, low: tuple[float, float], high: tuple[float, float], seed: int) -> F64:
    rng = np.random.default_rng(seed)
    return on_floor(Room().fill(low, high, np.full(number, RADIUS), rng, "the start area"))


def _speeds(number: int, seed: int) -> F64:
    """Wished speeds of a crowd where the row says none: 1.2 to 1.4 m/s, as row 4 does."""
    return np.random.default_rng(seed).uniform(1.2, 1.4, number)


def row_1() -> Scenario:
    """Corridor 2 x 40 m, one person at 1.33 m/s: 26 to 34 s."""
    walls = wall_x(0.0, -1.0, 46.0, outward=-1.0) + wall_x(2.0, -1.0, 46.0)
    route = (goal((45.0, 1.0), 5.0),)
    return _scenario(
        "rimea 1",
        on_floor((0.0, 1.0)),
        (route,),
        duration=60.0,
        colliders=tuple(walls),
        wanted=(*SOLID, ALL_ARRIVE, Wanted("time", least=26.0, most=34.0)),
    )


def row_5() -> Scenario:
    """Room 8 x 5 m, ten persons with pre-movement times: each starts at its own."""
    walls = wall_x(0.0, -0.2, 8.2, outward=-1.0) + wall_x(5.0, -0.2, 8.2)
    walls += wall_y(0.0, 0.0, 5.0, outward=-1.0) + wall_y(8.0, 0.0, 5.0, (2.0, 3.0))
    on_time = (Wanted("earliest_start", least=0.0), Wanted("latest_start", most=1.0))
    return _scenario(
        "rimea 5",
        _crowd(10, (0.0, 0.0), (8.0, 5.0), 5),
        (through([(8.0, 2.5)], [(1.0, 0.0)]),),
        duration=150.0,
        colliders=tuple(walls),
        start_time=np.random.default_rng(55).uniform(10.0, 100.0, 10),
        patience=np.inf,
        wanted=(*SOLID, ALL_ARRIVE, *on_time),
    )


def row_6() -> Scenario:
    """L corridor 2 m wide, 20 persons: all round the left corner, none through a wall."""
    end = 12.0 + FAR
    walls = wall_x(0.0, -0.2, 12.2, outward=-1.0) + wall_y(12.0, 0.0, end)
    walls += wall_y(0.0, 0.0, 2.0, outward=-1.0) + [block("inner block", (-0.2, 2.0), (10.0, end))]
    # the corner's diagonal, less what bodies need
    route = (via((11.0, 1.0), 1.06), goal((11.0, end), FAR))
    return _scenario(
        "rimea 6",
        _crowd(20, (0.0, 0.0), (6.0, 2.0), 6),
        (route,),
        speed=_speeds(20, 66),
        duration=120.0,
        colliders=tuple(walls),
    )


def row_7() -> Scenario:
    """50 adults of 20 to 80 years, each on 50 m of its own: speeds fit the curve of their age."""
    rng = np.random.default_rng(7)
    age = rng.uniform(20.0, 80.0, 50)
    usual = np.interp(age, AGES, AGE_SPEEDS)
    place = on_floor(np.column_stack([np.zeros(50), 2.0 * np.arange(50)]))
    return _scenario(
        "rimea 7",
        place,
        tuple((goal((60.0, y), 10.0),) for y in place[:, 1]),
        route=np.arange(50),
        speed=usual * rng.uniform(1.0 - SPREAD, 1.0 + SPREAD, 50),
        duration=200.0,
        wanted=(
            *SOLID,
            ALL_ARRIVE,
            Wanted("slowest_pace", least=0.95),
            Wanted("quickest_pace", most=1.01),
        ),
    )


def row_9(doors: int, number: int = 1000) -> Scenario:
    """Room 30 x 20 m, 1,000 persons, four doors of 1 m; with two, those on the south are open."""
    middles = [(4.0, 0.0), (26.0, 0.0), (4.0, 20.0), (26.0, 20.0)][:doors]
    outward = [(0.0, -1.0), (0.0, -1.0), (0.0, 1.0), (0.0, 1.0)][:doors]
    gaps = [(x - 0.5, x + 0.5) for x in (4.0, 26.0)]
    north = gaps if doors == 4 else []
    walls = wall_x(0.0, -0.2, 30.2, *gaps, outward=-1.0) + wall_x(20.0, -0.2, 30.2, *north)
    walls += wall_y(0.0, 0.0, 20.0, outward=-1.0) + wall_y(30.0, 0.0, 20.0)
    return _scenario(
        NINE[0] if doors == 4 else NINE[1],
        _crowd(number, (2.0, 2.0), (28.0, 18.0), 9),
        (through(middles, outward),),
        speed=_speeds(number, 99),
        duration=1200.0,
        colliders=tuple(walls),
    )


def row_11(number: int = 1000) -> Scenario:
    """Room 30 x 20 m, 1,000 persons at the left, two exits: a jam at the near one, some go far.

    Each agent goes to the exit that is reached soonest (`target_choice` QUICKEST), queue included:
    the row is about people that choose between exits; no exit is prescribed.
    """
    doors = [(21.5, 20.0), (27.5, 20.0)]
    walls = wall_x(0.0, -0.2, 30.2, outward=-1.0)
    walls += wall_x(20.0, -0.2, 30.2, *((x - 0.5, x + 0.5) for x, _y in doors))
    walls += wall_y(0.0, 0.0, 20.0, outward=-1.0) + wall_y(30.0, 0.0, 20.0)
    return _scenario(
        "rimea 11",
        _crowd(number, (0.0, 0.0), (13.5, 20.0), 11),
        (through(doors, [(0.0, 1.0)] * 2),),
        speed=_speeds(number, 111),
        duration=1500.0,
        colliders=tuple(walls),
        stated=("arrive.target_choice=QUICKEST",),
        areas=(Area("near", (20.0, 17.0), (23.0, 20.0)),),
        wanted=(
            *SOLID,
            ALL_ARRIVE,
            Wanted("near_most", least=2.0),
            Wanted("second_choice", least=0.01),
        ),
    )


def row_12(number: int = 150) -> Scenario:
    """Two rooms and a corridor of 1 m between: a jam in the first room only."""
    gap = (4.5, 5.5)
    walls = wall_x(0.0, -0.2, 10.0, outward=-1.0) + wall_x(10.0, -0.2, 10.0)
    walls += wall_y(0.0, 0.0, 10.0, outward=-1.0)
    walls += [block("south of corridor", (10.0, -0.2), (15.0, 4.5))]
    walls += [block("north of corridor", (10.0, 5.5), (15.0, 10.2))]
    walls += wall_x(0.0, 15.0, 25.2, outward=-1.0) + wall_x(10.0, 15.0, 25.2)
    walls += wall_y(25.0, 0.0, 10.0, gap)
    route = (via((10.0, 5.0), ROOM_TO_PASS), *through([(25.0, 5.0)], [(1.0, 0.0)]))
    return _scenario(
        "rimea 12",
        _crowd(number, (0.0, 0.0), (5.0, 10.0), 12),
        (route,),
        speed=_speeds(number, 122),
        duration=600.0,
        colliders=tuple(walls),
        areas=(
            Area("first", (7.0, 3.5), (10.0, 6.5)),
            Area("second", (22.0, 3.5), (25.0, 6.5)),
        ),
        wanted=(
            *SOLID,
            ALL_ARRIVE,
            Wanted("first_most", least=2.0),
            Wanted("second_most", most=2.0),
        ),
    )


def row_15(kind: int, number: int = 500) -> Scenario:
    """500 persons on the first 20 m of a corridor 6 m wide: straight, round a corner, or short."""
    end = (44.0, 0.0, 75.4)[kind]
    if kind == 1:
        # 34 m on the inner side to the corner and 34 m after it
        stop = 40.0 + BEYOND
        walls = wall_x(0.0, -0.2, 40.2, outward=-1.0) + wall_y(40.0, 0.0, stop + FAR)
        walls += wall_y(0.0, 0.0, 6.0, outward=-1.0)
        walls += [block("inner block", (-0.2, 6.0), (34.0, stop + FAR))]
        route = (via((37.0, 3.0), 3.89), goal((37.0, 40.0 + FAR), FAR))
    else:
        walls = wall_x(0.0, -0.2, end + FAR, outward=-1.0) + wall_x(6.0, -0.2, end + FAR)
        walls += wall_y(0.0, 0.0, 6.0, outward=-1.0)
        route = (goal((end + FAR, 3.0), FAR),)
    place = _crowd(number, (0.0, 0.0), (20.0, 6.0), 15)
    return _scenario(
        FIFTEEN[kind],
        place,
        (route,),
        speed=_speeds(number, 155),
        duration=600.0,
        colliders=tuple(walls),
    )


ROWS: tuple[tuple[str, Callable[..., Scenario], tuple[int, ...]], ...] = (
    ("rimea 1", row_1, ()),
    ("rimea 5", row_5, ()),
    ("rimea 6", row_6, ()),
    ("rimea 7", row_7, ()),
    (NINE[0], row_9, (4,)),
    (NINE[1], row_9, (2,)),
    ("rimea 11", row_11, ()),
    ("rimea 12", row_12, ()),
    *((name, row_15, (kind,)) for kind, name in enumerate(FIFTEEN)),
)
"""Names of scenarios, and the functions that make them."""


def comparisons(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that compare results: two times in row 9, three in row 15."""
    end = {
        result["name"]: result["end"] if result.get("arrived_share") == 1.0 else None
        for result in results
        if "end" in result
    }
    found = []
    if all(name in end for name in NINE):
        four, two = (end[name] for name in NINE)
        ratio = two / four if four and two else None
        wanted = (Wanted("time_ratio", least=1.6, most=2.4),)
        found.append(_compared("rimea 9 ratio", {"time_ratio": ratio}, wanted))
    if all(name in end for name in FIFTEEN):
        short, corner, far = (end[name] for name in FIFTEEN)
        known = short and corner and far
        figures = {
            "corner_to_44": corner / short if known else None,
            "corner_to_75": corner / far if known else None,
        }
        wanted = (Wanted("corner_to_44", least=1.0), Wanted("corner_to_75", most=1.0))
        found.append(_compared("rimea 15 order", figures, wanted))
    return found


def _compared(name: str, figures: dict[str, Any], wanted: tuple[Wanted, ...]) -> dict[str, Any]:
    result: dict[str, Any] = {"name": name, "compared": True, **figures}
    result["wanted"] = [str(one) for one in wanted]
    result["short"] = [str(one) for one in wanted if not one.met(figures)]
    return result
