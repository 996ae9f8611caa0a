"""Follow leader: u + Δ in one desired velocity, the sum of three wishes.

behind      arrive at q - h·distance
aside       v_max · dir(s), while the agent is in the leader's way
separation  strength · Σ dir(p - p_k) · w(d_k) over its neighbors k, w as in `separation` with
            falloff DISTANCE: a constant push would keep followers from ever standing still

The leader's way is what lies before it within clear_radius of its line: with a = (p - q)·h, and
s = (p - q) - a·h the offset from the line, 0 < a < distance + clear_radius and |s| < clear_radius.
An agent in it evades the point q + a·h, the one ahead of the leader that is level with the agent:
that is, it goes straight aside, as Reynolds wants it ("steer laterally away from the leader's
path"). Evading a point farther ahead would drive agents before it back at the leader. On the line
itself agents with an even id go right, the others left.

Agents take a velocity and a push at the same rate, F = (u - v + Δ)/τ, and the VEX solver adds both
too, so that the sum in one proposal is the same as two of them. Separation sees the agents of the
own crowd only, hence the leader only where it is one of them; no agent leads itself.
Behind a leader that goes straight at speed V the agent settles slow_radius · V/v_max behind the
point: where the wish to arrive is V. In GROUND motion offsets and h are projected onto the plane of
the agent's ground.

Symbols: q, h the leader's position [m] and unit heading; p the agent's position; p_k, d_k a
neighbor's position and distance [m]; v_max the agent's maximum speed [m/s].
Source: Reynolds 1999, Leader Following; its lateral region also in the Cocos2d-x tutorial.
"""

from __future__ import annotations

from ..compiled.jit import kernel
from ..numeric.vec import EPSILON, add_scaled, dot, length, load, pick, scale, sub, unit
from ..sensing.approach import arrive_velocity
from ..sensing.declare import AXES, LEADS, NEIGHBORS, TARGETS, VELOCITY, behavior
from ..sensing.proposing import store_proposal
from ..sensing.seen_neighbors import (
    NeighborBehavior,
    distance_weight,
    parting,
    seen_neighbors,
)
from ..sensing.targeting import goes_round, on_ground, side_axis, target_choice, target_offset
from ..sensing.units import meters, meters_per_second


@kernel
def aside(offset, heading, up, length_ahead, clear_radius, even):
    """Unit direction in which an agent leaves the leader's way; zero for one that is not in it.

    `offset` leads from the agent to the leader [m].
    """
    ahead = -dot(offset, heading)
    if not 0.0 < ahead < length_ahead + clear_radius:
        return (0.0, 0.0, 0.0)
    side = scale(add_scaled(offset, heading, ahead), -1.0)
    if length(side) >= clear_radius:
        return (0.0, 0.0, 0.0)
    if length(side) < EPSILON:
        return scale(side_axis(heading, up), 1.0 if even else -1.0)
    return unit(side)


@kernel
def follow_leader_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to the place behind the leader, out of its way and apart from others."""
    for i in range(start, stop):
        j, offset = target_offset(i, agents, world)
        if j < 0:
            continue
        heading = unit(on_ground(i, agents, world, load(p.axes.heading, j)))
        distance, max_speed = pick(p.distance, i), agents.max_speed[i] * 1.0
        behind = offset
        if not goes_round(i, world):
            behind = add_scaled(offset, heading, -distance)
        wish = arrive_velocity(behind, max_speed, pick(p.slow_radius, i), 0.0)
        up = load(agents.normal, i) if world.flat else load(p.axes.above, j)
        even = agents.id[i] % 2 == 0
        way = aside(offset, heading, up, distance, pick(p.clear_radius, i), even)
        wish = add_scaled(wish, way, max_speed)
        reach, strength = pick(p.neighbor_distance, i), pick(p.strength, i)
        seen = seen_neighbors(i, world.neighbors, pick(p.max_neighbors, i), reach)
        position = load(agents.position, i)
        for n in range(seen):
            k = world.neighbors.index[i, n]
            apart = unit(on_ground(i, agents, world, sub(position, load(agents.position, k))))
            if apart == (0.0, 0.0, 0.0):
                apart = parting(i, k, agents, world)
            weight = distance_weight(1.0 * world.neighbors.distance[i, n], reach)
            wish = add_scaled(wish, apart, strength * weight)
        store_proposal(out, active, i, wish)


@behavior(
    label="Follow Leader",
    output=VELOCITY,
    kernel=follow_leader_kernel,
    uses=(TARGETS, AXES, NEIGHBORS),
    icon="COMMUNITY",
)
class FollowLeader(NeighborBehavior):
    """Walk behind the target, out of its way and apart from each other."""

    target_role = LEADS
    strength: float = meters_per_second(
        1.0,
        soft_maximum=20.0,
        doc="Push between followers that touch; more keeps them farther apart",
    )
    distance: float = meters(
        1.5, doc="How far behind the leader agents are; more keeps its way clear farther ahead too"
    )
    clear_radius: float = meters(
        1.0,
        doc="Agents this near to the leader's way step aside; more clears it wider, 0 never does",
        zero="Never",
    )
    slow_radius: float = meters(
        2.0, doc="Braking starts at this distance from the place; more lags farther behind"
    )
    target_choice: str = target_choice()
