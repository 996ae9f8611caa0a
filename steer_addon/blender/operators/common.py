"""The bases of all operators: a poll that gives its reason, and errors as one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import bpy

from ...core.diagnoses import Diagnosis
from ...core.errors import SteerError
from ..crowd.crowds import is_crowd, why_not_editable
from ..scene_units import units_per_meter

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems, OperatorTypeFlagItems

    _Operator = bpy.types.Operator
else:
    _Operator = object

Returned: TypeAlias = "set[OperatorReturnItems]"
"""Result type of an operator's methods."""
Needs: TypeAlias = "tuple[Callable[[bpy.types.Context], str], ...]"
"""Functions of the context, each with the reason why a need is not met, or ""."""

REDO: set[OperatorTypeFlagItems] = {"REGISTER", "UNDO"}


def active_object(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object, also where the context has none at all."""
    obj: bpy.types.Object | None = getattr(context, "object", None)
    return obj


def why_no_crowd(context: bpy.types.Context) -> str:
    """Why the active object is no crowd; empty when it is one."""
    obj = active_object(context)
    if obj is None:
        return "Select a crowd"
    if is_crowd(obj):
        return ""
    way_out = "use Add Modifier > Crowd on it" if obj.type == "MESH" else "select a crowd"
    return f"{obj.name!r} is no crowd: {way_out}"


def why_no_editable_crowd(context: bpy.types.Context) -> str:
    """Why the active object is no crowd that can be changed; empty when it is one."""
    return why_no_crowd(context) or why_not_editable(context.object)


EDITABLE_CROWD: Needs = (why_no_editable_crowd,)
"""The needs of most operators."""


def why_not_object_mode(context: bpy.types.Context) -> str:
    """Why nothing can be added or selected; empty in Object Mode."""
    return "" if context.mode == "OBJECT" else "Go to Object Mode first"


def counted(count: int, what: str) -> str:
    """A number of things in words, such as "1 clip" and "13 gaits"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def select_only(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Make an object the active one, and the only one that is selected."""
    for other in context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj


@contextmanager
def pointer_progress(context: bpy.types.Context) -> Iterator[Callable[[float], None]]:
    """Show progress at the pointer; it gives a function that takes the share done, 0 to 1."""
    manager = context.window_manager
    manager.progress_begin(0, 100)
    try:
        yield lambda share: manager.progress_update(100 * share)
    finally:
        manager.progress_end()


def end_steps(context: bpy.types.Context, timer: bpy.types.Timer | None) -> None:
    """Take back what an operator that works in steps shows, and its timer; None for ended ones."""
    if timer is not None:
        context.window_manager.event_timer_remove(timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)


def ask_first(
    operator: bpy.types.Operator,
    context: bpy.types.Context,
    event: bpy.types.Event,
    message: str,
    button: str,
) -> Returned:
    """Ask before files are deleted, which undo does not bring back; the answer runs `execute`."""
    return context.window_manager.invoke_confirm(
        operator,
        event,
        title=operator.bl_label,
        message=message,
        confirm_text=button,
        icon="WARNING",
    )


class PolledOperator(_Operator):
    """Base of operators that say why they cannot run."""

    needs = EDITABLE_CROWD

    @classmethod
    def why_not(cls, context: bpy.types.Context) -> str:
        """Why the operator cannot run here: the first reason; empty when it can."""
        return next(filter(None, (reason(context) for reason in cls.needs)), "")

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the operator can run; a grey button says why not."""
        reason = cls.why_not(context)
        if reason:
            cls.poll_message_set(reason)
        return not reason


class SteerOperator(PolledOperator):
    """Base of operators that do their work at once.

    A `SteerError` raised by `run` is shown as one sentence, and the operator is cancelled.
    """

    bl_options = REDO
    in_vain = False
    """Whether nothing was changed; then there is nothing to undo."""

    def run(self, context: bpy.types.Context) -> str | None:
        """Do the work; a text that is returned is shown to the user."""
        raise NotImplementedError

    def warn(self, found: Iterable[Diagnosis]) -> None:
        """Show diagnoses as warnings."""
        for diagnosis in found:
            self.report({"WARNING"}, diagnosis.sentence)

    def execute(self, context: bpy.types.Context) -> Returned:
        """Run, and turn an error into a message."""
        try:
            message = self.run(context)
        except SteerError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if message:
            self.report({"INFO"}, message)
        return {"CANCELLED"} if self.in_vain else {"FINISHED"}


class AddOperator(SteerOperator):
    """Base of operators that add an object: they run at once, and are adjusted afterwards."""

    needs = (why_not_object_mode,)
    lengths: tuple[str, ...] = ()
    """Properties whose defaults are in meters."""

    def execute(self, context: bpy.types.Context) -> Returned:
        """Run with defaults in the units of the scene, as Blender's own operators do."""
        unit = units_per_meter(context.scene)
        for name in self.lengths if unit != 1.0 else ():
            if not self.properties.is_property_set(name):
                setattr(self, name, unit * getattr(self, name))
        return super().execute(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Returned:
        """Run at once; the numbers can be changed in the panel that Blender shows then."""
        return self.execute(context)
