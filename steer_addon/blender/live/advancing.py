"""Advancing: crowds that meet go on by one frame together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import bpy

from ...core.compiled import jit
from ...core.errors import NotReadyError, SteerError
from ...core.step.simulation import advance_together
from ..crowd.links import all_linked
from . import compiling
from .meeting import Takings, meeting_groups


def advance(
    takings: Takings,
    *,
    can_wait: bool,
    hold: Callable[[bpy.types.Object, NotReadyError], None],
    fail: Callable[[bpy.types.Object, SteerError], None],
) -> set[int]:
    """Advance crowds, of which those that meet go together; no error leaves this function.

    Args:
        takings: The crowds, each with what it takes part with.
        can_wait: Whether they may wait until kernels are compiled.
        hold: Called with each crowd that has to wait.
        fail: Called with each crowd that cannot be simulated.

    Returns:
        Session uids of the crowds that were to be advanced, and were not.
    """
    failed: set[int] = set()
    for group in meeting_groups(takings):
        inside = set(map(id, group[0]))
        moving = [row for row in takings if row[1].shown is None]
        members = [obj for obj, taking in moving if id(taking) in inside]
        waiting = can_wait and any(map(compiling.is_waiting, all_linked(members)))
        try:
            with jit.deferring() if can_wait else nullcontext():
                if not waiting:
                    advance_together(*group)
                    continue
        except NotReadyError as error:
            for obj in members:
                hold(obj, error)
        except SteerError as error:
            for obj in members:
                fail(obj, error)
        failed |= {obj.session_uid for obj in members}
    return failed
