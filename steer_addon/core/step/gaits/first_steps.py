"""First and last steps: where bodies that stand begin them, and how their phases go on from there.

See `Row.from_stand` and `Row.both_sides`.
"""

from __future__ import annotations

import math

from ...characters.cast import FROM_STAND, STANDS
from ...compiled.jit import kernel

READY = 4.0
"""Cycles of standing in a second at which a body gets to where its first steps begin."""


@kernel
def begun_steps(phase, sides, dt):
    """Phase at which a body that stands begins its first steps, or one nearer to it.

    With both sides, the foot goes first that stands with less weight on it, as standing begins with
    the weight on the left foot, and has it on the right one after half of its cycle.

    Args:
        phase: Cycles of standing.
        sides: Number of places in such a cycle at which first steps begin.
        dt: Length of the step [s].

    Returns:
        The phase, and whether it begins there.
    """
    most = READY * dt
    nearest = math.floor(sides * phase + 0.5) / sides
    if abs(nearest - phase) <= most:
        return nearest, True
    return phase + math.copysign(most, nearest - phase), False


@kernel
def joined(table, who, gait, following, crossing, back):
    """Phase of the following gait where feet pass each other, as the gait has it.

    Args:
        table: Gaits of the characters, see `Cast.table`.
        who: Number of the character.
        gait: The gait until now.
        following: The one after it.
        crossing: Cycles of steps until there, in the gait.
        back: Whether the way leads back: phases fall then, and rise otherwise.
    """
    if table[who, 1, FROM_STAND] <= 1.0:
        return crossing
    if gait == 1:
        crossing = 0.5 * crossing
        if following == 0:
            return crossing * table[who, 1, STANDS]
        return crossing - 0.75 if back else crossing + 0.25
    if following == 1:
        return crossing - 0.25 if back else crossing + 0.75
    return crossing
