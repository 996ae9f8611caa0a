"""How bodies make up for the way between two poses: the pose nearest to a phase is shown."""

from __future__ import annotations

import math

from ..compiled.jit import kernel

HELD = 0.44
"""Share of the way from the pose that is shown to the phase that the body is held back by: planted
feet slip by the rest, and all else of the body goes on as unevenly as it is held."""


@kernel
def held_back(phase, stride, count):
    """How far a body of usual size is held back, so that its planted feet stay [m].

    Args:
        phase: Cycles of the gait.
        stride: Way of all its poses [m]; 0 if it has none.
        count: Number of its poses.
    """
    place = (phase - math.floor(phase)) * count
    return HELD * (place - math.floor(place + 0.5)) * stride / count
