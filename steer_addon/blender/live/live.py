"""The live crowd: playing simulates, scrubbing shows stored frames.

A handler runs after every change of the frame. The frame after the last simulated one is simulated
from the current scene. Stored frames are shown as they are. For all other frames the nearest stored
frame before is shown, and the panel says so. A result is a pure function of scene, settings, seed
and frame, so going back and playing again gives the same result.

Errors never leave a handler: they become the message in the panel, and one line in the log.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, NamedTuple

import bpy
from bpy.app.handlers import persistent

from ...core.compiled import jit
from ...core.diagnoses import Diagnosis, diagnose
from ...core.errors import NotReadyError, SteerError, warn
from .. import app_handlers
from ..crowd import baked_file, crowds
from ..crowd.links import all_linked
from ..crowd.records import Part
from ..crowd.scene_time import frames_per_frame, is_remapped, moment, scene_moment
from ..crowd.state import clear_state, get_state, is_playback, plays_back, remove_orphans
from ..suspension import is_suspended, suspended
from ..unchanging import unchanging
from . import advancing, compiling, live_store, meeting, missing, played, simulate
from .edits import Edit

if TYPE_CHECKING:
    from ...core.results.frames import Frame
    from ...core.results.memories import Kept
    from ...core.step.simulation import Taking
    from .live_store import LiveRun

runs: Part[LiveRun] = Part(lambda: live_store.LiveRun())
"""A crowd's frames that were simulated while the animation played."""

_LOCK_KEY = "steer_lock_interface"
"""Custom property of scenes whose *Lock Interface* was set for a live crowd."""

_AHEAD = 10
"""Frames that are simulated at once, at least, where a remapped scene passes over some."""

_lock = threading.RLock()
"""While rendering the handlers are called from the render's thread."""


class LiveStatus(NamedTuple):
    """Status of a live crowd for its panel.

    Attributes:
        diagnosis: Reason why the requested frame is not shown, or out of date; None if it is shown.
        warnings: Diagnoses of the scene that the user may want to act on.
    """

    diagnosis: Diagnosis | None = None
    warnings: tuple[Diagnosis, ...] = ()


def status(obj: bpy.types.Object) -> LiveStatus:
    """Status of a crowd for its panel; quick enough for every redraw."""
    if obj.steer.hidden_by_bake:
        return LiveStatus(diagnose("BAKED_TO_OBJECTS"))
    if plays_back(obj):
        return LiveStatus(baked_file.diagnosis(obj))
    if compiling.is_waiting(obj):
        return LiveStatus(diagnose(compiling.waits_for()))
    run = runs.get(obj)
    if run is None:
        return LiveStatus(missing.nothing_simulated(obj, bpy.context.scene))
    scene = bpy.context.scene
    return LiveStatus(run.current_diagnosis(obj, scene), run.warnings)


def get_frame(obj: bpy.types.Object, number: int) -> Frame | None:
    """A stored frame, or None."""
    run = runs.get(obj)
    return None if run is None else run.frames.get(number)


def get_kept(obj: bpy.types.Object, number: int) -> Kept | None:
    """The agents and world kept with a stored frame, or None."""
    run = runs.get(obj)
    return None if run is None else run.kept.get(number)


def clear(obj: bpy.types.Object) -> None:
    """Drop the stored frames; the crowd shows its points at rest."""
    with _lock:
        runs.drop(obj)
        state = get_state(obj)
        if state is not None and not is_playback(state):
            clear_state(state)


