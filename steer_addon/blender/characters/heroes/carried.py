"""Actions of heroes whose rigs move as objects: by their own keys, or by what they hang from.

A hero hangs from its agent instead. So it plays copies whose keys put the rig where it was when the
character was made; all of them do, since strips blend what has no key with nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from mathutils import Quaternion

from ....core.results.tracks import continuous
from ..keys import add_curves, curves_of, frames_of, slot_of
from ..origins import Origins
from ..sampling import Track, is_moved, matrix_of, row_of
from .hero import TURN_MODE
from .turns import turns_as

_PLACES = ("location", "rotation_", "scale", "delta_")
"""How the names of properties begin that put an object somewhere."""


def put_back(track: Track, origins: Origins, number: int) -> None:
    """Put a rig that was read to where it was when the character was made of it.

    Args:
        track: An action as it was read now.
        origins: What the character was made of.
        number: Number of the action there.
    """
    worlds = np.array(origins.tracks[number].worlds)
    if not len(worlds):
        if is_moved(track.values[:, -1]):
            # older characters say nothing of it
            return
        worlds = np.array([row_of(origins.above @ origins.basis)])
    worlds[:, 3:7] = continuous(worlds[:, 3:7].astype(np.float32))
    now, then = (np.linspace(0.0, 1.0, len(rows)) for rows in (track.values, worlds))
    for index, column in enumerate(worlds.T):
        track.values[:, -1, index] = np.interp(now, then, column)


def carried(origins: Origins, mark: str, made: list[bpy.types.ID]) -> Origins:
    """What a character was made of, with actions that move the rig itself, too.

    Args:
        origins: What it was made of.
        mark: Custom property of copies of actions.
        made: List to which each copy is added.
    """
    actions, first = list(origins.actions), None
    back = origins.above.inverted_safe()
    for number, track in enumerate(origins.tracks):
        if not track.worlds:
            continue
        parts = [(back @ matrix_of(row)).decompose() for row in track.worlds]
        turns = [turn for _place, turn, _size in parts]
        first = first or turns[0]
        # of two that are equal the nearer one, since strips blend number by number
        turns = [turn * -1.0 if turn.dot(first) < 0.0 else turn for turn in turns]
        action = actions[number] = actions[number].copy()
        action[mark], action.use_fake_user = origins.actions[number].name, False
        made.append(action)
        _key(action, origins.rig, parts, turns_as(TURN_MODE, turns))
    return replace(origins, actions=tuple(actions))


def _key(
    action: bpy.types.Action,
    rig: bpy.types.Object,
    parts: list[tuple[Any, Quaternion, Any]],
    turns: tuple[str, Any],
) -> None:
    slot: Any = slot_of(action, rig)
    times = np.linspace(*frames_of(action, rig), len(parts))
    strip: Any = action.layers[0].strips[0]
    curves = strip.channelbag(slot, ensure=True).fcurves
    for curve in curves_of(action, slot):
        if curve.data_path.startswith(_PLACES):
            curves.remove(curve)
    add_curves(curves, "location", times, np.array([place for place, _turn, _size in parts]))
    add_curves(curves, turns[0], times, turns[1])
    add_curves(curves, "scale", times, np.array([size for _place, _turn, size in parts]))
