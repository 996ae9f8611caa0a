"""Obstacle avoidance on meshes, by rays against the colliders' triangles.

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

Source: Houdini VEX node, first (RAY) and second (CENTER_RAY) method.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..bvh import ray_cast, triangle_normal
from ..ground import UP_SLACK
from ..jit import kernel
from ..parameters import choice, param
from ..vec import (
    EPSILON,
    add,
    add_scaled,
    cross,
    dot,
    length,
    load,
    pick,
    project,
    scale,
    store,
    sub,
    truncate,
    unit,
)
from .base import COLLIDERS, PUSH, Behavior, behavior
from .targeting import on_ground

RAY = 0
HEAD_ON = 0.01


@kernel
def first_hit(world, origin, direction, reach):
    """Nearest obstacle on a ray: (triangle, distance, normal against the ray).

    The triangle is a collider's, len(colliders) for steep ground, and -1 for a miss.
    """
    triangle, distance = ray_cast(world.colliders, origin, direction, reach)
    normal = (0.0, 0.0, 0.0)
    if triangle >= 0:
        normal = triangle_normal(world.colliders, triangle)
    if world.flat and len(world.ground.count) > 0:
        ground_triangle, ground_distance = ray_cast(world.ground, origin, direction, reach)
        if ground_triangle >= 0 and (triangle < 0 or ground_distance < distance):
            ground_normal = triangle_normal(world.ground, ground_triangle)
            if abs(ground_normal[2]) < world.min_up - UP_SLACK:
                triangle = len(world.colliders.triangles)
                distance, normal = ground_distance, ground_normal
    if dot(normal, direction) > 0.0:
        normal = scale(normal, -1.0)
    return triangle, distance, normal


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
    if reach <= 0.0 or (direction[0] == 0.0 and direction[1] == 0.0 and direction[2] == 0.0):
        return (0.0, 0.0, 0.0)
    triangle, distance, normal = first_hit(world, origin, direction, reach)
    if triangle < first or triangle >= last:
        return (0.0, 0.0, 0.0)
    if world.flat:
        away = _sideways(i, agents, load(agents.normal, i), normal)
    else:
        away = _around(i, agents, direction, normal)
    return scale(away, 1.0 - distance / reach)


@kernel
def _center_pushes(i, agents, world, origin, reach):
    """Sum of the pushes of the rays toward all colliders within reach."""
    total = (0.0, 0.0, 0.0)
    for c in range(len(world.collider_radius)):
        offset = sub(load(world.collider_center, c), origin)
        offset = on_ground(i, agents, world, offset)
        if length(offset) > reach + world.collider_radius[c]:
            continue
        first, last = world.collider_first[c], world.collider_first[c + 1]
        push = _push(i, agents, world, origin, unit(offset), reach, first, last)
        total = add(total, push)
    return total


@kernel
def obstacle_avoidance_kernel(start, stop, agents, world, p, memory, out, active):
    """Push along what a ray hits."""
    method = int(p.method[0])
    for i in range(start, stop):
        origin = load(agents.position, i)
        origin = add_scaled(origin, (0.0, 0.0, 1.0), world.eye_height)
        if method == RAY:
            velocity = on_ground(i, agents, world, load(agents.velocity, i))
            reach = pick(p.look_ahead, i)
            last = len(world.colliders.triangles) + 1
            push = _push(i, agents, world, origin, unit(velocity), reach, 0, last)
        else:
            push = _center_pushes(i, agents, world, origin, pick(p.avoid_radius, i))
        if push[0] != 0.0 or push[1] != 0.0 or push[2] != 0.0:
            store(out, i, scale(truncate(push, 1.0), pick(p.max_avoid, i)))
            active[i] = 1


@behavior(
    label="Obstacle Avoidance",
    output=PUSH,
    kernel=obstacle_avoidance_kernel,
    uses=(COLLIDERS,),
    icon="MOD_PHYSICS",
    group="Obstacles",
)
@dataclass(frozen=True, kw_only=True)
class ObstacleAvoidance(Behavior):
    """Steer around collider meshes that rays hit."""

    method: str = choice(
        "RAY",
        {
            "RAY": "One ray along the motion: sees what lies ahead",
            "CENTER_RAY": "A ray toward each collider's center: sees what is beside and behind too",
        },
        doc="How obstacles are looked for",
    )
    look_ahead: float = param(
        3.0,
        unit="m",
        minimum=0.0,
        soft_maximum=50.0,
        doc="Length of the ray along the motion (RAY); more reacts earlier",
    )
    avoid_radius: float = param(
        1.0,
        unit="m",
        minimum=0.0,
        soft_maximum=50.0,
        doc="Length of the rays toward the colliders (CENTER_RAY); more keeps farther away",
    )
    max_avoid: float = param(
        2.0,
        unit="m/s",
        minimum=0.0,
        soft_maximum=50.0,
        doc="Strongest push, at no distance from the obstacle; more turns away harder",
    )
