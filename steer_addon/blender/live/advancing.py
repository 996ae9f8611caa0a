"""Advancing: crowds that meet go on by one frame together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext

import bpy

from ...core.compiled import jit
from ...core.errors import KernelsMissingError, SteerError
from ...core.results.frames import Frame
from ...core.step.simulation import Taking, advance_together
from ...core.step.together import Meeting, groups_of
from ..crowd.links import crowd_slots, linked_crowds, relations_of
from . import compiling
from .played import played

Takings = Sequence[tuple[bpy.types.Object, Taking]]
"""Crowds, each with what it takes part with."""
FrameFinder = Callable[[bpy.types.Object, int], Frame | None]
"""Finds the frame of a crowd by its number; None if it is not simulated."""


def meeting_groups(
    members: Takings,
) -> list[tuple[list[Taking], Meeting]]:
    """Crowds that meet one another, with which ones do: each group is advanced together.

    Args:
        members: The crowds, each with what it takes part with.
    """
    crowds, takings = [crowd for crowd, _ in members], [taking for _, taking in members]
    meeting = Meeting(*relations_of(crowds))
    groups = groups_of(meeting.sees | meeting.touches)
    return [([takings[k] for k in group], meeting.part(group)) for group in groups]


def frames_before(obj: bpy.types.Object, number: int, find: FrameFinder) -> Mapping[int, Frame]:
    """The frames, before one, of the crowds that a crowd steers by, by session uid."""
    found = {crowd.session_uid: find(crowd, number - 1) for crowd in crowd_slots(obj).values()}
    return {uid: frame for uid, frame in found.items() if frame is not None}


def bakes_beside(
    takings: Collection[tuple[bpy.types.Object, Taking]], number: int
) -> list[tuple[bpy.types.Object, Taking]]:
    """The crowds that play a bake and are met in the step to a frame, each as it is played."""
    moving = [obj for obj, taking in takings if taking.shown is None]
    beside = {other.session_uid: other for obj in moving for other in linked_crowds(obj)}
    bakes = [(other, played(other)) for other in beside.values()]
    return [(other, bake.taking(number)) for other, bake in bakes if bake is not None]


def advance(
    takings: Takings,
    *,
    can_wait: bool,
    hold: Callable[[bpy.types.Object, KernelsMissingError], None],
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
        members = [obj for obj, taking in takings if taking in group[0] and taking.shown is None]
        linked = [other for obj in members for other in linked_crowds(obj)]
        waiting = can_wait and any(map(compiling.is_waiting, linked))
        try:
            with jit.deferring() if can_wait else nullcontext():
                if not waiting:
                    advance_together(*group)
                    continue
        except KernelsMissingError as error:
            for obj in members:
                hold(obj, error)
        except SteerError as error:
            for obj in members:
                fail(obj, error)
        failed |= {obj.session_uid for obj in members}
    return failed
