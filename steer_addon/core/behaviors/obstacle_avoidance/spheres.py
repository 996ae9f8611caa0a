"""Obstacle avoidance on spheres: the methods AHEAD and LATERAL.

ahead = p + v · look_ahead / v_max, ahead2 is half-way there; c, r [m] are the center and radius of
the nearest sphere (by |c - p|, ties by its place in the list) that holds ahead, ahead2 or p.
Spheres are the bounding spheres of the colliders, and those of the world.

AHEAD: Δ = max_avoid · dir(ahead - c). Head-on that points backward: it brakes.
LATERAL: Δ = max_avoid · n, n square to the heading h in the plane of motion, on the side with
n · (c - p) < 0: no backward push. GROUND: the plane of the ground. FLY: the plane that holds h and
c - p. Exactly head-on, n points to the right of h on every machine.

Beyond the sources: walkers measure c - p level with their ground, and only spheres that reach into
the layer between their feet and step height count, each with its full radius: no agent steers
around a sphere that floats above. A sphere centered on `ahead` itself gives AHEAD no direction, so
there is no proposal. An agent whose v_max is 0 looks no farther than p.

Source: tutsplus, "Understanding Steering Behaviors: Collision Avoidance" (AHEAD); its Cocos2d-x
variant (LATERAL).
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import EPSILON, cross, dot, length, load, pick, project, scale, sub, unit
from ...sensing.proposing import store_proposal
from ...sensing.sight import way
from ...sensing.targeting import on_ground, side_axis


@kernel
def _threat(spheres, position, up, flat, eye_height, ahead):
    """Nearest sphere that holds the point `ahead`, the one half-way, or the agent.

    Args:
        spheres: SphereView.
        position: The agent's [m].
        up: Normal of its ground.
        flat: Whether it walks.
        eye_height: Spheres of walkers reach below this height [m] above the feet.
        ahead: Offset [m] from the agent to the point ahead.

    Returns:
        (whether there is one, offset of its center from the agent [m]).
    """
    least, found, farthest = math.inf, (0.0, 0.0, 0.0), length(ahead) + EPSILON
    for s in range(len(spheres.radius)):
        offset, radius = sub(load(spheres.center, s), position), spheres.radius[s] * 1.0
        height = dot(offset, up) if flat else 0.0
        # most spheres are too far away: no square root for these
        if dot(offset, offset) - height * height > 1.001 * (farthest + radius) ** 2:
            continue
        if flat:
            if height - radius > eye_height or height + radius < 0.0:
                continue
            offset = project(offset, up)
        distance = length(offset)
        if distance >= least:
            continue
        held = distance <= radius or length(sub(offset, ahead)) <= radius
        if held or length(sub(offset, scale(ahead, 0.5))) <= radius:
            least, found = distance, offset
    return least < math.inf, found


@kernel
def _look(i, agents, world, p):
    """Agent i's threat as (whether, offset of its center, offset of the point ahead, velocity)."""
    velocity = on_ground(i, agents, world, load(agents.velocity, i))
    top = agents.max_speed[i] * 1.0
    ahead = scale(velocity, pick(p.look_ahead, i) / top if top > EPSILON else 0.0)
    position, up = load(agents.position, i), load(agents.normal, i)
    met, offset = _threat(p.spheres, position, up, world.flat, world.eye_height, ahead)
    return met, offset, ahead, velocity


@kernel
def ahead_kernel(start, stop, agents, world, p, memory, out, active):
    """Push from the center of the threat toward the point ahead."""
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        met, offset, ahead, _velocity = _look(i, agents, world, p)
        if met:
            away = unit(sub(ahead, offset))
            if away != (0.0, 0.0, 0.0):
                store_proposal(out, active, i, scale(away, pick(p.max_avoid, i)))


@kernel
def _aside(heading, up, flat, offset):
    """Unit vector square to the heading, away from a center at `offset`."""
    if flat:
        right = unit(cross(heading, up))
        return scale(right, -1.0) if dot(offset, right) > EPSILON else right
    across = project(offset, heading)
    if length(across) > EPSILON:
        return scale(unit(across), -1.0)
    return side_axis(heading, (0.0, 0.0, 1.0))


@kernel
def lateral_kernel(start, stop, agents, world, p, memory, out, active):
    """Push to the side of the heading on which the threat's center is not."""
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        met, offset, _ahead, velocity = _look(i, agents, world, p)
        if met:
            heading = way(i, agents, world, velocity)
            aside = _aside(heading, load(agents.normal, i), world.flat, offset)
            if aside != (0.0, 0.0, 0.0):
                store_proposal(out, active, i, scale(aside, pick(p.max_avoid, i)))
