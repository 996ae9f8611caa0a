"""Offset pursue: arrive at o + v_q·T, a place that the target carries along.

o = q + right_q·x + h_q·y + up_q·z and T = |o - p| / (v_max + |v_q|); arrive as in `arrive`:
u = v_max · clamp(d / slow_radius, 0, 1) · dir(o + v_q·T - p), zero within stop_radius of it, with d
the distance to o + v_q·T [m]. In GROUND motion o - p and v_q are projected onto the plane of the
agent's ground first. On a way round corners agents go along it to the target first. v_q is the
velocity of the target itself: that of o in a curve is not known.

Behind a target that goes straight at speed V the agent settles
slow_radius · (V/v_max) / (1 + V / (v_max + V)) [m] short of o, as the wish to arrive fades there.

Symbols: q, v_q, right_q, h_q, up_q the target's position [m], velocity [m/s] and unit axes;
x, y, z the offset [m]; p, v_max the agent's position and maximum speed [m/s]; T [s].
Source: Cocos steering, *offset pursuit*; Buckland 2005, "Programming Game AI by Example", ch. 3.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import add_scaled, load, pick, sub
from ..parameters import param
from ..sensing.approach import arrive_velocity, meeting_offset
from ..sensing.declare import AXES, LEADS, TARGETS, VELOCITY, Behavior, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import goes_round, on_ground, target_choice, target_offset
from ..sensing.units import meters


@kernel
def offset_pursue_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to where the place beside the target will be."""
    for i in range(start, stop):
        j, around = target_offset(i, agents, world)
        if j < 0:
            continue
        place = load(world.targets.position, j)
        place = add_scaled(place, load(p.axes.right, j), pick(p.offset_x, i))
        place = add_scaled(place, load(p.axes.heading, j), pick(p.offset_y, i))
        place = add_scaled(place, load(p.axes.above, j), pick(p.offset_z, i))
        offset = on_ground(i, agents, world, sub(place, load(agents.position, i)))
        velocity = on_ground(i, agents, world, load(world.targets.velocity, j))
        max_speed = agents.max_speed[i] * 1.0
        offset = meeting_offset(offset, velocity, max_speed)
        if goes_round(i, world):
            offset = around
        slow_radius, stop_radius = pick(p.slow_radius, i), pick(p.stop_radius, i)
        store_proposal(out, active, i, arrive_velocity(offset, max_speed, slow_radius, stop_radius))


@behavior(
    label="Offset Pursue",
    output=VELOCITY,
    kernel=offset_pursue_kernel,
    uses=(TARGETS, AXES),
    icon="ORIENTATION_LOCAL",
)
class OffsetPursue(Behavior):
    """Keep a place beside the target, as in a formation."""

    target_role = LEADS
    offset_x: float = param(
        0.0, unit="m", doc="How far to the right of the target; negative is to the left"
    )
    offset_y: float = param(-1.5, unit="m", doc="How far ahead of the target; negative is behind")
    offset_z: float = param(0.0, unit="m", doc="How far above the target; negative is below")
    slow_radius: float = meters(
        2.0, doc="Braking starts at this distance from the place; more lags farther behind"
    )
    stop_radius: float = meters(
        0.0, doc="Agents this near to the place want to stand; more leaves room around it"
    )
    target_choice: str = target_choice()
