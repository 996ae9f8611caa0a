"""Obstacle avoidance by five methods; those on meshes cast rays against the triangles.

RAY: one ray along v, length look_ahead; hit point x, distance d, normal n turned against the ray.
CENTER_RAY: a ray toward each collider's center, length avoid_radius: it sees obstacles behind and
beside the agent too. A ray counts when the collider that it is meant for is the first thing on it;
the pushes are added up, to max_avoid at most.

GROUND: Δ along the wall tangent dir(up × n), on the side of the heading; head-on the side nearer
to the desired velocity, else by id. FLY: Δ = max_avoid · dir((x - p) × n) as the node does, with
the tangent of the desired velocity where that cross product vanishes. Strength fades linearly
with the hit distance: max_avoid · (1 - d / length).

Walking agents look from step height above their feet, see steep ground as an obstacle too, and
cast their rays level with their ground.

WHISKERS is described in `obstacle_whiskers`, AHEAD and LATERAL (spheres) in `obstacle_spheres`.

Source: Houdini VEX node, first (RAY) and second (CENTER_RAY) method.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...numeric.vec import (
    EPSILON,
    add,
    cross,
    dot,
    length,
    load,
    pick,
    project,
    scale,
    sub,
    truncate,
    unit,
)
from ...parameters import choice, param
from ...sensing.declare import COLLIDERS, PUSH, SPHERES, Behavior, behavior
from ...sensing.proposing import store_proposal
from ...sensing.sight import eye, first_hit
from ...sensing.targeting import on_ground
from ...sensing.units import meters, meters_per_second
from .spheres import ahead_kernel, lateral_kernel
from .whiskers import whiskers_kernel

HEAD_ON = 0.01
NO_PUSH = (0.0, 0.0, 0.0)


@kernel
def _sideways(i, agents, up, normal):
    """GROUND: the wall tangent on the side where the agent is going."""
    tangent = unit(cross(up, normal))
    side = dot(tangent, load(agents.heading, i))
    if abs(side) < HEAD_ON:
        side = dot(tangent, load(agents.desired, i))
    if abs(side) < EPSILON:
        side = 1.0 if agents.id[i] % 2 == 0 else -1.0
    return tangent if side > 0.0 else scale(tangent, -1.0)


@kernel
def _around(i, agents, ray, normal):
    """FLY: dir((x - p) × n), and the tangent of the desired velocity where that vanishes."""
    turned = cross(unit(ray), normal)
    if length(turned) > HEAD_ON:
        return unit(turned)
    tangent = project(load(agents.desired, i), normal)
    if length(tangent) > EPSILON:
        return unit(tangent)
    side = cross(normal, (0.0, 0.0, 1.0))
    if length(side) > EPSILON:
        return unit(side)
    return (1.0, 0.0, 0.0)


@kernel
def _push(i, agents, world, origin, direction, reach, first, last):
    """Direction of the push for one ray, scaled by the fading with distance.

    Zero unless the first hit is one of the triangles first to last - 1.
    """
    if reach <= 0.0 or direction == (0.0, 0.0, 0.0):
        return NO_PUSH
    triangle, distance, normal = first_hit(world, origin, direction, reach)
    if triangle < first or triangle >= last:
        return NO_PUSH
    if world.flat:
        away = _sideways(i, agents, load(agents.normal, i), normal)
    else:
        away = _around(i, agents, direction, normal)
    return scale(away, 1.0 - distance / reach)


@kernel
def _center_pushes(i, agents, world, origin, reach):
    """Sum of the pushes of the rays toward all colliders within reach."""
    total = NO_PUSH
    for c in range(len(world.collider_radius)):
        offset = sub(load(world.collider_center, c), origin)
        height = dot(offset, load(agents.normal, i)) if world.flat else 0.0
        nearer = reach + world.collider_radius[c]
        # most colliders are too far away: no square root for these
        if dot(offset, offset) - height * height > 1.001 * nearer * nearer:
            continue
        offset = on_ground(i, agents, world, offset)
        if length(offset) > nearer:
            continue
        first, last = world.collider_first[c], world.collider_first[c + 1]
        push = _push(i, agents, world, origin, unit(offset), reach, first, last)
        total = add(total, push)
    return total


@kernel
def ray_kernel(start, stop, agents, world, p, memory, out, active):
    """Push along what the ray ahead hits."""
    last = len(world.colliders.triangles) + 1
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        velocity = on_ground(i, agents, world, load(agents.velocity, i))
        reach = pick(p.look_ahead, i)
        push = _push(i, agents, world, eye(i, agents, world), unit(velocity), reach, 0, last)
        if push != NO_PUSH:
            store_proposal(out, active, i, scale(truncate(push, 1.0), pick(p.max_avoid, i)))


@kernel
def center_ray_kernel(start, stop, agents, world, p, memory, out, active):
    """Push along what the rays toward the colliders' centers hit."""
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        reach = pick(p.avoid_radius, i)
        push = _center_pushes(i, agents, world, eye(i, agents, world), reach)
        if push != NO_PUSH:
            store_proposal(out, active, i, scale(truncate(push, 1.0), pick(p.max_avoid, i)))


@behavior(
    label="Obstacle Avoidance",
    output=PUSH,
    kernel={
        "RAY": ray_kernel,
        "CENTER_RAY": center_ray_kernel,
        "WHISKERS": whiskers_kernel,
        "AHEAD": ahead_kernel,
        "LATERAL": lateral_kernel,
    },
    uses=(COLLIDERS, SPHERES),
    icon="MOD_PHYSICS",
    group="Obstacles",
)
class ObstacleAvoidance(Behavior):
    """Steer around obstacles: meshes that rays hit, or spheres."""

    sphere_methods = ("AHEAD", "LATERAL")
    looks_by = ("look_ahead", "avoid_radius")
    read_by = {SPHERES: ("AHEAD", "LATERAL")}
    method: str = choice(
        "RAY",
        {
            "RAY": "One ray along the motion: sees what lies ahead",
            "CENTER_RAY": "A ray toward each collider's center: sees what is beside and behind too",
            "WHISKERS": "A fan of rays: turns to the freest one and brakes for what is in front",
            "AHEAD": "Spheres ahead push away from their center: brakes when head-on",
            "LATERAL": "Spheres ahead push to the side: passes them without turning back",
        },
        doc="How obstacles are looked for, and which way they push",
    )
    look_ahead: float = meters(
        3.0,
        soft_maximum=50.0,
        doc="How far ahead obstacles are seen; more reacts earlier",
        shown_for=("method", ("RAY", "WHISKERS", "AHEAD", "LATERAL")),
    )
    avoid_radius: float = meters(
        1.0,
        soft_maximum=50.0,
        doc="Length of the rays toward the colliders; more keeps farther away",
        shown_for=("method", ("CENTER_RAY",)),
    )
    max_avoid: float = meters_per_second(
        2.0, soft_maximum=50.0, doc="Strongest push; more turns away harder"
    )
    samples: int = param(
        9,
        minimum=1,
        maximum=1000,
        soft_maximum=50,
        doc="Rays of the fan, an even number counts as the next odd one; more finds smaller gaps",
        shown_for=("method", ("WHISKERS",)),
    )
    field_of_view: float = param(
        120.0,
        unit="deg",
        minimum=0.0,
        maximum=360.0,
        doc="Angle that the fan fills; more finds ways farther to the side",
        shown_for=("method", ("WHISKERS",)),
    )
