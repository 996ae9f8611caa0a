"""Seek: u = v_max · dir(t - p).

In GROUND motion t - p is projected onto the plane of the agent's ground first, so that a target
above or below does not slow the agent down. An agent that is exactly there has no direction to go:
u = 0.

Symbols: t target, p position [m], v_max maximum speed [m/s].
Source: Reynolds 1999, "Steering Behaviors For Autonomous Characters", Seek and Flee.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import scale, unit
from ..sensing.declare import TARGETS, VELOCITY, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import ToTarget, target_offset


@kernel
def seek_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity straight at the target."""
    for i in range(start, stop):
        j, offset = target_offset(i, agents, world)
        if j < 0:
            continue
        store_proposal(out, active, i, scale(unit(offset), agents.max_speed[i]))


@behavior(label="Seek", output=VELOCITY, kernel=seek_kernel, uses=(TARGETS,), icon="CON_TRACKTO")
class Seek(ToTarget):
    """Steer straight at the target at full speed."""
