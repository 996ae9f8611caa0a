"""A crowd with one target point, for a minute: bodies hold, nothing explodes, it comes to rest.

All agents want the point itself (*On Arrival* Stay), so that they press on the middle ones; the
scenario is about bodies, and with a target place that grows with the crowd no agent would press.
"""

from __future__ import annotations

import numpy as np

from .scenario import Scenario, Wanted, goal, on_floor

RADIUS = 0.25
SPEED = 1.4


def converging(count: int, seed: int = 0) -> Scenario:
    """Agents in a disc, one per square meter, that all want to its middle."""
    rng = np.random.default_rng([seed, count])
    side = np.arange(-np.ceil(np.sqrt(count)), np.ceil(np.sqrt(count)))
    lattice = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    away = np.linalg.norm(lattice, axis=1)
    place = lattice[np.argsort(away, kind="stable")[:count]] + rng.uniform(-0.2, 0.2, (count, 2))
    return Scenario(
        name=f"converging {count}",
        position=on_floor(place),
        radius=np.full(count, RADIUS),
        speed=np.full(count, SPEED),
        routes=((goal((0.0, 0.0), RADIUS),),),
        route=np.zeros(count, np.int64),
        dt=1.0 / 24.0,
        duration=60.0,
        leave=False,
        stated=("bodies.on_arrival=STAY",),
        wanted=(
            Wanted("overlap", most=0.05),
            Wanted("parting", most=0),
            Wanted("fastest", most=1.001),
            Wanted("energy_left", most=0.05),
        ),
    )
