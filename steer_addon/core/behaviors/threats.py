"""How much others are in the way of a velocity, for `avoid_neighbors`.

With t the time until the bodies of the agent and neighbor j touch, T the horizon, c_j how much j is
in the way, and g_j how little it is passed closely:

    max_j c_j·(1 - t_j/T)·g_j,    g_j = min(1, (closing speed / GRAZING·s)²)

See `anticipation.foresee` for the table.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from ..numeric.vec import scale
from .anticipation import AFTER, BEFORE, CARE, RESULT, ROOM, SOFT, U, V, W, X, Y, Z, largest


@kernel
def _harm(table, n, go, horizon):
    """What one neighbor adds: without branches, so that a few wide instructions do many."""
    x, y, z = table[X, n], table[Y, n], table[Z, n]
    u, v, w = go[0] - table[U, n], go[1] - table[V, n], go[2] - table[W, n]
    closing = x * u + y * v + z * w
    room, soft = table[ROOM, n], table[SOFT, n]
    toward = closing * closing
    found = toward - (u * u + v * v + w * w) * room
    below = closing + math.sqrt(max(found, 0.0))
    time = room / (below if below > 0.0 else 1.0)
    time = time if room > 0.0 else 0.0
    share = toward / soft
    share = share if toward < soft else 1.0
    harm = table[CARE, n] * (1.0 - time / horizon) * share
    meets = (closing > 0.0) & ((room <= 0.0) | ((found > 0.0) & (time < horizon)))
    return harm if meets else 0.0


@kernel
def threat(table, whole, way, speed, horizon):
    """How much neighbors are in the way of a velocity: 0 when they are not, 1 at a head-on touch.

    Args:
        table: See `foresee`.
        whole: How many columns it has.
        way: Unit direction in the agent's frame.
        speed: [m/s] > 0.
        horizon: Collisions after so much time [s] do not count.
    """
    go = scale(way, speed)
    for n in range(whole):
        table[RESULT, n] = _harm(table, n, go, horizon)
    return largest(table, RESULT, whole)


@kernel
def three_threats(table, whole, before, way, after, share, speed, horizon):
    """A share of `threat` for three ways at once, none of which waits for the others."""
    go_before, go, go_after = scale(before, speed), scale(way, speed), scale(after, speed)
    for n in range(whole):
        table[BEFORE, n] = _harm(table, n, go_before, horizon)
        table[RESULT, n] = _harm(table, n, go, horizon)
        table[AFTER, n] = _harm(table, n, go_after, horizon)
    return (
        share * largest(table, BEFORE, whole),
        share * largest(table, RESULT, whole),
        share * largest(table, AFTER, whole),
    )
