"""The run that makes variations now: a timer looks at it, and it ends with the file.

Apart from `running`, so that nothing of batches is loaded before variations are made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import bpy
from bpy.app.handlers import persistent

from ...core.errors import SteerError
from .. import app_handlers
from ..crowd.records import Part

INTERVAL = 0.25
"""Time between two looks at the processes [s]."""


class Run(Protocol):
    """Processes that make the variations of a crowd.

    Attributes:
        uid: Session uid of the crowd.
        name: Its name.
    """

    uid: int
    name: str

    @property
    def left(self) -> int:
        """How many tasks are left."""

    @property
    def fault(self) -> str:
        """Why a variation could not be made; empty while all is well."""

    @property
    def share(self) -> float:
        """The share that is done, 0 to 1."""

    def text(self) -> str:
        """How far it is, in words."""

    def step(self) -> None:
        """See what has ended, and start what may start."""

    def stop(self) -> None:
        """End all processes; variations that are made stay."""


_running: list[Run] = []
_faults: Part[str] = Part(str)


def run() -> Run | None:
    """The run that is under way, or None."""
    return _running[0] if _running else None


def fault_of(obj: bpy.types.Object) -> str:
    """Why the last run of a crowd did not make all its variations; empty if it did."""
    return _faults.get(obj) or ""


def keep(new: Run) -> None:
    """Keep a run that begins."""
    _running.append(new)
    _each_of(new, _faults.drop)


def in_background() -> None:
    """Let a timer go on with it, while Blender does other things."""
    if not bpy.app.timers.is_registered(look):
        bpy.app.timers.register(look, first_interval=0.0, persistent=True)


def look() -> float | None:
    """Timer: start and end processes; None ends the timer."""
    found = run()
    if found is None:
        return None
    fault = ""
    try:
        found.step()
    except SteerError as error:
        fault = str(error)
    if fault or not found.left:
        stop()
        fault = fault or found.fault
        _each_of(found, lambda obj: _faults.keep(obj, fault))
    app_handlers.redraw_panels()
    return INTERVAL if _running else None


def _each_of(found: Run, act: Callable[[bpy.types.Object], None]) -> None:
    """Call a function with the crowd of a run, if it is still there."""
    for obj in bpy.data.objects:
        if obj.session_uid == found.uid:
            act(obj)


def stop() -> None:
    """End the processes; variations that are made stay. Safe at any time."""
    while _running:
        _running.pop().stop()


@persistent
def on_load(*_: object) -> None:
    """Another file is opened: nobody waits for the variations of this one."""
    stop()


HANDLERS = (("load_pre", on_load),)


def register() -> None:
    """Add the handler."""
    app_handlers.add(HANDLERS)


def unregister() -> None:
    """Leave no process, no timer and no handler behind."""
    stop()
    app_handlers.remove(HANDLERS)
    app_handlers.remove_timers(look)
