"""Nobody turns round at once among others with another wish, for `avoid_neighbors`.

Bodies that are locked among others with other wishes have a little room, now before them, now
beside them and now behind. Who took it at once would step to and fro, several times a second. So
each one remembers the way w that it went lately, for 1.5 s after its last step, bends off it by at
most 32°, and stands rather than going against it:

    w ← direction of v, blended over 0.3 s, while v·w ≥ 0; at once where others have shoved it back
    chosen velocity ← e·(chosen·e) where it leads farther aside, e the unit vector 32° off w on that
    side; 0 where it leads against w

So who turns does it over several steps, and slows down the more it turns, as walkers do; there is
no step aside that it would have to take back.
"""

from __future__ import annotations

import math

from ..compiled.jit import inlined_kernel, kernel
from ..numeric.vec import EPSILON, add_scaled, dot, length, scale, sub, unit
from .queues import WITHOUT

GOES = 0.05
"""Who goes at less than this share of the wished speed stands."""
ALONG, ASIDE = 0.85, math.sqrt(0.2775)
"""Cosine and sine of the angle by which ways bend at most at a time: 32°."""
STANDS = 1.5
"""Who turns round stands for so long [s] before."""
BLENDED = 0.3
"""Time [s] in which the remembered way follows a curve: else many small turns were one about."""


@inlined_kernel
def way_gone(way, now, speed, dt):
    """The way that an agent went lately, as long as it is remembered [s].

    Args:
        way: The same before [s].
        now: Its velocity [m/s].
        speed: Its wished speed [m/s] > 0.
        dt: Time since [s].
    """
    left, size = length(way), length(now)
    if not size > GOES * speed:
        return scale(way, max(0.0, left - dt) / left) if left > EPSILON else (0.0, 0.0, 0.0)
    toward = scale(now, 1.0 / size)
    if left > EPSILON and dot(toward, way) >= 0.0:
        own = scale(way, 1.0 / left)
        toward = unit(add_scaled(own, sub(toward, own), 1.0 - math.exp(-dt / BLENDED)))
    return scale(toward, STANDS)


@kernel
def turned_round(chosen, way, opposed):
    """What is left of a chosen velocity that leads off the way that the agent went lately.

    Args:
        chosen: [m/s].
        way: See `way_gone`, in the same frame.
        opposed: From 0 to 1, how near someone with another wish is.
    """
    left = length(way)
    if opposed <= WITHOUT or left <= EPSILON:
        return chosen
    own = scale(way, 1.0 / left)
    on = dot(chosen, own)
    if on >= ALONG * length(chosen):
        return chosen
    if on < 0.0:
        return (0.0, 0.0, 0.0)
    side = unit(add_scaled(chosen, own, -on))
    bent = add_scaled(scale(own, ALONG), side, ASIDE)
    return scale(bent, dot(chosen, bent))
