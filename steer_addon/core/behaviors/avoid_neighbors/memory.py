"""Memory of an agent: the way that it went lately, and for how long it is held up.

Bodies that are locked among others with another wish have a little room, now before them, now
beside them and now behind: taking it at once, they would step to and fro, several times a second.
So each one remembers the way w that it went lately, for 1.5 s, and bends off it slowly:

    w ← direction of v, blended over 0.3 s, while v·w ≥ 0; at once where others have shoved it back
    chosen velocity ← e·(chosen·e) where it leads farther aside, e the unit vector 32° off w on that
    side; 0 where it leads against w

Between two obstacles nearer to each other than its body is wide, no way within 120° of the wish
leads out. An agent that is held up there, with nobody near, goes four bodies' widths to its side,
as if it wished to; should that lead back, it goes to the other side the next time.
Source: Lumelsky & Stepanov 1987, "Path-planning strategies for a point mobile automaton
moving amidst unknown obstacles" (following the outline of what is in the way). How far is our own.
"""

from __future__ import annotations

import math

from ...compiled.jit import inlined_kernel, kernel
from ...numeric.vec import EPSILON, add_scaled, dot, length, scale, sub, unit
from .choosing import LEFT, LEVEL, NEITHER, way_of
from .rules import NOWHERE, RULES
from .walls import beside_wall

HELD, PACE, ALONG = 3, 4, 5
"""Columns after those of the way w: for how long it is held up, the speed that it chose last [m/s],
and what is left of a way along walls [m], negative to the left."""
RETREATS = RULES.patience + 1.0  # from where a retreat counts down to the patience [s]
REST = 1.0e-6  # rest of a way that is gone [m]: its sign tells to which side it was


@inlined_kernel
def way_gone(way, velocity, speed, dt):
    """The way w [s] after a step at a velocity, for an agent that wishes a speed > 0 [m/s]."""
    left, size = length(way), length(velocity)
    if not size > RULES.goes * speed:
        return scale(way, max(0.0, left - dt) / left) if left > EPSILON else NOWHERE
    toward = scale(velocity, 1.0 / size)
    if left > EPSILON and dot(toward, way) >= 0.0:
        before = scale(way, 1.0 / left)
        blend = 1.0 - math.exp(-dt / RULES.blended)
        toward = unit(add_scaled(before, sub(toward, before), blend))
    return scale(toward, RULES.stands)


@kernel
def bent(chosen, way, crossing):
    """The part of a chosen velocity [m/s] that does not lead off the way w, in the same frame."""
    left = length(way)
    if crossing <= RULES.another or left <= EPSILON:
        return chosen
    before = scale(way, 1.0 / left)
    on = dot(chosen, before)
    if on >= RULES.bend * length(chosen):
        return chosen
    if on < 0.0:
        return NOWHERE
    side = unit(add_scaled(chosen, before, -on))
    toward = add_scaled(scale(before, RULES.bend), side, RULES.aside)
    return scale(toward, dot(chosen, toward))


@kernel
def turned_frame(ahead, right, above, left):
    """The frame of an agent: on its way along walls ahead is where its right, or its left, was."""
    if abs(left) <= REST:
        return ahead, right, above
    if left > 0.0:
        return right, scale(ahead, -1.0), above
    return scale(right, -1.0), ahead, above


@kernel
def along_walls(left, stuck, world, own):
    """The rest of an agent's way along walls [m]; `stuck` if it is held up with nobody near."""
    if abs(left) > REST:
        return math.copysign(max(abs(left) - own.speed * world.dt, REST), left)
    if not stuck or not beside_wall(world, own.eye, own.radius):
        return left
    turns_left = left > 0.0 or (left == 0.0 and own.side == LEFT)
    return -RULES.along * own.radius if turns_left else RULES.along * own.radius


@inlined_kernel
def held_up(held, chosen, own, dt):
    """How long an agent is held up: seconds up to 2, then from 3 down to 2 while it retreats."""
    if held > RULES.patience:
        step = RULES.retreat * own.speed * dt
        held -= step / (RULES.given * own.radius + step)
        return held if held > RULES.patience else 0.0
    if chosen > RULES.waiting * own.speed and length(own.velocity) < RULES.blocked * own.speed:
        held += dt
        return held if held < RULES.patience else RETREATS
    return max(0.0, held - dt)


@kernel
def when_held_up(i, memory, world, own, waits, way, pace):
    """The way and the pace [m/s] of an agent: those that it chose, unless it retreats (`waits`)."""
    held = held_up(memory[i, HELD], memory[i, PACE], own, world.dt)
    if held > RULES.patience and waits:
        way, pace = (-1.0, 0.0, 0.0), RULES.retreat * own.speed  # back, or to its side as well
        if own.side != NEITHER:
            way = way_of(LEVEL, 2 * RULES.turns - int(own.side != LEFT), 1.0)
    elif own.walls:
        left = along_walls(memory[i, ALONG], held > RULES.patience and own.alone, world, own)
        memory[i, ALONG], held = left, 0.0 if abs(left) > REST else held
    memory[i, HELD], memory[i, PACE] = held, pace
    return way, pace
