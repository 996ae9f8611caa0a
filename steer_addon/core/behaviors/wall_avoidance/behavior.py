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
A head-on agent takes at most k·L [N] at any dt. All of this holds for weight 1; another weight is a
spring that much stronger or weaker. For one feeler the sum of motion and spring energy never grows;
an agent that turns so that another feeler presses can gain speed, as from the formula itself.

Beyond the source, so that no agent with enough force passes a wall (the bare rule lets agents
through that come up to 61° off the normal: the feeler to the side, half as long, takes over before
the straight one has stopped them):

- Where the plain spring cannot stop the agent before the surface (a feeler fixed too short, or one
  to the side, which is half as long), it is as stiff as is needed to stop it 0.1 % of the room c·l
  before it. It then also takes back what the desired velocities of the stack add in this step along
  n, at most max(0, -n·Σ wᵢ·uᵢ)·dt/(τ·m) [m/s]. A plain spring does so only for the part that would
  end behind that place: an agent that seeks something behind the wall stands still in front of it.
- Hits that are not the nearest, such as the other wall in a corner, push as well from where their
  own plain spring could not stop the agent any more, nearer ones first. A face that is turned less
  than 45° away from the nearest one does so only when it would be passed in this step.
- A last ray looks where the pushed agent will go in this step, for faces that the nearest one hides
  from the feelers, and takes away what would bring it nearer than 0.025 % of L to them.
- Agents no faster than what the desired velocities add in this step feel where they are about to
  go, so that agents held at a wall do not lose it by turning round.
- A hit at no distance does not count: it has no side.

Walking agents feel level with their ground from step height above their feet; n is turned level
too, and steep ground is a wall. Feelers point along the velocity, at rest along the heading. Faces
are solid from both sides: agents inside of a closed mesh stay inside.

The VEX solver has no forces: it blends v toward the sum of the proposals, Δ being one of them as
it is. Agents turn away from walls there, but nothing is promised about where.

Source: Cocos2d-x steering tutorial; its momentum integral is solved in closed form here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiled.jit import kernel, scratch
from ...diagnoses import Diagnosis, diagnose
from ...numeric.vec import (
    EPSILON,
    add,
    add_scaled,
    dot,
    length,
    load,
    pick,
    project,
    scale,
    store,
    sub,
    unit,
)
from ...parameters import choice, named_choices, param
from ...sensing.declare import COLLIDERS, PUSH, Behavior, behavior, per_agent
from ...sensing.proposing import store_proposal
from ...sensing.sight import eye, first_hit, sides, way
from ...sensing.targeting import on_ground
from ...sensing.units import meters
from .spring import SPARE, spring_step, turns_in_time, usable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...agents import Agents

FEELER_MODE = named_choices(
    {
        "AUTO": "As long as it takes to stop in front of the wall from full speed",
        "FIXED": "Of the given length",
    }
)
DISTANCE, LENGTH, COSINE = 0, 1, 2
"""Columns of the hits, before the normal."""
FEELERS = 5
DIAGONAL = math.sqrt(0.5)


@kernel
def _feeler(k, ahead, right, above):
    """Unit direction of feeler k: straight, to the right and left, up and down."""
    if k == 0:
        return ahead
    side = right if k < 3 else above
    return scale(add_scaled(ahead, side, 1.0 if k % 2 == 1 else -1.0), DIAGONAL)


@kernel
def _feel(world, origin, ahead, up, reach, way_on, hits):
    """Cast all feelers; returns the row of the nearest hit, or -1.

    Args:
        world: WorldView.
        origin: Where feelers start [m].
        ahead: Unit vector straight on.
        up: Unit normal of the ground; not used by flyers.
        reach: Length of the straight feeler [m].
        way_on: How far the agent may go in this step [m].
        hits: Filled with a row per feeler, see `_hit`; a miss has length 0.
    """
    right, above = sides(ahead, up, world.flat)
    nearest = -1
    for k in range(3 if world.flat else 5):
        hits[k, LENGTH] = 0.0
        direction = _feeler(k, ahead, right, above)
        # the straight one looks on to what the agent will touch within this step
        longest = reach + way_on if k == 0 else 0.5 * reach
        triangle, distance, normal = first_hit(world, origin, direction, longest)
        if triangle < 0 or distance <= EPSILON:
            continue
        if world.flat:
            normal = unit(project(normal, up))
        facing = -dot(normal, direction)
        if facing <= EPSILON:
            continue
        if nearest < 0 or distance < hits[nearest, DISTANCE]:
            nearest = k
        hits[k, DISTANCE], hits[k, COSINE] = distance, facing
        hits[k, LENGTH] = reach if k == 0 else longest
        hits[k, 3], hits[k, 4], hits[k, 5] = normal
    return nearest


