"""Feelers before walls, as a rule in plain Python: springs solved exactly over a step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from restated_crowds import PUSH
from restated_forces import Rule, Sight
from restatements import (
    ZERO,
    Vector,
    cast,
    cross,
    direction,
    dot,
    plus,
    size,
    times,
)

UP: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Felt:
    """A hit of a feeler: how far, the length of the feeler, its direction, the wall's normal."""

    distance: float
    length: float
    feeler: Vector
    normal: Vector


def feelers(sight: Sight, ahead: Vector, length: float) -> list[tuple[Vector, float]]:
    """Straight on, length L, and ±45°, L/2; flyers have them to four sides."""
    right = direction(cross(ahead, UP))
    sides = [right, times(right, -1.0)]
    if not sight.flat:
        above = cross(right, ahead)
        sides += [above, times(above, -1.0)]
    return [(ahead, length), *((direction(plus(ahead, side)), length / 2) for side in sides)]


def look_for_walls(sight: Sight, ahead: Vector, length: float) -> Felt | None:
    """The nearest hit; a wall straight ahead within the way of this step comes first.

    The straight feeler is longer by that way, since its spring may be touched in this step.
    """
    way_on = size(sight.v) * sight.scene.dt
    eye = plus(sight.p, times(UP, sight.step_height if sight.flat else 0.0))
    found = None
    for number, (feeler, reach) in enumerate(feelers(sight, ahead, length)):
        d, n = cast(eye, feeler, sight.scene.meshes)
        if d > reach + (way_on if number == 0 else 0.0) or d <= 0.0:
            continue
        if sight.flat:
            n = direction((n[0], n[1], 0.0))
        if found is None or d < found.distance:
            found = Felt(d, reach, feeler, n)
        if number == 0 and d <= way_on:
            return found
    return found


def pressed(q: float, s: float, stiffness: float, room: float, dt: float) -> tuple[float, float]:
    """Depth and speed after a step against a spring that pushes while q > 0: q'' = -ω²·q.

    One that turns stays at the deepest point until the step ends; none gets deeper than 99.9 % of
    the room, and one that is deeper already not any deeper.
    """
    if q < 0.0:
        if s <= 0.0 or q + s * dt <= 0.0:
            return q + s * dt, s
        dt, q = dt + q / s, 0.0
    if s > 0.0 and q >= 0.999 * room:
        return q, 0.0
    if s > 0.0:
        stiffness = max(stiffness, s * s / ((0.999 * room) ** 2 - q * q))
    w = math.sqrt(stiffness)
    if s > 0.0 and math.atan2(s, w * q) / w <= dt:
        return math.sqrt(q * q + (s / w) ** 2), 0.0
    if s <= 0.0:
        free = math.atan2(q, -s / w) / w
        if free < dt:
            s = -math.sqrt(s * s + (w * q) ** 2)
            return s * (dt - free), s
    a = w * dt
    return q * math.cos(a) + s / w * math.sin(a), s * math.cos(a) - w * q * math.sin(a)


@dataclass
class Feelers(Rule):
    """Δ = ((q - q')/dt - n·v)·(τ·m/dt)·n, which is Δ/τ = k·overshoot·n for small steps."""

    kind: str = PUSH
    stiffness: float = 1.0
    fixed_length: float | None = None
    ahead_of_mean: dict[int, Vector] = field(default_factory=dict)
    """How much the velocity at the end of the last step differs from the mean of that step."""

    def say(self, sight: Sight) -> Vector | None:
        body, dt = sight.body, sight.scene.dt
        length = self.fixed_length or body.max_speed * math.sqrt(body.mass / self.stiffness)
        ahead = direction(sight.v) if size(sight.v) >= 1e-6 else sight.h
        felt = look_for_walls(sight, ahead, length)
        difference = self.ahead_of_mean.pop(sight.i, ZERO)
        if felt is None:
            return None
        n = felt.normal
        c = -dot(n, felt.feeler)
        q = c * (felt.length - felt.distance)
        s = -dot(n, plus(sight.v, difference))
        after, speed = pressed(q, s, self.stiffness / (body.mass * c), c * felt.length, dt)
        mean = (q - after) / dt
        self.ahead_of_mean[sight.i] = tuple(sight.keep(x) for x in times(n, -speed - mean))
        strength = (mean - dot(n, sight.v)) * sight.relaxation_time * body.mass / dt
        return times(n, strength)
