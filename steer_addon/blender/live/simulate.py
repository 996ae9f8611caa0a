"""Offline simulation of a crowd from its first frame, without playing the user's scene."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ...core.diagnoses import Diagnosis, add_new
from ...core.errors import SceneError
from ...core.results.frames import Frame
from ..crowd.crowds import frame_numbers
from .sessions import Session, sessions


def run(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    frames: range,
    *,
    warnings: list[Diagnosis] | None = None,
    at: list[Session] | None = None,
) -> Iterator[Frame]:
    """Simulate a crowd from its first frame and yield the requested frames.

    The user's scene is neither changed nor played, except when physics of that very scene move an
    input: then it is played, and put back at the end. Close the iterator to cancel.

    Args:
        obj: The crowd.
        scene: Its scene.
        frames: Frames to yield, in ascending order, from the crowd's range.
        warnings: Filled with diagnoses of the scene that the user may want to act on.
        at: Filled with the session whose frame is yielded, for callers that need more than frames.

    Raises:
        SceneError: The frames are backwards, or outside of the crowd's range.
        SteerError: While iterating: the crowd cannot be simulated.
    """
    allowed = frame_numbers(obj)
    first, last = allowed[0], allowed[-1]
    if frames.step < 0 or not len(frames):
        raise SceneError(
            f"Frames {frames.start} to {frames.stop - 1} are none or run backwards: "
            f"give a first and a later last frame from {first} to {last}"
        )
    if frames[0] < first or frames[-1] > last:
        raise SceneError(
            f"Frames {frames[0]} to {frames[-1]} reach outside the range of crowd {obj.name!r}: "
            f"give frames from {first} to {last}, or change its start and end"
        )
    return _run(obj, scene, frames, [] if warnings is None else warnings, [] if at is None else at)


def _run(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    frames: range,
    warnings: list[Diagnosis],
    at: list[Session],
) -> Iterator[Frame]:
    for moment in sessions(obj, scene, frames[-1]):
        # the crowd itself comes first in the list; crowds that it steers by may start earlier
        crowd, session, frame = moment[0]
        if crowd != obj:
            continue
        add_new(warnings, [*session.reader.no_target, *session.warnings])
        if frame.number in frames:
            at[:] = [session]
            yield frame


def continue_to(
    obj: bpy.types.Object, scene: bpy.types.Scene, last: int
) -> list[tuple[bpy.types.Object, Session, list[Frame]]]:
    """Simulate a crowd, and the crowds that it steers by, up to a frame.

    Returns:
        Each crowd that had started by then, with its session at that frame and all its frames.
    """
    found: dict[int, tuple[bpy.types.Object, Session, list[Frame]]] = {}
    for moment in sessions(obj, scene, last):
        for crowd, session, frame in moment:
            frames = found.setdefault(crowd.session_uid, (crowd, session, []))[2]
            if not frames or frames[-1] is not frame:
                frames.append(frame)
    return list(found.values())
