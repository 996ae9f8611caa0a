"""An agent among others with another wish does not turn back at once.

Bodies that are locked there have a little room, now before them, now beside them and now behind:
taking it at once, they would step to and fro, several times a second. So each one remembers the way
w that it went lately, for 1.5 s after its last step, and bends off it slowly:

    w ← direction of v, blended over 0.3 s, while v·w ≥ 0; at once where others have shoved it back
    chosen velocity ← e·(chosen·e) where it leads farther aside, e the unit vector 32° off w on that
    side; 0 where it leads against w
"""

from __future__ import annotations

import math

from ...compiled.jit import inlined_kernel, kernel
from ...numeric.vec import EPSILON, add_scaled, dot, length, scale, sub, unit
from .foreseen import NOWHERE
from .rules import RULES


@inlined_kernel
def way_gone(way, velocity, speed, dt):
    """The way w as it was before [s], after a step of that length at a velocity [m/s].

    `speed` is the wished one [m/s] > 0.
    """
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
    """What is left of a chosen velocity [m/s] that leads off the way w, in the same frame."""
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
