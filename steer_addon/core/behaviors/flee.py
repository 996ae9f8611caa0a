"""Flee: u = -v_max · k · dir(t - p), inactive beyond panic_radius.

k = 1 - d / panic_radius with falloff LINEAR, 1 with NONE; d = |t - p| [m]. In GROUND motion
t - p is projected onto the plane of the agent's ground first. An agent that is exactly at its
target has no direction to go: u = 0, until something else moves it.
With ways, agents that walls corner go to a way out instead, as fast (see `ways.outs`).
Source: Houdini VEX node (panic_radius is 1.5 · slow_radius there); Cocos steering; Reynolds 1999.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import length, pick, scale, unit
from ..parameters import choice, named_choices
from ..sensing.declare import RUNS_AWAY, TARGETS, VELOCITY, Behavior, Circle, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import goes_round, straight_offset, target_choice, via_offset
from ..sensing.units import meters

FALLOFF = named_choices(
    {
        "LINEAR": "Fastest nearby, slower toward the panic radius",
        "NONE": "Full speed anywhere within the panic radius",
    }
)


@kernel
def flee_velocity(offset, max_speed, panic_radius, fades):
    """Desired velocity [m/s] away from a point at an offset [m] from the agent.

    Returns:
        (whether the point is near enough to care, (x, y, z)).
    """
    strength = 1.0
    if panic_radius > 0.0:
        distance = length(offset)
        if distance >= panic_radius:
            return False, (0.0, 0.0, 0.0)
        if fades:
            strength = 1.0 - distance / panic_radius
    return True, scale(unit(offset), -max_speed * strength)


@kernel
def turned_out(i, agents, world, velocity):
    """The velocity of a flight [m/s], toward the way out of one that is cornered."""
    if goes_round(i, world):
        return scale(unit(via_offset(i, agents, world)), length(velocity))
    return velocity


@kernel
def flee_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity straight away from the target."""
    fades = int(p.falloff[0]) == FALLOFF.LINEAR
    for i in range(start, stop):
        j, offset = straight_offset(i, agents, world)
        if j < 0:
            continue
        max_speed = agents.max_speed[i] * 1.0
        near, velocity = flee_velocity(offset, max_speed, pick(p.panic_radius, i), fades)
        if near:
            store_proposal(out, active, i, turned_out(i, agents, world, velocity))


@behavior(
    label="Flee",
    output=VELOCITY,
    kernel=flee_kernel,
    uses=(TARGETS,),
    icon="TRACKING_REFINE_BACKWARDS",
)
class Flee(Behavior):
    """Run away from the target while it is near."""

    circles = (Circle("panic_radius"),)
    target_role = RUNS_AWAY
    looks_for_ways_out = True
    panic_radius: float = meters(
        5.0,
        soft_maximum=100.0,
        doc="Agents this near to the target flee; more flees from farther away, 0 is no limit",
        zero="No Limit",
    )
    falloff: str = choice(
        "LINEAR",
        FALLOFF,
        doc="How the wish to flee fades with the distance",
    )
    target_choice: str = target_choice()
