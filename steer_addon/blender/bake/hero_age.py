"""Heroes that show an earlier simulation of a live crowd than its settings give now.

Each hero keeps a digest of what its crowd was when it was promoted: the settings of the crowd and
of those that it meets, the points, the keys of the inputs, and where inputs without keys stand.
Shapes of inputs do not count, as to read them would take a redraw too long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import bpy
import numpy as np

from ...core.errors import SteerError
from ..crowd.links import linked_crowds
from ..crowd.live_settings import LiveKey, describe, live_key, played_curves
from ..crowd.properties import settings_of
from ..crowd.records import LastLook, Part
from ..crowd.state import plays_back
from ..live.simulate import fps_of
from ..reading.scene_agents import points_digest
from ..reading.scene_inputs import input_objects
from . import inputs

_KEY = "steer_simulation"
"""Custom property of the empty on top of a hero: the digest."""


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
    """Keep on heroes what their crowd is now; nothing where it plays a bake."""
    found = "" if plays_back(obj) else digest(obj, scene)
    refresh(obj)
    for carrier in carriers:
        carrier[_KEY] = found


def outdated(
    obj: bpy.types.Object, scene: bpy.types.Scene, carriers: dict[int, bpy.types.Object]
) -> set[int]:
    """Ids of the heroes of a live crowd that was changed since; quick enough for every redraw."""
    told = {number: str(carrier.get(_KEY, "")) for number, carrier in carriers.items()}
    if not any(told.values()) or plays_back(obj) or obj.steer.hidden_by_bake:
        return set()
    known = _known.ensure(obj)
    if known.last_look.is_due():
        known.digest = digest(obj, scene)
    if not known.digest:
        return set()
    return {number for number, text in told.items() if text and text != known.digest}


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
    rows = sorted(map(_motion, {*crowds, *input_objects(obj)}))
    for row in sorted(map(points_digest, crowds)) + rows:
        found.update(row)
    return found.hexdigest()


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
