"""Actions that strips may blend: all move the same, and of two equal rotations by the nearer one.

A strip leaves alone what its action does not move: a walk would go on below standing that replaces
it. A quaternion and its negative turn alike, and strips blend number by number: halfway between the
two lies nothing. Where the actions of a rig differ so, heroes play copies with further curves, or
with other signs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..keys import curves_of, fill, frames_of, slot_of
from ..origins import Origins

_SAMPLES = 16
_PATH = "rotation_quaternion"
_REST = {
    "location": (0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0), "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0), "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
}  # fmt: skip
"""What a bone at rest has, see `rest_of`."""
Channel = tuple[str, int]
"""Data path and array index of what a curve moves."""
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
            copy = actions[number] = _copied(action, mark, made)
            curves = _rotations(copy, origins.rig)
            for path in against:
                turns[path] = -turns[path]
                for curve in curves[path].values():
                    _negate(curve)
        before |= turns
    _complete(origins.rig, actions, np.flatnonzero(mixed).tolist(), mark, made)
    return replace(origins, actions=tuple(actions))


def _copied(action: bpy.types.Action, mark: str, made: list[bpy.types.ID]) -> bpy.types.Action:
    copy = action.copy()
    copy[mark], copy.use_fake_user = action.name, False
    made.append(copy)
    return copy


def _complete(
    rig: bpy.types.Object,
    actions: list[bpy.types.Action],
    mixed: list[int],
    mark: str,
    made: list[bpy.types.ID],
) -> None:
    """Let copies of actions hold at rest what only others of them move.

    Args:
        rig: The rig that they move.
        actions: All actions, in which copies take the places of what they are copies of.
        mixed: Numbers of those that are blended.
        mark: Custom property of copies.
        made: List to which each copy is added.
    """
    keyed = {
        actions[number]: {(c.data_path, c.array_index) for c in _bone_curves(actions[number], rig)}
        for number in mixed
    }
    wanted = set[Channel]().union(*keyed.values())
    copies: dict[bpy.types.Action, bpy.types.Action] = {}
    for action, own in keyed.items():
        held = [(channel, _still(rig, channel)) for channel in sorted(wanted - own)]
        if not held:
            continue
        copy = copies[action] = action if mark in action else _copied(action, mark, made)
        strip: Any = copy.layers[0].strips[0]
        curves = strip.channelbag(slot_of(copy, rig), ensure=True).fcurves
        first, _last = frames_of(copy, rig)
        for (path, index), value in held:
            if value is not None:
                key = np.array([[first, value]], np.float32)
                fill(curves.new(path, index=index), key, "CONSTANT")
    for number in mixed:
        actions[number] = copies.get(actions[number], actions[number])


def _bone_curves(action: bpy.types.Action, rig: bpy.types.Object) -> list[bpy.types.FCurve]:
    found = curves_of(action, slot_of(action, rig))
    return [curve for curve in found if curve.data_path.startswith("pose.bones[")]


def _still(rig: bpy.types.Object, channel: Channel) -> float | None:
    """What a bone has where no action moves it; None where there is nothing like that."""
    path, index = channel
    name = path.rpartition(".")[2]
    if name in _REST:
        return _REST[name][index]
    try:
        value: Any = rig.path_resolve(path)
        return float(value[index] if hasattr(value, "__len__") else value)
    except (IndexError, TypeError, ValueError):
        return None


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
