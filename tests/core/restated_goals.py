"""Pursue, evade, offset pursuit, hide and following waypoints, as rules in plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from restated_forces import Rule, Sight, Sphere, Target
from restatements import (
    Vector,
    arrive,
    cast,
    cross,
    direction,
    dot,
    flee,
    minus,
    plus,
    seek,
    size,
    times,
)


def moved_ahead(target: Target, place: Vector, p: Vector, v_max: float) -> Vector:
    """A place moved on with a target's velocity by T = |place - p|/(v_max + |v_q|)."""
    speeds = v_max + size(target.v)
    t = size(minus(place, p)) / speeds if speeds > 0.0 else 0.0
    return plus(place, times(target.v, t))


def comes_head_on(target: Target, p: Vector, h: Vector) -> bool:
    """It is ahead and comes: (q - p)·h > 0 and h·h_q < -0.95."""
    return dot(minus(target.p, p), h) > 0.0 and dot(h, target.h) < -0.95


@dataclass
class Pursue(Rule):
    def say(self, sight: Sight) -> Vector | None:
        q, v_max = sight.target(), sight.body.max_speed
        if comes_head_on(q, sight.p, sight.h):
            return seek(sight.p, q.p, v_max)
        return seek(sight.p, moved_ahead(q, q.p, sight.p, v_max), v_max)


@dataclass
class Evade(Rule):
    panic_radius: float = 5.0
    linear: bool = True

    def say(self, sight: Sight) -> Vector | None:
        q, v_max = sight.target(), sight.body.max_speed
        threat = moved_ahead(q, q.p, sight.p, v_max)
        return flee(sight.p, threat, v_max, self.panic_radius, self.linear)


def place_beside(target: Target, offset: Vector) -> Vector:
    """O = q + right_q·x + h_q·y + up_q·z."""
    right = direction(cross(target.h, target.up))
    above = cross(right, target.h)
    moves = (times(right, offset[0]), times(target.h, offset[1]), times(above, offset[2]))
    o = target.p
    for move in moves:
        o = plus(o, move)
    return o


@dataclass
class OffsetPursue(Rule):
    offset: Vector = (0.0, -1.5, 0.0)
    slow_radius: float = 2.0
    stop_radius: float = 0.0

    def say(self, sight: Sight) -> Vector | None:
        q, v_max = sight.target(), sight.body.max_speed
        goal = moved_ahead(q, place_beside(q, self.offset), sight.p, v_max)
        return arrive(sight.p, goal, v_max, self.slow_radius, self.stop_radius)


def hiding_spot(sphere: Sphere, threat: Vector, beyond: float) -> Vector:
    """Spot = c + (r + beyond)·dir(c - threat)."""
    away = direction(minus(sphere.center, threat))
    return plus(sphere.center, times(away, sphere.radius + beyond))


def out_of_sight(sight: Sight, threat: Vector) -> bool:
    """Whether a mesh, or a sphere that is no mesh, stands on the line between the two."""
    eye = (0.0, 0.0, sight.step_height if sight.flat else 0.0)
    way = minus(threat, sight.p)
    if cast(plus(sight.p, eye), direction(way), sight.scene.meshes)[0] < size(way):
        return True
    for sphere in sight.leveled(sight.scene.spheres):
        toward = minus(sphere.center, sight.p)
        share = min(1.0, max(0.0, dot(toward, way) / dot(way, way)))
        if size(minus(toward, times(way, share))) < sphere.radius:
            return True
    return False


@dataclass
class Hide(Rule):
    distance_from_boundary: float = 1.0
    sight_distance: float = 0.0
    slow_radius: float = 2.0
    panic_radius: float = 0.0

    def say(self, sight: Sight) -> Vector | None:
        threat, p = sight.target().p, sight.p
        if self.sight_distance > 0.0:
            far = size(minus(threat, p)) > self.sight_distance
            if far or out_of_sight(sight, threat):
                return None
        obstacles = sight.leveled(sight.scene.all_spheres())
        if not obstacles:
            return Evade(panic_radius=self.panic_radius).say(sight)
        spots = [hiding_spot(sphere, threat, self.distance_from_boundary) for sphere in obstacles]
        nearest = min(spots, key=lambda spot: size(minus(spot, p)))
        return arrive(p, nearest, sight.body.max_speed, self.slow_radius, 0.0)


@dataclass
class FollowWaypoints(Rule):
    """Seek the current waypoint, from the first on; past the last of an open path arrive there.

    A waypoint is reached within waypoint_radius, which is longer than the way of a step.
    """

    waypoint_radius: float = 1.0
    slow_radius: float = 2.0
    current: dict[int, int] = field(default_factory=dict)
    """Number of the waypoint that each agent goes to; one too many at the end."""
    chosen: dict[int, int] = field(default_factory=dict)

    def say(self, sight: Sight) -> Vector | None:
        p, v_max, cyclic = sight.p, sight.body.max_speed, sight.scene.cyclic
        if sight.i not in self.chosen:
            self.chosen[sight.i] = nearest_path(sight)
        path = sight.scene.paths[self.chosen[sight.i]]
        k = self.current.get(sight.i, 0)
        while k < len(path) and size(minus(path[k], p)) <= self.waypoint_radius:
            k = (k + 1) % len(path) if cyclic else k + 1
        self.current[sight.i] = k
        if k == len(path):
            return arrive(p, path[-1], v_max, self.slow_radius, 0.0)
        return seek(p, path[k], v_max)


def nearest_path(sight: Sight) -> int:
    """Number of the path that passes nearest to the agent."""

    def away(a: Vector, b: Vector) -> float:
        along = minus(b, a)
        share = dot(minus(sight.p, a), along) / dot(along, along)
        return size(minus(plus(a, times(along, min(1.0, max(0.0, share)))), sight.p))

    best, found = math.inf, 0
    for number, path in enumerate(sight.scene.paths):
        ends = path[1:] + path[:1] if sight.scene.cyclic else path[1:]
        distance = min(away(a, b) for a, b in zip(path, ends, strict=False))
        if distance < best:
            best, found = distance, number
    return found
