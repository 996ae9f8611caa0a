"""Containment: stay in a box, a sphere, or a closed mesh.

AVOID (a proposal): where a = p + v·anticipation_time is outside, with n the unit normal inward,
u = v_max · dir(v_t + v_max · n), v_t = v - (v·n)·n: what runs along the surface is kept, so that
agents turn in a curve that leads at least 45° away from it. n points from a to the nearest place
inside (BOX, SPHERE), or is the normal of the face that the agent is about to cross (MESH). An agent
that is outside, and will be at a, heads straight for the nearest place: u = v_max · dir(x - p).
With a falloff distance f, agents begin to turn before: n is that of the region that is smaller by f
all around (MESH: of the face, up to f before it). While a is outside of that by d < f, the proposal
is v + (u - v) · d / f: those whom others push there do not turn to and fro.

BOUNCE and WRAP make no proposal. They correct each step after it is made, and no agent is outside
then, however fast it is. BOUNCE mirrors the rest of the step and the velocity at the surface, as
often as it is met. WRAP continues with the rest on the far side: the opposite face (BOX), or where
the line of motion, followed backward, leaves the sphere or the mesh (SPHERE, MESH). So a step that
only grazes a sphere comes back near by. The velocity stays. An agent that starts a step outside is
put to the nearest place inside first.

The region holds positions, which are points, not bodies. In GROUND motion only the horizontal part
counts: of a sphere its disk, of a box the outline when it is set upright, of a mesh its section at
eye height, which has to exist where the agent is. Height is the ground's business: agents moved by
BOUNCE or WRAP keep theirs, or stand on the ground where they come to.
Without a container, or with one of radius 0, there is nothing to stay in.

Symbols: p, v position [m] and velocity [m/s]; v_max maximum speed [m/s]; x a place inside [m].
Source: Reynolds 1999, Containment; Cocos2d-x demo (BOUNCE at the edges of its screen).
"""

from __future__ import annotations

import numpy as np

