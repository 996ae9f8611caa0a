"""Wander: roam without a goal, by one of two sources.

RANDOM_WALK (Reynolds 1999, Wander): a unit vector w, on the circle in GROUND and on the sphere in
FLY motion, starts at the heading h and walks by at most jitter·√dt [rad] per step;
u = speed · dir(h · distance + w · radius).

POSITION_NOISE (Houdini VEX node): θ = 2π·noise(37·p), φ = π·noise(10·p + 234), displacement
(sin θ cos φ, sin θ sin φ, cos φ); u = speed · dir(2h + displacement), with `noise.value_noise`.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from ..numeric.noise import value_noise
from ..numeric.rng import random_purpose, uniform4
from ..numeric.vec import add_scaled, cross, dot, load, pick, scale, store, unit
from ..parameters import choice, named_choices, param
from ..sensing.declare import VELOCITY, Behavior, Circle, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import on_ground
from ..sensing.units import meters, meters_per_second

WANDER = random_purpose("wander", 1)
SOURCE = named_choices(
    {
        "RANDOM_WALK": "A point on a circle ahead of the agent drifts at random (Reynolds)",
        "POSITION_NOISE": "Smooth noise of the position, as in the Houdini node",
    }
)
WALKS = ("source", ("RANDOM_WALK",))
"""Parameters of the circle count only where the point drifts on it."""


@kernel
def _turned(v, axis, angle):
    """v turned about a unit axis [rad], after Rodrigues."""
    c, s = math.cos(angle), math.sin(angle)
    along = dot(axis, v) * (1.0 - c)
    turned = cross(axis, v)
    return (
        v[0] * c + turned[0] * s + axis[0] * along,
        v[1] * c + turned[1] * s + axis[1] * along,
        v[2] * c + turned[2] * s + axis[2] * along,
    )


@kernel
def _walk(i, agents, world, w, jitter):
    """The wander vector after one step of its random walk."""
    drawn = uniform4(world.seed, agents.id[i], world.step, WANDER)
    reach = jitter * math.sqrt(world.dt)
    if world.flat:
        return _turned(w, load(agents.normal, i), (2.0 * drawn[0] - 1.0) * reach)
    side = unit(cross(w, (0.0, 0.0, 1.0)))
    if side[0] == 0.0 and side[1] == 0.0:
        side = (1.0, 0.0, 0.0)
    axis = _turned(side, w, 2.0 * math.pi * drawn[1])
    return _turned(w, axis, drawn[0] * reach)


@kernel
def _displacement(here):
    """Unit vector in the direction that both noises at a position mean."""
    x, y, z = here
    theta = 2.0 * math.pi * value_noise(37.0 * x, 37.0 * y, 37.0 * z)
    phi = math.pi * value_noise(10.0 * x + 234.0, 10.0 * y + 234.0, 10.0 * z + 234.0)
    return (
        math.sin(theta) * math.cos(phi),
        math.sin(theta) * math.sin(phi),
        math.cos(theta),
    )


@kernel
def wander_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity toward a point on a circle ahead that drifts from step to step."""
    source = int(p.source[0])
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        heading = load(agents.heading, i)
        speed = pick(p.speed, i)
        if speed <= 0.0:
            speed = agents.max_speed[i] * 1.0
        if source == SOURCE.RANDOM_WALK:
            w = unit(on_ground(i, agents, world, load(memory, i)))
            if w == (0.0, 0.0, 0.0):
                w = heading
            w = _walk(i, agents, world, w, pick(p.jitter, i))
            store(memory, i, w)
            ahead = add_scaled(scale(heading, pick(p.distance, i)), w, pick(p.radius, i))
        else:
            ahead = add_scaled(_displacement(load(agents.position, i)), heading, 2.0)
        ahead = on_ground(i, agents, world, ahead)
        store_proposal(out, active, i, scale(unit(ahead), speed))


@behavior(
    label="Wander", output=VELOCITY, kernel=wander_kernel, memory_width=3, icon="FORCE_TURBULENCE"
)
class Wander(Behavior):
    """Roam about in smooth random curves."""

    circles = (Circle("radius", "distance", 0, moves=True, shown_for=WALKS),)
    source: str = choice(
        "RANDOM_WALK",
        SOURCE,
        doc="Where the random directions come from",
    )
    distance: float = meters(
        2.0,
        doc="How far ahead the wander circle lies; more gives gentler curves",
        shown_for=WALKS,
    )
    radius: float = meters(
        1.0,
        doc="Radius of the wander circle; more gives sharper curves",
        per_agent=False,
        shown_for=WALKS,
    )
    jitter: float = param(
        1.0,
        unit="rad/√s",
        minimum=0.0,
        maximum=100.0,
        soft_maximum=10.0,
        doc="How fast the point drifts on the circle; more makes restless paths",
        shown_for=WALKS,
    )
    speed: float = meters_per_second(
        0.0,
        soft_maximum=20.0,
        doc="Wished speed while wandering; more roams faster, 0 takes the maximum speed",
        zero="Max Speed",
    )
