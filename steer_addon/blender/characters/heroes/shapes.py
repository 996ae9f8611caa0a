"""Shape keys of heroes: those that the actions of a rig key, blended as its bones are.

Strips of shape keys would leave out actions that do not key them, where a blend goes back to the
usual value. So a hero gets keys of its own for each frame, and a mesh of its own to hold them.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..copies import keys_of
from ..keys import add_slot, curves_of, fill, frames_of, key_slot_of
from ..origins import Origins
from ..settings import stop

F64 = NDArray[np.float64]
Curves = dict[tuple[str, int], list[Any]]
"""Curve of each track, or None, by data path and array index."""


class Shapes:
    """The shape keys that move while a hero plays its actions."""

    def __init__(self, origins: Origins) -> None:
        """Find the curves of the shape keys of all that is seen."""
        self._actions = origins.actions
        self._frames = [frames_of(action, origins.rig) for action in self._actions]
        found = {keys for part in origins.parts if (keys := keys_of(part)) is not None}
        self._curves = {keys: self._curves_of(keys, len(found) == 1) for keys in found}

    def move(self, keys: bpy.types.Key) -> bool:
        """Whether shape keys are keyed by an action, or follow a driver."""
        data = keys.animation_data
        return bool(self._curves.get(keys)) or data is not None and len(data.drivers) > 0

    def key(
        self,
        copies: dict[bpy.types.Object, bpy.types.Object],
        action: bpy.types.Action,
        numbers: F64,
        shares: F64,
        parts: F64,
    ) -> None:
        """Key the shape keys of copies as the tracks blend them.

        Args:
            copies: The copies, by the originals.
            action: The action that gets the keys.
            numbers: Frame numbers, shape (frame_count,).
            shares: Share of each track at each frame, shape (frame_count, track_count).
            parts: Time of each track as a share of its duration, unwrapped, the same shape.
        """
        done = set()
        for obj, copy in copies.items():
            keys, twin = keys_of(obj), keys_of(copy)
            if keys is None or twin is None or twin in done or not self._curves.get(keys):
                continue
            done.add(twin)
            stop(twin)
            curves = add_slot(action, twin)
            for (path, index), row in self._curves[keys].items():
                values = self._values(row, _usual(keys, path, index), shares, parts)
                new = curves.new(path, index=index)
                fill(new, np.stack([numbers, values], axis=1).astype(np.float32), "LINEAR")

    def _curves_of(self, keys: bpy.types.Key, alone: bool) -> Curves:
        result: Curves = {}
        for number, action in enumerate(self._actions):
            slot = key_slot_of(action, keys, keys.name, alone)
            for curve in curves_of(action, slot):
                row = result.setdefault(
                    (curve.data_path, curve.array_index), [None] * len(self._actions)
                )
                row[number] = curve
        return result

    def _values(self, row: list[Any], usual: float, shares: F64, parts: F64) -> F64:
        """Values of one curve at all frames, shape (frame_count,)."""
        result = np.zeros(len(shares))
        for number, (curve, (first, last)) in enumerate(zip(row, self._frames, strict=True)):
            used = np.flatnonzero(shares[:, number])
            values: Any = usual
            if curve is not None:
                times = first + _wrapped(parts[used, number]) * (last - first)
                values = [curve.evaluate(time) for time in times]
            result[used] += shares[used, number] * values
        return result


def _wrapped(parts: F64) -> F64:
    """Unwrapped times as shares of a duration; those that never wrap stay, ends included."""
    within = len(parts) == 0 or parts.min() >= 0.0 and parts.max() <= 1.0
    result: F64 = parts if within else parts % 1.0
    return result


def _usual(keys: bpy.types.Key, path: str, index: int) -> float:
    """What a value is where no action keys it."""
    try:
        value: Any = keys.path_resolve(path)
        return float(value[index] if hasattr(value, "__len__") else value)
    except (IndexError, TypeError, ValueError):
        return 0.0
