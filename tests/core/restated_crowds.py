"""Two crowds in plain Python over restatements.py: Houdini's node, and Reynolds' forces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from restatements import (
    ZERO,
    Neighbor,
    State,
    Triangle,
    Vector,
    alignment,
    arrive,
    box_center,
    cohesion,
    direction,
    f32,
    flee,
    fly_around,
    kept,
    minus,
    nearest,
    neighbors,
    noise_wander,
    plus,
    seek,
    separation,
    size,
    times,
    total,
)

VELOCITY, PUSH = "desired velocity", "push"
Proposals = dict[str, tuple[str, Vector]]
"""By name, in the order of the list: what kind of proposal, and the vector."""


def exact(x: float) -> float:
    return x


@dataclass
class Crowd:
    """Shared parts of both solvers: rounding of numbers, and counts of proposals."""

    keep: Callable[[float], float] = f32
    seen: dict[str, int] = field(default_factory=dict)
    """How many proposals of each behavior were not zero, so that a test can ask for some."""

    def passed(self, a: Vector) -> Vector:
        return (self.keep(a[0]), self.keep(a[1]), self.keep(a[2]))

    def near(
        self, i: int, state: State, reach: float, most: int, view: float = 360.0
    ) -> list[Neighbor]:
        return kept(neighbors(i, state, reach, most, view), self.keep)

    def noted(self, proposals: Proposals) -> Proposals:
        for name, (_, value) in proposals.items():
            self.seen[name] = self.seen.get(name, 0) + (size(value) > 1e-3)
        return {name: (kind, self.passed(value)) for name, (kind, value) in proposals.items()}


PER_FRAME = 24.0
"""The node's velocities are per frame, of which there are 24 in a second."""


@dataclass
class HoudiniNode(Crowd):
    """The node with its defaults, in its own units times 24 where a velocity is meant; it flies."""

    meshes: list[list[Triangle]] = field(default_factory=list)
    fleeing: bool = False
    center_rays: bool = False
    max_force: float = 1.0 * PER_FRAME
    slow_radius: float = 1.0
    acc_weight: float = 0.3
    radius: float = 0.5
    points: int = 10
    wander: float = 0.02 * PER_FRAME
    separation: float = 0.2 * PER_FRAME
    cohesion: float = 1.0 * PER_FRAME
    alignment: float = 1.0 * PER_FRAME
    avoid: float = 1.0 * PER_FRAME
    avoid_radius: float = 1.0

    def proposals(self, i: int, state: State, targets: list[Vector]) -> Proposals:
        p, h, v = state.p[i], state.h[i], state.v[i]
        near = self.near(i, state, self.radius, self.points)
        target = nearest(p, targets)
        found: Proposals = {
            "seek": (VELOCITY, arrive(p, target, self.max_force, self.slow_radius, 0.0))
        }
        away = flee(p, target, self.max_force, 1.5 * self.slow_radius, True)
        if self.fleeing and away is not None:
            found["flee"] = (VELOCITY, away)
        found["wander"] = (VELOCITY, noise_wander(p, h, self.keep(self.wander)))
        if near:
            strength = self.keep(self.separation)
            found |= {
                "separation": (PUSH, separation(i, state, near, self.radius, strength)),
                "cohesion": (VELOCITY, cohesion(i, state, near, self.radius, self.cohesion)),
                "alignment": (VELOCITY, alignment(i, state, near, self.radius, self.alignment)),
            }
        desired = total([value for kind, value in found.values() if kind == VELOCITY])
        rays = {"avoid": direction(v)}
        if self.center_rays:
            centers = [box_center(mesh) for mesh in self.meshes]
            rays |= {f"avoid center {n}": direction(minus(c, p)) for n, c in enumerate(centers)}
        for name, ray in rays.items():
            around = fly_around(p, ray, self.avoid_radius, desired, self.meshes)
            found[name] = (PUSH, times(around, self.avoid))
        return self.noted(found)

    def step(self, state: State, targets: list[Vector], dt: float) -> State:
        """u = Σ (uᵢ or Δᵢ); v ← v + (u - v)·α, with α = 1 - (1 - acc_weight)^(24·dt)."""
        alpha = 1.0 - (1.0 - self.acc_weight) ** (24.0 * dt)
        velocities = []
        for i, v in enumerate(state.v):
            values = [value for _, value in self.proposals(i, state, targets).values()]
            u = self.passed(total(values))
            velocities.append(plus(v, times(minus(u, v), alpha)))
        return state.moved(velocities, dt)


def cut(a: Vector, limit: float) -> Vector:
    """truncate: a, shortened to the limit."""
    return a if size(a) <= limit else times(a, limit / size(a))


@dataclass
class ReynoldsCrowd(Crowd):
    """Seek, arrive, flee and the flock's three under forces; a flat crowd on the level z = 0."""

    flat: bool = True
    priority: bool = False
    weights: dict[str, float] = field(default_factory=dict)
    mass: float = 1.0
    max_speed: float = 2.0
    max_force: float = 8.0
    relaxation_time: float = 0.5
    slow_radius: float = 2.0
    stop_radius: float = 0.0
    panic_radius: float = 5.0
    reach: float = 2.0
    points: int = 6
    view: float = 270.0
    strength: float = 1.0

    def proposals(self, i: int, state: State, targets: dict[str, list[Vector]]) -> Proposals:
        p = state.p[i]
        goal = {name: nearest(p, places) for name, places in targets.items()}
        near = self.near(i, state, self.reach, self.points, self.view)
        found: Proposals = {
            "seek": (VELOCITY, seek(p, goal["seek"], self.max_speed)),
            "arrive": (
                VELOCITY,
                arrive(p, goal["arrive"], self.max_speed, self.slow_radius, self.stop_radius),
            ),
        }
        away = flee(p, goal["flee"], self.max_speed, self.panic_radius, True)
        if away is not None:
            found["flee"] = (VELOCITY, away)
        if near:
            found |= {
                "separation": (PUSH, separation(i, state, near, self.reach, self.strength)),
                "cohesion": (VELOCITY, cohesion(i, state, near, self.reach, self.strength)),
                "alignment": (VELOCITY, alignment(i, state, near, self.reach, self.strength)),
            }
            if found["alignment"][1] == ZERO:
                # neighbors that point nowhere have no say, as none at all have none; the formulas
                # leave open whether that is a wish to stand
                del found["alignment"]
        if self.flat:
            found = {name: (kind, (u[0], u[1], 0.0)) for name, (kind, u) in found.items()}
        return self.noted(found)

    def force(self, v: Vector, proposals: Proposals) -> Vector:
        """F = Σ wᵢ·(uᵢ - v or Δᵢ)/τ; by priority until F_max is used up."""
        result, left = ZERO, self.max_force
        for name in self.weights:
            if name not in proposals:
                continue
            kind, value = proposals[name]
            wish = minus(value, v) if kind == VELOCITY else value
            part = times(times(wish, 1.0 / self.relaxation_time), self.weights[name])
            if self.priority:
                part = cut(part, left)
                left = max(0.0, left - size(part))
            result = plus(result, part)
        return result

    def step(self, state: State, targets: dict[str, list[Vector]], dt: float) -> State:
        """F truncated to F_max; a = F/m; v ← truncate(v + a·dt, v_max); p ← p + v·dt."""
        velocities = []
        for i, v in enumerate(state.v):
            force = self.passed(self.force(v, self.proposals(i, state, targets)))
            a = times(cut(force, self.max_force), 1.0 / self.mass)
            velocities.append(cut(plus(v, times(a, dt)), self.max_speed))
        return state.moved(velocities, dt)
