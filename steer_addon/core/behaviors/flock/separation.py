"""Separation: a push away from near neighbors q, each with the weight w(d) of its distance d.

Δ = strength · dir(Σ dir(p - q) · w(d))                                    (falloff NONE)
Δ = strength · Σ dir(p - q) · w(d)                                         (falloff DISTANCE)
w(d) = (1 - d / neighbor_distance)², clamped to [0, 1]

Source: Houdini VEX node; Reynolds 1987, "Flocks, Herds, and Schools", and 1999, Separation:
repulsions that grow as the distance shrinks, added up. The node's constant push makes standing
crowds tremble, since it is at full strength however far the nearest neighbor is.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...numeric.vec import EPSILON, add_scaled, length, load, pick, scale, sub, unit
from ...parameters import choice, named_choices
from ...sensing.declare import NEIGHBORS, PUSH, behavior
from ...sensing.proposing import store_proposal
from ...sensing.seen_neighbors import NeighborBehavior, distance_weight, parting, seen_neighbors
from ...sensing.targeting import on_ground

FALLOFF = named_choices(
    {
        "NONE": "The same push however near the neighbors are, as in the Houdini node",
        "DISTANCE": "Nearer neighbors push harder: smoother, and calm when there is room",
    }
)


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
        if falloff == FALLOFF.NONE:
            total = unit(total)
        store_proposal(out, active, i, scale(total, pick(p.strength, i)))


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
        FALLOFF,
        doc="How the push fades with the distance of the neighbors",
    )
