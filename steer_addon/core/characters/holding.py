"""How bodies make up for the way between two poses: the pose nearest to a phase is shown.

Planted feet slip by what the body does not make up for. All else of it goes on as unevenly as it
is held, so that its motion blur differs: by up to 5 % at 24 frames a second, or by what the least
share takes. So the faster a gait is against its poses, the more of the way is made up for.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel

LEAST = 0.4
"""Share of the way from the pose that is shown to the phase that a body is held back by, at
least."""
BLUR = 0.05 / 24.0
"""Time in which a body goes as far as it is held back from one pose to the next, at most [s]."""


@kernel
def held_back(phase, stride, count, speed):
    """How far a body of usual size is held back, so that its planted feet stay [m].

    Args:
        phase: Cycles of the gait.
        stride: Way of all its poses [m]; 0 if it has none.
        count: Number of its poses.
        speed: Speed that it is made for [m/s].
    """
    place = (phase - math.floor(phase)) * count
    step = stride / count
    away = (place - math.floor(place + 0.5)) * step
    if step <= 0.0:
        return away
    return away * min(1.0, max(LEAST, BLUR * speed / step))
