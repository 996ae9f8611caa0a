"""Declaration of `avoid_neighbors`: its parameters. `kernel` describes what it does."""

from __future__ import annotations

from ...parameters import choice, param
from ...sensing.declare import COLLIDERS, NEIGHBORS, PUSH, Behavior, behavior
from ...sensing.seen_neighbors import all_around
from ...sensing.units import meters
from . import kernel
from .rules import MOST


@behavior(
    label="Avoid Neighbors",
    output=PUSH,
    kernel=(kernel, "avoid_neighbors_kernel"),
    uses=(NEIGHBORS, COLLIDERS),
    memory_width=6,
    icon="COMMUNITY",
    group="Neighbors",
)
class AvoidNeighbors(Behavior):
    """Foresee collisions with others and with walls, and take the way around them."""

    anticipation_time: float = param(
        3.0,
        unit="s",
        minimum=0.01,
        soft_maximum=10.0,
        doc="Collisions this far ahead are avoided; more turns aside earlier and more gently",
    )
    neighbor_distance: float = meters(
        5.0,
        soft_maximum=50.0,
        doc="Others farther than this are not seen; more looks farther and takes longer",
    )
    max_neighbors: int = param(
        12,
        minimum=1,
        maximum=MOST,
        doc="Only this number of the nearest neighbors counts; more foresees more and takes longer",
    )
    field_of_view: float = all_around()
    time_headway: float = param(
        0.385,
        unit="s",
        minimum=0.01,
        soft_maximum=5.0,
        doc="Time that agents stay behind the agents ahead; more is slower in a crowd",
    )
    personal_space: float = meters(
        0.085,
        soft_maximum=1.0,
        doc="Gap that is left to others in a queue; more makes standing crowds less dense",
    )
    side: str = choice(
        "RIGHT",
        {
            "RIGHT": "Agents that meet pass on their right",
            "LEFT": "Agents that meet pass on their left",
            "NONE": "Either side: large crowds that meet take longer to sort themselves out",
        },
        doc="On which side agents pass neighbors that come toward them",
    )
    see_colliders: bool = param(True, doc="Look for ways around walls too, not only neighbors")