@kernel
def _hit(hits, k):
    """Hit k as (y [m], depth q [m], room [m], cosine, normal)."""
    cosine, of_length = hits[k, COSINE], hits[k, LENGTH]
    gap = cosine * hits[k, DISTANCE]
    normal = (hits[k, 3], hits[k, 4], hits[k, 5])
    return gap, cosine * of_length - gap, cosine * of_length, cosine, normal


@kernel
def _pressed(q, s, square, room, pulled, dt):
    """`spring_step`, and how much of a pull is to be made up for.

    Args:
        q: Depth [m].
        s: Speed toward the wall [m/s].
        square: ω² of the plain spring [1/s²].
        room: Depth that must not be passed [m].
        pulled: Way toward the wall that others make the agent go in this step [m].
        dt: Time [s].

    Returns:
        (depth [m] after the step, speed [m/s] after it, part of `pulled` [m] to take back).
    """
    landing, speed = spring_step(q, s, square, room, dt)
    if not turns_in_time(q, s, square, room):
        return landing, speed, pulled
    over = landing + pulled - max(q, usable(room))
    return landing, speed, min(pulled, max(0.0, over))


@kernel
def _farther(k, hits):
    """Row of the next hit by distance after hit k, among equal ones by number, or -1."""
    found, near = -1, hits[k, DISTANCE]
    for j in range(len(hits)):
        far = hits[j, DISTANCE]
        if hits[j, LENGTH] == 0.0 or far < near or (far == near and j <= k):
            continue
        if found < 0 or far < hits[found, DISTANCE]:
            found = j
    return found


@kernel
def _needs_more(k, first, hits, velocity, rate, dt):
    """Whether hit k, which is not the nearest, is a wall that the agent would pass."""
    gap, q, room, cosine, normal = _hit(hits, k)
    s = -dot(normal, velocity)
    if turns_in_time(q, s, rate / cosine, room):
        return False
    return dot(normal, _hit(hits, first)[4]) < DIAGONAL or gap < s * dt


@kernel
def _pushed(first, hits, velocity, now, pull, rate, dt):
    """Mean velocity over the step, and what the velocity at its end is beyond that.

    Args:
        first: Row of the nearest hit.
        hits: All hits.
        velocity: Of the agent [m/s]; the mean over the last step.
        now: At the start of this step [m/s].
        pull: Velocity [m/s] that the desired velocities are about to add.
        rate: k/m [1/s²].
        dt: Time [s].
    """
    new, beyond = velocity, (0.0, 0.0, 0.0)
    k = first
    while k >= 0:
        _gap, q, room, cosine, normal = _hit(hits, k)
        s = -dot(normal, now if k == first else new)
        if k == first and q <= 0.0 and q + s * dt <= 0.0:
            break
        if k == first or _needs_more(k, first, hits, add(new, pull), rate, dt):
            pulled = max(0.0, -dot(normal, pull)) * dt
            landing, speed, back = _pressed(q, s, rate / cosine, room, pulled, dt)
            mean = (q - landing) / dt
            new = add_scaled(new, normal, mean + back / dt - dot(normal, new))
            beyond = add_scaled(beyond, normal, -speed - mean)
        k = _farther(k, hits)
    return new, beyond


@kernel
def _unblocked(world, origin, up, new, pull, spare, dt):
    """`new` without what takes the agent to a face that no feeler could see past another.

    Args:
        world: WorldView.
        origin: Where feelers start [m].
        up: Unit normal of the ground; not used by flyers.
        new: Mean velocity over the step [m/s].
        pull: Velocity that the desired velocities are about to add [m/s].
        spare: Distance that is kept [m].
        dt: Time [s].
    """
    for _ in range(2):
        going = add(new, pull)
        direction = unit(going)
        reach = length(going) * dt + spare
        triangle, distance, normal = first_hit(world, origin, direction, reach)
        if triangle < 0 or distance <= EPSILON:
            break
        if world.flat:
            normal = unit(project(normal, up))
        gap = -dot(normal, direction) * distance
        too_fast = -dot(normal, going) - max(0.0, gap - spare) / dt
        if too_fast <= 0.0:
            break
        new = add_scaled(new, normal, too_fast)
    return new