from ..compiled.jit import kernel
from ..geometry.bvh import nearest_point
from ..geometry.ground import place
from ..geometry.regions import (
    MARGIN,
    box_frame,
    into_box,
    largest,
    level,
    look_in_mesh,
    mesh_margin,
    mesh_outward,
    step_in_box,
    step_in_mesh,
    step_in_sphere,
)
from ..numeric.vec import (
    add,
    add_scaled,
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
from ..parameters import choice, named_choices, param
from ..sensing.declare import CONTAINER, VELOCITY, Behavior, behavior
from ..sensing.proposing import store_proposal

SHAPE = named_choices(
    {
        "BOX": "The container's bounding box, turned as the container is",
        "SPHERE": "The sphere around the container's middle",
        "MESH": "The container's own surface, which has to be closed",
    }
)
METHODS = named_choices(
    {
        "AVOID": "Turn back in time, as well as the other behaviors let them",
        "BOUNCE": "Bounce off the surface like a ball",
        "WRAP": "Leave on one side and come back on the other",
    }
)
ROUNDING = 1.2e-7
"""How far places stored in 32 bits are from computed ones, as a share of the largest coordinate."""


@kernel
def _there(shape, container):
    """Whether there is anything to stay in."""
    return container.radius[0] > 0.0 and (shape != SHAPE.MESH or len(container.tree.link) > 0)


@kernel
def _margin(shape, container):
    """How far inside [m] the surface is taken."""
    if shape == SHAPE.MESH:
        return mesh_margin(container.tree)
    extent = max(largest(container.half), container.radius[0] * 1.0)
    return MARGIN * (largest(load(container.center, 0)) + extent)


@kernel
def _forward(velocity, heading, flat):
    """Unit direction of motion, of the heading at rest."""
    if flat:
        velocity, heading = level(velocity), level(heading)
    for v in (velocity, heading):
        ahead = unit(v)
        if ahead != (0.0, 0.0, 0.0):
            return ahead
    return (1.0, 0.0, 0.0)


@kernel
def _inward(velocity, normal, max_speed):
    """Desired velocity away from a surface that keeps what runs along it."""
    along = project(velocity, normal)
    return scale(unit(add_scaled(along, normal, max_speed)), max_speed)


@kernel
def _mesh_ways(tree, outward, origin, ahead, reach, falloff, flat):
    """The ways of an agent that looks ahead.

    They are the way home of one outside [m], the unit normal that one inside has to turn to, and
    how far it would be beyond where that begins [m].
    """
    nothing = (0.0, 0.0, 0.0)
    inside, distance, normal = look_in_mesh(tree, outward, origin, ahead)
    if inside:
        if flat:
            normal = unit(level(normal))
        beyond = falloff + (reach - distance) * abs(dot(ahead, normal))
        return nothing, normal if distance <= reach or beyond > 0.0 else nothing, beyond
    if distance <= reach:
        return nothing, nothing, 0.0
    _triangle, nearest, _distance = nearest_point(tree, origin, np.inf)
    home = sub(nearest, origin)
    return level(home) if flat else home, nothing, 0.0


@kernel
def _way_in(shape, offset, frame, half, radius):
    """The way from an offset from the center to the nearest place in a box or sphere [m]."""
    if shape == SHAPE.BOX:
        return sub(into_box(offset, frame, half), offset)
    return sub(truncate(offset, radius), offset)


@kernel
def _solid_ways(shape, offset, way, falloff, frame, half, radius):
    """`_mesh_ways` of box and sphere, for an offset from the center and the way to go [m]."""
    nothing, there = (0.0, 0.0, 0.0), add(offset, way)
    home = _way_in(shape, offset, frame, half, radius)
    if home != nothing and _way_in(shape, there, frame, half, radius) == nothing:
        home = nothing
    a, b, c = half
    smaller = max(a - falloff, 0.0), max(b - falloff, 0.0), max(c - falloff, 0.0)
    back = _way_in(shape, there, frame, smaller, max(radius - falloff, 0.0))
    return home, unit(back), length(back)


@kernel
def avoid_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity inward where the agent is about to leave."""
    shape, container, flat = int(p.shape[0]), p.container, world.flat
    if not _there(shape, container):
        return
    margin = _margin(shape, container)
    outward = mesh_outward(container.tree) if shape == SHAPE.MESH else 1.0
    frame, half = box_frame(container.axes, container.half, margin, flat)
    center = load(container.center, 0)
    radius = max(container.radius[0] - margin, 0.0)
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        velocity, falloff = load(agents.velocity, i), pick(p.falloff_distance, i)
        if flat:
            velocity = level(velocity)
        way = scale(velocity, pick(p.anticipation_time, i))
        if shape == SHAPE.MESH:
            origin = add_scaled(load(agents.position, i), (0.0, 0.0, 1.0), world.eye_height)
            ahead = _forward(velocity, load(agents.heading, i), flat)
            home, normal, beyond = _mesh_ways(
                container.tree, outward, origin, ahead, length(way), falloff, flat
            )
        else:
            offset = sub(load(agents.position, i), center)
            if flat:
                offset = level(offset)
            home, normal, beyond = _solid_ways(shape, offset, way, falloff, frame, half, radius)
        max_speed = agents.max_speed[i] * 1.0
        home = unit(home)
        if home != (0.0, 0.0, 0.0):
            store_proposal(out, active, i, scale(home, max_speed))
        elif normal != (0.0, 0.0, 0.0):
            wanted = _inward(velocity, normal, max_speed)
            if beyond < falloff:
                wanted = add_scaled(velocity, sub(wanted, velocity), beyond / falloff)
            store_proposal(out, active, i, wanted)


@kernel
def no_proposal_kernel(start, stop, agents, world, p, memory, out, active):
    """BOUNCE and WRAP ask for nothing: `containment_constraint` is all that they do."""


@kernel
def _moved_to(world, end):
    """An agent's place on the ground, when there is one to stand on."""
    if world.flat and len(world.ground.link) > 0:
        end, _up, _found = place(world.ground, end, np.inf, np.inf, world.min_up)
    return end


@kernel
def _way(old, new, velocity, dt):
    """The way of a step [m], from its velocity where that is what moved the agent.

    Places in 32 bits round the direction of a short way by so much that it leads elsewhere on the
    far side.
    """
    move, told = sub(new, old), scale(velocity, dt)
    if largest(sub(told, move)) <= ROUNDING * (largest(new) + largest(told)):
        return told
    return move


@kernel
def containment_constraint(start, stop, agents, world, p, memory, position, velocity):
    """Mirror or wrap the step of agents that left."""
    shape, method, container = int(p.shape[0]), int(p.method[0]), p.container
    if method == METHODS.AVOID or not _there(shape, container):
        return
    wrap, flat = method == METHODS.WRAP, world.flat
    margin = _margin(shape, container)
    outward = mesh_outward(container.tree) if shape == SHAPE.MESH else 1.0
    frame, half = box_frame(container.axes, container.half, margin, flat)
    radius = max(container.radius[0] - margin, 0.0)
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        new, old_velocity = load(position, i), load(velocity, i)
        origin, lift = load(container.center, 0), 0.0
        if shape == SHAPE.MESH:
            origin, lift = (0.0, 0.0, 0.0), world.eye_height
        old = load(agents.position, i)
        before, move, held = sub(old, origin), _way(old, new, old_velocity, world.dt), True
        if flat:
            lift += new[2] - origin[2]
            before, move = level(before), level(move)
        if shape == SHAPE.MESH:
            before = add_scaled(before, (0.0, 0.0, 1.0), lift)
        if shape == SHAPE.BOX:
            end, turned = step_in_box(before, move, old_velocity, frame, half, wrap)
        elif shape == SHAPE.SPHERE:
            end, turned = step_in_sphere(before, move, old_velocity, radius, wrap)
        else:
            ahead = _forward(old_velocity, load(agents.heading, i), flat)
            held, end, turned = step_in_mesh(
                container.tree, outward, margin, before, move, old_velocity, ahead, wrap, flat
            )
        if not held:
            continue
        # agents that stayed inside keep their place to the last bit
        if largest(sub(end, add(before, move))) > 0.1 * margin:
            end = add(end, origin)
            if flat:
                end = (end[0], end[1], new[2])
            store(position, i, _moved_to(world, end))
            store(velocity, i, turned)


@behavior(
    label="Containment",
    output=VELOCITY,
    kernel={"AVOID": avoid_kernel, "BOUNCE": no_proposal_kernel, "WRAP": no_proposal_kernel},
    constraint=containment_constraint,
    uses=(CONTAINER,),
    icon="META_CUBE",
    group="Obstacles",
)
class Containment(Behavior):
    """Stay in a region."""

    looks_by = ("anticipation_time",)
    container_choice = "shape"
    shape: str = choice(
        "BOX",
        SHAPE,
        doc="Part of the container that agents stay in",
    )
    method: str = choice(
        "AVOID",
        METHODS,
        doc="How agents are kept inside",
    )
    anticipation_time: float = param(
        1.0,
        unit="s",
        minimum=0.0,
        soft_maximum=10.0,
        doc="How far ahead agents look; more turns earlier and keeps farther from the surface",
        shown_for=("method", ("AVOID",)),
    )
    falloff_distance: float = param(
        0.0,
        unit="m",
        minimum=0.0,
        soft_maximum=10.0,
        doc="How far before the surface agents begin to turn; more is calmer, 0: all at once",
        shown_for=("method", ("AVOID",)),
    )
