"""A constraint of behaviors that promise to cross nothing: steps end before colliders."""

from __future__ import annotations

from ..compiled.jit import kernel
from ..geometry.bvh_sweep import sweep_cast
from ..numeric.vec import EPSILON, add_scaled, length, load, scale, store, sub
from .sight import eye
from .targeting import on_ground

ROOM = 1.0e-3
"""Distance from colliders at which steps end [m]."""
ROUNDING = 2.5e-7
"""Relative error of positions stored in 32 bits, with some room."""


@kernel
def stop_before_walls(start, stop, agents, world, p, memory, position, velocity):
    """End steps before the colliders that they would cross."""
    for i in range(start, stop):
        old = load(agents.position, i)
        move = sub(load(position, i), old)
        way = length(move)
        level = on_ground(i, agents, world, move)
        # a longer way is another behavior's doing, as when a container takes agents to its far side
        if way < EPSILON or length(level) > 2.0 * length(load(velocity, i)) * world.dt:
            continue
        origin = eye(i, agents, world)
        room = ROOM + ROUNDING * max(abs(origin[0]), abs(origin[1]), abs(origin[2]))
        ahead = scale(move, 1.0 / way)
        triangle, d = sweep_cast(world.colliders, origin, ahead, way + room, world.tall)
        # an agent that stands in a face is let go
        if triangle >= 0 and d > EPSILON:
            part = min(max(d - room, 0.0) / way, 1.0)
            store(position, i, add_scaled(old, move, part))
            store(velocity, i, scale(load(velocity, i), part))
