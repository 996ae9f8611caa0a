"""Heroes that show an earlier simulation or bake of a crowd than there is now.

Each hero keeps a digest of what its crowd was when it was promoted. Of one that plays a bake that
is the file; of a live one the settings of the crowd and of those that it meets, the points, the
keys of the inputs, where inputs without keys stand, and the shapes of meshes and curves as they are
without modifiers. Of large meshes some points are looked at, and of the largest ones none, as all
would take a redraw too long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from ...core.errors import SteerError
from ..characters.keys import read
from ..crowd import baked_file
from ..crowd.links import linked_crowds
from ..crowd.live_settings import LiveKey, describe, live_key, played_curves
from ..crowd.properties import settings_of
from ..crowd.records import LastLook, Part
from ..crowd.state import playback_state, plays_back
from ..live.simulate import fps_of
from ..reading.scene_agents import points_digest
from ..reading.scene_inputs import input_objects
from ..reading.scene_meshes import own_mesh, positions
from . import inputs, status

_KEY = "steer_simulation"
"""Custom property of the empty on top of a hero: the digest."""
_OF_FILE = "file "
"""What digests of files that are played begin with."""
_LIVE = "steer_live"
"""Custom property, where that is the digest of a file: that of what the file was made of."""
_SOME, _MOST = 50_000, 2_000_000
"""Vertices of an input that are looked at, and vertices up to which any are."""


class _Known:
    """What is kept of a crowd between two redraws."""

    def __init__(self) -> None:
        self.last_look = LastLook()
        self.digest = ""
        self.key: LiveKey | None = None
        self.settings = ""
        """Digest of the settings that the key has: to make it takes longer than to compare keys."""


_known: Part[_Known] = Part(_Known)


def remember(
    obj: bpy.types.Object, scene: bpy.types.Scene, carriers: Iterable[bpy.types.Object]
) -> None:
    """Keep on heroes what their crowd, or the bake that it plays, is now."""
    found = live = digest(obj, scene)
    if plays_back(obj):
        found, known = _played(obj), status.status(obj, scene)
        live = "" if known is None or known.out_of_date else live
    refresh(obj)
    for carrier in carriers:
        carrier[_KEY], carrier[_LIVE] = found, live


def outdated(
    obj: bpy.types.Object, scene: bpy.types.Scene, carriers: dict[int, bpy.types.Object]
) -> set[int]:
    """Ids of the heroes of what was simulated or baked before; quick enough for every redraw.

    Heroes of a live crowd are those of its bake where that was made of the same, see `follow_bake`,
    and those of a bake are those of the live crowd while that is the same.
    """
    told = {number: str(carrier.get(_KEY, "")) for number, carrier in carriers.items()}
    if plays_back(obj):
        played = _played(obj)
        return {number for number, text in told.items() if played and text and text != played}
    for number, text in told.items():
        if text.startswith(_OF_FILE):
            told[number] = str(carriers[number].get(_LIVE, ""))
    told = {number: text for number, text in told.items() if text}
    if not told or obj.steer.hidden_by_bake:
        return set()
    known = _known.ensure(obj)
    # what is edited just now can only be copied as a whole
    if known.last_look.is_due() and not any(map(_is_edited, input_objects(obj))):
        known.digest = digest(obj, scene)
    if not known.digest:
        return set()
    return {number for number, text in told.items() if text != known.digest}


def follow_bake(
    obj: bpy.types.Object, scene: bpy.types.Scene, carriers: Iterable[bpy.types.Object]
) -> None:
    """Let heroes of a live crowd be those of its new bake, but for those that were old then."""
    played, now = _played(obj), digest(obj, scene)
    for carrier in carriers:
        if played and now and carrier.get(_KEY) == now:
            carrier[_KEY], carrier[_LIVE] = played, now


def refresh(obj: bpy.types.Object) -> None:
    """Make the digest again when it is asked for next."""
    _known.ensure(obj).last_look.forget()


def digest(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Digest of what a crowd is simulated from; empty where its settings are out of range."""
    try:
        settings = _settings(obj, scene)
    except SteerError:
        return ""
    crowds = linked_crowds(obj)
    frames = sorted((crowd.steer.frame_start, crowd.steer.frame_end) for crowd in crowds)
    found = hashlib.blake2b(repr((settings, frames)).encode(), digest_size=16)
    # the order of crowds and inputs is that of names, which may change
    parts = input_objects(obj)
    rows = sorted(map(_motion, {*crowds, *parts}))
    rows += sorted(map(_shape, parts))
    for row in sorted(map(points_digest, crowds)) + rows:
        found.update(row)
    return found.hexdigest()


def _played(obj: bpy.types.Object) -> str:
    """Digest of the file that a crowd plays; empty for one of an older version of Steer."""
    state = playback_state(obj)
    found = "" if state is None else str(state.get(baked_file.DIGEST_KEY, ""))
    return found and f"{_OF_FILE}{found}"


def _settings(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Digest of the settings of a crowd, and of those of crowds that it meets."""
    known, key = _known.ensure(obj), live_key(obj, settings_of(obj), fps_of(scene))
    if known.key != key:
        found = inputs.settings_data(obj, scene, "")
        own = inputs.settings_hash(found.pop(""))
        # the others may get other names
        known.settings = repr((own, sorted(map(inputs.settings_hash, found.values()))))
        known.key = key
    return known.settings


def _motion(part: bpy.types.Object) -> bytes:
    """The keys of an input, or where it stands."""
    if part.animation_data is None and part.parent is None and not part.constraints:
        return np.array(part.matrix_basis, np.float32).tobytes()
    curves = played_curves(part.animation_data)
    rows = [describe(curve) for curve in curves if not curve.data_path.startswith("steer.")]
    return repr(rows).encode()


def _shape(part: bpy.types.Object) -> bytes:
    """What an input is made of."""
    data: Any = part.data
    if isinstance(data, bpy.types.Curve):
        splines = [(len(s.points), len(s.bezier_points), s.use_cyclic_u) for s in data.splines]
        arrays = [
            read(points, name, width)
            for spline in data.splines
            for points, name, width in (
                (spline.points, "co", 4),
                (spline.bezier_points, "co", 3),
                (spline.bezier_points, "handle_left", 3),
                (spline.bezier_points, "handle_right", 3),
            )
        ]
        return repr(splines).encode() + b"".join(array.tobytes() for array in arrays)
    if not isinstance(data, bpy.types.Mesh):
        return b""
    count = len(data.vertices)
    counts = repr((count, len(data.edges), len(data.polygons))).encode()
    if not 0 < count <= _MOST:
        return counts
    with own_mesh(data) as mesh:
        return counts + positions(mesh)[:: 1 + count // _SOME].tobytes()


def _is_edited(part: bpy.types.Object) -> bool:
    return isinstance(part.data, bpy.types.Mesh) and part.data.is_editmode
