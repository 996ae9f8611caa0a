"""Hide: arrive at the nearest spot behind an obstacle, as seen from the threat.

spot_c = c + (r_c + distance_from_boundary) · dir(c - threat), for every obstacle with center c and
bounding radius r_c; u = v_max · clamp(d / slow_radius, 0, 1) · dir(spot - p) for the spot at the
least distance d [m] from the agent, of equally near ones the first. Obstacles are the bounding
spheres of the colliders, and spheres. Where the threat is at the very center of an obstacle, no
side of it is better than another: the spot is on the agent's own side.
Without any obstacle the agent evades the threat, as `evade` with falloff LINEAR does.
With ways, agents go to their spot round walls, and d is the length of the way there.

sight_distance > 0: no proposal while the threat is farther than that, or while something stands
between the two: a collider's mesh on the line from eye to eye, or a sphere that is no collider.
Whether it does is shown as the attribute `hidden`, with any sight_distance.

In GROUND motion all offsets are projected onto the plane of the agent's ground: there spheres count
with their whole radius, however high or low their centers are. Rays go from eye height to as far
above the threat.

Symbols: threat the target's position, p the agent's [m]; v_max maximum speed [m/s].
Source: Cocos2d-x tutorial, *hide*; Buckland 2005, "Programming Game AI by Example", ch. 3.
"""

from __future__ import annotations

import numpy as np

from ..compiled.jit import kernel
from ..geometry.bvh import ray_cast
from ..numeric.vec import EPSILON, add, add_scaled, dot, length, load, pick, scale, store, sub, unit
from ..sensing.approach import arrive_velocity, meeting_offset
from ..sensing.declare import (
    COLLIDERS,
    RUNS_AWAY,
    SPHERES,
    TARGETS,
    VELOCITY,
    Behavior,
    Circle,
    behavior,
)
from ..sensing.proposing import store_proposal
from ..sensing.sight import eye
from ..sensing.targeting import on_ground, straight_offset, target_choice, via_offset
from ..sensing.units import meters
from .flee import flee_velocity

HIDDEN = 0
"""Column of the memory: 1 while something stands between agent and threat."""


@kernel
def hiding_spot(center, radius, threat, beyond):
    """Where an obstacle hides from a threat; all are offsets from the agent [m]."""
    away = sub(center, threat)
    if length(away) < EPSILON:
        away = scale(center, -1.0)
    return add_scaled(center, unit(away), radius + beyond)


@kernel
def crosses(center, radius, way):
    """Whether the straight way from the agent to an offset meets a sphere [m]."""
    whole = dot(way, way)
    share = dot(center, way) / whole if whole > 0.0 else 0.0
    return length(add_scaled(center, way, -min(max(share, 0.0), 1.0))) <= radius


@kernel
def _is_hidden(i, agents, world, spheres, threat, way):
    """Whether something stands between agent i and the threat.

    `threat` is the offset of the threat as the agent sees it, `way` as it is in space.
    """
    distance = length(way)
    if distance < EPSILON:
        return False
    triangle, _distance = ray_cast(world.colliders, eye(i, agents, world), unit(way), distance)
    if triangle >= 0:
        return True
    # spheres of the colliders come last, and their meshes have been tested already
    for s in range(len(spheres.radius) - len(world.collider_radius)):
        center = sub(load(spheres.center, s), load(agents.position, i))
        if crosses(on_ground(i, agents, world, center), np.float64(spheres.radius[s]), threat):
            return True
    return False


@kernel
def _nearest_spot(i, agents, world, spheres, threat, beyond):
    """Offset [m] of the nearest hiding spot from agent i; there has to be one."""
    nearest, least = (0.0, 0.0, 0.0), np.inf
    for s in range(len(spheres.radius)):
        center = sub(load(spheres.center, s), load(agents.position, i))
        center, radius = on_ground(i, agents, world, center), np.float64(spheres.radius[s])
        # most obstacles are too far away for a nearer spot: no square root for these
        if dot(center, center) > 1.001 * (least + radius + beyond) ** 2:
            continue
        spot = hiding_spot(center, radius, threat, beyond)
        distance = length(spot)
        if distance < least:
            nearest, least = spot, distance
    return nearest


@kernel
def spots_kernel(start, stop, agents, world, p, place, row):
    """Where each agent hides [m], written to `place`, and its own row to `row`."""
    for i in range(start, stop):
        j, threat = straight_offset(i, agents, world)
        if j >= 0 and len(p.spheres.radius) > 0:
            beyond = pick(p.distance_from_boundary, i)
            spot = _nearest_spot(i, agents, world, p.spheres, threat, beyond)
            store(place, i, add(load(agents.position, i), spot))
            row[i] = i


@kernel
def hide_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to the nearest spot out of the threat's sight."""
    for i in range(start, stop):
        memory[i, HIDDEN] = 0.0
        j, threat = straight_offset(i, agents, world)
        if j < 0:
            continue
        way = sub(load(world.targets.position, j), load(agents.position, i))
        hidden = _is_hidden(i, agents, world, p.spheres, threat, way)
        memory[i, HIDDEN] = 1.0 if hidden else 0.0
        sight = pick(p.sight_distance, i)
        if sight > 0.0 and (hidden or length(threat) > sight):
            continue
        max_speed = agents.max_speed[i] * 1.0
        if len(p.spheres.radius) > 0:
            beyond = pick(p.distance_from_boundary, i)
            if len(world.targets.rest) > 0:
                spot = via_offset(i, agents, world)
            else:
                spot = _nearest_spot(i, agents, world, p.spheres, threat, beyond)
            near, velocity = True, arrive_velocity(spot, max_speed, pick(p.slow_radius, i), 0.0)
        else:
            speed = on_ground(i, agents, world, load(world.targets.velocity, j))
            offset = meeting_offset(threat, speed, max_speed)
            near, velocity = flee_velocity(offset, max_speed, pick(p.panic_radius, i), True)
        if near:
            store_proposal(out, active, i, velocity)


@behavior(
    label="Hide",
    output=VELOCITY,
    kernel=hide_kernel,
    uses=(TARGETS, COLLIDERS, SPHERES),
    memory_width=1,
    icon="HIDE_ON",
    shows={"hidden": HIDDEN},
    places=spots_kernel,
)
class Hide(Behavior):
    """Go where an obstacle stands between the agent and the target."""

    circles = (Circle("panic_radius"),)
    target_role = RUNS_AWAY
    without_colliders = "evade the target"
    distance_from_boundary: float = meters(
        1.0,
        label="Boundary Distance",
        doc="How far behind the obstacle's bounding sphere agents hide; more keeps off it",
    )
    sight_distance: float = meters(
        0.0,
        soft_maximum=100.0,
        doc="Agents hide only from a threat seen this near; more hides earlier, 0 is always",
        zero="Always",
    )
    slow_radius: float = meters(
        2.0,
        doc="Braking starts at this distance from the spot; more brakes earlier and more gently",
    )
    panic_radius: float = meters(
        0.0,
        soft_maximum=100.0,
        doc="Without obstacles, agents this near to the threat flee; more flees earlier, "
        "0 is no limit",
        zero="No Limit",
    )
    target_choice: str = target_choice()
