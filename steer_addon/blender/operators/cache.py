"""Bake a crowd to a cache in steps that leave the window alive, and go on with such a bake."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...core.errors import SceneError, SteerError
from .. import playback
from ..bake import places, status
from .common import SteerOperator, why_no_editable_crowd

if TYPE_CHECKING:
    from ...core.simulation import Progress
    from ..bake.cached import CacheBake

_running: list[BakeOperator] = []
"""Bakes that go on step by step in a window."""

_TICK = 0.1
"""So long a step of a bake takes [s]; one frame is the least."""


def status_of(context: bpy.types.Context) -> status.BakeStatus | None:
    """What is known of the bake of the active crowd."""
    return status.status(context.object, context.scene)


def why_busy() -> str:
    """Why no bake can begin now; empty when one can."""
    return "A crowd is being baked: wait, or stop it with Esc" if status.busy else ""


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 60.0:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def progress_text(bake: CacheBake, progress: Progress) -> str:
    """What the status bar says."""
    if progress.done == bake.kept and bake.kept:
        return f"Baking {bake.name}: looking at the {bake.kept} frames that are there  |  Esc: Stop"
    left = f", {duration(progress.remaining)} left" if progress.remaining > 0.0 else ""
    return (
        f"Baking {bake.name}: frame {bake.frames[0] + progress.done - 1} of {bake.frames[-1]}"
        f"{left}  |  Esc: Stop and keep what is done"
    )


class BakeOperator(SteerOperator):
    """Base of what bakes: in steps where there is a window, else in one go."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """One bake at a time."""
        return why_no_editable_crowd(context) or why_busy() or cls.why_not_begin(context)

    @classmethod
    def why_not_begin(cls, context: bpy.types.Context) -> str:
        """Why this kind of bake cannot begin; empty when it can."""
        return ""

    def begin(self, context: bpy.types.Context) -> CacheBake:
        """Begin it."""
        raise NotImplementedError

    def _start(self: Any, context: bpy.types.Context) -> CacheBake | None:
        try:
            bake = self.begin(context)
        except SteerError as error:
            self.report({"ERROR"}, str(error))
            return None
        places.set_folder(context.object, bake.folder)
        status.baked(context.object)
        status.busy.append(bake)
        self._bake, self._object, self._timer = bake, context.object, None
        return bake

    def execute(self: Any, context: bpy.types.Context) -> set[str]:
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

    def invoke(self: Any, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
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

    def modal(self: Any, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """A step, or the end of it."""
        if event.type == "ESC" and event.value == "PRESS":
            return self._stopped(context)
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        bake, progress = self._bake, None
        end = time.perf_counter() + _TICK
        try:
            while time.perf_counter() < end:
                progress = next(bake.steps, None)
                if progress is None:
                    return self._done(context)
        except SteerError as error:
            return self._failed(context, error)
        except BaseException:
            self.cancel(context)
            raise
        context.window_manager.progress_update(progress.done)
        context.workspace.status_text_set(progress_text(bake, progress))
        return {"RUNNING_MODAL"}

    def cancel(self: Any, context: bpy.types.Context) -> None:
        """Blender ends, or another file is opened."""
        try:
            self._bake.close()
        except SteerError:
            # there is nobody left to tell; what was written before is kept
            pass
        self._end(context)

    def _end(self: Any, context: bpy.types.Context) -> None:
        if self._bake in status.busy:
            status.busy.remove(self._bake)
        if self in _running:
            _running.remove(self)
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            context.window_manager.progress_end()
            context.workspace.status_text_set(None)
            self._timer = None

    def _stopped(self: Any, context: bpy.types.Context) -> set[str]:
        try:
            self._bake.close()
        except SteerError as error:
            return self._failed(context, error)
        self._end(context)
        status.refresh(self._object)
        kept = _kept(self._bake.folder)
        what = f"{len(kept)} of {len(self._bake.frames)} frames are kept" if kept else "Stopped"
        self.report({"INFO"}, f"{what}: Continue Bake goes on from there")
        return {"FINISHED"}

    def _failed(self: Any, context: bpy.types.Context, error: SteerError) -> set[str]:
        self._bake.close()
        self._end(context)
        status.refresh(self._object)
        self.report({"ERROR"}, str(error))
        # the folder that was noted is to be undone with the rest
        return {"FINISHED"} if _kept(self._bake.folder) else {"CANCELLED"}

    def _done(self: Any, context: bpy.types.Context) -> set[str]:
        bake, obj = self._bake, self._object
        self._end(context)
        status.baked(obj)
        for text in bake.warnings:
            self.report({"WARNING"}, text)
        try:
            playback.attach(obj, bake.folder)
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
    # imported with the first bake: enabling the extension has to be quick
    from ...core.cache import NEXT, open_cache

    try:
        name = NEXT if (folder / NEXT).exists() else "manifest.json"
        return open_cache(folder, name).frames
    except SteerError:
        return range(0)


class OBJECT_OT_steer_cache_bake(BakeOperator, bpy.types.Operator):
    """Simulate the crowd and keep all frames in files that play without Steer"""

    bl_idname = "object.steer_cache_bake"
    bl_label = "Bake"

    @classmethod
    def why_not_begin(cls, context: bpy.types.Context) -> str:
        """There is a place for it, and no bake yet."""
        obj = context.object
        if places.own_folder(obj) is not None:
            return f"{obj.name!r} is baked already: use Bake Anew or Delete Bake"
        return places.why_no_folder(obj)

    def begin(self, context: bpy.types.Context) -> CacheBake:
        """Begin in a folder that holds no bake."""
        from ...core.cache import NEXT
        from ..bake import cached

        folder = places.new_folder(context.object)
        if (folder / "manifest.json").exists() or (folder / NEXT).exists():
            raise SceneError(
                f"{folder} holds a bake already, which this crowd does not know of: take it with "
                "Relink, or choose another folder"
            )
        return cached.begin(context.object, context.scene, folder)


class OBJECT_OT_steer_cache_anew(BakeOperator, bpy.types.Operator):
    """Bake the crowd again from its first frame; the bake that is there stays until then"""

    bl_idname = "object.steer_cache_anew"
    bl_label = "Bake Anew"

    @classmethod
    def why_not_begin(cls, context: bpy.types.Context) -> str:
        """There is a bake."""
        obj = context.object
        return "" if places.own_folder(obj) is not None else f"{obj.name!r} is not baked: use Bake"

    def begin(self, context: bpy.types.Context) -> CacheBake:
        """Begin in the folder of the bake."""
        from ..bake import cached

        folder = places.own_folder(context.object)
        assert folder is not None
        return cached.begin(context.object, context.scene, folder)


class OBJECT_OT_steer_cache_continue(BakeOperator, bpy.types.Operator):
    """Go on with a bake that was cut short, from its last frame or up to a new last frame"""

    bl_idname = "object.steer_cache_continue"
    bl_label = "Continue Bake"

    @classmethod
    def why_not_begin(cls, context: bpy.types.Context) -> str:
        """Frames are missing, and the settings are those of the bake."""
        found = status_of(context)
        if found is None:
            return f"{context.object.name!r} is not baked: use Bake"
        if found.problem:
            return found.problem
        if found.unfinished is None and found.out_of_date:
            return f"Out of date: {found.out_of_date}. Use Bake Anew, or undo the change"
        return "" if found.can_continue else "The bake is complete"

    def begin(self, context: bpy.types.Context) -> CacheBake:
        """Go on."""
        from ..bake import cached

        folder = places.own_folder(context.object)
        assert folder is not None
        return cached.resume(context.object, context.scene, folder)


classes = (
    OBJECT_OT_steer_cache_bake,
    OBJECT_OT_steer_cache_anew,
    OBJECT_OT_steer_cache_continue,
)
