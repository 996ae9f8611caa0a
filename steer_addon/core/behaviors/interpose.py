"""Interpose: arrive between two targets, at (a + v_a·T + b + v_b·T) / 2.

T = |m - p| / v_max is the time to the midpoint m = (a + b) / 2 of today, and 0 when v_max is;
arrive as in `arrive`: u = v_max · clamp(d / slow_radius, 0, 1) · dir(aim - p), zero within
stop_radius of the aim, with d the distance to it [m]. In GROUND motion m - p and the velocities are
projected onto the plane of the agent's ground first. Without a first or a second target there is no
proposal.

Symbols: a, b positions of the two targets [m], v_a, v_b their velocities [m/s]; p the agent's
position; v_max its maximum speed [m/s]; T [s].
Source: Buckland 2005, "Programming Game AI by Example", ch. 3, Interpose; after Reynolds 1999.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import add, add_scaled, length, load, pick, scale, sub
from ..sensing.approach import arrive_velocity, meeting_time
from ..sensing.declare import SECOND_TARGETS, TARGETS, VELOCITY, Behavior, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import on_ground, target_choice
from ..sensing.units import meters


@kernel
def interpose_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to where the midpoint of two targets will be."""
    first, second = world.targets, p.second
    for i in range(start, stop):
        j, k = first.row[i], second.row[i]
        if j < 0 or k < 0:
            continue
        middle = scale(add(load(first.position, j), load(second.position, k)), 0.5)
        drift = scale(add(load(first.velocity, j), load(second.velocity, k)), 0.5)
        offset = on_ground(i, agents, world, sub(middle, load(agents.position, i)))
        drift = on_ground(i, agents, world, drift)
        max_speed = agents.max_speed[i] * 1.0
        offset = add_scaled(offset, drift, meeting_time(length(offset), max_speed, 0.0))
        slow_radius, stop_radius = pick(p.slow_radius, i), pick(p.stop_radius, i)
        store_proposal(out, active, i, arrive_velocity(offset, max_speed, slow_radius, stop_radius))


@behavior(
    label="Interpose",
    output=VELOCITY,
    kernel=interpose_kernel,
    uses=(TARGETS, SECOND_TARGETS),
    icon="PIVOT_MEDIAN",
)
class Interpose(Behavior):
    """Go between two targets, and stay there as they move."""

    slow_radius: float = meters(
        2.0, doc="Braking starts at this distance from the midpoint; more brakes earlier"
    )
    stop_radius: float = meters(
        0.0, doc="Agents this near to the midpoint want to stand; more leaves room around it"
    )
    target_choice: str = target_choice()
