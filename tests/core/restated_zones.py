"""The zones before walls, as a rule in plain Python: push, pull, slide, turn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from restated_crowds import PUSH
from restated_forces import SET, Rule, Sight
from restatements import ZERO, Vector, cast, cross, direction, dot, minus, plus, size, times

UP: Vector = (0.0, 0.0, 1.0)
FREE, PUSHED, PULLED, SLIDING, TURNING = range(5)


def ray(sight: Sight, way: Vector) -> tuple[float, Vector]:
    """Distance of the first hit from the agent's eye, and the normal against the ray."""
    eye = plus(sight.p, times(UP, sight.step_height if sight.flat else 0.0))
    return cast(eye, way, sight.scene.meshes)


def tangent(sight: Sight, n: Vector) -> Vector:
    """Along the wall, on the side of the motion."""
    if sight.flat:
        t = direction(cross(UP, n))
        return t if dot(t, sight.v) > 0.0 else times(t, -1.0)
    return direction(minus(sight.v, times(n, dot(sight.v, n))))


def turned(way: Vector, goal: Vector, most: float) -> Vector:
    """`way` turned toward the goal by at most an angle [rad]."""
    cosine = max(-1.0, min(1.0, dot(way, goal)))
    if math.acos(cosine) <= most:
        return goal
    side = direction(minus(goal, times(way, cosine)))
    return plus(times(way, math.cos(most)), times(side, math.sin(most)))


@dataclass
class Slide:
    """What a sliding or turning agent knows."""

    way: Vector
    side: Vector
    begun: float


@dataclass
class Zones(Rule):
    kind: str = PUSH
    look_ahead: float = 10.0
    pull_distance: float = 5.0
    slide_distance: float = 2.0
    push_speed: float = 8.0
    push_strength: float = 10.0
    cruise_speed: float = 10.0
    turn_rate: float = math.radians(573.0)
    zone: dict[int, int] = field(default_factory=dict)
    slides: dict[int, Slide] = field(default_factory=dict)
    visited: dict[int, list[int]] = field(default_factory=dict)

    def say(self, sight: Sight) -> Vector | None:
        zone = self.zone.get(sight.i, FREE)
        if zone == SLIDING:
            zone, said = self.slide(sight)
        elif zone == TURNING:
            zone, said = self.turn(sight)
        else:
            zone, said = self.look(sight)
        self.zone[sight.i] = zone
        history = self.visited.setdefault(sight.i, [FREE])
        if history[-1] != zone:
            history.append(zone)
        return said

    def goal(self, sight: Sight) -> Vector:
        return minus(sight.target().p, sight.p)

    def look(self, sight: Sight) -> tuple[int, Vector | None]:
        d, n = ray(sight, direction(sight.v))
        goal = self.goal(sight)
        if d > self.look_ahead or size(goal) <= self.slide_distance:
            return FREE, None
        if d >= size(goal) and ray(sight, direction(goal))[0] >= size(goal):
            return FREE, None
        if d > self.pull_distance:
            over = size(sight.v) - self.push_speed
            return PUSHED, times(n, min(self.push_strength, over)) if over > 0.0 else None
        if d > self.slide_distance:
            return PULLED, times(tangent(sight, n), self.push_strength)
        self.slides[sight.i] = Slide(tangent(sight, n), times(n, -1.0), size(goal))
        return self.slide(sight)

    def set_to(self, sight: Sight, way: Vector) -> Vector:
        sight.kind = SET
        return times(way, self.cruise_speed)

    def in_sight(self, sight: Sight, begun: float) -> bool:
        """Nothing on the way to the goal, or nothing near and it is nearer than at first."""
        goal = self.goal(sight)
        clear = ray(sight, direction(goal))[0]
        return clear >= size(goal) or (clear > self.look_ahead and size(goal) < begun)

    def slide(self, sight: Sight) -> tuple[int, Vector | None]:
        slide = self.slides[sight.i]
        reach = sight.body.radius + max(sight.body.radius, self.slide_distance)
        if ray(sight, slide.side)[0] > reach or self.in_sight(sight, slide.begun):
            return TURNING, self.set_to(sight, slide.way)
        return SLIDING, self.set_to(sight, slide.way)

    def turn(self, sight: Sight) -> tuple[int, Vector | None]:
        slide, goal = self.slides[sight.i], direction(self.goal(sight))
        slide.way = turned(slide.way, goal, self.turn_rate * sight.scene.dt)
        slide.way = tuple(sight.keep(x) for x in slide.way)
        d, n = ray(sight, slide.way)
        if d <= self.slide_distance:
            self.slides[sight.i] = Slide(tangent(sight, n), times(n, -1.0), slide.begun)
            return self.slide(sight)
        if slide.way == goal or (self.in_sight(sight, slide.begun) and dot(slide.way, goal) > 0.0):
            return FREE, self.set_to(sight, slide.way)
        return TURNING, self.set_to(sight, slide.way)


__all__ = ["ZERO"]
