"""Wall avoidance: feelers that act as springs, Δ/τ = k · overshoot · n.

Feelers: straight on, length L, and 45° to both sides, L/2; in FLY motion to four sides. For the
nearest hit among them (distance d, surface normal n turned against the feeler f, length l of that
feeler) the force is k · overshoot · n, with overshoot = l - d the part behind the surface.
AUTO: L = v_max·√(m/k). A head-on agent at v_max then stops just at the surface, as
m·v_max²/2 = k·L²/2; its force is at most k·L. Symbols: k stiffness [N/m], m mass [kg], v_max
maximum speed [m/s], τ relaxation time [s].

From the force to the step. Explicit steps of that force overshoot when √(k/m)·dt is not small, so
the motion over a step is solved exactly. With c = -n·f the point p lies y = c·d in front of the
surface, and q = c·l - y is how deep the feeler's tip lies behind it. For a feeler that keeps its
direction q = c·overshoot, and m·d²y/dt² = k·overshoot becomes d²q/dt² = -ω²·q, ω² = k/(m·c), with
s = dq/dt = -n·v: `spring.spring_step` gives q' and s' after dt, also when the agent touches the
spring in the middle of the step, or turns in it. The solver moves p by v'·dt, v' = v + Δ·dt/(τ·m),
so the step ends at q' when

    n·v' = (q - q')/dt,    Δ = ((q - q')/dt - n·v) · (τ·m/dt) · n.

v' is the mean over the step; at its end the agent goes at -s' along n. The difference is kept in
memory and added to v in the next step, so that what others did to v counts too. As dt → 0,
q' = q + s·dt - ω²·q·dt²/2, the means of two steps differ by ω²·q·dt, and Δ → τ·m·ω²·q =
τ·k·overshoot. An agent that turns within the step stops at the turning point until the step ends.
Forces stay within k·L at any dt. All of this holds for weight 1; another weight is a spring that
much stronger or weaker.

Beyond the source: where the spring cannot stop the agent before the surface (a feeler fixed too
short, or one to the side, which is half as long), it is as stiff as is needed to stop it 0.1 % of
the way before it. A wall that lies straight ahead within the way of this step comes first, even
when another feeler's hit is nearer. A hit at no distance does not count: it has no side.

Walking agents feel level with their ground from step height above their feet; n is turned level
too, and steep ground is a wall. Feelers point along the velocity, at rest along the heading. Faces
are solid from both sides: agents inside of a closed mesh stay inside.

The VEX solver has no forces: it blends v toward the sum of the proposals, Δ being one of them as
it is. Agents turn away from walls there, but nothing is promised about where.

Source: Cocos2d-x steering tutorial; its momentum integral is solved in closed form here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..jit import kernel
from ..parameters import choice, param
from ..vec import (
    EPSILON,
    add,
    add_scaled,
    cross,
    dot,
    length,
    load,
    pick,
    project,
    scale,
    store,
    unit,
)
from .base import COLLIDERS, PUSH, Behavior, behavior
from .sight import eye, first_hit, way
from .spring import spring_step
from .targeting import on_ground, side_axis

AUTO = 0
DIAGONAL = math.sqrt(0.5)


@kernel
def _feeler(k, ahead, right, above):
    """Unit direction of feeler k: straight, to the right and left, up and down."""
    if k == 0:
        return ahead
    side = right if k < 3 else above
    return scale(add_scaled(ahead, side, 1.0 if k % 2 == 1 else -1.0), DIAGONAL)


@kernel
def _felt(world, origin, ahead, up, reach, way_on):
    """The hit that counts, as (distance [m], length of its feeler [m], cosine c, normal).

    Args:
        world: WorldView.
        origin: Where feelers start [m].
        ahead: Unit vector straight on.
        up: Unit normal of the ground; not used by flyers.
        reach: Length of the straight feeler [m].
        way_on: How far the agent goes in this step [m].

    The length is 0 when nothing is felt.
    """
    if world.flat:
        right, above = unit(cross(ahead, up)), up
    else:
        right = side_axis(ahead, (0.0, 0.0, 1.0))
        above = cross(right, ahead)
    nearest, of_length, cosine, out = 0.0, 0.0, 0.0, (0.0, 0.0, 0.0)
    for k in range(3 if world.flat else 5):
        direction = _feeler(k, ahead, right, above)
        # the straight one looks on to what the agent will touch within this step
        longest = reach + way_on if k == 0 else 0.5 * reach
        triangle, distance, normal = first_hit(world, origin, direction, longest)
        if triangle < 0 or distance <= EPSILON:
            continue
        if world.flat:
            normal = unit(project(normal, up))
        facing = -dot(normal, direction)
        if facing > EPSILON and (of_length == 0.0 or distance < nearest):
            nearest, cosine, out = distance, facing, normal
            of_length = reach if k == 0 else longest
            if k == 0 and distance <= way_on:
                break
    return nearest, of_length, cosine, out


@kernel
def wall_avoidance_kernel(start, stop, agents, world, p, memory, out, active):
    """Push that lands the agent where the spring of the nearest hit lets it be after the step."""
    automatic = int(p.feeler_mode[0]) == AUTO
    for i in range(start, stop):
        velocity = on_ground(i, agents, world, load(agents.velocity, i))
        now = add(velocity, load(memory, i))
        store(memory, i, (0.0, 0.0, 0.0))
        stiffness, mass = pick(p.stiffness, i), agents.mass[i] * 1.0
        reach = pick(p.feeler_length, i)
        if automatic:
            reach = agents.max_speed[i] * math.sqrt(mass / stiffness)
        ahead = way(i, agents, world, velocity)
        if reach <= EPSILON or length(ahead) < EPSILON:
            continue
        way_on = max(length(velocity), length(now)) * world.dt
        up = load(agents.normal, i)
        distance, of_length, cosine, normal = _felt(
            world, eye(i, agents, world), ahead, up, reach, way_on
        )
        if of_length == 0.0:
            continue
        q, s = cosine * (of_length - distance), -dot(normal, now)
        if q <= 0.0 and q + s * world.dt <= 0.0:
            continue
        square, room = stiffness / (mass * cosine), cosine * of_length
        landing, speed = spring_step(q, s, square, room, world.dt)
        mean = (q - landing) / world.dt
        change = mean - dot(normal, velocity)
        store(memory, i, scale(normal, -speed - mean))
        store(out, i, scale(normal, change * world.relaxation_time * mass / world.dt))
        active[i] = 1


@behavior(
    label="Wall Avoidance",
    output=PUSH,
    kernel=wall_avoidance_kernel,
    uses=(COLLIDERS,),
    memory_width=3,
    icon="MOD_BUILD",
    group="Obstacles",
)
@dataclass(frozen=True, kw_only=True)
class WallAvoidance(Behavior):
    """Feel for walls ahead and be pushed off them as by a spring."""

    feeler_mode: str = choice(
        "AUTO",
        {
            "AUTO": "As long as it takes to stop in front of the wall from full speed",
            "FIXED": "Of the given length",
        },
        doc="How long feelers are",
    )
    feeler_length: float = param(
        2.0,
        unit="m",
        minimum=0.0,
        soft_maximum=50.0,
        doc="Length of the straight feeler, the others have half of it; more reacts earlier",
        shown_for=("feeler_mode", ("FIXED",)),
    )
    stiffness: float = param(
        1.0,
        unit="N/m",
        minimum=1.0e-3,
        soft_maximum=100.0,
        doc="Force per meter of feeler behind the wall; more brakes later and harder",
    )

    def advice(self, settings: Any) -> list[str]:
        """Say so when the crowd's force is too weak to stop its agents in front of walls."""
        body = settings.agents
        pushing = body.max_speed * math.sqrt(body.mass * self.stiffness)
        stopping = 0.0
        if self.feeler_mode == "FIXED":
            pushing = self.stiffness * self.feeler_length
            if self.feeler_length > 0.0:
                stopping = body.mass * body.max_speed**2 / self.feeler_length
        needed = max(pushing, stopping)
        if settings.solver.solver != "REYNOLDS" or body.max_force >= needed * (1.0 - 1.0e-9):
            return []
        other = "less stiffness" if pushing >= stopping else "longer feelers"
        return [
            f"{self.key} needs {math.ceil(100.0 * needed) / 100.0:g} N to stop agents in front of "
            f"walls, and their maximum force is {body.max_force:g} N: give them that force, "
            f"or {other}"
        ]
