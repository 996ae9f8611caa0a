"""The zones before walls, as a rule in plain Python: push, pull, slide, turn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from restated_crowds import PUSH
from restated_forces import SET, Rule, Sight
from restatements import Vector, cast, cross, direction, dot, minus, plus, size, times

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


@dataclass
class Slide:
    """What a sliding or turning agent knows."""

    way: Vector
    side: Vector
    """Toward the wall, or to the side through which it turns."""
    begun: float
    """How far the goal was when the agent first met the wall [m]."""


def passed(sight: Sight, a: Vector) -> Vector:
    return (sight.keep(a[0]), sight.keep(a[1]), sight.keep(a[2]))


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
        return self.begin(sight, n, sight.keep(size(goal)))

    def begin(self, sight: Sight, n: Vector, begun: float) -> tuple[int, Vector | None]:
        way, side = passed(sight, tangent(sight, n)), passed(sight, times(n, -1.0))
        self.slides[sight.i] = Slide(way, side, begun)
        return self.slide(sight, fresh=True)

    def set_to(self, sight: Sight, way: Vector) -> Vector:
        sight.kind = SET
        return times(way, self.cruise_speed)

    def in_sight(self, sight: Sight, begun: float) -> bool:
        """Nothing on the way to the goal, or nothing near and it is nearer than at first."""
        goal = self.goal(sight)
        clear = ray(sight, direction(goal))[0]
        return clear >= size(goal) or (clear > self.look_ahead and size(goal) < begun)

    def slide(self, sight: Sight, fresh: bool = False) -> tuple[int, Vector | None]:
        slide = self.slides[sight.i]
        if not fresh and self.in_sight(sight, slide.begun):
            goal = direction(self.goal(sight))
            across = direction(minus(goal, times(slide.way, dot(goal, slide.way))))
            slide.side = passed(sight, across)
            return TURNING, self.set_to(sight, slide.way)
        reach = sight.body.radius + max(sight.body.radius, self.slide_distance)
        zone = SLIDING if ray(sight, slide.side)[0] <= reach else TURNING
        return zone, self.set_to(sight, slide.way)

    def turn(self, sight: Sight) -> tuple[int, Vector | None]:
        """The short way to a goal ahead, through the side of the wall to one behind."""
        slide, goal = self.slides[sight.i], direction(self.goal(sight))
        angle = self.turn_rate * sight.scene.dt
        if dot(slide.way, goal) >= math.cos(angle):
            return FREE, None
        side = slide.side
        if dot(slide.way, goal) >= 0.0:
            side = direction(minus(goal, times(slide.way, dot(goal, slide.way))))
        c, s = math.cos(angle), math.sin(angle)
        way = direction(plus(times(slide.way, c), times(side, s)))
        side = direction(minus(times(side, c), times(slide.way, s)))
        if dot(way, goal) >= 0.0 and self.in_sight(sight, slide.begun):
            return FREE, None
        slide.way, slide.side = passed(sight, way), passed(sight, side)
        d, n = ray(sight, slide.way)
        if d <= self.slide_distance:
            return self.begin(sight, n, slide.begun)
        return TURNING, self.set_to(sight, slide.way)
