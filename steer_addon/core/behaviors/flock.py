"""The flock's three: separation, cohesion and alignment, with one weight of distance.

w(d) = (1 - d / neighbor_distance)², clamped to [0, 1]; N(i) as in `core.geometry.neighbors`.

separation  Δ = strength · dir(Σ dir(p - q) · w(d))                        (falloff NONE)
            Δ = strength · Σ dir(p - q) · w(d)                             (falloff DISTANCE)
cohesion    u = strength · w(|mean - p|) · dir(mean - p), mean = average position of N(i)
alignment   u = strength · dir(Σ dir(v_q) · w(d))

Source: Houdini VEX node (whose cohesion forgets to divide by the count; its text says average,
and so does this); Reynolds 1987, "Flocks, Herds, and Schools", and 1999, Separation: repulsions
that grow as the distance shrinks, added up. The node's constant push makes standing crowds
tremble, since it is at full strength however far the nearest neighbor is.
"""

from __future__ import annotations

from ..compiled.jit import inlined_kernel, kernel
from ..numeric.rng import SEPARATION, unit_vector
from ..numeric.vec import EPSILON, add_scaled, length, load, pick, scale, store, sub, unit
from ..parameters import choice, param
from ..sensing.declare import NEIGHBORS, PUSH, VELOCITY, Behavior, behavior
from ..sensing.targeting import on_ground

NONE = 0


class NeighborBehavior(Behavior):
    """Base of behaviors that look at other agents."""

    strength: float = param(
        1.0,
        unit="m/s",
        minimum=0.0,
        soft_maximum=20.0,
        doc="Speed that it asks for; more counts more beside other behaviors",
    )
    neighbor_distance: float = param(
        2.0,
        unit="m",
        minimum=0.0,
        soft_maximum=50.0,
        doc="Others farther than this are not seen; more looks farther and takes longer",
    )
    max_neighbors: int = param(
        10,
        minimum=1,
        maximum=1000,
        soft_maximum=50,
        doc="Only so many of the nearest others count; more is smoother and takes longer",
    )
    field_of_view: float = param(
        360.0,
        unit="deg",
        minimum=0.0,
        maximum=360.0,
        doc="Angle around the heading in which others are seen; less ignores those behind",
    )


@kernel
def distance_weight(distance, reach):
    """w(d): 1 at no distance, 0 at the neighbor distance."""
    if reach <= 0.0 or distance >= reach:
        return 0.0
    rest = 1.0 - distance / reach
    return rest * rest


@inlined_kernel
def seen_neighbors(i, neighbors, most, reach):
    """How many rows of the shared list a behavior reads for agent i."""
    most = min(int(neighbors.count[i]), int(most))
    if most > 0 and neighbors.distance[i, most - 1] <= reach:
        return most  # the nearest come first
    seen = 0
    while seen < most and neighbors.distance[i, seen] <= reach:
        seen += 1
    return seen


@kernel
def parting(i, j, agents, world):
    """Direction in which coincident agents part: opposite for the two, the same on any run."""
    low = min(agents.id[i], agents.id[j])
    high = max(agents.id[i], agents.id[j])
    direction = on_ground(i, agents, world, unit_vector(world.seed, low, high, SEPARATION))
    return scale(unit(direction), 1.0 if agents.id[i] == low else -1.0)


@kernel
def separation_kernel(start, stop, agents, world, p, memory, out, active):
    """Push away from near neighbors."""
    falloff = int(p.falloff[0])
    for i in range(start, stop):
        reach = pick(p.neighbor_distance, i)
        seen = seen_neighbors(i, world.neighbors, pick(p.max_neighbors, i), reach)
        if seen == 0:
            continue
        position = load(agents.position, i)
        total = (0.0, 0.0, 0.0)
        for n in range(seen):
            j = world.neighbors.index[i, n]
            offset = on_ground(i, agents, world, sub(position, load(agents.position, j)))
            if length(offset) < EPSILON:
                away = parting(i, j, agents, world)
            else:
                away = unit(offset)
            weight = distance_weight(1.0 * world.neighbors.distance[i, n], reach)
            total = add_scaled(total, away, weight)
        if falloff == NONE:
            total = unit(total)
        store(out, i, scale(total, pick(p.strength, i)))
        active[i] = 1


@kernel
def cohesion_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to the middle of the neighbors."""
    for i in range(start, stop):
        reach = pick(p.neighbor_distance, i)
        seen = seen_neighbors(i, world.neighbors, pick(p.max_neighbors, i), reach)
        if seen == 0:
            continue
        position = load(agents.position, i)
        total = (0.0, 0.0, 0.0)
        for n in range(seen):
            j = world.neighbors.index[i, n]
            total = add_scaled(total, sub(load(agents.position, j), position), 1.0)
        offset = on_ground(i, agents, world, scale(total, 1.0 / seen))
        weight = distance_weight(length(offset), reach)
        store(out, i, scale(unit(offset), pick(p.strength, i) * weight))
        active[i] = 1


@kernel
def alignment_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity along the neighbors' mean direction of motion."""
    for i in range(start, stop):
        reach = pick(p.neighbor_distance, i)
        seen = seen_neighbors(i, world.neighbors, pick(p.max_neighbors, i), reach)
        if seen == 0:
            continue
        total = (0.0, 0.0, 0.0)
        for n in range(seen):
            j = world.neighbors.index[i, n]
            weight = distance_weight(1.0 * world.neighbors.distance[i, n], reach)
            total = add_scaled(total, unit(load(agents.velocity, j)), weight)
        along = unit(on_ground(i, agents, world, total))
        if along[0] == 0.0 and along[1] == 0.0 and along[2] == 0.0:
            continue
        store(out, i, scale(along, pick(p.strength, i)))
        active[i] = 1


@behavior(
    label="Separation",
    output=PUSH,
    kernel=separation_kernel,
    uses=(NEIGHBORS,),
    icon="FULLSCREEN_ENTER",
    group="Neighbors",
)
class Separation(NeighborBehavior):
    """Keep apart from near neighbors."""

    keeps_apart_by = "neighbor_distance"
    falloff: str = choice(
        "NONE",
        {
            "NONE": "The same push however near the neighbors are, as in the Houdini node",
            "DISTANCE": "Nearer neighbors push harder: smoother, and calm when there is room",
        },
        doc="How the push fades with the distance of the neighbors",
    )


@behavior(
    label="Cohesion",
    output=VELOCITY,
    kernel=cohesion_kernel,
    uses=(NEIGHBORS,),
    icon="FULLSCREEN_EXIT",
    group="Neighbors",
)
class Cohesion(NeighborBehavior):
    """Stay together: go to the middle of the neighbors."""


@behavior(
    label="Alignment",
    output=VELOCITY,
    kernel=alignment_kernel,
    uses=(NEIGHBORS,),
    icon="ORIENTATION_VIEW",
    group="Neighbors",
)
class Alignment(NeighborBehavior):
    """Move the way the neighbors move."""
