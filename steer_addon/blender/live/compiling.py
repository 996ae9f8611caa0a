"""Crowds that wait for their kernels, while processes compile these and the window stays usable.

A live crowd whose kernels are not compiled yet holds still and is registered here. A timer stops
the animation, so that no frame passes and the processor is free, shows the progress, and at the end
resumes the crowd and the animation. The first crowd also waits while a thread loads the compiler.
Kernels that came with the package, or that were compiled before, need no waiting. Without a window,
in renders, and where no process can be started, kernels compile immediately when they are called.

The processes make a dry run with a tiny crowd, uncompiled, to learn which kernels are needed, and
compile them into the shared folder (`core/warmup`). A thread would keep Python's lock for most of
the time, and could not be stopped when Blender quits. A kernel that the dry run did not foresee
raises again and is compiled by its exact signature; one that is still missing then compiles when
it is called. The overlay, and bakes that run in steps, wait in the same way.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

from ...core.compiled import jit
from ...core.doors import load, logging
from ...core.errors import KernelsMissingError, SteerError, warn
from ...core.step import solver
from ...core.warmup import processes
from .. import app_handlers
from ..crowd import crowds
from ..crowd.properties import settings_of
from ..crowd.records import Part
from . import live_store, progress_bar, simulate

if TYPE_CHECKING:
    from ...core.warmup.processes import Compilation, State

INTERVAL = 0.25
"""Time between two checks of the processes [s]."""


class _Work:
    """State of the current compilation."""

    def __init__(self) -> None:
        self.compilation: Compilation | None = None
        self.state: State | None = None
        self.asked: set[tuple[object, ...]] = set()
        """Kernels that were compiled before, by name and signature."""
        self.resume: Callable[[set[int]], None] = lambda uids: None
        self.given_up = False
        self.loader: threading.Thread | None = None


_work = _Work()


class _Wait:
    """A crowd that holds still until its kernels are compiled.

    Attributes:
        played: Whether the animation played, and goes on then.
    """

    played = False


_waits: Part[_Wait] = Part(_Wait)


def can_wait() -> bool:
    """Whether a crowd can wait: there is a window, and processes can compile."""
    return not bpy.app.background and not _work.given_up


def is_waiting(obj: bpy.types.Object) -> bool:
    """Whether a crowd holds still until its kernels are compiled."""
    return _waits.get(obj) is not None


def state() -> State | None:
    """Progress of compiling, or None if nothing is compiled."""
    return _work.state


def text() -> str:
    """Progress of compiling, in words."""
    found = _work.state
    if _work.loader is not None:
        return "Loading the compiler"
    if found is None or not found.total:
        return "Compiling kernels"
    return f"Compiling kernels, {found.done} of {found.total}"


def load_first(obj: bpy.types.Object, resume: Callable[[set[int]], None]) -> bool:
    """Let a crowd wait until the compiler is loaded; returns whether it waits.

    `resume` is called with the session uids of all waiting crowds, when the compiler is loaded.
    """
    if _work.loader is None:
        if jit.known_status() is not None:
            return False

        _work.loader = threading.Thread(target=_load, name="steer-loader")
        _work.state = processes.State(0, 0, True)
        _work.loader.start()
        _watch()
    _work.resume = resume
    _waits.ensure(obj)
    return True


def _load() -> None:
    """Load all that a first frame needs; run in a thread, so without Blender data."""
    try:
        load(simulate, live_store)
        jit.prepare(solver.__name__)
    except Exception:  # the next user of the compiler meets the same error, and can report it
        log = logging.getLogger(__name__)
        log.debug("The compiler cannot be loaded ahead of time", exc_info=True)


def begin(
    obj: bpy.types.Object,
    error: KernelsMissingError,
    resume: Callable[[set[int]], None],
    looks: bool = False,
) -> None:
    """Let a crowd wait, and compile its kernels, of which the error names the missing one.

    Those of the overlay's looks come with them where `looks` says so.
    `resume` is called with the session uids of all waiting crowds, when compiling is done.
    """
    if _work.compilation is None:
        kernel = (*error.kernel, error.signature)
        if kernel in _work.asked:
            # compiled before and still missing: the files on disk cannot be used here
            _give_up(f"the compiled kernel {error.kernel[1]!r} cannot be loaded")
            return
        _work.asked.add(kernel)
        _start(obj, error, looks)
    _work.resume = resume
    if _work.compilation is not None:
        _waits.ensure(obj)


def _start(obj: bpy.types.Object, error: KernelsMissingError, looks: bool) -> None:
    try:
        settings = settings_of(obj).to_dict()
    except SteerError:
        settings = None
    steer = obj.steer
    inputs = () if steer.colliders is None else steer.colliders.all_objects
    has_colliders = any(other.type != "EMPTY" for other in inputs)
    need = processes.Need(
        settings, has_colliders, steer.ground is not None, looks, missing=(error,)
    )
    try:
        python = processes.python_command()
    except OSError:
        python = [bpy.app.binary_path, "--background", "--factory-startup", "--python-expr"]
    compilation = processes.Compilation(need)
    try:
        compilation.start(python)
    except OSError as failure:
        compilation.stop()
        _give_up(f"no process can be started: {failure}")
        return
    _work.compilation, _work.state = compilation, compilation.state()
    atexit.register(stop)
    _watch()


def _watch() -> None:
    """Start the timer, and report that compiling began."""
    if not bpy.app.timers.is_registered(check_compilation):
        bpy.app.timers.register(check_compilation, first_interval=0.0, persistent=True)
    _show(text())


def _give_up(reason: str) -> None:
    warn(__name__, "Kernels compile while Blender waits, as %s", reason)
    _work.given_up = True


def check_compilation() -> float | None:
    """Timer: show the progress, and resume crowds when compiling is done; None ends the timer."""
    compilation, loader = _work.compilation, _work.loader
    _stop_animation()
    if loader is not None and loader.is_alive():
        return INTERVAL
    now = None if compilation is None else compilation.state()
    if loader is None and now is None:
        return None
    if now is not None and now.running:
        if now != _work.state:
            _work.state = now
            _show(text())
        return INTERVAL
    waits = _waits.by_uid()
    waiting = set(waits)
    stop()
    # first, since a crowd goes back to where it stopped while the animation plays
    _play({uid for uid, wait in waits.items() if wait.played})
    if now is not None and now.failure:
        _give_up(now.failure)
    try:
        _work.resume(waiting)
    except SteerError as error:
        warn(__name__, str(error))
    # a resumed crowd may already wait again
    return None if _work.compilation is None else INTERVAL


def stop() -> None:
    """End compiling and the waiting; safe at any time."""
    compilation, loader = _work.compilation, _work.loader
    _work.compilation = _work.loader = _work.state = None
    _waits.clear()
    atexit.unregister(stop)
    if compilation is not None:
        compilation.stop()
    if compilation is not None or loader is not None:
        _show(None)


def unregister() -> None:
    """Leave no process, no thread and no timer behind."""
    loader = _work.loader
    stop()
    if loader is not None:
        # the thread imports modules of Steer, which Blender drops as soon as this function ends
        loader.join()
    app_handlers.remove_timers(check_compilation)
    _work.asked.clear()
    _work.given_up = False


def _stop_animation() -> None:
    """Stop it while crowds wait; a user who starts it meanwhile sees it go on at the end."""
    waits = _waits.by_uid()
    # Blender plays in one window, and says so of all
    for window in bpy.context.window_manager.windows[:1]:
        if waits and window.screen.is_animation_playing:
            with bpy.context.temp_override(window=window):
                bpy.ops.screen.animation_cancel(restore_frame=False)
            for wait in waits.values():
                wait.played = True


def _play(waited: set[int]) -> None:
    """Let the animation go on in the window that shows one of these crowds."""
    for window in bpy.context.window_manager.windows:
        if any(obj.session_uid in waited for obj in crowds.crowds(window.scene)):
            if not window.screen.is_animation_playing:
                with bpy.context.temp_override(window=window):
                    bpy.ops.screen.animation_play()
            return


def _told() -> tuple[float, str]:
    share = 0.0 if _work.state is None else _work.state.share
    return share, f"{text()}: the crowd waits" if _waits.by_uid() else text()


def _show(line: str | None) -> None:
    """Show the text in the status bar and in the 3D views, and redraw panels."""
    if line is None:
        progress_bar.hide()
    elif not bpy.app.background:
        progress_bar.show(_told)
    manager = getattr(bpy.context, "window_manager", None)
    for window in manager.windows if manager is not None else ():
        with bpy.context.temp_override(window=window):
            window.workspace.status_text_set(line)
        for area in window.screen.areas:
            if area.type in ("PROPERTIES", "VIEW_3D"):
                area.tag_redraw()
