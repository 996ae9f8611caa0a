"""Who is held up for long gives way, or goes along walls, for `avoid_neighbors`."""

from __future__ import annotations

from ..compiled.jit import inlined_kernel, kernel
from .along_walls import along_walls, goes_along
from .ways import LEFT, NONE, TURNS, way_of

HELD, PACE, ALONG = 3, 4, 5
"""Columns of the memory, after the way that it went lately: how long it is held up, the speed that
it chose last [m/s], and what is left of a way along walls."""
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


@kernel
def when_held_up(
    i, memory, world, origin, radius, speed, now, waits, alone, walls, side, way, pace
):
    """The way and the pace [m/s] of an agent: those that it chose, unless it gives way.

    Args:
        i: The agent.
        memory: What it remembers; the columns HELD, PACE and ALONG are written.
        world: WorldView.
        origin: The agent, at eye height [m].
        radius: Of its body [m].
        speed: Its wished speed [m/s] > 0.
        now: Its speed [m/s].
        waits: Whether one of those whom it nearly touches has the better lot.
        alone: Whether nobody is near.
        walls: Whether it looks for walls.
        side: On which others are passed.
        way: That it chose, in its frame.
        pace: That it chose [m/s].
    """
    held = held_up(memory[i, HELD], memory[i, PACE], now, speed, radius, world.dt)
    if held > PATIENCE and waits:
        way, pace = retreat(side), RETREAT * speed
    elif walls:
        stuck = held > PATIENCE and alone
        left = along_walls(memory[i, ALONG], stuck, world, origin, radius, speed, side == LEFT)
        memory[i, ALONG], held = left, 0.0 if goes_along(left) else held
    memory[i, HELD], memory[i, PACE] = held, pace
    return way, pace
