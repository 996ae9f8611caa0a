"""Turns of bones as keys have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mathutils import Quaternion
from numpy.typing import NDArray

from ....core.results.tracks import continuous


def turns_as(mode: Any, turns: Sequence[Quaternion]) -> tuple[str, NDArray[np.float64]]:
    """The property that turns a bone, and its values, shape (turn_count, 3 or 4)."""
    if mode == "QUATERNION":
        return "rotation_quaternion", continuous(np.array(turns, np.float32)).astype(float)
    if mode == "AXIS_ANGLE":
        parts = [turn.to_axis_angle() for turn in turns]
        return "rotation_axis_angle", np.array([(angle, *axis) for axis, angle in parts])
    found = [turns[0].to_euler(mode)]
    for turn in turns[1:]:
        found.append(turn.to_euler(mode, found[-1]))
    return "rotation_euler", np.array(found)
