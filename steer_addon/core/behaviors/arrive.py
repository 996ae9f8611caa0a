"""Arrive: u = v_max · clamp(d / slow_radius, 0, 1) · dir(t - p), and zero within stop_radius.

In GROUND motion t - p is projected onto the plane of the agent's ground first.

Symbols: t target, p position [m], d = |t - p| [m], v_max maximum speed [m/s].
Source: Houdini VEX node, its *seek*; Cocos steering, *arrive*; Reynolds 1999, Arrival.
"""

from __future__ import annotations

from ..jit import kernel
from ..parameters import param
from ..vec import length, pick, scale, store, unit
from .base import TARGETS, VELOCITY, Behavior, behavior
from .targeting import target_choice, target_flow, target_offset


@kernel
def arrive_speed(distance, max_speed, slow_radius, stop_radius):
    """Desired speed [m/s] at a distance [m] from where to arrive."""
    speed = max_speed
    if distance < slow_radius:
        speed *= distance / slow_radius
    if distance < stop_radius:
        speed = 0.0
    return speed


@kernel
def arrive_velocity(offset, max_speed, slow_radius, stop_radius):
    """Desired velocity [m/s] to a point at an offset [m] from the agent."""
    return scale(unit(offset), arrive_speed(length(offset), max_speed, slow_radius, stop_radius))


@kernel
def arrive_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to the target, slower the nearer it is."""
    for i in range(start, stop):
        j, offset = target_offset(i, agents, world)
        if j < 0:
            continue
        slow_radius, stop_radius = pick(p.slow_radius, i), pick(p.stop_radius, i)
        store(out, i, arrive_velocity(offset, agents.max_speed[i] * 1.0, slow_radius, stop_radius))
        active[i] = 1


@behavior(
    label="Arrive", output=VELOCITY, kernel=arrive_kernel, uses=(TARGETS,), icon="PIVOT_CURSOR"
)
class Arrive(Behavior):
    """Go to the target and brake in time to stop on it."""

    goes_to_target = True

    slow_radius: float = param(
        2.0,
        unit="m",
        minimum=0.0,
        soft_maximum=20.0,
        doc="Braking starts at this distance; more brakes earlier and more gently",
    )
    stop_radius: float = param(
        0.0,
        unit="m",
        minimum=0.0,
        soft_maximum=20.0,
        doc="Agents this near to the target want to stand; more leaves room around it",
    )
    target_choice: str = target_choice(goes=True)
    target_flow: float = target_flow()
