"""What heroes consist of, and whether that was changed by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import bpy
from mathutils import Matrix

from ..characters.heroes.hero import MARK
from ..characters.keys import keyed_curves, read

_DIGEST = "steer_digest"
"""Custom property of the empty on top of a hero: a digest of its curves as they were made."""


class Parts:
    """What heroes consist of; the objects of the file are looked at once for all of them."""

    def __init__(self, carriers: Iterable[bpy.types.Object]) -> None:
        """Find the parts of heroes by the empties on top of them, and what hangs from all."""
        collections = {found for carrier in carriers for found in carrier.users_collection}
        self._parts: dict[str, list[bpy.types.Object]] = {}
        for part in {obj for found in collections for obj in found.all_objects if MARK in obj}:
            self._parts.setdefault(part[MARK], []).append(part)
        self._hanging: dict[bpy.types.Object, list[bpy.types.Object]] = {}
        for obj in bpy.data.objects:
            if obj.parent is not None and MARK not in obj:
                self._hanging.setdefault(obj.parent, []).append(obj)

    def of(self, carrier: bpy.types.Object) -> list[bpy.types.Object]:
        """All objects that a hero consists of."""
        return self._parts.get(carrier[MARK], [])

    def remember(self, carrier: bpy.types.Object) -> None:
        """Keep what a hero is like now."""
        carrier[_DIGEST] = self._digest(carrier)

    def is_edited(self, carrier: bpy.types.Object) -> bool:
        """Whether a hero was changed since: its keys, strips, modifiers, or what hangs from it."""
        return str(carrier.get(_DIGEST)) != self._digest(carrier)

    def remove(self, parts: list[bpy.types.Object]) -> None:
        """Remove parts of heroes; what the user hung from them stays where it is."""
        for part in parts:
            for obj in self._hanging.get(part, ()):
                place: Matrix = obj.matrix_world.copy()
                obj.parent = None
                obj.matrix_world = place
        bpy.data.batch_remove(parts)

    def _digest(self, carrier: bpy.types.Object) -> str:
        found = hashlib.sha256()
        rows = []
        for part in self.of(carrier):
            text = [part.type, part.data and part.data.name_full, len(part.modifiers)]
            text += [len(part.constraints), len(self._hanging.get(part, ()))]
            rows.append(repr(text).encode() + _animation(part.animation_data))
        for row in sorted(rows):
            found.update(row)
        return found.hexdigest()


def _animation(data: bpy.types.AnimData | None) -> bytes:
    """The curves that an object plays: those of its action, and those of its strips."""
    if data is None:
        return b""
    slot = data.action is not None and data.action_slot is not None
    found = [repr((data.use_nla, len(data.nla_tracks), slot)).encode()]
    for track in data.nla_tracks:
        for strip in track.strips:
            found.append(repr((track.mute, strip.mute, strip.frame_start)).encode())
    for curve in keyed_curves(data):
        values = read(curve.keyframe_points, "co", 2)
        found.append(curve.data_path.encode() + values.tobytes())
    return b"".join(found)
