"""Spheres ahead, feelers and the zones before walls, as rules in plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass

from restated_crowds import PUSH
from restated_forces import Rule, Sight, Sphere
from restatements import Vector, cross, direction, dot, minus, plus, size, times

UP: Vector = (0.0, 0.0, 1.0)


def point_ahead(sight: Sight, look_ahead: float) -> Vector:
    """Ahead = p + h·look_ahead·|v|/v_max, and h·|v| is v."""
    return plus(sight.p, times(sight.v, look_ahead / sight.body.max_speed))


def held(sphere: Sphere, center: Vector, p: Vector, ahead: Vector) -> bool:
    """Whether ahead, ahead2 (half of it) or p is inside."""
    half = times(plus(p, ahead), 0.5)
    return any(size(minus(x, center)) <= sphere.radius for x in (ahead, half, p))


def in_the_way(sight: Sight, ahead: Vector) -> Sphere | None:
    """The nearest sphere that holds ahead, ahead2 or p.

    Walkers measure level with their ground, and count spheres that reach between their feet and
    step height.
    """
    found, best = None, math.inf
    for sphere in sight.scene.all_spheres():
        c = sphere.center
        if sight.flat:
            height = c[2] - sight.p[2]
            if height + sphere.radius < 0.0 or height - sphere.radius > sight.step_height:
                continue
            c = (c[0], c[1], sight.p[2])
        if held(sphere, c, sight.p, ahead) and size(minus(c, sight.p)) < best:
            found, best = Sphere(c, sphere.radius), size(minus(c, sight.p))
    return found


@dataclass
class AheadSpheres(Rule):
    """Δ = max_avoid·dir(ahead - c)."""

    kind: str = PUSH
    look_ahead: float = 3.0
    max_avoid: float = 2.0

    def say(self, sight: Sight) -> Vector | None:
        ahead = point_ahead(sight, self.look_ahead)
        sphere = in_the_way(sight, ahead)
        if sphere is None:
            return None
        return times(direction(minus(ahead, sphere.center)), self.max_avoid)


@dataclass
class LateralSpheres(AheadSpheres):
    """Δ = max_avoid·n with n ⟂ h in the plane of motion, on the side with n·(c - p) < 0."""

    def say(self, sight: Sight) -> Vector | None:
        sphere = in_the_way(sight, point_ahead(sight, self.look_ahead))
        if sphere is None:
            return None
        toward = minus(sphere.center, sight.p)
        h = direction(sight.v)
        n = direction(cross(h, UP) if sight.flat else minus(toward, times(h, dot(toward, h))))
        if dot(n, toward) > 0.0:
            n = times(n, -1.0)
        return times(n, self.max_avoid)
