"""Match velocity: u = v_q.

In GROUND motion v_q is projected onto the plane of the agent's ground. The wish is v_q even where
it is faster than the agent can go: the solver limits what comes of it.

Symbols: v_q velocity of the target [m/s].
Source: Reynolds 1987, "Flocks, Herds, and Schools", velocity matching; for one target.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import load
from ..sensing.declare import LEADS, TARGETS, VELOCITY, Behavior, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import on_ground, target_choice


@kernel
def match_velocity_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity equal to the target's."""
    for i in range(start, stop):
        j = world.targets.row[i]
        if j < 0:
            continue
        store_proposal(out, active, i, on_ground(i, agents, world, load(world.targets.velocity, j)))


@behavior(
    label="Match Velocity",
    output=VELOCITY,
    kernel=match_velocity_kernel,
    uses=(TARGETS,),
    icon="CON_TRANSLIKE",
)
class MatchVelocity(Behavior):
    """Go as fast as the target, and the same way."""

    target_role = LEADS
    target_choice: str = target_choice()
