"""Settings that a live result depends on, with keyed values masked.

Keyed values differ from frame to frame without any edit. They are masked in
the settings, and the curves that drive them are compared in their place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...core.crowd.settings import BLOCKS, CrowdSettings
from ...core.parameters import parameters
from ..unchanging import once
from . import animation_paths
from .links import Linked, linked_with, relations_of
from .properties import settings_of
from .records import Part

_PATH = re.compile(r'steer\.(?:behaviors\[(?:(\d+)|"(.*)")\]\.)?(?:(\w+)\.)?(\w+)$')
_CURVE_ARRAYS = ("co", "handle_left", "handle_right")


@dataclass(frozen=True)
class LiveKey:
    """Equal keys give equal results, as far as settings go."""

    settings: CrowdSettings
    """The settings without keyed values."""
    curves: tuple[Any, ...]
    """Curves and drivers that give keyed values."""
    frame_start: int
    fps: float
    linked: tuple[LiveKey, ...] = ()
    """The keys of it and all crowds that it depends on, where there are such."""
    meeting: bytes = b""
    """Which of these see and touch which."""

    def change_to(self, other: LiveKey) -> str:
        """The code of what differs: steps of two lengths in one run would be neither."""
        return "SETTINGS_CHANGED" if other.fps == self.fps else "FRAME_RATE_CHANGED"


def live_key(obj: bpy.types.Object, settings: CrowdSettings, fps: float) -> LiveKey:
    """The key of a crowd as it is now, with the keys of the crowds that it steers by or meets.

    Args:
        obj: The original crowd object.
        settings: Its settings at the current frame.
        fps: Frames per second of its scene.

    Raises:
        ParameterError: The settings of another crowd are out of range.
    """
    linked = linked_with(obj)
    if len(linked.crowds) == 1:
        return _own_key(obj, settings, fps)
    keys, meeting = once((live_key, linked.uids, fps), lambda: _keys(linked, fps))
    return replace(_own_key(obj, settings, fps), linked=keys, meeting=meeting)


_last: Part[list[LiveKey]] = Part(list)
"""The key of a crowd that was asked for last: to compare a thing with itself takes no time."""


def _keys(linked: Linked, fps: float) -> tuple[tuple[LiveKey, ...], bytes]:
    """The keys of linked crowds, and a digest of which see and touch which; names do not count."""
    members = sorted(linked.crowds, key=lambda crowd: crowd.session_uid)
    keys = []
    for crowd in members:
        key, last = own_key(crowd, fps), _last.ensure(crowd)
        if last != [key]:
            last[:] = [key]
        keys += last
    meeting = hashlib.blake2b(digest_size=16)
    for relation in relations_of(members):
        meeting.update(relation.tobytes())
    return tuple(keys), meeting.digest()


def own_key(crowd: bpy.types.Object, fps: float) -> LiveKey:
    """The key of a crowd without those of others."""
    return _own_key(crowd, current_settings(crowd), fps)


def current_settings(obj: bpy.types.Object) -> CrowdSettings:
    """The settings of an original crowd object at the current frame.

    Raises:
        ParameterError: They are out of range.
    """
    return once((current_settings, obj.session_uid), lambda: settings_of(obj))


def _own_key(obj: bpy.types.Object, settings: CrowdSettings, fps: float) -> LiveKey:
    curves = tuple(describe(curve) for curve in steer_curves(obj))
    masked = settings
    for path in sorted({curve[0] for curve in curves}):
        masked = _mask(masked, path)
    return LiveKey(masked, curves, obj.steer.frame_start, fps)


def steer_curves(obj: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """The f-curves and drivers of a crowd's settings, those of NLA strips included."""
    return (c for c in played_curves(obj.animation_data) if c.data_path.startswith("steer."))


def played_curves(animation: bpy.types.AnimData | None) -> Iterator[bpy.types.FCurve]:
    """The f-curves and drivers of some data, those of NLA strips included."""
    if animation is None:
        return
    for action, slot in animation_paths.played_actions(animation):
        for bag in animation_paths.channelbags(action, slot):
            yield from bag.fcurves
    yield from animation.drivers


def describe(curve: bpy.types.FCurve) -> tuple[Any, ...]:
    """All that a curve or driver is made of; equal for equal ones."""
    keys = curve.keyframe_points
    values = np.empty(2 * len(keys), np.float32)
    arrays = []
    for name in _CURVE_ARRAYS:
        keys.foreach_get(name, values)
        arrays.append(values.tobytes())
    kinds = tuple(key.interpolation for key in keys)
    driver = curve.driver
    formula: tuple[Any, ...] = ()
    if driver is not None:
        sources = [(v.type, t.data_path) for v in driver.variables for t in v.targets]
        formula = (driver.type, driver.expression, tuple(sources))
    state = (curve.mute, curve.extrapolation, len(curve.modifiers))
    return (curve.data_path, *arrays, kinds, state, formula)


def _mask(settings: CrowdSettings, path: str) -> CrowdSettings:
    """Settings with the value under a data path at its default."""
    match = _PATH.match(path)
    if match is None:
        return settings
    number, name, group, prop = match.groups()
    if number is None and name is None:
        if group in BLOCKS:
            block = _reset(getattr(settings, group), prop)
            return replace(settings, **{group: block})
        return replace(settings, seed=0) if prop == "seed" else settings
    stack = list(settings.behaviors)
    names = [entry.key for entry in stack]
    place = int(number) if number is not None else names.index(name) if name in names else -1
    if not 0 <= place < len(stack) or group not in (None, stack[place].definition.type):
        return settings
    stack[place] = _reset(stack[place], prop)
    return replace(settings, behaviors=tuple(stack))


def _reset(block: Any, prop: str) -> Any:
    info = parameters(block).get(prop)
    return block if info is None else replace(block, **{prop: info.default})
