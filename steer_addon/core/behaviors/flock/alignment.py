"""Alignment: u = strength · dir(Σ dir(v_q) · w(d)) over the neighbors q at the distances d.

w(d) = (1 - d / neighbor_distance)², clamped to [0, 1]

Source: Houdini VEX node; Reynolds 1987, "Flocks, Herds, and Schools", and 1999, Alignment.
"""

from __future__ import annotations

from ...compiled.jit import kernel
from ...numeric.vec import add_scaled, load, pick, scale, unit
from ...sensing.declare import NEIGHBORS, VELOCITY, behavior
from ...sensing.proposing import store_proposal
from ...sensing.seen_neighbors import NeighborBehavior, distance_weight, seen_neighbors
from ...sensing.targeting import on_ground


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
        if along == (0.0, 0.0, 0.0):
            continue
        store_proposal(out, active, i, scale(along, pick(p.strength, i)))


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
