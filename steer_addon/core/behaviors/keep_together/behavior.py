"""Keep together: people who know each other walk beside one another, and wait for each other.

Δ = u' - u changes the wish u, and behaviors such as `avoid_neighbors` see it changed. With s = |u|,
e = dir(u), N the size of the group and c the middle of the others:

pace      s_N = s·(1 - slow_down·min(N - 1, 5)): larger groups are slower
gaze      s_g = s_N / (1 + τ·β1·α): who would have to turn the head by α to see the others walks
          more slowly, until they are abreast
together  Δ_a = τ·β2·ramp((D - R)/0.25 m)·dir(c - p), D the distance to the middle of the group:
          none within R = d·(N - 1)/2, for more than four d·0.75·√N
apart     Δ_r = τ·β3·Σ_k ramp(4·(1 - |o_k|/d))·b_k, b_k the direction across e away from companion
          k, o_k the way to it with half of the part along e: who is behind another comes beside
new wish  u' = e·s_g + Δ_a + Δ_r; its part along e is kept between f·s_N and s, and u' no faster
          than s, f = max(0.2, 0.6·(1 - (D - R)/3 m)): people wait by walking slowly, the more
          the farther they are ahead, and catch up at the speed at which they walk alone

α is how far the middle of the others lies outside of the field of vision, 90° to either side; the
first 3° take no turn. Who has companions on both sides wants to see both without turning: for two
of them at the angles β_j, β_k, α is also b·(min(β_j, β_k) - 82°), b the part in which they lie on
opposite sides. So the middle one of three walks a little behind, and the three form a V.

d is the distance, or the room that two bodies take and 0.1 m if that is more. b_k grows to its full
size within 0.1 m. Where walls leave less room than a group takes abreast, it walks in a line, see
`narrow`; where they hide companions, these are followed, see `following`.

`avoid_neighbors` does not go around companions, but keeps its gap to those ahead and its rules of
who goes first. Going around them, it led pairs that closed up 10° off their way.

In groups of more than 13, the terms with k count the 12 that follow by their ids. An agent without
a wish, as one that has arrived, gets none. In GROUND motion all of this happens in the plane of the
agent's ground.

The source has forces on a unit mass, which act beside (u - v)/τ: f_vis = -β1·α·v, f_att and f_rep.
In the end v = u + τ·f, which is the wish here, and f_vis gives s_g. It has R = (N - 1)/2 m, f_rep
straight away from the other, and no ramps: with them nobody trembles at a threshold. The pace, the
limits of the new wish, α of who has others on both sides, and lines are our own. Measured speeds
are 1.26 - 0.04·N and 1.24 - 0.08·N m/s in two populations: 3 to 7 % less for each companion.

Symbols: p position [m], v velocity [m/s], ramp(x) = x clamped to [0, 1], τ = 0.5 s, d distance [m],
β1 gaze [1/s per rad], β2 attraction [m/s²], β3 repulsion [m/s²].
Source: Moussaïd, Perozo, Garnier, Helbing & Theraulaz 2010, "The walking behaviour of pedestrian
social groups and its impact on crowd dynamics", PLoS ONE 5(4): e10047, equations of f_vis, f_att
and f_rep, with β1 = 4, β2 = 3, β3 = 1, d = 0.8 m; groups of 1 to 4 as often as there.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel
from ...numeric.vec import EPSILON, add_scaled, dot, length, load, pick, scale, sub, truncate
from ...numeric.vec import unit as direction
from ...parameters import param
from ...sensing.declare import COLLIDERS, COMPANIONS, WISH, behavior
from ...sensing.grouped import GroupedBehavior
from ...sensing.proposing import store_proposal
from ...sensing.targeting import on_ground
from ...sensing.units import meters
from .following import FOLLOWS, IN_SIGHT, look_for_others
from .group import (
    SPARE,
    angle_to,
    clamped,
    companion,
    group_of,
    kept_apart,
    offset_to,
    others,
)
from .narrow import in_line

RELAXATION = 0.5
"""Time τ by which forces of the source count [s]: people take up their wish in it."""
VISION = math.radians(90.0)
"""Angle to either side up to which people see others [rad]."""
EASE = math.radians(3.0)
"""Angle beyond it that takes no turn of the head [rad]: else all would correct all the time."""
BOTH = math.radians(82.0)
"""Angle up to which people want to see companions on both sides [rad]."""
SOFT = 0.25
"""Way beyond R on which the attraction grows to its full strength [m]."""
CLOSING = 0.25
"""Share of the distance on which the repulsion grows to its full strength."""
ALONG = 0.5
"""Share by which the way ahead counts for parting: so who walks behind another comes beside."""
BESIDE = 0.1
"""Way to the side from which on companions part in full [m]."""
LEAST = 0.2
"""Share of the pace at which people wait: who stood would block doors for all others."""
STROLL = 0.6
"""The same for people who are still together: who waits behind a door makes room first."""
PATIENCE = 3.0
"""Way beyond R on which that falls to nothing [m]."""
COUNTED = 5
"""Number of companions for which a group is slower: larger groups were not measured."""


@kernel
def _to_middle(i, agents, world, group, companions):
    """Offset of the middle of the others [m]."""
    g, position = companions.group[i], load(agents.position, i)
    rest = sub(load(companions.total, g), position)
    middle = scale(rest, 1.0 / (group.size - 1.0))
    return on_ground(i, agents, world, sub(middle, position))


@kernel
def _to_both_sides(i, agents, world, group, companions):
    """How far the head would have to turn to see companions on both sides [rad]."""
    turn, count = 0.0, others(group)
    for k in range(count - 1):
        one = offset_to(i, companion(group, k, companions), agents, world)
        beside = direction(add_scaled(one, group.ahead, -dot(one, group.ahead)))
        for n in range(k + 1, count):
            other = offset_to(i, companion(group, n, companions), agents, world)
            across = direction(add_scaled(other, group.ahead, -dot(other, group.ahead)))
            least = min(angle_to(one, group.ahead), angle_to(other, group.ahead))
            turn = max(turn, max(0.0, -dot(beside, across)) * (least - BOTH))
    return turn


@kernel
def _apart(i, agents, world, group, companions):
    """Sum of the directions away from companions that are too near."""
    total = (0.0, 0.0, 0.0)
    for k in range(others(group)):
        j = companion(group, k, companions)
        offset = offset_to(i, j, agents, world)
        along = dot(offset, group.ahead)
        beside = add_scaled(offset, group.ahead, -along)
        apart = length(add_scaled(beside, group.ahead, along * ALONG))
        near = 1.0 - apart / kept_apart(i, j, agents, max(group.distance, EPSILON))
        beside = scale(beside, 1.0 / max(length(beside), BESIDE))
        total = add_scaled(total, beside, -clamped(near / CLOSING))
    return total


@kernel
def _beyond(group, middle, radius):
    """D - R: how much too far from the middle of the group an agent is [m]."""
    distance = max(group.distance, 2.0 * radius + SPARE)
    reach = 0.5 * distance * min(group.size - 1.0, 1.5 * math.sqrt(group.size))
    return length(middle) * (group.size - 1.0) / group.size - reach


@kernel
def keep_together_kernel(start, stop, agents, world, p, memory, out, active):
    """Change of the wish that keeps agents beside their companions."""
    companions = p.companions
    for i in range(start, stop):
        memory[i, 0] = companions.number[i]
        wish = on_ground(i, agents, world, load(agents.desired, i))
        group = group_of(i, companions, pick(p.distance, i), wish)
        if group.size < 2 or group.speed <= EPSILON:
            continue
        middle = _to_middle(i, agents, world, group, companions)
        turn = angle_to(middle, group.ahead) - VISION - EASE
        turn = max(0.0, max(turn, _to_both_sides(i, agents, world, group, companions)))
        line, left, sideways = 0.0, 1.0, (0.0, 0.0, 0.0)
        sight, way = IN_SIGHT, sideways
        if p.see_colliders[0] > 0.0 and len(world.colliders.link) > 0:
            line, left, sideways = in_line(i, agents, world, group, companions)
            sight, way = look_for_others(i, agents, world, group, companions, memory)
        if sight == FOLLOWS:
            new = scale(direction(way), group.speed)
            store_proposal(out, active, i, sub(new, wish))
            continue
        slower = 1.0 - pick(p.slow_down, i) * min(group.size - 1, COUNTED)
        pace = group.speed * max(0.0, slower)
        beyond = _beyond(group, middle, agents.radius[i])
        gaze = 1.0 / (1.0 + RELAXATION * pick(p.gaze, i) * turn * (1.0 - line))
        new = add_scaled(sideways, group.ahead, pace * left * gaze)
        if sight == IN_SIGHT:
            pull = RELAXATION * pick(p.attraction, i) * clamped(beyond / SOFT)
            new = add_scaled(new, direction(middle), pull)
        push = RELAXATION * pick(p.repulsion, i) * (1.0 - line)
        new = add_scaled(new, _apart(i, agents, world, group, companions), push)
        along = dot(new, group.ahead)
        least = max(LEAST, STROLL * left * clamped(1.0 - beyond / PATIENCE))
        kept = min(max(along, least * pace), group.speed)
        new = truncate(add_scaled(new, group.ahead, kept - along), group.speed)
        store_proposal(out, active, i, sub(new, wish))


@behavior(
    label="Keep Together",
    output=WISH,
    kernel=keep_together_kernel,
    uses=(COMPANIONS, COLLIDERS),
    memory_width=5,
    icon="LINKED",
    group="Neighbors",
)
class KeepTogether(GroupedBehavior):
    """Walk beside companions in pairs, threes and fours, and wait for who is behind."""

    distance: float = meters(
        0.8,
        soft_maximum=3.0,
        doc="Distance between two who walk beside one another; more walks farther apart",
    )
    gaze: float = param(
        4.0,
        unit="1/s",
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=10.0,
        doc="How much people slow down to see the others; more is abreast sooner",
    )
    attraction: float = param(
        3.0,
        unit="m/s²",
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=10.0,
        doc="How strongly people go to the middle of their group; more closes up sooner",
    )
    repulsion: float = param(
        1.0,
        unit="m/s²",
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=10.0,
        doc="How strongly companions that are too near part; more keeps the distance more exactly",
    )
    slow_down: float = param(
        0.05,
        minimum=0.0,
        maximum=0.15,
        doc="Share of the speed that a group loses for each companion; more is slower",
    )
    see_colliders: bool = param(True, doc="Walk in a line where walls leave too little room")
