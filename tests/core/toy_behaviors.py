"""Behaviors that only tests know: they set velocities, correct places and show what they remember.

They are taken out of the REGISTRY again. Their kernels call nothing of the package, since kernels
outside of it are not compiled again when it changes.
"""

from __future__ import annotations

import math

from steer_addon.core.compiled.jit import kernel
from steer_addon.core.parameters import param
from steer_addon.core.sensing.declare import PUSH, REGISTRY, SET, VELOCITY, Behavior, behavior


@kernel
def held_kernel(start, stop, agents, world, p, memory, out, active):
    """Set the velocity of those with an even id, and count the steps of all."""
    for i in range(start, stop):
        memory[i, 1] += 1.0
        if agents.id[i] % 2 == 0:
            out[i, 0], out[i, 1], out[i, 2] = p.x[0], p.y[0], p.z[0]
            active[i] = SET


@behavior(
    label="Held", output=VELOCITY, kernel=held_kernel, memory_width=2, shows={"held_steps": 1}
)
class Held(Behavior):
    """Go at a set velocity."""

    x: float = param(0.0, unit="m/s", doc="Velocity along X", per_agent=False)
    y: float = param(0.0, unit="m/s", doc="Velocity along Y", per_agent=False)
    z: float = param(0.0, unit="m/s", doc="Velocity along Z", per_agent=False)


@kernel
def circling_kernel(start, stop, agents, world, p, memory, out, active):
    """Set the velocity to the last one, turned about Z."""
    angle = p.rate[0] * world.dt
    c, s = math.cos(angle), math.sin(angle)
    for i in range(start, stop):
        x, y = agents.velocity[i, 0], agents.velocity[i, 1]
        out[i, 0], out[i, 1], out[i, 2] = x * c - y * s, x * s + y * c, agents.velocity[i, 2]
        active[i] = SET


@behavior(label="Circling", output=VELOCITY, kernel=circling_kernel)
class Circling(Behavior):
    """Turn at a steady rate, to the left when it is above 0."""

    rate: float = param(0.0, unit="rad/s", doc="Rate of turn", per_agent=False)


@kernel
def pushed_kernel(start, stop, agents, world, p, memory, out, active):
    """The same push for all."""
    for i in range(start, stop):
        out[i, 0], out[i, 1] = p.x[0], p.y[0]
        active[i] = 1


@behavior(label="Pushed", output=PUSH, kernel=pushed_kernel)
class Pushed(Behavior):
    """Be pushed."""

    x: float = param(0.0, unit="m/s", doc="Push along X", per_agent=False)
    y: float = param(0.0, unit="m/s", doc="Push along Y", per_agent=False)


@kernel
def no_kernel(start, stop, agents, world, p, memory, out, active):
    """Propose nothing."""


@kernel
def fence_constraint(start, stop, agents, world, p, memory, position, velocity):
    """Put those beyond the fence onto it, at rest along X, and count how often."""
    for i in range(start, stop):
        if position[i, 0] > p.x[0]:
            position[i, 0] = p.x[0]
            velocity[i, 0] = 0.0
            memory[i, 0] += 1.0


@behavior(
    label="Fence",
    output=VELOCITY,
    kernel=no_kernel,
    constraint=fence_constraint,
    memory_width=1,
    shows={"bumps": 0},
)
class Fence(Behavior):
    """Stay on one side of a plane."""

    x: float = param(0.0, unit="m", doc="Where the fence is", per_agent=False)


for _toy in (Held, Circling, Pushed, Fence):
    del REGISTRY[_toy.definition.type]
