"""The zones before walls, as a rule in plain Python, from the source's formulas alone.

What the behavior decides beyond them (inner corners, goals in front of walls, round walls) is
tested elsewhere; where a restated crowd goes none of it acts.
"""

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


def tangent(sight: Sight, motion: Vector, n: Vector) -> Vector:
    """Along the wall, on the side of the motion."""
    if sight.flat:
        t = direction(cross(UP, n))
        return t if dot(t, motion) > 0.0 else times(t, -1.0)
    return direction(minus(motion, times(n, dot(motion, n))))


@dataclass
class Slide:
    """Knowledge of a sliding or turning agent: its goal, and the place of the wall."""

    way: Vector
    wall: Vector


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
        """One ray along v, three zones by hit distance d."""
        d, n = ray(sight, direction(sight.v))
        if d > self.look_ahead:
            return FREE, None
        if d > self.pull_distance:
            over = size(sight.v) - self.push_speed
            return PUSHED, times(n, min(self.push_strength, over)) if over > 0.0 else None
        if d > self.slide_distance:
            return PULLED, times(tangent(sight, sight.v, n), self.push_strength)
        return self.begin(sight, sight.v, n)

    def begin(self, sight: Sight, motion: Vector, n: Vector) -> tuple[int, Vector | None]:
        """Slide: the velocity is set to the tangent at cruise speed, and kept."""
        way, wall = passed(sight, tangent(sight, motion, n)), passed(sight, times(n, -1.0))
        self.slides[sight.i] = Slide(way, wall)
        return SLIDING, self.set_to(sight, way)

    def set_to(self, sight: Sight, way: Vector) -> Vector:
        sight.kind = SET
        return times(way, self.cruise_speed)

    def slide(self, sight: Sight) -> tuple[int, Vector | None]:
        """Until a ray of length 2·r toward the wall finds nothing."""
        slide = self.slides[sight.i]
        found = ray(sight, slide.wall)[0] <= 2.0 * sight.body.radius
        return SLIDING if found else TURNING, self.set_to(sight, slide.way)

    def turn(self, sight: Sight) -> tuple[int, Vector | None]:
        """Toward the goal by at most turn_rate; free when the goal is in sight."""
        slide, offset = self.slides[sight.i], self.goal(sight)
        goal, angle = direction(offset), self.turn_rate * sight.scene.dt
        if ray(sight, goal)[0] >= size(offset):
            return FREE, None
        way = goal
        if dot(slide.way, goal) < math.cos(angle):
            across = direction(minus(goal, times(slide.way, dot(goal, slide.way))))
            way = direction(plus(times(slide.way, math.cos(angle)), times(across, math.sin(angle))))
        slide.way = passed(sight, way)
        d, n = ray(sight, slide.way)
        if d <= self.slide_distance:
            return self.begin(sight, slide.way, n)
        return TURNING, self.set_to(sight, slide.way)
