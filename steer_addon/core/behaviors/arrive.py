"""Arrive: u = v_max · clamp(d / slow_radius, 0, 1) · dir(t - p), and zero within stop_radius.

In GROUND motion t - p is projected onto the plane of the agent's ground first.

Agents follow this wish with the time constant T = τ·m/weight, and are late by it. Agents that
arrive at v_max stop on the target without passing it where 4·T·v_max <= slow_radius; with
b = T·v_max / slow_radius above 1/4 they swing past it, by

    slow_radius · √b · exp(-(π - atan w) / w),    w = √(4·b - 1),

as long as their maximum force is enough: 1 % of slow_radius at b = 0.35, 7 % at 1/2, 30 % at 1.
REYNOLDS only, and for arrive alone; other desired velocities in the stack damp the swing.

Symbols: t target, p position [m], d = |t - p| [m], v_max maximum speed [m/s], τ relaxation time
[s], m mass [kg].
Source: Houdini VEX node, its *seek*; Cocos steering, *arrive*; Reynolds 1999, Arrival.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..compiled.jit import kernel
from ..diagnoses import Diagnosis, diagnose
from ..numeric.vec import pick
from ..sensing.approach import arrive_velocity
from ..sensing.declare import TARGETS, VELOCITY, behavior
from ..sensing.proposing import store_proposal
from ..sensing.targeting import ToTarget, target_offset
from ..sensing.units import meters

if TYPE_CHECKING:
    from ..agents import Agents

MUCH = 1.0 / 3.0
"""Share of slow_radius from which on passing the target is worth a word: settings of the source
systems swing by 0.3 of it, and are meant to."""


def overshoot(slowness: float) -> float:
    """How far agents swing past the target, as a share of slow_radius.

    Args:
        slowness: T·v_max / slow_radius, see above.
    """
    if slowness <= 0.25:
        return 0.0
    w = math.sqrt(4.0 * slowness - 1.0)
    return math.sqrt(slowness) * math.exp(-(math.pi - math.atan(w)) / w)


@kernel
def arrive_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to the target, slower the nearer it is."""
    for i in range(start, stop):
        j, offset = target_offset(i, agents, world)
        if j < 0:
            continue
        slow_radius, stop_radius = pick(p.slow_radius, i), pick(p.stop_radius, i)
        velocity = arrive_velocity(offset, agents.max_speed[i] * 1.0, slow_radius, stop_radius)
        store_proposal(out, active, i, velocity)


@behavior(
    label="Arrive", output=VELOCITY, kernel=arrive_kernel, uses=(TARGETS,), icon="PIVOT_CURSOR"
)
class Arrive(ToTarget):
    """Go to the target and brake in time to stop on it."""

    slow_radius: float = meters(
        2.0, doc="Braking starts at this distance; more brakes earlier and more gently"
    )
    stop_radius: float = meters(
        0.0, doc="Agents this near to the target want to stand; more leaves room around it"
    )

    def advice(self, settings: Any, agents: Agents | None = None) -> list[Diagnosis]:
        """Say so when agents are too slow to react to stop on the target."""
        found = super().advice(settings, agents)
        body, solver = settings.agents, settings.solver
        if solver.solver != "REYNOLDS" or self.slow_radius <= 0.0:
            return found
        late = solver.relaxation_time * body.mass / self.weight * body.max_speed
        past = overshoot(late / self.slow_radius) * self.slow_radius
        if past <= max(MUCH * self.slow_radius, self.stop_radius):
            return found
        slow_radius = math.ceil(40.0 * late) / 10.0
        return [*found, diagnose("OVERSHOOT", self.title, past=past, slow_radius=slow_radius)]
