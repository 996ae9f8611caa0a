"""Session: a simulation of one crowd with the reader of its inputs."""

from __future__ import annotations

from collections.abc import Mapping

import bpy

from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis
from ...core.results.frames import Frame
from ...core.runs import session as sessions
from ...core.step.simulation import Simulation, Taking
from ..crowd.links import with_crowds
from ..reading.scene import WorldReader
from ..reading.scene_agents import read_agents


class Session(sessions.Session):
    """A simulation with the reader of its inputs; shared by live and offline runs."""

    def __init__(
        self,
        obj: bpy.types.Object,
        depsgraph: bpy.types.Depsgraph,
        settings: CrowdSettings,
        *,
        frame: int,
        fps: float,
        evaluated: bpy.types.Object | None = None,
        stand_ins: Mapping[int, bpy.types.Object] | None = None,
    ) -> None:
        """Start at a frame.

        Args:
            obj: The original crowd object.
            depsgraph: The depsgraph that evaluated the scene at that frame.
            settings: The crowd's settings at that frame.
            frame: Its number.
            fps: Frames per second.
            evaluated: The crowd evaluated without its Crowd modifier, if available.
            stand_ins: Replacements of objects in a scratch scene, by session uid.
        """
        self.fps = fps
        self.reader = WorldReader()
        self.start_agents = read_agents(obj, depsgraph, settings, evaluated=evaluated)
        """The agents as they were read."""
        self.world = self.reader.read(obj, depsgraph, fps, stand_ins, settings)
        self.simulation = Simulation(
            settings, self.start_agents, frame=frame, fps=fps, world=self.world
        )

    @property
    def read_warnings(self) -> list[Diagnosis]:
        """Diagnoses of the world at its frame."""
        return self.reader.warnings

    def read(
        self,
        obj: bpy.types.Object,
        depsgraph: bpy.types.Depsgraph,
        settings: CrowdSettings,
        stand_ins: Mapping[int, bpy.types.Object] | None = None,
    ) -> None:
        """Read the world at the next frame, before `step`.

        Args:
            obj: The original crowd object.
            depsgraph: The depsgraph at that frame.
            settings: The crowd's settings at that frame.
            stand_ins: Replacements of objects in a scratch scene, by session uid.
        """
        self.world = self.reader.read(obj, depsgraph, self.fps, stand_ins, settings)

    def taking(
        self, obj: bpy.types.Object, settings: CrowdSettings, others: Mapping[int, Frame]
    ) -> Taking:
        """What the crowd takes part with in the next step.

        Args:
            obj: The original crowd object.
            settings: The crowd's settings at that frame.
            others: The previous frames of the crowds that it steers by, by session uid.

        Raises:
            SceneError: A crowd that this one steers by is not simulated up to this frame.
        """
        return Taking(self.simulation, with_crowds(obj, self.world, others), settings)

    @property
    def warnings(self) -> list[Diagnosis]:
        """Diagnoses of the scene that the user may want to act on."""
        stuck = self.simulation.stuck
        found = [*self.reader.scene_warnings, *self.simulation.warnings]
        return found if stuck is None else [*found, stuck]
