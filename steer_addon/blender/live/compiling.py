"""Crowds that wait for kernels or surfaces, while these are made and the window stays usable.

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

Large walkable surfaces are found by a thread, see `core/ways/ahead`: all of it is kernels, which do
not keep Python's lock.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

from ...core.compiled import jit
from ...core.doors import load, logging
from ...core.errors import (
    KernelsMissingError,
    NotReadyError,
    SteerError,
    SurfaceMissingError,
    warn,
)
from ...core.step import solver
from ...core.warmup import processes
from .. import app_handlers
from ..crowd import crowds
from ..crowd.properties import settings_of
from ..crowd.records import Part
from . import live_store, progress_bar, simulate

if TYPE_CHECKING:
    from ...core.warmup.processes import Compilation, State

    Work = Callable[[Callable[[float], None]], None]
    """What a thread does; it is given a function that is called with the share that is done."""

INTERVAL = 0.25
"""Time between two checks of the processes [s]."""


class _Thread(threading.Thread):
    """A thread that crowds wait for; it has no Blender data.

    Attributes:
        code: Code of the diagnosis that says so.
    """

    def __init__(self, code: str, work: Work, *texts: str) -> None:
        """Take the code, what is to be done, and the words for each part of it."""
        super().__init__(name="steer-ahead")
        self.code = code
        self._work, self._texts, self._share, self._is_wanted = work, texts, 0.0, True

    def run(self) -> None:
        """Do the work."""
        try:
            self._work(self._told)
        except Exception:  # whoever needs the result meets the same error, and can report it
            log = logging.getLogger(__name__)
            log.debug("%s failed", self._texts[0], exc_info=True)

    def _told(self, share: float) -> None:
        if not self._is_wanted:
            raise NotReadyError("nobody waits for it any more")
        self._share = share

    def end(self) -> None:
        """Let it end soon."""
        self._is_wanted = False

    def state(self) -> State:
        """Its progress."""
        return processes.State(round(100.0 * self._part()[1]), 100, True)

    def text(self) -> str:
        """Its progress, in words."""
        text, share = self._part()
        return f"{text}, {share:.0%}" if share else text

    def _part(self) -> tuple[str, float]:
        """What is done just now, in words, and the share of it, 0 to 1; 0 while it is not known."""
        share = self._share
        number = min(int(share), len(self._texts) - 1)
        return self._texts[number], share - number


class _Work:
    """State of what crowds wait for."""

    def __init__(self) -> None:
        self.compilation: Compilation | None = None
        self.state: State | None = None
        self.asked: set[tuple[object, ...]] = set()
        """Kernels that were compiled before, by name and signature."""
        self.resume: Callable[[set[int]], None] = lambda uids: None
        self.given_up = False
        self.thread: _Thread | None = None


_work = _Work()


class _Wait:
    """A crowd that holds still until what it needs is made.

    Attributes:
        played: Whether the animation played, and goes on then.
    """

    played = False


_waits: Part[_Wait] = Part(_Wait)


def can_wait() -> bool:
    """Whether a crowd can wait: there is a window, and processes can compile."""
    return not bpy.app.background and not _work.given_up


def is_waiting(obj: bpy.types.Object) -> bool:
    """Whether a crowd holds still until its kernels or its surface are there."""
    return _waits.get(obj) is not None


def waits_for() -> str:
    """Code of the diagnosis that says what crowds wait for."""
    return "COMPILING" if _work.thread is None else _work.thread.code


def state() -> State | None:
    """Progress of what crowds wait for, or None if they do not."""
    return _work.state


def text() -> str:
    """Progress of what crowds wait for, in words."""
    found, thread = _work.state, _work.thread
    if thread is not None:
        return thread.text()
    if found is None or not found.total:
        return "Compiling kernels"
    return f"Compiling kernels, {found.done} of {found.total}"


def load_first(obj: bpy.types.Object, resume: Callable[[set[int]], None]) -> bool:
    """Let a crowd wait until the compiler is loaded; returns whether it waits.

    `resume` is called with the session uids of all waiting crowds, when the compiler is loaded.
    """
    if _work.thread is None:
        if jit.known_status() is not None:
            return False

        _begin(_Thread("COMPILING", _load, "Loading the compiler"))
    _work.resume = resume
    _waits.ensure(obj)
    return True


def _load(_told: object) -> None:
    """Load all that a first frame needs."""
    load(simulate, live_store)
    jit.prepare(solver.__name__)


def _begin(thread: _Thread) -> None:
    _work.thread, _work.state = thread, thread.state()
    thread.start()
    _watch()


def begin(
    obj: bpy.types.Object,
    error: NotReadyError,
    resume: Callable[[set[int]], None],
    looks: bool = False,
) -> None:
    """Let a crowd wait, and make what the error names: its surface, or its kernels.

    Those of the overlay's looks come with them where `looks` says so.
    `resume` is called with the session uids of all waiting crowds, when that is done.
    """
    if isinstance(error, SurfaceMissingError) and _work.thread is None:
        texts = "Finding the walkable surface", "Finding the ways on it"
        _begin(_Thread("FINDING_SURFACE", error.find, *texts))
    if isinstance(error, KernelsMissingError) and _work.compilation is None:
        kernel = (*error.kernel, error.signature)
        if kernel in _work.asked:
            # compiled before and still missing: the files on disk cannot be used here
            _give_up(f"the compiled kernel {error.kernel[1]!r} cannot be loaded")
            return
        _work.asked.add(kernel)
        _start(obj, error, looks)
    _work.resume = resume
    if _work.compilation is not None or _work.thread is not None:
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
    """Start the timer, and report that something is made."""
    if not bpy.app.timers.is_registered(check_compilation):
        bpy.app.timers.register(check_compilation, first_interval=0.0, persistent=True)
    _show(text())


def _give_up(reason: str) -> None:
    warn(__name__, "Kernels compile while Blender waits, as %s", reason)
    _work.given_up = True


def check_compilation() -> float | None:
    """Timer: show the progress, and resume crowds when all is made; None ends the timer."""
    compilation, thread = _work.compilation, _work.thread
    _stop_animation()
    if thread is not None and thread.is_alive():
        if thread.code == "FINDING_SURFACE" and compilation is None and not _waits.by_uid():
            # given up, or another file was opened
            stop()
            return None
        return _go_on(thread.state())
    now = None if compilation is None else compilation.state()
    if thread is None and now is None:
        return None
    if now is not None and now.running:
        return _go_on(now)
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
    return INTERVAL if _work.compilation is not None or _work.thread is not None else None


def _go_on(now: State) -> float:
    if now != _work.state:
        _work.state = now
        _show(text())
    return INTERVAL


def let_go(obj: bpy.types.Object) -> None:
    """Let a crowd wait no more; what no other one waits for is not found."""
    _waits.drop(obj)


def stop() -> None:
    """End what is made, and the waiting; safe at any time."""
    compilation, thread = _work.compilation, _work.thread
    _work.compilation = _work.thread = _work.state = None
    _waits.clear()
    atexit.unregister(stop)
    if compilation is not None:
        compilation.stop()
    if thread is not None:
        thread.end()
    if compilation is not None or thread is not None:
        _show(None)


def unregister() -> None:
    """Leave no process, no thread and no timer behind."""
    thread = _work.thread
    stop()
    if thread is not None:
        # it uses modules of Steer, which Blender drops as soon as this function ends
        thread.join()
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
