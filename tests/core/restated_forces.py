"""A crowd under Reynolds' forces in plain Python: rules that each restate one behavior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from restated_crowds import VELOCITY, Crowd, Proposals, cut
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
    kept,
    minus,
    neighbors,
    plus,
    seek,
    size,
    stored,
    times,
    total,
)

SET = "velocity as it shall be"


@dataclass(frozen=True)
class Target:
    """A sought or feared target: place, motion, and axes."""

    p: Vector
    v: Vector = ZERO
    h: Vector = (0.0, -1.0, 0.0)
    up: Vector = (0.0, 0.0, 1.0)

    @classmethod
    def at(cls, p: Vector, v: Vector = ZERO) -> Target:
        """It heads where it goes, and along -Y while it stands."""
        p, v = stored(p), stored(v)
        return cls(p, v, stored(direction(v))) if size(v) >= 1e-6 else cls(p, v)


@dataclass(frozen=True)
class Sphere:
    """An obstacle, or the bounding sphere of one."""

    center: Vector
    radius: float


def bounding_sphere(mesh: list[Triangle]) -> Sphere:
    """Around the center of the bounding box, out to the farthest corner."""
    center = stored(box_center(mesh))
    corners = [corner for triangle in mesh for corner in triangle]
    return Sphere(center, f32(max(size(minus(corner, center)) for corner in corners)))


@dataclass(frozen=True)
class Scene:
    """Perception of the crowd in one step."""

    targets: list[Target] = field(default_factory=list)
    spheres: list[Sphere] = field(default_factory=list)
    meshes: list[list[Triangle]] = field(default_factory=list)
    paths: list[list[Vector]] = field(default_factory=list)
    cyclic: bool = False
    dt: float = 1.0 / 24.0

    def all_spheres(self) -> list[Sphere]:
        """The obstacles that are spheres, and the bounding spheres of the meshes."""
        return self.spheres + [bounding_sphere(mesh) for mesh in self.meshes]


@dataclass(frozen=True)
class Body:
    """Radius [m], mass [kg], fastest speed [m/s], strongest force [N]."""

    radius: float
    mass: float
    max_speed: float
    max_force: float


@dataclass
class Sight:
    """All that a rule knows when it is asked for one agent."""

    i: int
    state: State
    scene: Scene
    body: Body
    flat: bool
    step_height: float
    relaxation_time: float
    keep: Callable[[float], float]
    wish: Vector = ZERO
    """Sum of the weighted desired velocities; known to pushes only."""
    kind: str = ""
    """A rule that speaks in two ways says here in which."""

    @property
    def p(self) -> Vector:
        return self.state.p[self.i]

    @property
    def v(self) -> Vector:
        return self.state.v[self.i]

    @property
    def h(self) -> Vector:
        return self.state.h[self.i]

    def target(self) -> Target:
        return min(self.scene.targets, key=lambda t: size(minus(t.p, self.p)))

    def leveled(self, spheres: list[Sphere]) -> list[Sphere]:
        """Spheres as walkers see them: level with their ground."""
        if not self.flat:
            return spheres
        return [Sphere((s.center[0], s.center[1], self.p[2]), s.radius) for s in spheres]

    def near(self, reach: float, most: int, view: float) -> list[Neighbor]:
        return kept(neighbors(self.i, self.state, reach, most, view), self.keep)


@dataclass
class Rule:
    """A behavior with its parameters; `say` is its formula, None for no proposal."""

    weight: float = 1.0
    kind: str = VELOCITY

    def say(self, sight: Sight) -> Vector | None:
        raise NotImplementedError


@dataclass
class ForcesCrowd(Crowd):
    """The solver REYNOLDS over a list of rules; a flat crowd stays on the level z = 0."""

    rules: dict[str, Rule] = field(default_factory=dict)
    body: Body = Body(0.25, 1.0, 2.0, 8.0)
    flat: bool = True
    step_height: float = 0.35
    relaxation_time: float = 0.5

    def proposals(self, sight: Sight) -> Proposals:
        """By name in the order of the rules; pushes are asked last, they may read the wish."""
        said: dict[str, tuple[str, Vector]] = {}
        for pushes in (False, True):
            for name, rule in self.rules.items():
                if (rule.kind != VELOCITY) != pushes:
                    continue
                sight.kind = rule.kind
                value = rule.say(sight)
                if value is not None:
                    said |= self.noted({name: (sight.kind, value)})
            if not pushes:
                wishes = [
                    times(value, self.rules[name].weight) for name, (_, value) in said.items()
                ]
                sight.wish = self.passed(total(wishes))
        return {name: said[name] for name in self.rules if name in said}

    def velocity(self, sight: Sight, dt: float) -> Vector:
        """F = Σ wᵢ·(uᵢ - v or Δᵢ)/τ, cut to F_max; a = F/m; v ← truncate(v + a·dt, v_max)."""
        force = ZERO
        for name, (kind, value) in self.proposals(sight).items():
            if self.flat:
                value = (value[0], value[1], 0.0)
            if kind == SET:
                return cut(value, self.body.max_speed)
            wish = minus(value, sight.v) if kind == VELOCITY else value
            part = times(times(wish, 1.0 / self.relaxation_time), self.rules[name].weight)
            force = plus(force, part)
        a = times(cut(self.passed(force), self.body.max_force), 1.0 / self.body.mass)
        return cut(plus(sight.v, times(a, dt)), self.body.max_speed)

    def step(self, state: State, scene: Scene, dt: float) -> State:
        """p ← p + v·dt."""
        told = (self.body, self.flat, self.step_height, self.relaxation_time, self.keep)
        agents = range(len(state.p))
        velocities = [self.velocity(Sight(i, state, scene, *told), dt) for i in agents]
        return state.moved(velocities, dt)


# --- rules of the formulas in restatements.py -------------------------------------------------


@dataclass
class Seek(Rule):
    def say(self, sight: Sight) -> Vector | None:
        return seek(sight.p, sight.target().p, sight.body.max_speed)


@dataclass
class Arrive(Rule):
    slow_radius: float = 2.0
    stop_radius: float = 0.0

    def say(self, sight: Sight) -> Vector | None:
        goal, speed = sight.target().p, sight.body.max_speed
        return arrive(sight.p, goal, speed, self.slow_radius, self.stop_radius)


@dataclass
class Flee(Rule):
    panic_radius: float = 5.0
    linear: bool = True

    def say(self, sight: Sight) -> Vector | None:
        threat, speed = sight.target().p, sight.body.max_speed
        return flee(sight.p, threat, speed, self.panic_radius, self.linear)


@dataclass
class Flocking(Rule):
    """One of the flock's three, by its formula."""

    formula: Callable = cohesion
    strength: float = 1.0
    reach: float = 2.0
    most: int = 10
    view: float = 360.0

    def say(self, sight: Sight) -> Vector | None:
        near = sight.near(self.reach, self.most, self.view)
        if not near:
            return None
        found = self.formula(sight.i, sight.state, near, self.reach, self.strength)
        # neighbors that point nowhere have no say in the direction
        return None if self.formula is alignment and found == ZERO else found
