"""Work in steps that leave the window alive: progress is shown, and Esc ends it."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import bpy

from ...core.errors import SceneError, SteerError
from .common import Returned, SteerOperator, end_steps

if TYPE_CHECKING:
    Work = Generator[float, None, Any]

_TICK = 0.1
"""Time of a step [s]; a step is one sample at least."""
_running: list[SteppedOperator] = []
"""Operators that work step by step in a window."""


class SteppedOperator(SteerOperator):
    """Base of what makes something in steps: with a window one by one, else in one go.

    Nothing half made is left where it is stopped or fails: `work` takes it back.
    """

    bl_options = {"UNDO"}
    doing = ""
    """What it does, for the status bar."""

    def in_steps(self, context: bpy.types.Context) -> bool:
        """Whether the window stays alive: a script waits for the end."""
        return not bpy.app.background and context.window is not None and self.options.is_invoke

    def kept(self) -> str:
        """What stays where it is stopped or fails, for the user; empty for nothing."""
        return ""

    def work(self, context: bpy.types.Context) -> Work:
        """Make it, and give the share that is done after each step; return the message."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Begin at once: Blender tells by this that a user asked for it, and no script."""
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> Returned:
        """Begin; a script waits for the end, and a window goes on."""
        if not self.in_steps(context):
            return super().execute(context)
        self._work = self.work(context)
        manager = context.window_manager
        self._timer: bpy.types.Timer | None = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0, 100)
        context.workspace.status_text_set(f"{self.doing}  |  Esc: Stop")
        manager.modal_handler_add(self)
        _running.append(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context) -> str:
        """Make it in one go."""
        steps = self.work(context)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return str(end.value)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """A step, or the end of it."""
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, f"Stopped: {self.kept() or 'nothing was made'}")
            return self._ended()
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            share = self._step()
        except StopIteration as end:
            self.cancel(context)
            self.report({"INFO"}, str(end.value))
            return {"FINISHED"}
        except (SteerError, ReferenceError) as error:
            self.cancel(context)
            if isinstance(error, ReferenceError):
                error = SceneError("An object was deleted while it was being read: run it again")
            self.report({"ERROR"}, str(error))
            return self._ended()
        except BaseException:
            self.cancel(context)
            raise
        context.window_manager.progress_update(100 * share)
        context.workspace.status_text_set(f"{self.doing}: {share:.0%}  |  Esc: Stop")
        return {"RUNNING_MODAL"}

    def _ended(self) -> Returned:
        """The result of what was cut short; what stays can be undone."""
        return {"FINISHED"} if self.kept() else {"CANCELLED"}

    def _step(self) -> float:
        end = time.perf_counter() + _TICK
        while True:
            share = next(self._work)
            if time.perf_counter() > end:
                return share

    def cancel(self, context: bpy.types.Context) -> None:
        """Take back what is half made: Esc, Blender ends, or another file is opened."""
        if self not in _running:
            # its dialog was closed before anything began
            return
        _running.remove(self)
        self._work.close()
        end_steps(context, self._timer)
        self._timer = None


def stop_all() -> None:
    """End everything that runs; Blender itself drops operators without a word."""
    while _running:
        _running[-1].cancel(bpy.context)
