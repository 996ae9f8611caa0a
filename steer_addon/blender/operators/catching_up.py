"""Catch up: simulate the frames before the current one, while the window stays alive."""

import time
from collections.abc import Generator
from contextlib import nullcontext, suppress

import bpy
from bpy.app.handlers import persistent

from ...core.compiled import jit
from ...core.errors import NotReadyError, SceneError, SteerError
from .. import app_handlers
from ..crowd import live_settings
from ..crowd.properties import settings_of
from ..crowd.scene_time import moment
from ..live import compiling, live, simulate
from ..reading import scene_inputs
from .common import PolledOperator, Returned, end_steps, why_no_crowd

_TICK = 0.05
"""Time of a step [s]; a step is one frame at least."""

_CHANGED = "Stopped, as a setting or the frame changed: catch up again"

Situation = tuple[int, list["live_settings.LiveKey"]]

_NAVIGATION = {
    *("MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "MIDDLEMOUSE", "MOUSEROTATE", "NDOF_MOTION"),
    *("WHEELUPMOUSE", "WHEELDOWNMOUSE", "TRACKPADPAN", "TRACKPADZOOM"),
}
"""Events that turn views; others could change what is simulated."""


def why_caught_up(context: bpy.types.Context) -> str:
    """Why there is nothing to catch up with; empty when there is."""
    obj, number = context.object, moment(context.scene)[0]
    if live.is_baked(obj):
        return "The crowd is baked"
    if number <= obj.steer.frame_start:
        return "This is the first frame of the crowd, or one before it: play"
    return "" if live.lacks(obj, context.scene) else f"Frame {number} is simulated already"


_running: list["OBJECT_OT_steer_catch_up"] = []


class OBJECT_OT_steer_catch_up(PolledOperator, bpy.types.Operator):
    """Simulate all crowds up to the current frame, without playing; Escape stops"""

    bl_idname = "object.steer_catch_up"
    bl_label = "Catch Up"
    bl_options = {"REGISTER"}
    # linked crowds play too
    needs = (why_no_crowd, why_caught_up)

    def _begin(self, context: bpy.types.Context) -> None:
        self._timer: bpy.types.Timer | None = None
        self._steps = self._all_steps(context.scene)
        self._last = moment(context.scene)[0]
        self._names = [obj.name for obj in live.lacking(context.scene)]
        self._before: Situation | None = self._situation(context)
        _running.append(self)

    def execute(self, context: bpy.types.Context) -> Returned:
        """Simulate in one go."""
        try:
            self._begin(context)
            for _ in self._steps:
                pass
        except SteerError as error:
            return self._failed(context, error)
        return self._done(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Simulate in steps."""
        own_scene = any(map(scene_inputs.needs_own_scene, live.lacking(context.scene)))
        if bpy.app.background or context.window is None or own_scene:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        try:
            self._begin(context)
        except SteerError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0, self._last)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def interrupt(self) -> None:
        """End the work now; the next event ends the operator."""
        # what it would tidy up may be gone
        with suppress(ReferenceError):
            self._steps.close()
        self._before = None

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """A step, or the end of it; views can be turned in the meantime."""
        if event.type == "ESC" and event.value == "PRESS":
            for obj in live.lacking(context.scene):
                compiling.let_go(obj)
            self._end(context)
            self.report({"INFO"}, "Stopped: the crowd stands as before")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH" if event.type in _NAVIGATION else "RUNNING_MODAL"}
        if any(live.must_wait(obj) for obj in live.lacking(context.scene)):
            context.workspace.status_text_set(f"{compiling.text()}  |  Esc: Stop")
            return {"RUNNING_MODAL"}
        try:
            if self._situation(context) != self._before:
                raise SceneError(_CHANGED)
            number = self._step()
        except NotReadyError as error:
            self._steps = self._all_steps(context.scene)
            live.hold(live.lacking(context.scene)[0], error)
            return {"RUNNING_MODAL"}
        except SteerError as error:
            return self._failed(context, error)
        except ReferenceError:
            # an undo, or a deletion in another window
            return self._failed(context, SceneError(_CHANGED))
        except BaseException:
            self._end(context)
            raise
        if number is None:
            return self._done(context)
        context.window_manager.progress_update(number)
        context.workspace.status_text_set(
            f"Catching up: frame {number} of {self._last}  |  Esc: Stop"
        )
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends, or another file is opened."""
        self._end(context)

    def _all_steps(self, scene: bpy.types.Scene) -> Generator[int, None, None]:
        self._unusable: list[str] = []
        self._caught_up = 0
        for obj in live.lacking(scene):
            # those that an earlier one steers by are there by now
            if not live.lacks(obj, scene):
                continue
            try:
                yield from live.catching_up(obj, scene, self._last)
            except NotReadyError:
                raise
            except SteerError as error:
                if str(error) not in self._unusable:
                    self._unusable.append(str(error))
                continue
            self._caught_up += 1
            live.show(scene)

    def _step(self) -> int | None:
        """The last frame of a step; None at the end."""
        end, number = time.perf_counter() + _TICK, None
        with jit.deferring() if compiling.can_wait() else nullcontext():
            while (number := next(self._steps, None)) is not None:
                if time.perf_counter() > end:
                    break
        return number

    def _situation(self, context: bpy.types.Context) -> Situation:
        """What must not change meanwhile: the frame, and the settings of the crowds."""
        scene, fps = context.scene, simulate.fps_of(context.scene)
        found = [scene.objects[name] for name in self._names if name in scene.objects]
        return moment(scene)[0], [
            live_settings.live_key(obj, settings_of(obj), fps) for obj in found
        ]

    def _end(self, context: bpy.types.Context) -> None:
        self.interrupt()
        if self in _running:
            _running.remove(self)
        end_steps(context, self._timer)
        self._timer = None

    def _failed(self, context: bpy.types.Context, error: SteerError) -> Returned:
        self._end(context)
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def _done(self, context: bpy.types.Context) -> Returned:
        self._end(context)
        for text in self._unusable:
            self.report({"WARNING" if self._caught_up else "ERROR"}, text)
        return {"FINISHED"} if self._caught_up or not self._unusable else {"CANCELLED"}


classes = (OBJECT_OT_steer_catch_up,)


@persistent
def stop_all(*_: object) -> None:
    """End what runs: undo, or another file, frees what it holds."""
    for operator in _running:
        operator.interrupt()


HANDLERS = (("undo_pre", stop_all), ("redo_pre", stop_all), ("load_pre", stop_all))


def register() -> None:
    """Add the handlers."""
    app_handlers.add(HANDLERS)


def unregister() -> None:
    """Remove the handlers, and end what runs."""
    app_handlers.remove(HANDLERS)
    stop_all()
    _running.clear()
