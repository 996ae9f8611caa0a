"""Kernels of the solver: combine proposals, limit them, and move the agents."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compiled.jit import inlined_kernel, kernel
from ..geometry.ground import walk
from ..geometry.regions import rounded
from ..numeric.vec import (
    EPSILON,
    add,
    add_scaled,
    cross,
    dot,
    length,
    load,
    project,
    scale,
    store,
    sub,
    truncate,
    unit,
)
from ..sensing.declare import SET


class LimitsView(NamedTuple):
    """The solver's settings as kernels read them."""

    vex: bool
    priority: bool
    relaxation_time: float  # [s]
    blend: float  # α of the VEX solver for this step
    min_speed: float  # [m/s]
    max_turn: float  # [rad] in this step, 0 = no limit
    max_change: float  # [m/s] in this step, 0 = no limit
    step_height: float  # [m]
    min_turn_speed: float  # [m/s] slower agents keep their heading
    max_body_turn: float  # [rad] of the heading in this step, 0 = no limit
    banking: float  # share of a coordinated turn that flyers lean
    max_bank: float  # [rad]


SLOW = 0.1
"""Share of the maximum speed that counts as standing, or as no wish to go."""
STOPPING_TIME = 1.5
"""Longest time in which the arrived come to a halt [s]."""
GRAVITY = 9.81
BANKING_TIME = 0.25
"""Delay with which flyers lean into a curve [s]: without it they would tremble at corrections."""
STEEP = 0.9
"""Rise of a unit heading from which on flyers keep their lean, as level says little there."""
FASTEST_ROLL = 2.0 * math.pi
"""[rad/s]: those who flew over the top are upright again after half a second."""


@kernel
def _combined(i, agents, world, limits, asked):
    """The combined proposals to agent i: (wish, whether it is forced).

    The wish is the steering force [N] (REYNOLDS) or the wished velocity [m/s] (VEX). Where a
    behavior sets the velocity, it is forced and the wish is that velocity; of several such
    behaviors the first in the list wins.
    """
    kinds, weights, values, active = asked
    budget = agents.max_speed[i] * 1.0 if limits.vex else agents.max_force[i] * 1.0
    used = 0.0
    total = (0.0, 0.0, 0.0)
    velocity = load(agents.velocity, i)
    for b in range(len(kinds)):
        weight = np.float64(weights[b, i if weights.shape[1] > 1 else 0])
        if active[b, i] == 0 or weight <= 0.0:
            continue
        part = (values[b, i, 0] * 1.0, values[b, i, 1] * 1.0, values[b, i, 2] * 1.0)
        if world.flat:
            part = project(part, load(agents.normal, i))
        if active[b, i] == SET:
            return part, True
        if not limits.vex:
            if kinds[b]:
                part = sub(part, velocity)
            part = scale(part, 1.0 / limits.relaxation_time)
        part = scale(part, weight)
        if limits.priority:
            part = truncate(part, max(0.0, budget - used))
            used += length(part)
        total = add(total, part)
    return total, False


@kernel
def _settled(wish, old, top, mass, distance, limits, dt):
    """The wish of an agent that has arrived: (wish, whether it is forced).

    A small wish gives way to the force, or the velocity, that stops the agent; see `arrival`.

    Args:
        wish: See `_combined`.
        old: Velocity [m/s].
        top: Maximum speed [m/s].
        mass: [kg].
        distance: To the goal [m].
        limits: LimitsView.
        dt: Length of the step [s].
    """
    asked = wish if limits.vex else add_scaled(old, wish, limits.relaxation_time)
    if length(asked) > SLOW * top:
        return wish, False
    speed = length(old)
    brake = max(top / STOPPING_TIME, speed * speed / max(2.0 * distance, EPSILON)) * dt
    if speed <= max(brake, EPSILON):
        return (0.0, 0.0, 0.0), True
    if not limits.vex:
        return scale(old, -brake * mass / (speed * dt)), False
    if limits.blend > EPSILON:
        return scale(old, 1.0 - brake / (speed * limits.blend)), False
    return wish, False


@inlined_kernel
def _is_small(old, toward, most):
    """Whether the angle between two unit vectors is beyond doubt no more than `most` [rad]."""
    # the cosine of the most is no more than this: small turns need no arc
    least = 1.0 - most * most * (0.5 - most * most / 24.0) + EPSILON
    return min(1.0, max(-1.0, dot(old, toward))) > least


@inlined_kernel
def _turned(old, new, most):
    """`new` turned back toward the unit vector `old`, so that at most `most` [rad] lie between."""
    speed = length(new)
    toward = unit(new)
    cosine = min(1.0, max(-1.0, dot(old, toward)))
    if speed < EPSILON or _is_small(old, toward, most) or math.acos(cosine) <= most:
        return new
    side = sub(toward, scale(old, cosine))
    if length(side) < EPSILON:
        # straight back: turn to the left, as there is no nearer side
        side = cross((0.0, 0.0, 1.0), old)
        if length(side) < EPSILON:
            side = (1.0, 0.0, 0.0)
    turned = add_scaled(scale(old, math.cos(most)), unit(side), math.sin(most))
    return scale(turned, speed)