@kernel
def wall_avoidance_kernel(start, stop, agents, world, p, memory, out, active):
    """Push that lands the agent where the springs of its feelers let it be after the step."""
    automatic = int(p.feeler_mode[0]) == FEELER_MODE.AUTO
    hits = scratch(FEELERS, 6)[: 3 if world.flat else FEELERS]
    dt = world.dt
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        velocity = on_ground(i, agents, world, load(agents.velocity, i))
        now = add(velocity, load(memory, i))
        store(memory, i, (0.0, 0.0, 0.0))
        mass = agents.mass[i] * 1.0
        rate = pick(p.stiffness, i) / mass
        reach = pick(p.feeler_length, i)
        if automatic:
            reach = agents.max_speed[i] / math.sqrt(rate)
        wish = on_ground(i, agents, world, load(agents.desired, i))
        pull = scale(wish, dt / (world.relaxation_time * mass))
        slow = length(velocity) <= length(pull)
        ahead = way(i, agents, world, add(velocity, pull) if slow else velocity)
        if reach <= EPSILON or length(ahead) < EPSILON:
            continue
        way_on = (max(length(velocity), length(now)) + length(pull)) * dt
        origin, up = eye(i, agents, world), load(agents.normal, i)
        first = _feel(world, origin, ahead, up, reach, way_on, hits)
        if first < 0:
            continue
        new, beyond = _pushed(first, hits, velocity, now, pull, rate, dt)
        new = _unblocked(world, origin, up, new, pull, 0.25 * SPARE * reach, dt)
        push = sub(new, velocity)
        if push != (0.0, 0.0, 0.0):
            store(memory, i, beyond)
            store_proposal(out, active, i, scale(push, world.relaxation_time * mass / dt))


@behavior(
    label="Wall Avoidance",
    output=PUSH,
    kernel=wall_avoidance_kernel,
    uses=(COLLIDERS,),
    memory_width=3,
    icon="MOD_BUILD",
    group="Obstacles",
)
class WallAvoidance(Behavior):
    """Feel for walls ahead and be pushed off them as by a spring."""

    looks_by = ("feeler_length",)
    feeler_mode: str = choice(
        "AUTO",
        FEELER_MODE,
        doc="How long feelers are",
    )
    feeler_length: float = meters(
        2.0,
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

    def advice(self, settings: Any, agents: Agents | None = None) -> list[Diagnosis]:
        """Say so when the force of some agents is too weak to stop them in front of walls."""
        found = super().advice(settings, agents)
        if settings.solver.solver != "REYNOLDS":
            return found
        bodies = settings.agents if agents is None else agents
        mass, speed, force = (
            np.atleast_1d(np.asarray(getattr(bodies, name), np.float64))
            for name in ("mass", "max_speed", "max_force")
        )
        pushing, stopping = self._needed(mass, speed, agents)
        needed = np.maximum(pushing, stopping)
        # parameters are kept in 32 bits
        lacking = force < needed * (1.0 - 1.0e-6)
        alive = np.ones(len(force), bool) if agents is None else agents.alive != 0
        lacking &= alive
        if not lacking.any():
            return found
        count, total = int(lacking.sum()), int(alive.sum())
        code = "WALL_FORCE_TOO_WEAK" if count == total else "WALL_FORCE_TOO_WEAK_FOR_SOME"
        most = int(np.argmax(np.where(lacking, needed, 0.0)))
        told = diagnose(
            code,
            self.title,
            lacking=count,
            total=total,
            needed=math.ceil(100.0 * needed[most] - 1.0e-4) / 100.0,
            force=float(force[lacking].min()),
            lower="less stiffness" if pushing[most] >= stopping[most] else "longer feelers",
        )
        return [*found, told]

    def _needed(
        self, mass: NDArray[Any], speed: NDArray[Any], agents: Agents | None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Forces [N] that the springs have, and that braking takes, shape (agent_count,)."""
        stiffness, reach = (
            np.broadcast_to(
                self.constants[name] if agents is None else per_agent(self, name, agents),
                mass.shape,
            ).astype(np.float64)
            for name in ("stiffness", "feeler_length")
        )
        if self.feeler_mode == "AUTO":
            return speed * np.sqrt(mass * stiffness), np.zeros_like(mass)
        feeling = reach > 0.0
        stopping = np.where(feeling, mass * speed**2 / np.where(feeling, reach, 1.0), 0.0)
        return stiffness * reach, stopping
