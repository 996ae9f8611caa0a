"""Who is held up for long gives way, for `avoid_neighbors`."""

from __future__ import annotations

from ..jit import inlined_kernel, kernel
from .ways import LEFT, NONE, TURNS, way_of

CREEPING = 0.1
"""Who chose less than this share of the wished speed waits in a queue, and is not held up."""
BLOCKED = 0.05
"""Who goes at less than this share of it, though it chose more, is: creeping is not getting on."""
PATIENCE = 2.0
"""Being held up is borne for so long [s]."""
GIVES_WAY = 3.0
"""Where the memory starts to count down to PATIENCE for one who gives way."""
RETREAT = 0.5
"""Share of the wished speed at which way is given, over so many radii:"""
GIVEN = 2.0


@inlined_kernel
def held_up(held, pace, now, speed, radius, dt):
    """How long an agent is held up: seconds up to 2, then from 3 down to 2 while it gives way."""
    if held > PATIENCE:
        step = RETREAT * speed * dt
        held -= step / (GIVEN * radius + step)
        return held if held > PATIENCE else 0.0
    if pace > CREEPING * speed and now < BLOCKED * speed:
        held += dt
        return held if held < PATIENCE else GIVES_WAY
    return max(0.0, held - dt)


@kernel
def retreat(side):
    """Unit direction in which way is given: back, and to the side where others are passed."""
    if side == NONE:
        return (-1.0, 0.0, 0.0)
    return way_of(TURNS, 1 if side == LEFT else 0, 1.0)
