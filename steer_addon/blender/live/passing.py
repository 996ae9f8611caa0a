"""Crowds that walk through each other, as none of them steers by the other.

Bodies meet those of their own crowd only. Some times a second the crowds that are simulated are
compared; a meeting is reported until their frames are simulated again. Crowds whose boxes
overlap take turns, so that a look takes some milliseconds at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

_MOST_BODIES = 2000
"""Number of bodies that are compared at a look; of larger crowds others at each look."""

_found: Part[dict[int, _Met]] = Part(dict)
"""By the session uid of the other crowd."""


@dataclass
class _Met:
    """Where two crowds met: the frames of both, and the last known name of the other one."""

    mine: Frame
    others: Frame
    name: str


def told(
    obj: bpy.types.Object, scene: bpy.types.Scene, runs: Mapping[int, LiveRun]
) -> list[Diagnosis]:
    """Which crowds of the scene a crowd walks through; quick enough for every redraw."""
    found = []
    for uid, met in (_found.get(obj) or {}).items():
        if _has(runs, obj.session_uid, met.mine) and _has(runs, uid, met.others):
            other = _named(scene, uid, met)
            # deleted objects keep their frames, for undo
            if other is not None:
                found.append(diagnose("CROWDS_OVERLAP", other.name, object=other.name))
    return found


def _named(scene: bpy.types.Scene, uid: int, met: _Met) -> bpy.types.Object | None:
    """The other crowd, if it is in the scene; all objects are asked after a new name only."""
    found = scene.objects.get(met.name)
    if found is None or found.session_uid != uid:
        found = next((obj for obj in scene.objects if obj.session_uid == uid), None)
        met.name = met.name if found is None else found.name
    return found


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
    if part or number % _interval(scene):
        return
    members = find_members()
    _compare(scene, [o for o in members if _last(o, runs) == number], runs, number)


def look_back(
    scene: bpy.types.Scene,
    members: Sequence[bpy.types.Object],
    runs: Mapping[int, LiveRun],
    last: int,
) -> Iterator[int]:
    """Compare the crowds at frames that were simulated without playing.

    Args:
        scene: The scene.
        members: Its crowds that are simulated.
        runs: Their frames, by session uid.
        last: The last frame.

    Yields:
        The numbers of the frames that are looked at.
    """
    first = min((obj.steer.frame_start for obj in members), default=last + 1)
    step = _interval(scene)
    for number in range(-(-first // step) * step, last + 1, step):
        _compare(scene, members, runs, number)
        yield number


def _interval(scene: bpy.types.Scene) -> int:
    return max(1, round(fps_of(scene) / _LOOKS))


def _last(obj: bpy.types.Object, runs: Mapping[int, LiveRun]) -> int | None:
    run = runs.get(obj.session_uid)
    return None if run is None else run.last(obj)


def _compare(
    scene: bpy.types.Scene,
    members: Sequence[bpy.types.Object],
    runs: Mapping[int, LiveRun],
    number: int,
) -> None:
    """Compare as many pairs of crowds as a look has time for; which ones, the frame tells."""
    seen = {}
    for crowd in members:
        run = runs.get(crowd.session_uid)
        frame = None if run is None else run.frames.get(number)
        if frame is not None and crowd.steer.bodies.collide_agents:
            seen[crowd] = frame
    if len(seen) < 2:
        return
    boxes = {crowd: meetings.box(frame) for crowd, frame in seen.items()}
    sees = {crowd: crowd_slots(crowd).values() for crowd in seen}
    pairs = [
        (a, b)
        for a, b in combinations(seen, 2)
        if meetings.come_near(boxes[a], boxes[b])
        and not (b in sees[a] or a in sees[b] or _have_met(a, b, runs))
    ]
    turn, left = number // _interval(scene), _MOST_BODIES
    begin = turn % max(1, len(pairs))
    for a, b in pairs[begin:] + pairs[:begin]:
        if left <= 0:
            return
        mine, others = seen[a], seen[b]
        left -= max(len(mine.id), len(others.id))
        if meetings.overlap(mine, others, turn=turn // len(pairs), most=_MOST_BODIES):
            _found.ensure(a)[b.session_uid] = _Met(mine, others, b.name)
            _found.ensure(b)[a.session_uid] = _Met(others, mine, a.name)


def _have_met(a: bpy.types.Object, b: bpy.types.Object, runs: Mapping[int, LiveRun]) -> bool:
    """Whether crowds are known to have met, at frames that they still have."""
    met = (_found.get(a) or {}).get(b.session_uid)
    if met is None:
        return False
    return _has(runs, a.session_uid, met.mine) and _has(runs, b.session_uid, met.others)