@inlined_kernel
def _new_velocity(old, heading, top, most_force, mass, limits, wished, forced, dt):
    """Velocity after the step, with all limits applied."""
    if forced:
        new = wished if limits.vex else truncate(wished, top)
    elif limits.vex:
        new = add_scaled(old, sub(wished, old), limits.blend)
    else:
        force = truncate(wished, most_force)
        new = truncate(add_scaled(old, force, dt / mass), top)
    if limits.max_change > 0.0:
        new = add(old, truncate(sub(new, old), limits.max_change))
    if limits.max_turn > 0.0:
        new = _turned(heading, new, limits.max_turn)
    if limits.min_speed > 0.0:
        slowest = limits.min_speed if limits.vex else min(limits.min_speed, top)
        speed = length(new)
        if speed < slowest:
            direction = unit(new) if speed > EPSILON else heading
            new = scale(direction, slowest)
    return new


@kernel
def _kept_roll(roll, before, heading):
    """The lean of a body that does not turn about a heading that passes straight up or down.

    There the level direction to the right, from which leans are measured, turns around at once.
    """
    along = dot(before, heading)
    if abs(heading[2]) < STEEP or along <= 0.0:
        return roll
    level = unit(cross(heading, (0.0, 0.0, 1.0)))
    right = unit(cross(before, (0.0, 0.0, 1.0)))
    right = add_scaled(right, add(before, heading), -dot(right, heading) / (1.0 + along))
    kept = roll + math.atan2(dot(right, cross(heading, level)), dot(right, level))
    return math.atan2(math.sin(kept), math.cos(kept))


@kernel
def _new_roll(roll, old, new, heading, limits, dt):
    """How far a flyer leans after the step: as a plane in a coordinated turn, with some delay.

    Source: Reynolds 1999, Locomotion ("banking"): the up vector follows gravity and acceleration.
    """
    right = unit(cross(heading, (0.0, 0.0, 1.0)))
    pull = dot(sub(new, old), right) * (1.0 / dt)
    wanted = math.atan2(limits.banking * pull, GRAVITY)
    wanted = min(limits.max_bank, max(-limits.max_bank, wanted))
    change = (wanted - roll) * (1.0 - math.exp(-dt / BANKING_TIME))
    return roll + min(FASTEST_ROLL * dt, max(-FASTEST_ROLL * dt, change))


@inlined_kernel
def _faced(heading, new, limits):
    """The heading after the step: along the motion, as fast as a body turns."""
    if length(new) < max(EPSILON, limits.min_turn_speed):
        return heading
    ahead = unit(new)
    if limits.max_body_turn > 0.0:
        toward = unit(ahead)
        if _is_small(heading, toward, limits.max_body_turn):
            return toward
        ahead = unit(_turned(heading, ahead, limits.max_body_turn))
    return ahead


@kernel
def move_kernel(start, stop, agents, world, limits, asked, arrived, distance, old_roll, after):
    """Combine the proposals and move the agents; walking ones stay on their ground.

    Args:
        start: First agent.
        stop: Agent after the last.
        agents: AgentView.
        world: WorldView.
        limits: LimitsView.
        asked: The proposals of b behaviors: 1 for those that are velocities and 0 for pushes,
            shape (b,); weights, (b, 1) or (b, n); values [m/s], (b, n, 3); ASKED or SET, (b, n).
        arrived: 1 for agents that come to rest when they wish for nothing, shape (n,).
        distance: To their goals [m], shape (n,); without rows where the crowd has none.
        old_roll: How far flyers leaned [rad], shape (n,).
        after: Position, velocity, heading, normal and roll; written, see `Agents`.
    """
    position, velocity, heading, normal, roll = after
    on_terrain = world.flat and len(world.ground.link) > 0
    for i in range(start, stop):
        wish, forced = _combined(i, agents, world, limits, asked)
        wish = rounded(wish)
        if arrived[i] != 0 and not forced and distance.size > 0:
            wish, forced = _settled(
                wish,
                load(agents.velocity, i),
                agents.max_speed[i] * 1.0,
                agents.mass[i] * 1.0,
                distance[i],
                limits,
                world.dt,
            )
            wish = rounded(wish)
        # single values, since a view of many arrays is dear to pass on
        new = _new_velocity(
            load(agents.velocity, i),
            load(agents.heading, i),
            agents.max_speed[i] * 1.0,
            agents.max_force[i] * 1.0,
            agents.mass[i] * 1.0,
            limits,
            wish,
            forced,
            world.dt,
        )
        old_position = load(agents.position, i)
        up = load(agents.normal, i)
        if world.flat:
            new = project(new, up)
        moved = add_scaled(old_position, new, world.dt)
        if on_terrain:
            move = scale(new, world.dt)
            moved, up, blocked = walk(
                world.ground,
                old_position,
                move,
                up,
                agents.radius[i] * 1.0,
                limits.step_height,
                world.min_up,
            )
            if blocked:
                # what was really walked, level: the step up or down is not a motion of its own
                done = sub(moved, old_position)
                new = scale((done[0], done[1], 0.0), 1.0 / world.dt)
        store(position, i, moved)
        store(velocity, i, new)
        store(normal, i, up)
        ahead = _faced(load(agents.heading, i), new, limits)
        store(heading, i, ahead)
        roll[i] = 0.0
        if limits.banking > 0.0 and not world.flat:
            old = load(agents.velocity, i)
            kept = _kept_roll(old_roll[i] * 1.0, load(agents.heading, i), ahead)
            roll[i] = _new_roll(kept, old, new, ahead, limits, world.dt)
