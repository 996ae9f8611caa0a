"""Speed against density: RiMEA's row 4, in a corridor of 26 x 2 m that repeats.

Weidmann 1993: v(ρ) = 1.34·(1 - exp(-1.913·(1/ρ - 1/5.4))). Measured crowds lie between 0.75 and
1.45 times that. Beyond 5.4 per m² the curve is 0: there the crowd has to stand, below 5 cm/s.

Bodies have a radius of 0.2 m: with more, 5 and 6 per m² find no room between walls 2 m apart.
"""

from __future__ import annotations

import numpy as np

from .placing import hexagons
from .scenario import SOLID, Area, Scenario, Wanted, block, goal, on_floor

DENSITIES = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
BAND = (0.75, 1.45)
STANDING = 0.05
"""Largest speed that counts as standing [m/s]."""
LENGTH = 26.0
WIDTH = 2.0
RADIUS = 0.2
ECHO = 10.0
"""Length of the corridor that is visible beyond either end [m]."""
DT = 1.0 / 24.0


def weidmann(density: float) -> float:
    """Speed [m/s] at a density [1/m²]."""
    return max(1.34 * (1.0 - float(np.exp(-1.913 * (1.0 / density - 1.0 / 5.4)))), 0.0)


def band(density: float) -> tuple[float, float]:
    """Least and largest speed [m/s] that measured crowds have at a density [1/m²]."""
    speed = weidmann(density)
    return BAND[0] * speed, max(BAND[1] * speed, STANDING if speed == 0.0 else 0.0)


def corridor(density: float, seed: int = 0) -> Scenario:
    """A walking crowd of a given density; speeds are measured from 10 to 70 s in 2 x 2 m."""
    count = round(density * LENGTH * WIDTH)
    rng = np.random.default_rng([seed, 4, count])
    place = hexagons((0.0, 0.0), (LENGTH, WIDTH), RADIUS, count)
    assert place is not None
    ends = (-2.0 * ECHO, LENGTH + 2.0 * ECHO)
    low, high = band(density)
    return Scenario(
        name=f"rimea 4 density {density:g}",
        position=on_floor(place),
        radius=np.full(count, RADIUS),
        speed=rng.uniform(1.2, 1.4, count),
        routes=((goal((1.0e4, WIDTH / 2.0), 1.0),),),
        route=np.zeros(count, np.int64),
        dt=DT,
        duration=70.0,
        colliders=(
            block("right wall", (ends[0], -0.5), (ends[1], 0.0)),
            block("left wall", (ends[0], WIDTH), (ends[1], WIDTH + 0.5)),
        ),
        heading=np.tile([1.0, 0.0, 0.0], (count, 1)),
        period=LENGTH,
        areas=(Area("area", (12.0, 0.0), (14.0, WIDTH), 10.0, 70.0, along=True),),
        wanted=(*SOLID, Wanted("area_speed", least=round(low, 4), most=round(high, 4))),
        notes={"density": density, "weidmann": weidmann(density)},
    )
