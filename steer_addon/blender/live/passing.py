"""Crowds that walk through each other, as none of them steers by the other.

Bodies meet those of their own crowd only. Some times a second the crowds that are simulated are
compared, and what is found is told until their frames are simulated again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import bpy

from ...core.diagnoses import Diagnosis, diagnose
from ...core.results import meetings
from ..crowd.links import crowd_slots
from ..crowd.records import Part
from ..crowd.scene_time import moment
from .simulate import fps_of

if TYPE_CHECKING:
    from ...core.results.frames import Frame
    from .live_store import LiveRun

_LOOKS = 6
"""Number of comparisons per second of scene time: bodies that run pass in a sixth of one."""

_found: Part[dict[int, tuple[Frame, Frame, Diagnosis]]] = Part(dict)
"""By the session uid of the other crowd: the frames of both where they met, and what is told."""


def told(
    obj: bpy.types.Object, scene: bpy.types.Scene, runs: Mapping[int, LiveRun]
) -> list[Diagnosis]:
    """Which crowds of the scene a crowd walks through; quick enough for every redraw."""
    known = _found.get(obj) or {}
    return [
        what
        for uid, (mine, others, what) in known.items()
        if _has(runs, obj.session_uid, mine)
        and _has(runs, uid, others)
        # deleted objects keep their frames, for undo
        and what.subject in scene.objects
    ]


def _has(runs: Mapping[int, LiveRun], uid: int, frame: Frame) -> bool:
    """Whether a crowd still has this very frame."""
    return uid in runs and runs[uid].frames.get(frame.number) is frame


def look(
    scene: bpy.types.Scene,
    find_members: Callable[[], Sequence[bpy.types.Object]],
    runs: Mapping[int, LiveRun],
) -> None:
    """Compare the crowds at a frame that was just simulated.

    Args:
        scene: The scene.
        find_members: Finds its crowds that are simulated.
        runs: Their frames, by session uid.
    """
    number, part = moment(scene)
    if part or number % max(1, round(fps_of(scene) / _LOOKS)):
        return
    members = find_members()
    seen = {crowd: _new_frame(crowd, runs, number) for crowd in members}
    for a, b in combinations(members, 2):
        mine, others = seen[a], seen[b]
        if mine is None or others is None or _is_met(a, b):
            continue
        known = _found.ensure(a).get(b.session_uid)
        if known and _has(runs, a.session_uid, known[0]) and _has(runs, b.session_uid, known[1]):
            continue
        if meetings.overlap(mine, others):
            _found.ensure(a)[b.session_uid] = mine, others, _told(b)
            _found.ensure(b)[a.session_uid] = others, mine, _told(a)


def _new_frame(obj: bpy.types.Object, runs: Mapping[int, LiveRun], number: int) -> Frame | None:
    """The frame that a crowd with bodies was just simulated at; None for others."""
    run = runs.get(obj.session_uid)
    if run is None or run.last(obj) != number or not obj.steer.bodies.collide_agents:
        return None
    return run.frames.get(number)


def _is_met(a: bpy.types.Object, b: bpy.types.Object) -> bool:
    """Whether one of the crowds steers by the other."""
    return b in crowd_slots(a).values() or a in crowd_slots(b).values()


def _told(other: bpy.types.Object) -> Diagnosis:
    return diagnose("CROWDS_OVERLAP", other.name, object=other.name)
