"""Obstacle avoidance on meshes by a fan of rays: the method WHISKERS.

A ray straight on and samples // 2 pairs of rays, mirrored to the left and right, fill
field_of_view [deg]: evenly in GROUND motion; in FLY motion a cone, each pair on its own circle, the
circles as far apart as gives every ray the same share of the cone, turned by the golden ratio from
pair to pair. One more ray goes along the wished velocity, wherever that points. The fan turns with
the velocity, or with the heading of an agent that stands.

The clearance of a ray [m] is its hit distance less the body radius, from 0 to look_ahead. The best
ray is the one with the longest clearance; of equal ones, the one nearest to the wished velocity
w, then the inner one, then that on the right for agents with an even id, on the left for odd ones.

u = min(|w|, v_max) · max(front, 0.25 · best) / look_ahead · dir(best ray), with the clearances of
the straight and of the best ray: the agent brakes for what is in front of it, but as long as a side
is free it keeps at least a quarter of its speed, so that it can turn there. w is the weighted sum
of the desired velocities of the stack, and v where there is none: this behavior alone speeds no
agent up, and agents that stand and wish nothing stay. Δ = u - w, truncated to max_avoid: with
weight 1, beside goals whose weights add up to 1, agents steer by u - v as if u was their only wish,
and agents whose way is free are left alone. Nothing is proposed when no ray hits anything.

Walking agents look from step height above their feet, level with their ground; steep ground is an
obstacle too.

Source: Houdini, POP Steer Obstacle (the idea; the rules for ties, speed and floor are our own).
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import (
    EPSILON,
    add_scaled,
    dot,
    length,
    load,
    pick,
    scale,
    sub,
    truncate,
    unit,
)
from ...sensing.proposing import store_proposal
from ...sensing.sight import eye, first_hit, sides, way
from ...sensing.targeting import on_ground

GOLDEN = 0.6180339887498949
FLOOR = 0.25
"""Share of the speed that is kept while the best ray is free, whatever is in front."""
TIE = 1.0e-6
"""Relative difference below which two clearances, or two cosines, count as equal."""


@kernel
def whisker(k, pairs, half, flat, ahead, right, above):
    """Unit direction of ray k of the fan: 0 is straight on, then right and left by turns.

    Args:
        k: From 0 to 2 · pairs.
        pairs: How many mirrored pairs there are.
        half: Half of the field of view [rad].
        flat: Whether the fan is level.
        ahead: Unit vector straight on.
        right: Unit vector square to it.
        above: Unit vector square to both; not used by a level fan.
    """
    if k == 0:
        return ahead
    pair = (k + 1) // 2
    side = 1.0 if k % 2 == 1 else -1.0
    if flat:
        angle = half * pair / pairs
        return add_scaled(scale(ahead, math.cos(angle)), right, side * math.sin(angle))
    cosine = 1.0 - (1.0 - math.cos(half)) * pair / pairs
    sine = math.sqrt(max(0.0, 1.0 - cosine * cosine))
    around = math.pi * ((pair * GOLDEN) % 1.0)
    across = add_scaled(scale(above, math.cos(around)), right, side * math.sin(around))
    return add_scaled(scale(ahead, cosine), across, sine)


@kernel
def _clearance(world, origin, direction, reach, radius):
    """Room [m] for a body in a direction, from 0 to reach."""
    triangle, distance, _normal = first_hit(world, origin, direction, reach + radius)
    if triangle < 0:
        return reach
    return min(reach, max(0.0, distance - radius))


@kernel
def _is_better(clearance, cosine, best, best_cosine, reach):
    """Whether a ray is freer than the best one so far, or as free and nearer to the wish."""
    if abs(clearance - best) > TIE * reach:
        return clearance > best
    return cosine > best_cosine + TIE


@kernel
def _survey(world, origin, ahead, right, above, wish, rays, half, reach, radius):
    """Cast all rays: (direction of the best, its clearance, clearance straight on, any hit).

    Args:
        world: WorldView.
        origin: Where rays start [m].
        ahead: Unit vector straight on.
        right: Unit vector square to it, toward the side that is looked at first.
        above: Unit vector square to both.
        wish: Unit vector of the wished velocity.
        rays: Rays of the fan, an odd number.
        half: Half of the field of view [rad].
        reach: Look-ahead [m].
        radius: Of the body [m].
    """
    best_direction, best, best_cosine, front, hit = ahead, -1.0, -2.0, reach, False
    for k in range(-1 if dot(ahead, wish) < 1.0 - TIE else 0, rays):
        direction = wish
        if k >= 0:
            direction = whisker(k, (rays - 1) // 2, half, world.flat, ahead, right, above)
        clearance = _clearance(world, origin, direction, reach, radius)
        hit = hit or clearance < reach
        if k == 0:
            front = clearance
        cosine = dot(direction, wish)
        if _is_better(clearance, cosine, best, best_cosine, reach):
            best_direction, best, best_cosine = direction, clearance, cosine
    return best_direction, best, front, hit


@kernel
def whiskers_kernel(start, stop, agents, world, p, memory, out, active):
    """Push toward the freest ray of a fan, braking for what is in front."""
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        reach = pick(p.look_ahead, i)
        velocity = on_ground(i, agents, world, load(agents.velocity, i))
        wish = on_ground(i, agents, world, load(agents.desired, i))
        if length(wish) < EPSILON:
            wish = velocity
        cruise = min(length(wish), agents.max_speed[i] * 1.0)
        ahead = way(i, agents, world, velocity)
        if reach <= EPSILON or cruise < EPSILON or length(ahead) < EPSILON:
            continue
        right, above = sides(ahead, load(agents.normal, i), world.flat)
        if agents.id[i] % 2 != 0:
            right = scale(right, -1.0)
        best_direction, best, front, hit = _survey(
            world,
            eye(i, agents, world),
            ahead,
            right,
            above,
            unit(wish),
            2 * (int(pick(p.samples, i)) // 2) + 1,
            math.radians(pick(p.field_of_view, i)) * 0.5,
            reach,
            agents.radius[i] * 1.0,
        )
        speed = cruise * max(front, FLOOR * best) / reach
        push = sub(scale(best_direction, speed), wish)
        if hit and length(push) > EPSILON:
            store_proposal(out, active, i, truncate(push, pick(p.max_avoid, i)))
