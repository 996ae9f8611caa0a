"""Legs that are turned about the body, the more the lower they are, as bodies step round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numeric.easing import smoothstep

_RIGID = 0.35
"""Share of a leg from the ground up that turns as far as its foot."""


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
