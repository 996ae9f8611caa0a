"""Reading neighbors: which of the shared list count for a behavior, and how much.

w(d) = (1 - d / neighbor_distance)², clamped to [0, 1], of a neighbor at the distance d [m].
"""

from __future__ import annotations

from typing import Any

from ..compiled.jit import inlined_kernel, kernel
from ..numeric.rng import random_purpose, unit_vector
from ..numeric.vec import pick, scale, unit
from ..parameters import param
from .declare import Behavior
from .targeting import on_ground
from .units import meters, meters_per_second

PARTING = random_purpose("parting", 2)


def all_around() -> Any:
    """Declare a field of view [deg] that leaves out nothing by default."""
    return param(
        360.0,
        unit="deg",
        minimum=0.0,
        maximum=360.0,
        doc="Angle around the heading in which others are seen; less ignores neighbors behind",
    )


class NeighborBehavior(Behavior):
    """Base of behaviors that look at other agents."""

    strength: float = meters_per_second(
        1.0,
        soft_maximum=20.0,
        doc="Speed that it asks for; more counts more beside other behaviors",
    )
    neighbor_distance: float = meters(
        2.0,
        soft_maximum=50.0,
        doc="Others farther than this are not seen; more looks farther and takes longer",
    )
    max_neighbors: int = param(
        10,
        minimum=1,
        maximum=1000,
        soft_maximum=50,
        doc="Only this number of the nearest neighbors counts; more is smoother and takes longer",
    )
    field_of_view: float = all_around()


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
def precedes_by_id(i, j, agents):
    """Whether agent i comes before agent j: by their ids, and of equal ones by their crowds."""
    if agents.id[i] == agents.id[j]:
        return pick(agents.crowd, i) < pick(agents.crowd, j)
    return agents.id[i] < agents.id[j]


@kernel
def parting(i, j, agents, world):
    """Direction in which coincident agents part: opposite for the two, the same on any run."""
    low = min(agents.id[i], agents.id[j])
    high = max(agents.id[i], agents.id[j])
    direction = on_ground(i, agents, world, unit_vector(world.seed, low, high, PARTING))
    return scale(unit(direction), 1.0 if precedes_by_id(i, j, agents) else -1.0)
