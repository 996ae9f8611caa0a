"""Evade: u = -v_max · k · dir(q + v_q·T - p), with T = |q - p| / (v_max + |v_q|) as in pursue.

k and panic_radius are those of flee, measured to the predicted point: k = 1 - d / panic_radius with
falloff LINEAR, 1 with NONE; no proposal where d = |q + v_q·T - p| >= panic_radius. There is no
exception for a target that comes head-on. In GROUND motion q - p and v_q are projected onto the
plane of the agent's ground first. With ways, agents that walls corner go to a way out (see `flee`).

Symbols: q, v_q the target's position [m] and velocity [m/s]; p the agent's position; v_max its
maximum speed [m/s]; T [s].
Source: Cocos steering, *evade*; Reynolds 1999, Pursuit and Evasion.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import load, pick
from ..sensing.approach import meeting_offset
from ..sensing.declare import TARGETS, VELOCITY, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import on_ground, straight_offset
from ..sensing.units import meters
from .flee import FALLOFF, Flee, flee_velocity, turned_out


@kernel
def evade_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity away from where the target will be."""
    fades = int(p.falloff[0]) == FALLOFF.LINEAR
    for i in range(start, stop):
        j, offset = straight_offset(i, agents, world)
        if j < 0:
            continue
        max_speed = agents.max_speed[i] * 1.0
        threat = on_ground(i, agents, world, load(world.targets.velocity, j))
        offset = meeting_offset(offset, threat, max_speed)
        near, velocity = flee_velocity(offset, max_speed, pick(p.panic_radius, i), fades)
        if near:
            store_proposal(out, active, i, turned_out(i, agents, world, velocity))


@behavior(
    label="Evade",
    output=VELOCITY,
    kernel=evade_kernel,
    uses=(TARGETS,),
    icon="TRACKING_BACKWARDS",
)
class Evade(Flee):
    """Run away from where the target will be."""

    panic_radius: float = meters(
        5.0,
        soft_maximum=100.0,
        doc="Agents this near to where the target will be flee; more flees earlier, 0 is no limit",
        zero="No Limit",
    )
