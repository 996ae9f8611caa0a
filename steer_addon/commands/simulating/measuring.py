"""Figures of a crowd while it is simulated."""

from __future__ import annotations

import numpy as np

from ...core.crowd.birth_memory import remembered
from ...core.inputs.world import World
from ...core.results.metrics import Metrics
from ...core.step.simulation import Simulation


class Measuring:
    """Feeds the frames of one crowd to its metrics.

    Attributes:
        metrics: The metrics; None before the first frame.
        arrivals: How many agents have arrived by each frame.
    """

    def __init__(self) -> None:
        self.metrics: Metrics | None = None
        self.arrivals: list[int] = []
        self._before = 0
        self._ids = np.zeros(0, np.int64)

    def add(self, simulation: Simulation, world: World, dt: float) -> None:
        """Measure the frame that was just simulated; there is no motion yet in the first one.

        Args:
            simulation: The crowd.
            world: What it perceived.
            dt: Time since the last frame that was measured [s].
        """
        agents, motion = simulation.agents, simulation.settings.motion
        bears = remembered(agents) is not None
        if self.metrics is None:
            self.metrics = Metrics(
                agents.position,
                radius=agents.radius,
                wished_speed=agents.max_speed,
                dt=dt,
                colliders=world.colliders,
                eye_height=motion.step_height if motion.motion == "GROUND" else 0.0,
            )
            if bears:
                self.metrics.unborn(agents.alive == 0)
        else:
            others = np.flatnonzero(agents.id != self._ids)
            if len(others):
                self._before += int(self.metrics.arrived[others].sum())
                own = (agents.position[others], agents.radius[others], agents.max_speed[others])
                self.metrics.renew(others, *own)
            # those who are dead from the start count as arrived where nobody is born
            gone = (agents.alive == 0) & (not bears)
            self.metrics.add(
                agents.position,
                alive=agents.alive != 0,
                arrived=(agents.arrived != 0) | gone,
                colliders=world.colliders,
            )
        self.arrivals.append(self._before + int(self.metrics.arrived.sum()))
        self._ids = agents.id
