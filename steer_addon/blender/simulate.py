"""A crowd from its first frame on, without playing the user's scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import bpy

from ..core.errors import SceneError
from ..core.frames import Frame
from ..core.settings import CrowdSettings
from .properties import settings_of
from .scene import WorldReader, input_objects, needs_frames, needs_own_scene, read_agents
from .scratch import Scratch
from .suspension import suspended


def fps_of(scene: bpy.types.Scene) -> float:
    """Frames per second of a scene."""
    return scene.render.fps / scene.render.fps_base


class Session:
    """A simulation with the reader that feeds it; live and offline runs go the same way."""

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
            depsgraph: What evaluated the scene at that frame.
            settings: What the crowd is told at that frame.
            frame: Its number.
            fps: Frames per second.
            evaluated: The crowd evaluated without its Crowd modifier, where that is at hand.
            stand_ins: What stands for an object in a scratch scene, by session uid.
        """
        self.fps = fps
        self.reader = WorldReader()
        agents = read_agents(obj, depsgraph, settings, evaluated=evaluated)
        self.world = self.reader.read(obj, depsgraph, fps, stand_ins)
        # imported with the first crowd: enabling the extension has to be quick
        from ..core.simulation import Simulation

        self.simulation = Simulation(settings, agents, frame=frame, fps=fps, world=self.world)

    @property
    def frame(self) -> int:
        """Number of the frame that the simulation is at."""
        return self.simulation.frame

    def current(self) -> Frame:
        """The crowd as it is now."""
        return self.simulation.current()

    def step(
        self,
        obj: bpy.types.Object,
        depsgraph: bpy.types.Depsgraph | None,
        settings: CrowdSettings,
        stand_ins: Mapping[int, bpy.types.Object] | None = None,
    ) -> Frame:
        """Go on by one frame; without a depsgraph in the world as it was."""
        if depsgraph is not None:
            self.world = self.reader.read(obj, depsgraph, self.fps, stand_ins)
        return self.simulation.step(self.world, settings)

    @property
    def warnings(self) -> list[str]:
        """What the user may want to change about the scene."""
        lost = self.simulation.off_ground
        texts = list(self.reader.scene_warnings)
        if lost:
            texts.append(
                f"{lost} agents start where there is no walkable ground: they walk at their own "
                "height; move the crowd over its ground or raise the maximum slope"
            )
        return texts


class _Stage:
    """Evaluates what a crowd reads, frame by frame, in a scratch scene."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self._obj = obj
        present = [o for o in input_objects(obj) if scene in o.users_scene]
        self._scratch = Scratch(scene, present, crowd=obj)
        self.stand_ins: Mapping[int, bpy.types.Object] | None = self._scratch.stand_ins
        self._crowd: Any = self._scratch.probe

    def at(self, frame: int) -> bpy.types.Depsgraph:
        """The depsgraph at a frame."""
        return self._scratch.at(frame)

    def crowd(self, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
        """The crowd with the values that its properties have at the frame."""
        return self._crowd.evaluated_get(depsgraph)

    def started(self) -> None:
        """Called once the agents are read."""
        self._scratch.simplify_probe()

    def close(self) -> None:
        """Leave nothing behind."""
        self._scratch.close()


class _OwnStage:
    """Plays the user's scene, where physics leave no other way, and goes back to its frame."""

    stand_ins = None

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self._obj = obj
        self._scene = scene
        self._before = (scene.frame_current, scene.frame_subframe)

    def at(self, frame: int) -> bpy.types.Depsgraph:
        """The depsgraph at a frame."""
        with suspended():
            self._scene.frame_set(frame)
        return self._scene.view_layers[0].depsgraph

    def crowd(self, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
        """The crowd with the values that its properties have at the frame."""
        # the user's own scene writes animated values back to the original
        return self._obj

    def started(self) -> None:
        """Nothing to simplify: it is the user's own."""

    def close(self) -> None:
        """Go back to the frame that the user was at."""
        with suspended():
            self._scene.frame_set(self._before[0], subframe=self._before[1])


def run(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    frames: range,
    settings: CrowdSettings | None = None,
    *,
    warnings: list[str] | None = None,
) -> Iterator[Frame]:
    """Simulate a crowd from its first frame on and yield the frames asked for.

    The user's scene is neither changed nor played, except when physics of that very scene move an
    input: then it is played, and put back at the end. Close the iterator to cancel.

    Args:
        obj: The crowd.
        scene: Its scene.
        frames: Frames to yield, in ascending order, from the crowd's range.
        settings: Used in place of the crowd's own, keyed values included.
        warnings: Filled with what the user may want to change about the scene.

    Raises:
        SceneError: The frames are backwards, or outside of the crowd's range.
        SteerError: While iterating: the crowd cannot be simulated.
    """
    _check_frames(obj, frames)
    return _run(obj, scene, frames, settings, [] if warnings is None else warnings)


def _check_frames(obj: bpy.types.Object, frames: range) -> None:
    first, last = obj.steer.frame_start, obj.steer.frame_end
    if last < first:
        raise SceneError(
            f"Crowd {obj.name!r} ends at frame {last}, before its start at {first}: "
            f"set the end to {first} or more"
        )
    if frames.step < 0 or not len(frames):
        raise SceneError(
            f"Frames {frames.start} to {frames.stop - 1} are none or run backwards: "
            f"give a first and a later last frame from {first} to {last}"
        )
    if frames[0] < first or frames[-1] > last:
        raise SceneError(
            f"Frames {frames[0]} to {frames[-1]} reach outside the range of crowd {obj.name!r}: "
            f"give frames from {first} to {last}, or change its start and end"
        )


def _run(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    frames: range,
    settings: CrowdSettings | None,
    warnings: list[str],
) -> Iterator[Frame]:
    for session, frame in _sessions(obj, scene, frames[-1], settings):
        for text in [*session.reader.no_target, *session.warnings]:
            if text not in warnings:
                warnings.append(text)
        if frame.number in frames:
            yield frame


def _sessions(
    obj: bpy.types.Object, scene: bpy.types.Scene, last: int, settings: CrowdSettings | None
) -> Iterator[tuple[Session, Frame]]:
    """The session and its frame, from the crowd's first frame to `last`."""
    start = obj.steer.frame_start
    stage = (_OwnStage if needs_own_scene(obj) else _Stage)(obj, scene)
    try:
        depsgraph = stage.at(start)
        now = settings or settings_of(stage.crowd(depsgraph))
        session = Session(
            obj,
            depsgraph,
            now,
            frame=start,
            fps=fps_of(scene),
            evaluated=None if stage.stand_ins is None else stage.crowd(depsgraph),
            stand_ins=stage.stand_ins,
        )
        stage.started()
        yield session, session.current()
        moving = needs_frames(obj)
        for number in range(start + 1, last + 1):
            if moving:
                depsgraph = stage.at(number)
                now = settings or settings_of(stage.crowd(depsgraph))
            yield session, session.step(obj, depsgraph if moving else None, now, stage.stand_ins)
    finally:
        stage.close()


def continue_to(
    obj: bpy.types.Object, scene: bpy.types.Scene, last: int
) -> tuple[Session, list[Frame]]:
    """Simulate up to a frame; returns the session at that frame, and all frames."""
    pairs = list(_sessions(obj, scene, last, None))
    return pairs[-1][0], [frame for _, frame in pairs]
