"""Keyed values of a rig beside the places of its bones, as switches between IK and FK.

They are custom properties, influences of constraints, handles of bendy bones, and shape keys whose
curves are in the same action. A blend has them by its shares, as it has the places of bones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .keys import curves_of, key_slot_of, slot_of

F64 = NDArray[np.float64]
Key = tuple[str, str, int]
"""Name of the shape keys ("" for the rig), data path, and array index."""
_PLACES = re.compile(
    r'^(pose\.bones\["(?:[^"\\]|\\.)*"\]\.)?(delta_)?(location|rotation_\w+|scale)$|^hide_'
)
"""Paths of what is in the matrices of bones and of the rig, and of what samples set themselves."""
_CUSTOM = re.compile(r'^(.*)\["((?:[^"\\]|\\.)*)"\]$')
"""Path of a custom property."""


class Settings:
    """The keyed values of a copy of a rig, in one order."""

    def __init__(
        self, rig: bpy.types.Object, owners: dict[str, Any], actions: Sequence[bpy.types.Action]
    ) -> None:
        """Find all values that some actions key.

        Args:
            rig: The rig whose copy it is.
            owners: The copy by "", and those of shape keys of its parts by the names of theirs.
            actions: The actions.
        """
        self._rig, self._owners = rig, owners
        self._fields: dict[Key, _Field] = {}
        for key in sorted({key for action in actions for key, _curve in self._curves(action)}):
            found = _field(owners[key[0]], key)
            if found is not None:
                self._fields[key] = found
        self._usual = np.array([float(found.value) for found in self._fields.values()])
        for name in {name for name, _path, _index in self._fields if name}:
            stop(owners[name])

    def read(self, action: bpy.types.Action, frames: Sequence[float]) -> F64:
        """Values of an action at some frames, shape (frame_count, value_count)."""
        result = np.tile(self._usual, (len(frames), 1))
        order = {key: number for number, key in enumerate(self._fields)}
        for key, curve in self._curves(action):
            if key in order:
                result[:, order[key]] = [curve.evaluate(frame) for frame in frames]
        return result

    def put(self, values: F64) -> None:
        """Write values to the copies, shape (value_count,) at least."""
        for found, value in zip(self._fields.values(), values.tolist(), strict=False):
            found.put(value)

    def _curves(self, action: bpy.types.Action) -> Iterator[tuple[Key, bpy.types.FCurve]]:
        for curve in curves_of(action, slot_of(action, self._rig)):
            if not _PLACES.match(curve.data_path):
                yield ("", curve.data_path, curve.array_index), curve
        for name, keys in self._owners.items():
            slot = key_slot_of(action, keys, name, len(self._owners) == 2) if name else None
            for curve in curves_of(action, slot):
                yield (name, curve.data_path, curve.array_index), curve


@dataclass(frozen=True)
class _Field:
    """A number that is written to."""

    owner: Any
    name: str
    index: int | None
    is_custom: bool

    @property
    def value(self) -> Any:
        """The value now."""
        return self._whole if self.index is None else self._whole[self.index]

    @property
    def _whole(self) -> Any:
        return self.owner[self.name] if self.is_custom else getattr(self.owner, self.name)

    def put(self, value: float) -> None:
        """Write a value; a switch between two states is on or off."""
        old = self.value
        new = type(old)(round(value) if isinstance(old, int) else value)
        if self.index is not None:
            self._whole[self.index] = new
        elif self.is_custom:
            self.owner[self.name] = new
        else:
            setattr(self.owner, self.name, new)


def _field(owner: Any, key: Key) -> _Field | None:
    """What a data path leads to; None where there is no number that can be written."""
    _name, path, index = key
    custom = _CUSTOM.match(path)
    above, name = custom.groups() if custom else path.rpartition(".")[::2]
    try:
        found = owner.path_resolve(above) if above else owner
        if custom:
            name = re.sub(r"\\(.)", r"\1", name)
        elif found.bl_rna.properties[name].is_readonly:
            return None
        whole = found[name] if custom else getattr(found, name)
        result = _Field(found, name, index if hasattr(whole, "__len__") else None, bool(custom))
        return result if isinstance(result.value, (bool, int, float)) else None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def stop(keys: Any) -> None:
    """Let nothing but drivers move shape keys."""
    data = keys.animation_data
    if data is not None:
        data.use_tweak_mode = False
        data.action, data.use_nla = None, False
