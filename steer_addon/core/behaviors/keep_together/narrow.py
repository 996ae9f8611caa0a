"""In a line: what a group does where walls leave less room than it takes abreast.

The room W is what rays to both sides find, at the agent and where it will be in 1.5 s if nothing
stands in between; the narrower place counts. It holds m = 1 + (W - 2·(r + 0.1 m))/d abreast, and

q = ramp((N - m)/0.25)              how much of a line the group is; 1 - q of α and of Δ_r is left
y = ramp(Σ_k ramp(1 - x_k/d) - (⌊m⌋ - 1))   of the companions that go first, how many are in the way
s ← s·(1 - q·y)                     the others fall back behind them
Δ = (W_right - W_left)/2 / 1 s      to the middle, where m falls from 2 to 1.75

A companion goes first when it is ahead along e, by x_k > 2 cm; of two abreast the lower id does.
So two go in front where two fit, and one where one fits.

Symbols: r radius [m], d distance [m], N size of the group, e unit direction of the wish.
Source: ours.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import add_scaled, cross, dot, load, scale
from ...sensing.sight import eye, first_hit
from .group import clamped, companion, kept_apart, offset_to, others

AHEAD = 1.5
"""How far ahead people see that it gets narrow [s]."""
FLANK = 0.1
"""Gap to walls that people like to keep [m]."""
BLEND = 0.25
"""Part of a place on which a group becomes a line."""
ABREAST = 0.02
"""Way ahead from which on a companion goes first [m]."""
CENTERING = 1.0
"""Time in which people go to the middle of where it is narrow [s]."""


@kernel
def _beside(world, place, right, reach):
    """Room to the right and to the left of a place [m], at most the reach."""
    wall, to_right, _normal = first_hit(world, place, right, reach)
    to_right = to_right if wall >= 0 else reach
    wall, to_left, _normal = first_hit(world, place, scale(right, -1.0), reach)
    return to_right, to_left if wall >= 0 else reach


@kernel
def _narrowest(i, agents, world, group, right, reach):
    """Room to the right and to the left [m], where it is narrower: here or ahead."""
    here = eye(i, agents, world)
    to_right, to_left = _beside(world, here, right, reach)
    way = AHEAD * group.speed
    wall, _distance, _normal = first_hit(world, here, group.ahead, way)
    if wall < 0:
        there = add_scaled(here, group.ahead, way)
        next_right, next_left = _beside(world, there, right, reach)
        if next_right + next_left < to_right + to_left:
            return next_right, next_left
    return to_right, to_left


@kernel
def _in_front(i, agents, world, group, companions):
    """How many companions that go first are beside agent i, or not a distance ahead yet."""
    total = 0.0
    for k in range(others(group)):
        j = companion(group, k, companions)
        x = dot(offset_to(i, j, agents, world), group.ahead)
        if x > ABREAST or (x >= -ABREAST and agents.id[j] < agents.id[i]):
            total += clamped(1.0 - x / kept_apart(i, j, agents, group.distance))
    return total


@kernel
def in_line(i, agents, world, group, companions):
    """How a group fits between walls.

    Returns:
        (q, share of the speed that is left, velocity to the middle [m/s]).
    """
    nothing = (0.0, 0.0, 0.0)
    if not world.flat:
        return 0.0, 1.0, nothing
    right = cross(group.ahead, load(agents.normal, i))
    body = 2.0 * (agents.radius[i] + FLANK)
    distance = max(group.distance, 1.0e-3)
    to_right, to_left = _narrowest(i, agents, world, group, right, group.size * distance + body)
    fits = max(1.0, 1.0 + (to_right + to_left - body) / distance)
    line = clamped((group.size - fits) / BLEND)
    if line == 0.0:
        return 0.0, 1.0, nothing
    wait = clamped(_in_front(i, agents, world, group, companions) - math.floor(fits) + 1.0)
    center = clamped((2.0 - fits) / BLEND) * 0.5 * (to_right - to_left) / CENTERING
    return line, 1.0 - line * wait, scale(right, center)
