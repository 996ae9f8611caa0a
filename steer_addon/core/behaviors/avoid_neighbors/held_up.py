"""Agents that are held up retreat, or go along walls."""

from __future__ import annotations

from ...compiled.jit import inlined_kernel, kernel
from .rules import RULES
from .walls import REST, along_walls
from .ways import LEFT, LEVEL, NEITHER, way_of

HELD, PACE, ALONG = 3, 4, 5
"""Columns of the memory, after the way that it went lately: how long it is held up, the speed that
it chose last [m/s], and what is left of a way along walls [m], negative to the left."""
RETREATS = RULES.patience + 1.0
"""Where the memory of an agent that retreats starts to count down to its patience."""


@inlined_kernel
def held_up(held, chosen, own, dt):
    """How long an agent is held up: seconds up to 2, then from 3 down to 2 while it retreats.

    `held` is the same before, `chosen` the speed that it chose last [m/s].
    """
    if held > RULES.patience:
        step = RULES.retreat * own.speed * dt
        held -= step / (RULES.given * own.radius + step)
        return held if held > RULES.patience else 0.0
    if chosen > RULES.waiting * own.speed and own.now < RULES.blocked * own.speed:
        held += dt
        return held if held < RULES.patience else RETREATS
    return max(0.0, held - dt)


@kernel
def when_held_up(i, memory, world, own, waits, way, pace):
    """The way and the pace [m/s] of an agent: those that it chose, unless it retreats.

    `waits` says whether a neighbor that it nearly touches has the better lot.
    """
    held = held_up(memory[i, HELD], memory[i, PACE], own, world.dt)
    if held > RULES.patience and waits:
        # back, and to the side on which others are passed
        way, pace = (-1.0, 0.0, 0.0), RULES.retreat * own.speed
        if own.side != NEITHER:
            last = 2 * RULES.turns
            way = way_of(LEVEL, last if own.side == LEFT else last - 1, 1.0)
    elif own.walls:
        left = along_walls(memory[i, ALONG], held > RULES.patience and own.alone, world, own)
        memory[i, ALONG], held = left, 0.0 if abs(left) > REST else held
    memory[i, HELD], memory[i, PACE] = held, pace
    return way, pace
