"""Cohesion: u = strength · w(|mean - p|) · dir(mean - p), mean = average position of the neighbors.

w(d) = (1 - d / neighbor_distance)², clamped to [0, 1]

Source: Houdini VEX node (which forgets to divide by the count; its text says average, and so does
this); Reynolds 1987, "Flocks, Herds, and Schools", and 1999, Cohesion.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...numeric.vec import add_scaled, length, load, pick, scale, sub, unit
from ...sensing.declare import NEIGHBORS, VELOCITY, behavior
from ...sensing.proposing import store_proposal
from ...sensing.seen_neighbors import NeighborBehavior, distance_weight, seen_neighbors
from ...sensing.targeting import on_ground


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
        store_proposal(out, active, i, scale(unit(offset), pick(p.strength, i) * weight))


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
