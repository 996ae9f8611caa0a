"""Pursue: u = v_max · dir(q + v_q·T - p), with the look-ahead T = |q - p| / (v_max + |v_q|).

A target that comes head-on is met where it is: u = v_max · dir(q - p) when it lies ahead,
(q - p)·h > 0, and looks back, h·h_q < -0.95. T is 0 when the denominator is.

In GROUND motion q - p and v_q are projected onto the plane of the agent's ground first, T
included, so that a target's height says nothing about when it is met. On a way round corners
agents go to the next corner first.

Symbols: q, v_q, h_q the target's position [m], velocity [m/s] and unit heading; p, h those of the
agent; v_max its maximum speed [m/s]; T [s].
Source: Cocos steering, *pursuit*; Reynolds 1999, Pursuit and Evasion.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import dot, load, scale, unit
from ..sensing.approach import meeting_offset
from ..sensing.declare import AXES, LEADS, TARGETS, VELOCITY, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import ToTarget, goes_round, on_ground, target_offset

HEAD_ON = -0.95
"""Cosine between two headings from which on they count as opposite."""


@kernel
def pursue_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to where the target will be."""
    for i in range(start, stop):
        j, offset = target_offset(i, agents, world)
        if j < 0:
            continue
        max_speed = agents.max_speed[i] * 1.0
        heading = load(agents.heading, i)
        opposite = dot(heading, load(p.axes.heading, j)) < HEAD_ON
        ahead = opposite and dot(offset, heading) > 0.0
        if not (ahead or goes_round(i, world)):
            velocity = on_ground(i, agents, world, load(world.targets.velocity, j))
            offset = meeting_offset(offset, velocity, max_speed)
        store_proposal(out, active, i, scale(unit(offset), max_speed))


@behavior(
    label="Pursue",
    output=VELOCITY,
    kernel=pursue_kernel,
    uses=(TARGETS, AXES),
    icon="TRACKING_FORWARDS",
)
class Pursue(ToTarget):
    """Steer at full speed to where the target will be."""

    target_role = LEADS
