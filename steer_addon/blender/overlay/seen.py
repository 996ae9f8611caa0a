"""The shown frame of a crowd: simulated and stored, saved in the file, or played from a bake.

Every shown frame can be explained; the sources differ in the additional data, which is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from mathutils import Quaternion

from ...core.cache import MANIFEST, open_cache
from ...core.diagnoses import diagnose
from ...core.errors import SceneError, SteerError
from ...core.results.frames import Frame, rotations
from ..bake import keyframes
from ..bake.copies import make_template
from ..crowd import baked_file
from ..crowd.records import Part
from ..crowd.scene_time import moment
from ..crowd.state import get_state, plays_back, read_state
from ..live import live

if TYPE_CHECKING:
    from ...core.agents import Agents
    from ...core.cache import Cache
    from ...core.results.memories import Kept

_NUMBER = re.compile(r"\.(-?[0-9]+)$")
_KEYED = "velocity"
"""Custom property of keyed objects; their children have none."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A crowd at the shown frame."""

    frame: Frame
    kept: Kept | None = None
    """Data kept with a frame that was simulated here."""
    agents: Agents | None = None
    """The crowd with its memory, if a bake holds that."""
    own_radius: bool = True
    """Whether the frame knows the radii."""
    way_out: str = ""
    """Way to get the memory of the behaviors, for messages."""


class Source(NamedTuple):
    """Source of the shown frame.

    Attributes:
        key: Equal at two times if the same frame is shown.
        read: Reads the frame; it may raise a SteerError.
    """

    key: Any
    read: Callable[[], Shown]


_opened: Part[dict[Any, Cache]] = Part(dict, until_undo=True)
"""The opened cache of a crowd's bake, by the status of its manifest file."""


def forget() -> None:
    """Close all caches, as when the overlay is hidden."""
    _opened.clear()


def find(obj: bpy.types.Object, scene: bpy.types.Scene) -> Source | None:
    """Source of the crowd's frame at the scene's frame; None if it shows no frame.

    Raises:
        SteerError: The crowd plays a bake that cannot be read.
    """
    now = moment(scene)[0]
    number = min(max(now, obj.steer.frame_start), obj.steer.frame_end)
    if plays_back(obj):
        return _cached(obj, now)
    if obj.steer.hidden_by_bake:
        return Source(("KEYS", now), lambda: _keyed(obj, now))
    frame = live.get_frame(obj, number)
    if frame is None:
        state = get_state(obj)
        frame = read_state(state) if state is not None and state.type == "MESH" else None
        if frame is None:
            return None
        # the run may hold the frame that the state still shows, with the data kept with it
        frame = live.get_frame(obj, frame.number) or frame
    kept = live.get_kept(obj, frame.number)
    # compared by identity: comparing arrays would take longer; a state is read again each time
    key = frame.number if kept is None else frame
    return Source(key, lambda: Shown(frame, kept, way_out="play again to know it"))


def seen_frame(obj: bpy.types.Object, scene: bpy.types.Scene) -> Frame | None:
    """The frame that a crowd shows, or None if it shows no readable frame."""
    try:
        found = find(obj, scene)
        return None if found is None else found.read().frame
    except SteerError:
        return None


def stepped_frame(obj: bpy.types.Object, scene: bpy.types.Scene) -> Frame | None:
    """The frame that other crowds steer by: the simulated one, also of a baked crowd."""
    number = min(max(moment(scene)[0], obj.steer.frame_start), obj.steer.frame_end)
    return live.get_frame(obj, number) or seen_frame(obj, scene)


def _cached(obj: bpy.types.Object, number: int) -> Source:
    """A frame of the cache from which the played file was written."""
    path = baked_file.file_of(obj)
    if path is None:
        raise SceneError(diagnose("BAKE_WITHOUT_MODIFIER"))
    stamp, cache = _open(obj, path.parent)
    frames = cache.frames
    if not len(frames):
        raise SceneError(f"{path.parent} holds no frames: bake the crowd again")
    held = min(max(number, frames[0]), frames[-1])

    def read() -> Shown:
        frame = cache.frame(held)
        states = cache.state_frames
        if held in states:
            return Shown(frame, agents=cache.state(held))
        nearest = min(states, key=lambda other: abs(other - held), default=None)
        way_out = "bake again" if nearest is None else f"the bake holds it at frame {nearest}"
        return Shown(frame, way_out=way_out)

    return Source((stamp, held), read)


def _open(obj: bpy.types.Object, folder: Path) -> tuple[Any, Cache]:
    try:
        found = (folder / MANIFEST).stat()
        stamp = (str(folder), found.st_mtime_ns, found.st_size)
    except OSError:
        raise SceneError(
            f"The bake is played from {folder}, where its cache is missing: put the cache back, "
            "or delete the bake, to see why its agents turn"
        ) from None
    known = _opened.ensure(obj)
    if stamp not in known:
        known.clear()
        known[stamp] = open_cache(folder)
    return stamp, known[stamp]


def _keyed(obj: bpy.types.Object, number: int) -> Shown:
    """A frame from the objects of a keyframe bake, at the scene's frame."""
    named = {}
    collection = obj.steer.bake_collection
    for carrier in () if collection is None else collection.objects:
        match = _NUMBER.search(carrier.name)
        if match is not None and _KEYED in carrier:
            named[int(match[1])] = carrier
    if not named:
        raise SceneError(
            "The crowd is baked to objects that are gone: delete the bake to see why agents turn"
        )
    rows = [named[number] for number in sorted(named)]
    turn = _template_turn(obj)
    velocity = np.array([c[_KEYED] for c in rows], np.float32)
    rotation = np.array([tuple(c.rotation_quaternion @ turn) for c in rows], np.float32)
    if collection is not None and keyframes.UNALIGNED_KEY in collection:
        # the keys hold no headings, so agents count as heading where they go
        level = obj.steer.motion.motion == "GROUND"
        ahead = velocity * np.array([1.0, 1.0, 0.0], np.float32) if level else velocity
        rotation = rotations(ahead, obj.steer.motion.forward_axis)
    frame = Frame(
        number=number,
        id=np.array(sorted(named), np.int64),
        position=np.array([c.location for c in rows], np.float32),
        velocity=velocity,
        rotation=rotation,
        radius=np.full(len(rows), obj.steer.agents.radius, np.float32),
        # bakes of older versions of Steer hide the dead in the viewport as well
        alive=np.array([not c.hide_render for c in rows], np.uint8),
    )
    return Shown(frame, own_radius=False, way_out="keys do not hold it, a bake to a cache does")


def _template_turn(obj: bpy.types.Object) -> Any:
    """Rotation that removes the rotation of the copied object from a key."""
    source, collection = obj.steer.bake_source_object, obj.steer.bake_collection
    if collection is not None and keyframes.ROTATION_KEY in collection:
        return Quaternion(collection[keyframes.ROTATION_KEY]).inverted()
    if source is None or collection is None:
        return Quaternion()
    template = make_template(source, collection)
    return Quaternion(template.keyed_rotation).inverted()
