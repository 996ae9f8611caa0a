"""Simulation of crowds, and of those that they meet or steer by, from a scene."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import bpy

from ...core.agents import Agents
from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis, add_new
from ...core.errors import SceneError, SteerError
from ...core.results.frames import Frame
from ...core.step.simulation import Taking, advance_together
from ..crowd.casting import cast_of
from ..crowd.crowds import frame_numbers
from ..crowd.links import followed_crowds, linked_crowds, linked_with
from ..crowd.properties import settings_of
from ..crowd.scene_time import scene_moment
from ..reading.scene_inputs import input_objects, needs_frames, needs_own_scene
from ..reading.scratch import Scratch
from ..suspension import suspended
from ..unchanging import unchanging
from .meeting import meeting_groups
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


@dataclass(frozen=True)
class Resume:
    """Point from which an interrupted run continues.

    Attributes:
        frame: The last frame that is known.
        states: The agents of every crowd that had started by then, by the crowd's full name.
        pass_session: Called with each crowd and its session at every frame up to that point.
    """

    frame: int
    states: Mapping[str, Agents]
    pass_session: Callable[[bpy.types.Object, Session], None] = lambda crowd, session: None


class _Group:
    """A crowd and all crowds that it depends on, stepped together."""

    def __init__(
        self,
        wanted: Sequence[bpy.types.Object],
        scene: bpy.types.Scene,
        resume: Resume | None,
    ) -> None:
        """Begin; of the wanted crowds the first one depends on all others."""
        self.members = linked_crowds(wanted[0])
        self.stage = stage_for(self.members, scene)
        simulated = {crowd.session_uid for crowd in wanted}
        self._needed = simulated.union(*map(followed_crowds, wanted))
        others = [crowd for crowd in self.members if crowd.session_uid not in simulated]
        bakes = {crowd.session_uid: played(crowd) for crowd in others}
        self._played = {uid: bake for uid, bake in bakes.items() if bake is not None}
        self._resume = resume
        self._fps = fps_of(scene)
        self._settings: dict[int, CrowdSettings] = {}
        self._sessions: dict[int, Session] = {}
        self._begun: dict[int, Session] = {}
        """The sessions too of crowds that wait for their start."""
        self._frames: dict[int, Frame] = {}

    def _begin(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Session:
        """A session of one crowd at its first frame."""
        return Session(
            obj,
            depsgraph,
            self._settings_at(obj, depsgraph),
            frame=obj.steer.frame_start,
            fps=self._fps,
            evaluated=None if self.stage.stand_ins is None else self.stage.crowd(obj, depsgraph),
            stand_ins=self.stage.stand_ins,
        )

    def _settings_at(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> CrowdSettings:
        found = self._settings.get(obj.session_uid)
        if found is None:
            # what the stage shows has no Crowd modifier, and so no cast
            own = settings_of(self.stage.crowd(obj, depsgraph))
            found = replace(own, cast=cast_of(obj))
        if obj.animation_data is None:
            # the settings cannot change from frame to frame
            self._settings[obj.session_uid] = found
        return found

    def advance(self, number: int, depsgraph: bpy.types.Depsgraph, read: bool) -> Moment:
        """Advance every crowd to a frame; each reads the others at the frame before."""
        before = dict(self._frames)
        known = self._resume is not None and number <= self._resume.frame
        steps: dict[int, tuple[bpy.types.Object, Taking]] = {}
        for crowd in list(self.members):
            uid, start = crowd.session_uid, crowd.steer.frame_start
            bake = self._played.get(uid)
            if bake is not None:
                self._frames[uid] = bake.frame(number)
                steps[uid] = crowd, bake.taking(number)
            elif number == start or (number < start and uid not in self._frames):
                # until it starts, other crowds see it at its start pose
                try:
                    self._begun[uid] = session = self._begin(crowd, depsgraph)
                except SteerError:
                    if uid in self._needed:
                        raise
                    # its own panel tells; the others do without it
                    self.members.remove(crowd)
                    continue
                self._frames[uid] = session.current()
                steps[uid] = crowd, session.standing()
                if number == start:
                    self._sessions[uid] = session
                    self.stage.simplify(crowd)
            elif start < number <= crowd.steer.frame_end:
                session, settings = self._sessions[uid], self._settings_at(crowd, depsgraph)
                if read:
                    session.read(crowd, depsgraph, settings, self.stage.stand_ins)
                if known:
                    session.simulation.skip(session.world, settings)
                else:
                    steps[uid] = crowd, session.taking(crowd, settings, before)
            else:
                steps[uid] = crowd, self._begun[uid].standing()
        if not known:
            for group in meeting_groups(list(steps.values())):
                advance_together(*group)
            for uid, (_, taking) in steps.items():
                if taking.shown is None:
                    self._frames[uid] = taking.simulation.current()
        if self._resume is not None and known:
            self._restore(self._resume, number)
            return []
        begun = [c for c in self.members if c.session_uid in self._sessions]
        return [(c, self._sessions[c.session_uid], self._frames[c.session_uid]) for c in begun]

    def _restore(self, resume: Resume, number: int) -> None:
        """Pass a known frame; at the last known frame the agents are restored."""
        for crowd in self.members:
            session = self._sessions.get(crowd.session_uid)
            if session is None:
                continue
            resume.pass_session(crowd, session)
            if number < resume.frame:
                continue
            if crowd.name_full not in resume.states:
                raise SceneError(
                    f"The bake does not hold crowd {crowd.name_full!r} at frame {number}: "
                    "bake again"
                )
            session.simulation.adopt(resume.states[crowd.name_full])
            self._frames[crowd.session_uid] = session.current()


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
        group = _Group([obj, *wanted], scene, resume)
    try:
        starts = {crowd.steer.frame_start for crowd in group.members}
        moving = needs_frames(obj)
        depsgraph = None
        for number in range(min(starts), last + 1):
            if depsgraph is None or moving or number in starts:
                depsgraph = group.stage.at(number)
            with unchanging():
                found = group.advance(number, depsgraph, moving)
            yield found
    finally:
        group.stage.close()


def runs_for(
    wanted: Iterable[bpy.types.Object],
) -> list[tuple[bpy.types.Object, list[bpy.types.Object]]]:
    """The fewest runs of `moments` in which some crowds are simulated.

    Returns:
        The crowd of each run, and those of the wanted crowds that it gives; each is given once.
    """
    left = list(wanted)
    with unchanging():
        linked = {crowd.session_uid: linked_with(crowd).uids for crowd in left}
    found = []
    for crowd in sorted(left, key=lambda crowd: -len(linked[crowd.session_uid])):
        if crowd in left:
            given = [other for other in left if other.session_uid in linked[crowd.session_uid]]
            left = [other for other in left if other not in given]
            found.append((crowd, given))
    return found


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
    for obj, frames in wanted:
        _check_frames(obj, frames)
    ranges = {obj.session_uid: frames for obj, frames in wanted}
    found = [] if warnings is None else warnings

    def simulated() -> Generator[Moment, None, None]:
        for root, given in runs_for(obj for obj, _ in wanted):
            last = max(ranges[crowd.session_uid][-1] for crowd in given)
            known: dict[int, Frame] = {}
            with closing(moments(root, scene, last, wanted=given)) as steps:
                for moment in steps:
                    watch(root, moment)
                    rows = [row for row in moment if row[0] in given]
                    # a crowd that has ended keeps its last frame
                    rows = [row for row in rows if row[2] is not known.get(row[0].session_uid)]
                    known |= {crowd.session_uid: frame for crowd, _, frame in rows}
                    rows = [row for row in rows if _is_told(row, ranges, found)]
                    if rows:
                        yield rows

    return simulated()


def _check_frames(obj: bpy.types.Object, frames: range) -> None:
    """Refuse frames that a run cannot yield.

    Raises:
        SceneError: They are backwards, or outside of the crowd's range.
    """
    allowed = frame_numbers(obj)
    first, last = allowed[0], allowed[-1]
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


def _is_told(
    row: tuple[bpy.types.Object, Session, Frame],
    ranges: Mapping[int, range],
    warnings: list[Diagnosis],
) -> bool:
    """Note what is to be told of a crowd at a frame; whether that frame is requested."""
    crowd, session, frame = row
    frames = ranges[crowd.session_uid]
    if frame.number > frames[-1]:
        return False
    add_new(warnings, [*session.reader.warnings, *session.simulation.warnings])
    if frame.number == frames[-1]:
        # of the last frame alone: with every frame their number is another one
        add_new(warnings, filter(None, [session.simulation.stuck]))
    return frame.number in frames


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
