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
    minus,
    plus,
    size,
    times,
)

UP: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Felt:
    """A wall that a feeler meets: how far, how long the feeler is, -n·f, and the wall's normal."""

    distance: float
    length: float
    c: float
    n: Vector

    @property
    def q(self) -> float:
        """How deep the feeler's tip is behind the surface."""
        return self.c * (self.length - self.distance)

    @property
    def room(self) -> float:
        return self.c * self.length


def feelers(sight: Sight, ahead: Vector, length: float) -> list[tuple[Vector, float]]:
    """Straight on, length L, and ±45°, L/2; flyers have them to four sides."""
    right = direction(cross(ahead, UP))
    sides = [right, times(right, -1.0)]
    if not sight.flat:
        above = cross(right, ahead)
        sides += [above, times(above, -1.0)]
    return [(ahead, length), *((direction(plus(ahead, side)), length / 2) for side in sides)]


def look_for_walls(
    sight: Sight, ahead: Vector, length: float, way_on: float
) -> list[tuple[int, Felt]]:
    """Hits of feelers, each with its number.

    The straight feeler is longer by the way of this step, since its spring may be touched in it.
    """
    eye = plus(sight.p, times(UP, sight.step_height if sight.flat else 0.0))
    found = []
    for number, (feeler, reach) in enumerate(feelers(sight, ahead, length)):
        d, n = cast(eye, feeler, sight.scene.meshes)
        if 0.0 < d <= reach + (way_on if number == 0 else 0.0):
            n = direction((n[0], n[1], 0.0)) if sight.flat else n
            found.append((number, Felt(d, reach, -dot(n, feeler), n)))
    return found


def stops_in_time(q: float, s: float, stiffness: float, room: float) -> bool:
    """Whether the plain spring turns the agent at 99.9 % of the room."""
    return s <= 0.0 or s * s <= stiffness * ((0.999 * room) ** 2 - max(q, 0.0) ** 2)


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
    """Δ = (v' - v)·(τ·m/dt); n·v' = (q - q')/dt, so that the step ends where the spring says."""

    kind: str = PUSH
    stiffness: float = 1.0
    fixed_length: float | None = None
    ahead_of_mean: dict[int, Vector] = field(default_factory=dict)
    """How much the velocity at the end of the last step differs from the mean of that step."""

    def say(self, sight: Sight) -> Vector | None:
        body, dt = sight.body, sight.scene.dt
        length = self.fixed_length or body.max_speed * math.sqrt(body.mass / self.stiffness)
        gain = times(sight.wish, dt / (sight.relaxation_time * body.mass))
        now = plus(sight.v, self.ahead_of_mean.pop(sight.i, ZERO))
        going = plus(sight.v, gain) if size(sight.v) <= size(gain) else sight.v
        ahead = direction(going) if size(going) >= 1e-6 else sight.h
        way_on = (max(size(sight.v), size(now)) + size(gain)) * dt
        walls = look_for_walls(sight, ahead, length, way_on)
        if not walls:
            return None
        new, rest = self.stopped(sight, walls, now, gain)
        new = self.not_through(sight, new, gain, 0.00025 * length)
        if new == sight.v:
            return None
        self.ahead_of_mean[sight.i] = tuple(sight.keep(x) for x in rest)
        return times(minus(new, sight.v), sight.relaxation_time * body.mass / dt)

    def stopped(
        self, sight: Sight, walls: list[tuple[int, Felt]], now: Vector, gain: Vector
    ) -> tuple[Vector, Vector]:
        """Mean velocity of the step, and what its end has beyond: the nearest wall comes first."""
        dt, new, rest = sight.scene.dt, sight.v, ZERO
        nearest, first = min(walls, key=lambda wall: wall[1].distance)
        if first.q <= 0.0 and first.q - dot(first.n, now) * dt <= 0.0:
            return new, rest
        others = [wall for number, wall in walls if number != nearest]
        for wall in [first, *sorted(others, key=lambda wall: wall.distance)]:
            stiffness = self.stiffness / (sight.body.mass * wall.c)
            if wall is not first:
                coming = -dot(wall.n, plus(new, gain))
                beside = dot(wall.n, first.n) >= math.sqrt(0.5)
                passed = wall.c * wall.distance < coming * dt
                if stops_in_time(wall.q, coming, stiffness, wall.room) or (beside and not passed):
                    continue
            s = -dot(wall.n, now if wall is first else new)
            in_time = stops_in_time(wall.q, s, stiffness, wall.room)
            after, speed = pressed(wall.q, s, stiffness, wall.room, dt)
            mean = (wall.q - after) / dt
            back = max(0.0, -dot(wall.n, gain))
            if in_time:
                behind = after + back * dt - max(wall.q, 0.999 * wall.room)
                back = min(back, max(0.0, behind / dt))
            new = plus(new, times(wall.n, mean + back - dot(wall.n, new)))
            rest = plus(rest, times(wall.n, -speed - mean))
        return new, rest

    def not_through(self, sight: Sight, new: Vector, gain: Vector, spare: float) -> Vector:
        """Without what takes the agent, within this step, past a face that no feeler met."""
        dt, eye = sight.scene.dt, plus(sight.p, times(UP, sight.step_height if sight.flat else 0.0))
        for _ in range(2):
            going = plus(new, gain)
            if size(going) == 0.0:
                break
            d, n = cast(eye, direction(going), sight.scene.meshes)
            if not 0.0 < d <= size(going) * dt + spare:
                break
            n = direction((n[0], n[1], 0.0)) if sight.flat else n
            allowed = max(0.0, -dot(n, direction(going)) * d - spare) / dt
            new = plus(new, times(n, max(0.0, -dot(n, going) - allowed)))
        return new
