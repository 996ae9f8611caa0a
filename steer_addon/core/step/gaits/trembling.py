"""Bodies that hold a place and tremble there: they stand, and do not walk to and fro.

A body trembles if it moves slowly, and the mean m of its velocity over a second is less than half
of the mean s of its speed.
"""

from __future__ import annotations

import math

from ...characters.cast import SPEED
from ...compiled.jit import kernel

TREMBLES = 2.0
"""Speed, over that of the slowest gait, below which agents that move to and fro stand."""
STEADY, STEADIER = 0.5, 0.6
"""Least share m/s of agents that walk below that speed, and of those that begin to."""
MEAN = 1.0
"""Time over which the velocity and the speed are averaged [s]."""
SWAY = "a sway"
"""Key, in the memory of agents, of these means [m/s]: of both parts of the level velocity, and of
its size, shape (agent_count, 3)."""


@kernel
def trembles(sway, i, table, who, gait, old, new, size, dt):
    """Whether a body moves to and fro in its place, see above; takes the step into the means.

    Args:
        sway: The means, see `SWAY`; read and written.
        i: The agent.
        table: Gaits of the characters, see `Cast.table`.
        who: Number of the character.
        gait: The gait until now.
        old: Place before the step [m].
        new: Place after it [m].
        size: Size of the body as a share of its character's.
        dt: Length of the step [s].
    """
    taken = 1.0 - math.exp(-dt / MEAN)
    x, y = (new[0] - old[0]) / dt, (new[1] - old[1]) / dt
    speed = math.hypot(x, y)
    sway[i, 0] += taken * (x - sway[i, 0])
    sway[i, 1] += taken * (y - sway[i, 1])
    sway[i, 2] += taken * (speed - sway[i, 2])
    if speed >= TREMBLES * size * table[who, 1, SPEED]:
        return False
    least = STEADIER if gait == 0 else STEADY
    return math.hypot(sway[i, 0], sway[i, 1]) < least * sway[i, 2]
