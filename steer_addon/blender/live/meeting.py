"""Meeting: which crowds go on together, and what a crowd reads of others in a step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import bpy

from ...core.results.frames import Frame
from ...core.runs import group
from ...core.step.simulation import Taking
from ...core.step.together import Meeting
from ..crowd.links import all_linked, crowd_slots, relations_of
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
    relations = relations_of([crowd for crowd, _ in members])
    return group.meeting_groups([taking for _, taking in members], relations)


def frames_before(obj: bpy.types.Object, number: int, find: FrameFinder) -> Mapping[int, Frame]:
    """The frames, before one, of the crowds that a crowd steers by, by session uid."""
    found = {crowd.session_uid: find(crowd, number - 1) for crowd in crowd_slots(obj).values()}
    return {uid: frame for uid, frame in found.items() if frame is not None}


def bakes_beside(
    takings: Collection[tuple[bpy.types.Object, Taking]], number: int
) -> list[tuple[bpy.types.Object, Taking]]:
    """The crowds that play a bake and are met in the step to a frame, each as it is played."""
    moving = [obj for obj, taking in takings if taking.shown is None]
    bakes = [(other, played(other)) for other in all_linked(moving)]
    return [(other, bake.taking(number)) for other, bake in bakes if bake is not None]