def lacks(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether a simulated crowd is past its start, and does not show its frame as it would be."""
    run = runs.get(obj)
    told = run is None or run.current_diagnosis(obj, scene) is not None
    return told and moment(scene)[0] > obj.steer.frame_start


def lacking(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The simulated crowds of a scene that lack its frame."""
    return [obj for obj in _stepped(scene) if lacks(obj, scene)]


def catch_up(obj: bpy.types.Object, scene: bpy.types.Scene, last: int) -> None:
    """Simulate up to a frame, or to the crowd's end, without playing, and store all frames.

    Raises:
        SteerError: The crowd cannot be simulated.
    """
    last, run = min(last, obj.steer.frame_end), runs.get(obj)
    if last <= obj.steer.frame_start or (run is not None and run.can_show(last)):
        return
    with _lock:
        for _ in catching_up(obj, scene, last):
            pass


def catching_up(
    obj: bpy.types.Object, scene: bpy.types.Scene, last: int
) -> Generator[int, None, None]:
    """The same frame by frame: nothing is stored before the end.

    Yields:
        The numbers of the frames that are done.

    Raises:
        SteerError: The crowd cannot be simulated.
    """
    found: simulate.Continued = {}
    yield from simulate.continue_to(obj, scene, min(last, obj.steer.frame_end), found)
    with _lock:
        for crowd, session, frames in found.values():
            runs.ensure(crowd).adopt(crowd, scene, session, frames)


def is_baked(obj: bpy.types.Object) -> bool:
    """Whether a crowd is shown by its bake."""
    return bool(obj.steer.hidden_by_bake) or plays_back(obj)


def _stepped(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The simulated crowds: those without a bake, and the crowds that they steer by."""
    found = crowds.crowds(scene)
    live = [obj for obj in found if not is_baked(obj)]
    if len(live) == len(found):
        return found
    needed = {crowd.session_uid for crowd in all_linked(live)}
    simulated = [obj for obj in found if obj.session_uid in needed]
    return [obj for obj in simulated if played.played(obj) is None]


def _each(
    scene: bpy.types.Scene, act: Callable[[LiveRun, bpy.types.Object], None], *, wait: bool = False
) -> None:
    """Call a function for each live crowd of a scene; no error leaves this function.

    If `wait` is set, a crowd may wait until kernels are compiled.
    """
    wait = wait and _in_main_thread()
    with _lock:
        for obj in _stepped(scene):
            if wait and must_wait(obj):
                continue
            run = runs.ensure(obj)
            try:
                if wait and compiling.can_wait():
                    with jit.deferring():
                        act(run, obj)
                else:
                    act(run, obj)
            except NotReadyError as error:
                hold(obj, error)
            except SteerError as error:
                run.fail(error)


def hold(obj: bpy.types.Object, error: NotReadyError, *, looks: bool = False) -> None:
    """Let a crowd wait for kernels that other code, or the overlay's looks, found missing."""
    compiling.begin(obj, error, _resume, looks)


def must_wait(obj: bpy.types.Object) -> bool:
    """Whether a simulation in a window has to wait for the compiler or for kernels."""
    if not compiling.can_wait():
        return False
    return compiling.is_waiting(obj) or compiling.load_first(obj, _resume)


def _resume(waited: set[int]) -> None:
    """Resume crowds that waited for their kernels.

    While the animation plays, it goes back to the frame where they stopped; else the frame stays.
    """
    for scene in bpy.data.scenes:
        held = [obj for obj in crowds.crowds(scene) if obj.session_uid in waited]
        if not held:
            continue
        number, windows = scene.frame_current, bpy.context.window_manager.windows
        if any(w.scene == scene and w.screen.is_animation_playing for w in windows):
            lasts = (scene_moment(scene, runs.ensure(obj).last(obj))[0] for obj in held)
            number = min([number, *lasts])
        scene.frame_set(number)


@persistent
def on_frame_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Show the new frame."""
    if not is_suspended():
        with unchanging():
            _show_frame(scene, depsgraph)


def _show_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    rendering = depsgraph.mode == "RENDER"

    def find_live_frame(crowd: bpy.types.Object, number: int) -> Frame | None:
        """The frame of a crowd for other crowds; before its start, the start pose."""
        bake = played.played(crowd)
        if bake is not None:
            return bake.frame(number)
        run = runs.get(crowd)
        if run is None:
            return None
        if number < crowd.steer.frame_start and not run.frames:
            return run.waiting(crowd, scene, depsgraph).current()
        return run.frame_at(crowd, number)

    takings: dict[int, tuple[bpy.types.Object, Taking]] = {}
    begun: set[int] = set()

    def begin(run: LiveRun, obj: bpy.types.Object) -> None:
        if is_remapped(scene) and _in_main_thread() and run.lacks_between(obj, scene):
            # some more at once, as each time begins at the start
            start = obj.steer.frame_start
            catch_up(obj, scene, start + max(2 * (moment(scene)[0] - start), _AHEAD))
        taking = run.begin_frame(obj, scene, depsgraph, find_live_frame)
        begun.add(obj.session_uid)
        if taking is not None:
            takings[obj.session_uid] = obj, taking

    def end(run: LiveRun, obj: bpy.types.Object) -> None:
        if obj.session_uid not in begun:
            return
        before = run.diagnosis
        run.end_frame(obj, scene, depsgraph)
        if rendering and run.diagnosis is not None and run.diagnosis != before:
            now = scene.frame_current
            warn(__name__, "Crowd %r at frame %d: %s", obj.name, now, run.diagnosis)

    _each(scene, begin, wait=not rendering)
    begun -= advancing.advance(
        [*takings.values(), *meeting.bakes_beside(takings.values(), moment(scene)[0])],
        can_wait=not rendering and _in_main_thread() and compiling.can_wait(),
        hold=hold,
        fail=lambda obj, error: runs.ensure(obj).fail(error),
    )
    _each(scene, end)
    if not rendering:
        lock_interface(scene)


@persistent
def on_edit(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Check whether an edit concerns stored frames."""
    if is_suspended() or depsgraph.mode == "RENDER":
        return
    edit = Edit(scene, depsgraph)
    if edit.there is not None:
        remove_orphans(depsgraph)
    with unchanging():
        _each(scene, lambda run, obj: run.edited(obj, scene, edit), wait=True)
    lock_interface(scene)


@persistent
def on_undo(*_: object) -> None:
    """Show the right frame: undo and redo restore the state objects of an earlier step."""
    if is_suspended():
        return
    # redo of a deletion brings back what the deletion left
    remove_orphans()
    for scene in bpy.data.scenes:
        show(scene)


def show(scene: bpy.types.Scene) -> None:
    """Show the frames that the crowds of a scene have now, as after an undo or catching up."""
    with unchanging():
        _each(scene, lambda run, obj: run.restore(obj, scene))


@persistent
def on_load(*_: object) -> None:
    """Handle a new file, where *Lock Interface* may be set for a crowd that is baked by now."""
    sync_locks()


@persistent
def on_render_start(scene: bpy.types.Scene, *_: object) -> None:
    """Detect changes that a script made just before."""
    if not is_suspended() and _in_main_thread():
        for layer in scene.view_layers:
            layer.update()


@persistent
def on_render_frame(scene: bpy.types.Scene, *_: object) -> None:
    """Simulate the earlier frames for a background render that starts in the middle.

    With a window, rendering runs in a thread that must not make scenes: there the panel and the
    log say what is missing.
    """
    if is_suspended() or not _in_main_thread():
        return
    number = moment(scene)[0]
    # the first frame probably begins an animation: treat all of its frames alike
    is_first = scene.frame_current == scene.frame_start
    last = math.ceil(scene.frame_end * frames_per_frame(scene)) if is_first else number

    def act(run: LiveRun, obj: bpy.types.Object) -> None:
        # at the end of its range a crowd stands still
        if not run.can_show(min(number, obj.steer.frame_end)) or last > number:
            catch_up(obj, scene, last)

    with _lock, suspended():
        _each(scene, act)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def lock_interface(scene: bpy.types.Scene) -> None:
    """Keep Blender from drawing the data that the handler writes during a render.

    *Lock Interface* is reset when the last live crowd is baked or removed, if it was set here.
    """
    if scene.library is not None:
        return
    render = scene.render
    if any(not is_baked(obj) for obj in crowds.crowds(scene)):
        if not render.use_lock_interface:
            render.use_lock_interface = True
            scene[_LOCK_KEY] = True
    else:
        _give_back(scene)


def _give_back(scene: bpy.types.Scene) -> None:
    if _LOCK_KEY in scene:
        scene.render.use_lock_interface = False
        del scene[_LOCK_KEY]


def sync_locks() -> None:
    """Set or reset *Lock Interface* in all scenes, after a crowd was baked or a bake deleted."""
    for scene in bpy.data.scenes:
        lock_interface(scene)


HANDLERS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("frame_change_post", on_frame_change),
    ("depsgraph_update_post", on_edit),
    ("undo_post", on_undo),
    ("redo_post", on_undo),
    ("load_post", on_load),
    ("render_init", on_render_start),
    ("render_pre", on_render_frame),
)
"""Every handler with its list in `bpy.app.handlers`."""


def register() -> None:
    """Add the handlers."""
    app_handlers.add(HANDLERS)


def unregister() -> None:
    """Remove the handlers."""
    app_handlers.remove(HANDLERS)
    compiling.unregister()
    # nothing is live any more; Blender hides its data where a file is being read
    for scene in getattr(bpy.data, "scenes", ()):
        _give_back(scene)
