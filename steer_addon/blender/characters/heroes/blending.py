"""Actions whose rotations strips may blend: of two equal rotations of a bone the nearer one.

A quaternion and its negative turn alike, and strips blend number by number: halfway between the two
lies nothing. Where the actions of a rig differ so, heroes play copies with other signs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..keys import curves_of, frames_of, slot_of
from ..origins import Origins

_SAMPLES = 16
_PATH = "rotation_quaternion"
Curves = dict[str, dict[int, Any]]
"""Curves of the parts of a quaternion, by data path."""


def blendable(origins: Origins, mark: str, made: list[bpy.types.ID]) -> Origins:
    """What a character was made of, with actions that may be blended.

    Args:
        origins: What it was made of.
        mark: Custom property of copies of actions.
        made: List to which each copy is added.
    """
    mixed = np.zeros(len(origins.tracks), np.bool_)
    for row in origins.rows:
        used = np.atleast_2d(row.weights).any(axis=0)
        if np.count_nonzero(used) > 1:
            mixed |= used
    actions, before = list(origins.actions), dict[str, NDArray[np.float64]]()
    for number in np.flatnonzero(mixed):
        action = actions[number]
        frames = frames_of(action, origins.rig)
        found = _rotations(action, origins.rig)
        turns = {path: _turns(parts, frames) for path, parts in found.items()}
        start = np.array([1.0, 0.0, 0.0, 0.0])
        against = [p for p, turn in turns.items() if (turn * before.get(p, start)).sum() < 0.0]
        if against:
            copy = action.copy()
            copy[mark], copy.use_fake_user = action.name, False
            made.append(copy)
            actions[number] = copy
            curves = _rotations(copy, origins.rig)
            for path in against:
                turns[path] = -turns[path]
                for curve in curves[path].values():
                    _negate(curve)
        before |= turns
    return replace(origins, actions=tuple(actions))


def _rotations(action: bpy.types.Action, rig: bpy.types.Object) -> Curves:
    result: Curves = {}
    for curve in curves_of(action, slot_of(action, rig)):
        if curve.data_path.endswith(_PATH):
            result.setdefault(curve.data_path, {})[curve.array_index] = curve
    return result


def _turns(parts: dict[int, Any], frames: tuple[float, float]) -> NDArray[np.float64]:
    """Quaternions at some times, shape (_SAMPLES, 4)."""
    result = np.tile([1.0, 0.0, 0.0, 0.0], (_SAMPLES, 1))
    times = np.linspace(*frames, _SAMPLES)
    for index, curve in parts.items():
        result[:, index] = [curve.evaluate(time) for time in times]
    return result


def _negate(curve: Any) -> None:
    points = curve.keyframe_points
    for name in ("co", "handle_left", "handle_right"):
        values = np.empty(2 * len(points), np.float32)
        points.foreach_get(name, values)
        values[1::2] *= -1.0
        points.foreach_set(name, values)
    curve.update()
