"""How strongly bodies that fly or swim beat, by their speed and how they climb."""

from __future__ import annotations

import math

from ...characters.cast import DURATION, SPEED
from ...compiled.jit import kernel

CLIMB = 2.0
"""Speed along the way that a flyer's climbing at 1 m/s counts for."""


@kernel
def _calmest(table, who):
    """Speed of the gait that beats most slowly: a bird hovers with the strongest beats."""
    calmest = 0
    for g in range(1, table.shape[1]):
        known = table[who, g, SPEED] < math.inf
        if known and table[who, g, DURATION] > table[who, calmest, DURATION]:
            calmest = g
    return table[who, calmest, SPEED]


@kernel
def beats(table, who, speed, climbed, size, dt):
    """Speed that decides on the gait of a body that flies or swims.

    Climbing takes strong beats, sinking none, or those of the calmest gait.
    """
    return max(min(speed, _calmest(table, who)), speed + CLIMB * climbed / (size * dt))
