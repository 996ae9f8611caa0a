"""Baking in steps that leave the window alive: the base of the operators that bake to a cache."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ...core import cache as caches
from ...core.compiled import jit
from ...core.errors import NotReadyError, SteerError
from .. import playback
from ..bake import cached, heroes, places, status
from ..live import compiling, live
from .common import Needs, Returned, SteerOperator, end_steps, why_no_editable_crowd

if TYPE_CHECKING:
    from ...core.step.simulation import Progress
    from ..bake.cached import CacheBake

_running: list[BakeOperator] = []
"""Bakes that run step by step in a window."""

_TICK = 0.1
"""Time of a step of a bake [s]; a step is one frame at least."""


def why_busy(context: bpy.types.Context) -> str:
    """Why no bake can begin now; empty when one can."""
    return "A crowd is being baked: wait, or stop it with Esc" if status.busy else ""


NOT_BUSY: Needs = (why_no_editable_crowd, why_busy)
"""The needs of all operators on bakes."""


def progress_text(bake: CacheBake, progress: Progress) -> str:
    """Text of the status bar."""
    if progress.done == bake.kept and bake.kept:
        return f"Baking {bake.name}: looking at the {bake.kept} frames that are there  |  Esc: Stop"
    left = f", {progress.time_left} left" if progress.remaining > 0.0 else ""
    return (
        f"Baking {bake.name}: frame {bake.frames[0] + progress.done - 1} of {bake.frames[-1]}"
        f"{left}  |  Esc: Stop and keep what is done"
    )


class BakeOperator(SteerOperator):
    """Base of what bakes: in steps where there is a window, else in one go."""

    needs = NOT_BUSY

    def begin(self, context: bpy.types.Context) -> CacheBake:
        """Begin it."""
        raise NotImplementedError

    def _start(self, context: bpy.types.Context) -> CacheBake | None:
        try:
            bake = self.begin(context)
        except SteerError as error:
            self.report({"ERROR"}, str(error))
            return None
        steer = context.object.steer
        self._before = steer.cache_folder, steer.cache_owner
        places.set_folder(context.object, bake.folder)
        status.baked(context.object)
        status.busy.append(bake)
        self._bake, self._object = bake, context.object
        self._timer: bpy.types.Timer | None = None
        return bake

    def execute(self, context: bpy.types.Context) -> Returned:
        """Bake in one go."""
        bake = self._start(context)
        if bake is None:
            return {"CANCELLED"}
        try:
            for _ in bake.steps:
                pass
        except SteerError as error:
            return self._failed(context, error)
        except BaseException:
            self.cancel(context)
            raise
        return self._done(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Bake in steps."""
        if bpy.app.background or context.window is None:
            return self.execute(context)
        bake = self._start(context)
        if bake is None:
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        _running.append(self)
        manager.progress_begin(0, len(bake.frames))
        context.workspace.status_text_set(f"Baking {bake.name}  |  Esc: Stop")
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """A step, or the end of it."""
        if event.type == "ESC" and event.value == "PRESS":
            return self._stopped(context)
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        bake = self._bake
        progress: Progress | None = None
        if live.must_wait(self._object):
            context.workspace.status_text_set(f"{compiling.text()}  |  Esc: Stop")
            return {"RUNNING_MODAL"}
        end = time.perf_counter() + _TICK
        try:
            while time.perf_counter() < end:
                with jit.deferring() if compiling.can_wait() else nullcontext():
                    progress = next(bake.steps, None)
                if progress is None:
                    return self._done(context)
        except NotReadyError as error:
            return self._wait(context, error)
        except SteerError as error:
            return self._failed(context, error)
        except BaseException:
            self.cancel(context)
            raise
        if progress is not None:
            context.window_manager.progress_update(progress.done)
            context.workspace.status_text_set(progress_text(bake, progress))
        return {"RUNNING_MODAL"}

    def _wait(self, context: bpy.types.Context, error: NotReadyError) -> Returned:
        """Continue with the frames that are kept, once kernels are compiled."""
        status.busy.remove(self._bake)
        self._bake.close()
        try:
            self._bake = cached.resume(self._object, context.scene, self._bake.folder)
        except SteerError as failure:
            return self._failed(context, failure)
        status.busy.append(self._bake)
        live.hold(self._object, error)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends, or another file is opened."""
        try:
            self._bake.close()
        except SteerError:
            # no window is left to report to; the files written before are kept
            pass
        self._end(context)

    def _end(self, context: bpy.types.Context) -> None:
        if self._bake in status.busy:
            status.busy.remove(self._bake)
        if self in _running:
            _running.remove(self)
        end_steps(context, self._timer)
        self._timer = None

    def _stopped(self, context: bpy.types.Context) -> Returned:
        compiling.let_go(self._object)
        try:
            self._bake.close()
        except SteerError as error:
            return self._failed(context, error)
        self._end(context)
        status.refresh(self._object)
        kept = _kept(self._bake.folder)
        if not kept:
            self.report({"INFO"}, "Stopped before the first frame: nothing was baked")
            return self._nothing_baked()
        what = f"{len(kept)} of {len(self._bake.frames)} frames are kept"
        self.report({"INFO"}, f"{what}: Continue Bake makes the rest")
        return {"FINISHED"}

    def _failed(self, context: bpy.types.Context, error: SteerError) -> Returned:
        self._bake.close()
        self._end(context)
        status.refresh(self._object)
        self.report({"ERROR"}, str(error))
        return {"FINISHED"} if _kept(self._bake.folder) else self._nothing_baked()

    def _nothing_baked(self) -> Returned:
        """The crowd knows what it knew before."""
        steer = self._object.steer
        steer.cache_folder, steer.cache_owner = self._before
        return {"CANCELLED"}

    def _done(self, context: bpy.types.Context) -> Returned:
        bake, obj = self._bake, self._object
        self._end(context)
        status.baked(obj)
        self.warn(bake.warnings)
        try:
            playback.attach(obj, bake.folder)
            heroes.follow_bake(obj, context.scene)
        except SteerError as error:
            self.report({"ERROR"}, f"The bake is complete, but is not played: {error}")
            return {"FINISHED"}
        self.report({"INFO"}, f"Baked frames {bake.frames[0]} to {bake.frames[-1]}")
        return {"FINISHED"}


def stop_all() -> None:
    """End all bakes; what is done is kept. Blender itself drops operators without a word."""
    while _running:
        _running.pop().cancel(bpy.context)


def _kept(folder: Path) -> range:
    """The frames that a bake which was cut short has."""
    try:
        name = caches.NEXT if (folder / caches.NEXT).exists() else "manifest.json"
        return caches.open_cache(folder, name).frames
    except SteerError:
        return range(0)
