"""Simulation of crowds, and of those that they meet or steer by, from a scene."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import bpy

from ...core.crowd.meets import Relation
from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis
from ...core.results.frames import Frame
from ...core.runs.group import Resume as Resume
from ...core.runs.group import RunGroup
from ...core.runs.several import Source, fewest_runs
from ...core.step.simulation import Taking
from ..crowd.crowds import frame_numbers
from ..crowd.links import followed_crowds, linked_crowds, linked_with, relations_of
from ..crowd.properties import staged_settings
from ..crowd.scene_time import scene_moment
from ..reading.scene_inputs import input_objects, needs_frames, needs_own_scene
from ..reading.scratch import Scratch
from ..suspension import suspended
from ..unchanging import unchanging
from .played import played
from .session import Session


def fps_of(scene: bpy.types.Scene) -> float:
    """Frames per second of a scene."""
    return scene.render.fps / scene.render.fps_base


class _OwnStage:
    """A stand-in for `Scratch` that plays the user's own scene, which physics require."""

    stand_ins = None

    def __init__(self, scene: bpy.types.Scene) -> None:
        self._scene = scene
        self._before = (scene.frame_current, scene.frame_subframe)

    def at(self, frame: int) -> bpy.types.Depsgraph:
        """Evaluate everything at a frame of crowds, see `scene_time`."""
        with suspended():
            number, part = scene_moment(self._scene, frame)
            self._scene.frame_set(number, subframe=part)
        return self._scene.view_layers[0].depsgraph

    def crowd(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
        """A crowd with the values of its properties at the frame."""
        # the user's own scene writes animated values back to the original
        return obj

    def simplify(self, crowd: bpy.types.Object) -> None:
        """Do nothing: the user's scene stays as it is."""

    def close(self) -> None:
        """Go back to the user's frame."""
        try:
            with suspended():
                self._scene.frame_set(self._before[0], subframe=self._before[1])
        except ReferenceError:
            # another file was opened: the old frame has no meaning there
            pass


def stage_for(members: list[bpy.types.Object], scene: bpy.types.Scene) -> Scratch | _OwnStage:
    """The scene in which crowds are evaluated frame by frame; the first depends on the others."""
    if needs_own_scene(members[0]):
        return _OwnStage(scene)
    present = [o for o in input_objects(members[0]) if scene in o.users_scene]
    return Scratch(scene, present, crowds=members)


Moment = list[tuple[bpy.types.Object, Session, Frame]]
"""The started crowds, the requested one first, each with its session and its frame."""


class SceneGroup(RunGroup[bpy.types.Object, Session]):
    """A crowd and all crowds that it depends on, as a scene has them at one frame after another.

    Attributes:
        stage: Evaluates the scene.
        depsgraph: What evaluated it last.
    """

    def __init__(
        self,
        wanted: Sequence[bpy.types.Object],
        scene: bpy.types.Scene,
        resume: Resume | None = None,
    ) -> None:
        """Begin; of the wanted crowds the first one depends on all others."""
        members = linked_crowds(wanted[0])
        simulated = {crowd.session_uid for crowd in wanted}
        super().__init__(members, simulated.union(*map(followed_crowds, wanted)), resume)
        self.stage = stage_for(members, scene)
        self.depsgraph: Any = None
        others = [crowd for crowd in members if crowd.session_uid not in simulated]
        bakes = {crowd.session_uid: played(crowd) for crowd in others}
        self.bakes = {uid: bake for uid, bake in bakes.items() if bake is not None}
        self.fps = fps_of(scene)
        self._settings: dict[int, CrowdSettings] = {}

    def span(self, crowd: bpy.types.Object) -> tuple[int, int]:
        """First and last frame of a crowd."""
        return crowd.steer.frame_start, crowd.steer.frame_end

    def begin(self, crowd: bpy.types.Object) -> Session:
        """A session of one crowd at its first frame."""
        return Session(
            crowd,
            self.depsgraph,
            self.settings_at(crowd),
            frame=crowd.steer.frame_start,
            fps=self.fps,
            evaluated=self.evaluated(crowd),
            stand_ins=self.stage.stand_ins,
        )

    def evaluated(self, crowd: bpy.types.Object) -> bpy.types.Object | None:
        """A crowd without its Crowd modifier, where the stage has one."""
        return None if self.stage.stand_ins is None else self.stage.crowd(crowd, self.depsgraph)

    def started(self, crowd: bpy.types.Object) -> None:
        """Stop evaluating the modifiers of a crowd."""
        self.stage.simplify(crowd)

    def settings_at(self, crowd: bpy.types.Object) -> CrowdSettings:
        """The settings of a crowd at the frame of the stage."""
        found = self._settings.get(crowd.session_uid)
        if found is None:
            found = staged_settings(self.stage.crowd(crowd, self.depsgraph), crowd)
        if crowd.animation_data is None:
            # the settings cannot change from frame to frame
            self._settings[crowd.session_uid] = found
        return found

    def read(self, crowd: bpy.types.Object, session: Session, settings: CrowdSettings) -> None:
        """Let a session read the world at the frame of the stage."""
        session.read(crowd, self.depsgraph, settings, self.stage.stand_ins)

    def taking(
        self,
        crowd: bpy.types.Object,
        session: Session,
        settings: CrowdSettings,
        before: Mapping[int, Frame],
    ) -> Taking:
        """What a crowd takes part with in the step to this frame."""
        return session.taking(crowd, settings, before)

    def relations(self, crowds: Sequence[bpy.types.Object]) -> tuple[Relation, Relation]:
        """Which of some crowds see, and which touch which."""
        return relations_of(crowds)

    def played(self, crowd: bpy.types.Object, number: int) -> tuple[Frame, Taking] | None:
        """A crowd that plays a bake, at a frame."""
        bake = self.bakes.get(crowd.session_uid)
        return None if bake is None else (bake.frame(number), bake.taking(number))


def moments(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    last: int,
    resume: Resume | None = None,
    *,
    wanted: Collection[bpy.types.Object] = (),
) -> Generator[Moment, None, None]:
    """Run a crowd, and the crowds that it steers by, frame by frame.

    Args:
        obj: The crowd.
        scene: Its scene.
        last: The last frame.
        resume: Point to continue from; the world of earlier frames is only read.
        wanted: Further crowds that are simulated: others that play a bake go as that has them go.

    Yields:
        The started crowds at each frame, from the first frame of the earliest crowd on; nothing
        for frames that are known.
    """
    with unchanging():
        group = SceneGroup([obj, *wanted], scene, resume)
    try:
        starts = {crowd.steer.frame_start for crowd in group.members}
        moving = needs_frames(obj)
        for number in range(min(starts), last + 1):
            if group.depsgraph is None or moving or number in starts:
                group.depsgraph = group.stage.at(number)
            with unchanging():
                found = group.advance(number, moving)
            yield found
    finally:
        group.stage.close()


class SceneSource(Source[bpy.types.Object, Session]):
    """The crowds of a scene."""

    def __init__(self, scene: bpy.types.Scene) -> None:
        self.scene = scene

    def span(self, crowd: bpy.types.Object) -> range:
        """The frames that a crowd is simulated for."""
        return frame_numbers(crowd)

    def linked(self, crowd: bpy.types.Object) -> frozenset[int]:
        """Session uids of a crowd and of all that it depends on."""
        return linked_with(crowd).uids

    def moments(
        self, root: bpy.types.Object, last: int, wanted: Sequence[bpy.types.Object]
    ) -> Generator[Moment, None, None]:
        """Run a crowd and all that it depends on."""
        return moments(root, self.scene, last, wanted=wanted)

    def runs_for(
        self, wanted: Iterable[bpy.types.Object]
    ) -> list[tuple[bpy.types.Object, list[bpy.types.Object]]]:
        """The fewest runs of `moments` in which some crowds are simulated."""
        return runs_for(wanted)


def runs_for(
    wanted: Iterable[bpy.types.Object],
) -> list[tuple[bpy.types.Object, list[bpy.types.Object]]]:
    """The fewest runs of `moments` in which some crowds are simulated.

    Returns:
        The crowd of each run, and those of the wanted crowds that it gives; each is given once.
    """
    with unchanging():
        return fewest_runs(wanted, lambda crowd: linked_with(crowd).uids)


def run(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    frames: range,
    *,
    warnings: list[Diagnosis] | None = None,
) -> Iterator[Frame]:
    """Simulate a crowd from its first frame and yield the requested frames.

    See `run_together`, of which this is the run of one crowd.
    """
    together = run_together([(obj, frames)], scene, warnings=warnings)

    def alone() -> Iterator[Frame]:
        with closing(together):
            for ((_, _, frame),) in together:
                yield frame

    return alone()


def run_together(
    wanted: Sequence[tuple[bpy.types.Object, range]],
    scene: bpy.types.Scene,
    *,
    warnings: list[Diagnosis] | None = None,
    watch: Callable[[bpy.types.Object, Moment], None] = lambda root, moment: None,
) -> Generator[Moment, None, None]:
    """Simulate crowds from their first frames and yield the requested frames.

    Crowds that meet, or that steer by one another, are simulated in one run, others one after
    another. The user's scene is neither changed nor played, except when physics of that very scene
    move an input: then it is played, and put back at the end. Close the iterator to cancel.

    Args:
        wanted: The crowds, each with the frames to yield, in ascending order, from its range.
        scene: Their scene.
        warnings: Filled with diagnoses of the scene that the user may want to act on.
        watch: Called at every frame with the crowd of the run, see `runs_for`, and all its crowds.

    Yields:
        For each frame those crowds of which it is requested, each with its session and its frame.

    Raises:
        SceneError: The frames are backwards, or outside of the crowd's range.
        SteerError: While iterating: a crowd cannot be simulated.
    """
    return SceneSource(scene).run_together(wanted, warnings=warnings, watch=watch)


Continued = dict[int, tuple[bpy.types.Object, Session, list[Frame]]]
"""By session uid: each crowd that has started, its session at the last frame, and all frames."""


def continue_to(
    obj: bpy.types.Object, scene: bpy.types.Scene, last: int, found: Continued
) -> Iterator[int]:
    """Simulate a crowd, and the crowds that it steers by, up to a frame.

    Args:
        obj: The crowd.
        scene: Its scene.
        last: The last frame.
        found: Filled with what was simulated.

    Yields:
        The number of each frame.
    """
    for moment in moments(obj, scene, last):
        for crowd, session, frame in moment:
            frames = found.setdefault(crowd.session_uid, (crowd, session, []))[2]
            if not frames or frames[-1] is not frame:
                frames.append(frame)
        yield moment[0][2].number
