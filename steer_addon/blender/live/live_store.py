"""The frames of one live crowd: which are stored, which one is shown, and the reason."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

import bpy

from ...core.agents import Agents, same_agents
from ...core.crowd.settings import CrowdSettings
from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import SteerError
from ...core.results.frames import Frame, later, sharing
from ...core.results.memories import Kept, keep
from ...core.step.simulation import Taking
from ..crowd.live_settings import LiveKey, current_settings, live_key
from ..crowd.properties import settings_of
from ..crowd.scene_time import frames_per_frame, is_remapped, moment
from ..crowd.state import clear_state, ensure_state, plays_back, write_state
from ..reading.scene_agents import mesh_digest, needs_evaluation, read_agents, reads_weights
from ..reading.scene_inputs import geometry_owners, gone_inputs, signature
from . import missing, simulate
from .edit_modes import EditModes, digest_once
from .edits import Edit, object_uids
from .meeting import FrameFinder, frames_before
from .session import Session

log = logging.getLogger(__name__)

_FRESH = 0.25
"""Time in which redraws do not compare settings again that were equal [s]."""


@dataclass
class LiveRun:
    """One crowd's simulation with its stored frames.

    It keeps no reference to Blender data, so that undo and deleted objects cannot break it.
    """

    frames: dict[int, Frame] = field(default_factory=dict)
    kept: dict[int, Kept] = field(default_factory=dict)
    """Data that explains stored frames; of frames simulated elsewhere only the last has it."""
    diagnosis: Diagnosis | None = None
    """Reason why the requested frame is not shown; None if it is shown."""
    out_of_date: Diagnosis | None = None
    """Reason why stored frames differ from playing from the start; None if they are equal."""
    _session: Session | None = None
    _key: LiveKey | None = None
    _compared: tuple[float, LiveKey | None] = (0.0, None)
    """When settings were last equal to a key, and to which."""
    _used: dict[int, CrowdSettings] = field(default_factory=dict)
    _start_agents: Agents | None = None
    _start_signature: bytes = b""
    _start_digest: bytes = b""
    _modes: EditModes = field(default_factory=EditModes)
    _places: tuple[tuple[int, float], bytes] = ((0, 0.0), b"")
    _gone: frozenset[int] = frozenset()
    _shown: tuple[Frame, float, int] | None = None
    _echo: bool = False
    _waiting: Session | None = None
    _stepping: CrowdSettings | None = None
    """Settings of the step that is under way."""
    _failed: Diagnosis | None = None
    _logged: Diagnosis | None = None

    @property
    def warnings(self) -> tuple[Diagnosis, ...]:
        """Diagnoses of the scene that the user may want to act on."""
        return () if self._session is None else tuple(self._session.warnings)

    def current_diagnosis(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> Diagnosis | None:
        """Reason why the requested frame is not shown, or out of date; None if it is shown."""
        if self.frames and not self.out_of_date and self._is_changed(obj, scene):
            # a script set a property, of which Blender sends no notice
            reason = diagnose("SETTINGS_CHANGED")
            return diagnose("OUT_OF_DATE", reason=reason, start=obj.steer.frame_start)
        return self.diagnosis

    def _is_changed(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
        # every redraw asks, and to read all settings takes half of the time of the main panel
        when, key = self._compared
        if key is self._key and time.monotonic() - when < _FRESH:
            return False
        try:
            if live_key(obj, settings_of(obj), simulate.fps_of(scene)) != self._key:
                return True
        except SteerError:
            return True
        self._compared = time.monotonic(), self._key
        return False

    def begin_frame(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        depsgraph: bpy.types.Depsgraph,
        find_live_frame: FrameFinder,
    ) -> Taking | None:
        """Get ready to show the scene's frame with `end_frame`.

        Returns:
            What the crowd takes part with in the step to this frame; at its start, and outside of
            its range, it stands there for others. None where it has no place in the step.

        Raises:
            SteerError: The crowd cannot be simulated; the shown frame stays.
        """
        steer = obj.steer
        self._stepping = None
        now = number, part = moment(scene)
        if steer.frame_end < steer.frame_start:
            return None
        settings = self._settings(obj, scene)
        if number == steer.frame_start and part == 0.0:
            self._visit_start(obj, scene, depsgraph, settings)
        wanted, part = self._wanted(obj, number, part)
        session = self._session
        if session is not None and session.frame != number - 1:
            session = None
        whole = part == 0.0 and number == wanted
        if wanted not in self.frames and session is not None and whole:
            others = frames_before(obj, number, find_live_frame)
            session.read(obj, depsgraph, settings)
            self._stepping = settings
            return session.taking(obj, settings, others)
        if now == (wanted, 0.0) and self._used.get(wanted, settings) != settings:
            # a driver, or an animation curve whose value changes only at this frame
            self._outdate("SETTINGS_CHANGED", keep=None)
        return self._standing(obj, scene, depsgraph, number)

    def _standing(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        depsgraph: bpy.types.Depsgraph,
        number: int,
    ) -> Taking | None:
        """The crowd for others while it stands: up to its start, and after its end."""
        steer, session = obj.steer, self._session
        if number < steer.frame_start:
            return self.waiting(obj, scene, depsgraph).standing()
        stands = number == steer.frame_start or number > steer.frame_end
        known = session is not None and session.frame == self._clamped(obj, number)
        return session.standing() if session is not None and known and stands else None

    def end_frame(
        self, obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
    ) -> None:
        """Show the scene's frame, and store it first if it was simulated since `begin_frame`."""
        if obj.steer.frame_end < obj.steer.frame_start:
            self.diagnosis = diagnose("RANGE_ENDS_EARLY")
            return
        now = number, part = moment(scene)
        settings, self._stepping = self._stepping, None
        if settings is not None and self._session is not None:
            self._store(self._session.current(), settings)
        self._places = (now, signature(obj, depsgraph))
        self._show(obj, *self._wanted(obj, number, part), scene)

    def waiting(
        self, obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
    ) -> Session:
        """The crowd at rest, before its first frame.

        Raises:
            SteerError: The crowd cannot be simulated.
        """
        if self._waiting is None:
            start, fps = obj.steer.frame_start, simulate.fps_of(scene)
            self._waiting = Session(obj, depsgraph, settings_of(obj), frame=start, fps=fps)
        return self._waiting

    def frame_at(self, obj: bpy.types.Object, number: int) -> Frame | None:
        """The frame as another crowd sees it; None if it is not simulated."""
        return self.frames.get(self._clamped(obj, number))

    def edited(self, obj: bpy.types.Object, scene: bpy.types.Scene, edit: Edit) -> None:
        """Check whether the user changed an input of the stored frames.

        Raises:
            SteerError: The crowd cannot be simulated.
        """
        depsgraph = edit.depsgraph
        now = number, part = moment(scene)
        # of a frame that scrubs in between nothing but a remapped scene shows the part
        part = part if is_remapped(scene) else 0.0
        settings = self._settings(obj, scene)
        owners = geometry_owners(obj)
        updated = self._modes.edited(edit, {*owners, obj.session_uid, obj.data.session_uid})
        reshaped = {owners[uid] for uid in updated & owners.keys()}
        own = obj.data.session_uid in updated
        if own and not needs_evaluation(obj):
            # Blender reports a change of any modifier as an update of the mesh
            weights = reads_weights(settings)
            own = self._start_digest != digest_once(edit, obj.data, weights=weights)
        # showing a frame also updates the crowd object; that is no edit
        rebuilt = obj.session_uid in updated and not self._echo
        self._echo = False
        moved = self._places[0] == now and self._places[1] != signature(obj, depsgraph)
        if edit.there is not None:
            # hidden inputs, and those that a collection keeps, seem the same when they are deleted
            before, self._gone = self._gone, gone_inputs(obj, edit.there)
            moved = moved or before != self._gone
        if (moved or reshaped) and self._session is not None:
            self._session.reader.forget(reshaped)  # and hidden inputs, which are read once
        if number == obj.steer.frame_start and part == 0.0:
            changed = moved or reshaped or own or rebuilt or self.out_of_date
            if changed or not (self.frames or self._failed):
                self._visit_start(obj, scene, depsgraph, settings, again=bool(reshaped))
                self._places = (now, signature(obj, depsgraph))
        elif (moved or reshaped or own) and self.frames:
            self._outdate("SCENE_CHANGED", keep=number)
            self._places = (now, signature(obj, depsgraph))
        self._show(obj, *self._wanted(obj, number, part), scene)

    def adopt(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        session: Session,
        frames: list[Frame],
    ) -> None:
        """Take over frames that were simulated elsewhere from the same settings and scene."""
        settings = settings_of(obj)
        self._forget()
        self._session = session
        self._key = live_key(obj, settings, simulate.fps_of(scene))
        self._gone = gone_inputs(obj, object_uids(scene))
        for frame in frames:
            self.frames[frame.number] = sharing(frame, self.frames.get(frame.number - 1))
        self._keep(session.frame)

    def last(self, obj: bpy.types.Object) -> int:
        """The frame that the next one is simulated from."""
        return obj.steer.frame_start if self._session is None else self._session.frame

    def can_show(self, number: int) -> bool:
        """Whether a frame is stored or the next one to simulate, and up to date."""
        following = self._session is not None and self._session.frame == number - 1
        return not self.out_of_date and (number in self.frames or following)

    def fail(self, error: SteerError) -> None:
        """Keep the diagnosis of an error, and log it once until a frame is shown."""
        if error.diagnosis != self._logged:
            log.warning("%s", error)
        self.diagnosis = self._logged = error.diagnosis

    def _settings(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> CrowdSettings:
        """The settings at the scene's frame; stored frames are dropped if the settings changed."""
        settings = current_settings(obj)
        key = live_key(obj, settings, simulate.fps_of(scene))
        if self._key is not None and key != self._key:
            if key.frame_start != self._key.frame_start:
                self._forget()
            elif self.frames:
                self._outdate(self._key.change_to(key), keep=moment(scene)[0])
            if key.fps != self._key.fps:
                self._session = self._waiting = None
        self._key = key
        return settings

    def _outdate(self, code: str, keep: int | None) -> None:
        """Drop stored frames; a session at or just before a frame continues with the new inputs."""
        self.out_of_date = self.out_of_date or diagnose(code)
        if keep is None:
            return
        if self._session is not None and self._session.frame not in (keep - 1, keep):
            self._session = None
        # the shown frame stays; without it the crowd would jump back to its points
        self.frames = {n: f for n, f in self.frames.items() if n in (keep - 1, keep)}
        self.kept = {n: k for n, k in self.kept.items() if n in self.frames}
        self._used = {}

    def _forget(self) -> None:
        self.frames, self.kept, self._used, self._session = {}, {}, {}, None
        self._start_agents, self._start_signature, self._start_digest = None, b"", b""
        self._shown, self.out_of_date, self._failed, self._waiting = None, None, None, None

    def _visit_start(
        self,
        obj: bpy.types.Object,
        scene: bpy.types.Scene,
        depsgraph: bpy.types.Depsgraph,
        settings: CrowdSettings,
        *,
        again: bool = False,
    ) -> None:
        """Start again, unless that would give the stored frames."""
        if (
            depsgraph.mode == "RENDER"
            and moment(scene)[0] in self.frames
            and not (self.out_of_date or again)
        ):
            # renders may subdivide more; that is no edit, and should not make scratch scenes
            return
        try:
            agents = read_agents(obj, depsgraph, settings)
        except SteerError as error:
            self._forget()
            self._failed = error.diagnosis
            if plays_back(obj):
                raise
            state = ensure_state(obj)
            # every write triggers another update: write only changed data
            if len(state.data.vertices):
                clear_state(state)
            raise
        self._failed = None
        mark = signature(obj, depsgraph, geometry=True)
        number = moment(scene)[0]
        same = (
            number in self.frames
            and not (self.out_of_date or again)
            and mark == (self._start_signature or mark)
            and self._used.get(number, settings) == settings
            and (self._start_agents is None or same_agents(agents, self._start_agents))
        )
        if not same:
            self._forget()
            self._gone = gone_inputs(obj, object_uids(scene))
        self._start_agents, self._start_signature = agents, mark
        self._start_digest = mesh_digest(obj.data, weights=reads_weights(settings))
        if same:
            return
        self._session = Session(obj, depsgraph, settings, frame=number, fps=simulate.fps_of(scene))
        self._store(self._session.current(), settings)

    def _store(self, frame: Frame, settings: CrowdSettings) -> None:
        self.frames[frame.number] = sharing(frame, self.frames.get(frame.number - 1))
        last = self._used.get(frame.number - 1)
        # equal settings are stored once for all frames
        self._used[frame.number] = last if last == settings else settings
        self._keep(frame.number)

    def _keep(self, number: int) -> None:
        """Keep the session's agents with its frame, so that their turns can be explained."""
        session, frame = self._session, self.frames.get(number)
        if session is not None and frame is not None:
            before = self.kept.get(number - 1)
            self.kept[number] = keep(session.simulation.agents, session.world, frame, before)

    def _clamped(self, obj: bpy.types.Object, number: int) -> int:
        return min(max(number, obj.steer.frame_start), obj.steer.frame_end)

    def _wanted(self, obj: bpy.types.Object, number: int, part: float) -> tuple[int, float]:
        """The frame to show, and how far agents have gone on from it."""
        wanted = self._clamped(obj, number)
        # motion during a frame starts from the whole frame before it
        return wanted, part if number == wanted and wanted < obj.steer.frame_end else 0.0

    def lacks_between(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
        """Whether playing a remapped scene passed over the moments of frames that come next."""
        number, part = moment(scene)
        wanted, last = self._clamped(obj, number), self.last(obj)
        is_next = self._session is not None and (last + 1, 0.0) == (number, part)
        if number < obj.steer.frame_start or wanted in self.frames or is_next:
            return False
        return wanted - last <= frames_per_frame(scene) + 1.0

    def restore(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        """Show the right frame after an undo, which may restore an older state and settings.

        Raises:
            SteerError: The settings are out of range.
        """
        self._shown = None
        self._settings(obj, scene)
        self._show(obj, self._clamped(obj, moment(scene)[0]), 0.0, scene)

    def _show(
        self, obj: bpy.types.Object, wanted: int, part: float, scene: bpy.types.Scene
    ) -> None:
        self.diagnosis = None
        if self.out_of_date is not None:
            start = obj.steer.frame_start
            self.diagnosis = diagnose("OUT_OF_DATE", reason=self.out_of_date, start=start)
        if not self.frames:
            self.diagnosis = self._failed or missing.nothing_simulated(obj, scene)
            return
        number = wanted
        if wanted not in self.frames:
            earlier = (n for n in self.frames if n < wanted)
            number, part = max(earlier, default=min(self.frames)), 0.0
            ahead, reason = self._session is not None and number < wanted, self.out_of_date
            self.diagnosis = missing.gap(obj, scene, wanted, number, continues=ahead, reason=reason)
        frame = self.frames[number]
        if plays_back(obj):
            # simulated only for other crowds that steer by it; its bake is shown
            return
        shown_state = ensure_state(obj)
        key = (frame, part, shown_state.session_uid)
        # frames are compared by identity: comparing their arrays would cost more than writing
        if self._shown and self._shown[0] is frame and self._shown[1:] == key[1:]:
            return
        after = None if is_remapped(scene) else self.frames.get(number + 1)
        write_state(shown_state, later(frame, part, 1.0 / simulate.fps_of(scene), after))
        self._shown, self._logged, self._echo = key, None, True
