"""Legs: those that are turned about the body, as bodies step round, and those that take no steps.

What stands and strikes may slide its feet a little, too, and is no walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numeric.easing import smoothstep

_RIGID = 0.35
"""Share of a leg from the ground up that turns as far as its foot."""
_LEAST_RISE = 0.005
"""Share of the height by which each foot of a walk rises at least; measured: 0.048."""
SHORT = 0.2
"""Share of the height: who walks or hops goes further in a cycle; measured: 0.5 and more, dodges
and blows 0.03 to 0.18."""


@dataclass(frozen=True)
class Leg:
    """How a leg is turned about the body and lifted in each pose of a row.

    Attributes:
        low: Height of its sole where the body stands [m].
        top: Height from which on nothing of it is turned or lifted [m].
        turns: How far its foot is turned to the left at each pose [rad].
        lifts: How far it is lifted [m].
    """

    low: float
    top: float
    turns: tuple[float, ...]
    lifts: tuple[float, ...]


def share_of_turn(heights: NDArray[np.floating[Any]], low: float, top: float) -> NDArray[Any]:
    """By how much what is at heights of a leg goes with its foot, from 0 to 1, see `Leg`."""
    part = (top - heights) / max((1.0 - _RIGID) * (top - low), 1.0e-9)
    result: NDArray[Any] = smoothstep(part)
    return result


def why_no_steps(
    poses: NDArray[np.floating[Any]], feet: Sequence[NDArray[np.intp]], stride: float
) -> str:
    """What says that a cycle is no walk or run of two feet; empty where it may be one.

    Args:
        poses: Vertices of its poses, in place, along -y [m], shape (pose_count, vertex_count, 3).
        feet: Numbers of the vertices that are planted at some time, of each of the two feet.
        stride: Way of the cycle [m].
    """
    height = float(np.ptp(poses[..., 2], axis=1).max())
    rise = min(float(np.ptp(poses[:, foot, 2].min(axis=1))) for foot in feet)
    if rise < _LEAST_RISE * height:
        return f"one of its feet rises by {1000.0 * rise:.0f} mm only"
    left, right = (poses[:, foot, 1].mean(axis=1) for foot in feet)
    together = float((left - left.mean()) @ (right - right.mean()))
    if together > 0.0 and stride < SHORT * height:
        return f"both feet go ahead at once, and by {stride:.2f} m only"
    return ""
