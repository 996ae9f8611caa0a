"""A simulation of one crowd with the world that it was read last."""

from __future__ import annotations

from ..diagnoses import Diagnosis
from ..inputs.world import World
from ..results.frames import Frame
from ..step.simulation import Simulation, Taking


class Session:
    """A simulation with its world; who makes one says how worlds are read.

    Attributes:
        simulation: The simulation.
        world: The world at its frame.
        fps: Frames per second.
    """

    simulation: Simulation
    world: World
    fps: float

    @property
    def frame(self) -> int:
        """Number of the frame that the simulation is at."""
        return self.simulation.frame

    @property
    def read_warnings(self) -> list[Diagnosis]:
        """Diagnoses of the world at its frame."""
        return []

    def current(self) -> Frame:
        """The crowd as it is now."""
        return self.simulation.current()

    def standing(self) -> Taking:
        """What the crowd takes part with while it stands, before its first frame or after its last.

        See `Taking`.
        """
        agents = self.simulation.agents.copy()
        agents.velocity[:] = 0.0
        return Taking(self.simulation, World(), shown=agents)
