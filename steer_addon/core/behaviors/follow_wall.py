"""Follow wall: seek x + n · wall_distance, x the surface point next to the point ahead, p + v · T.

n is the direction from x to the point ahead; at a point ahead on the surface itself the normal of
the face, turned to the agent. It turns steadily around outer corners, where normals of faces jump.

Symbols: p position [m], v velocity and v_max maximum speed [m/s], T anticipation_time [s], n unit.
Source: Reynolds 1999, "Steering Behaviors For Autonomous Characters", Wall Following.

Decided beyond the sources:

- An agent that stands looks ahead along its heading, as if at maximum speed.
- The point ahead does not go through walls: where the way to it is blocked, x is the point that is
  hit and n the normal there.
- The point sought is at least v_max · T/2 along the wall: by the formula alone, agents that come
  straight at a wall or into an inner corner would stop before it. Along the wall is where v leads,
  and in an inner corner away from the wall that was followed before.
- GROUND: the point ahead is at eye height, and n is level. Only faces too steep to walk on are
  walls: floors and ceilings of a building do not count.

On a straight wall the distance e from the wished one obeys e'' = -(e' + e/T)/τ with relaxation time
τ: it is damped without swinging for T ≥ 4τ, and hardly swings for T ≥ 2τ.
"""

from __future__ import annotations

import numpy as np

from ..compiled.jit import kernel
from ..geometry.bvh import nearest_point, nearest_steep, triangle_normal
from ..numeric.vec import (
    EPSILON,
    add_scaled,
    dot,
    length,
    load,
    pick,
    project,
    scale,
    store,
    sub,
    unit,
)
from ..parameters import param
from ..sensing.declare import COLLIDERS, VELOCITY, Behavior, behavior
from ..sensing.proposing import store_proposal
from ..sensing.sight import eye, first_hit, tangent_by_id, way
from ..sensing.targeting import on_ground
from ..sensing.units import meters

TOUCHING = 1.0e-3
"""Nearer to the surface than this [m] the point ahead does not tell a direction."""
CORNER = 0.5
"""How much of the motion goes into the wall, at least, where a corner is seen in it."""
LEAST_PROGRESS = 0.5
"""Share of the way ahead at maximum speed that the point sought lies along the wall."""


@kernel
def _surface(i, agents, world, origin, along, reach):
    """The surface that agent i follows: its point [m], and its unit normal to the agent's side.

    It is what a ray to the point ahead hits, else what is nearest to that point. The normal is the
    zero vector where there is nothing to follow.

    Args:
        i: The agent.
        agents: AgentView.
        world: WorldView.
        origin: Where the agent looks from [m].
        along: Unit direction in which it looks.
        reach: Distance of the point ahead [m].
    """
    triangle, distance, normal = first_hit(world, origin, along, reach)
    if triangle >= 0:
        return add_scaled(origin, along, distance), unit(on_ground(i, agents, world, normal))
    ahead = add_scaled(origin, along, reach)
    if world.flat:
        triangle, point, _ = nearest_steep(world.colliders, ahead, np.inf, world.min_up)
    else:
        triangle, point, _ = nearest_point(world.colliders, ahead, np.inf)
    if triangle < 0:
        return point, (0.0, 0.0, 0.0)
    normal = sub(ahead, point)
    if length(on_ground(i, agents, world, normal)) < TOUCHING:
        normal = triangle_normal(world.colliders, triangle)
        if dot(normal, sub(origin, point)) < 0.0:
            normal = scale(normal, -1.0)
    return point, unit(on_ground(i, agents, world, normal))


@kernel
def _tangent(i, agents, along, normal, followed):
    """Unit direction along the wall; `followed` is the normal of the wall before, or zero."""
    into = -dot(along, normal)
    tangent = project(along, normal)
    if into > CORNER and dot(tangent, followed) <= 0.0 and length(project(followed, normal)) > 0.1:
        tangent = project(followed, normal)
    if length(tangent) > 1.0e-3:
        return unit(tangent)
    return tangent_by_id(i, agents, normal)


@kernel
def follow_wall_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to a point beside the wall, a little ahead."""
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        origin = eye(i, agents, world)
        whole = agents.max_speed[i] * pick(p.anticipation_time, i)
        velocity = on_ground(i, agents, world, load(agents.velocity, i))
        along, speed = way(i, agents, world, velocity), length(velocity)
        reach = whole if speed < EPSILON else speed * pick(p.anticipation_time, i)
        point, normal = _surface(i, agents, world, origin, along, reach)
        if not length(normal) > 0.5:
            continue
        tangent = _tangent(i, agents, along, normal, load(memory, i))
        if -dot(along, normal) <= CORNER:
            store(memory, i, normal)
        beside = add_scaled(sub(point, origin), normal, pick(p.wall_distance, i))
        sought = on_ground(i, agents, world, beside)
        missing = LEAST_PROGRESS * whole - dot(sought, tangent)
        sought = add_scaled(sought, tangent, max(missing, 0.0))
        if length(sought) >= EPSILON:
            store_proposal(out, active, i, scale(unit(sought), agents.max_speed[i]))


@behavior(
    label="Follow Wall",
    output=VELOCITY,
    kernel=follow_wall_kernel,
    uses=(COLLIDERS,),
    memory_width=3,
    icon="MOD_OUTLINE",
    group="Obstacles",
)
class FollowWall(Behavior):
    """Walk along the nearest wall at a distance from it."""

    looks_by = ("anticipation_time",)
    anticipation_time: float = param(
        1.0,
        unit="s",
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=5.0,
        doc="How far ahead the wall is looked at; more is smoother and cuts corners",
    )
    wall_distance: float = meters(
        1.0, doc="Distance from the wall; more walks farther away from it"
    )
