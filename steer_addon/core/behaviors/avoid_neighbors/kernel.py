"""Avoid neighbors: take the way on which the next collision is far off, and keep to one side.

Each step of an agent, with numbers that stand in `rules`:

1. Foresee (`foreseen`): each neighbor that it can meet within the anticipation time T is measured
   in a frame along the wish: gap, velocity, wish.

2. Choose a way (`choosing`): of directions e beside the wish, 15° apart up to 120° to both sides
   (FLY: also above and below), the one of least cost, at the wished speed s:

    E(e) = 1 - cos α - 0.15·(v·e)/s - 0.25·b·k·sin α + max(1.8·max_j c_j·(1 - t_j/T)·g_j, 1.5·w)

α        angle between e and the wish, counted to the preferred side
t_j      time until the bodies of the agent, at s·e, and neighbor j touch; j counts if t_j < T
c_j      how much j is in the way, linear in the cosine between both wishes, from 0.25 for the same
         wish to 1 for the opposite one: the same is followed, not overtaken. 0 for companions
         (`keep_together`): else who is drawn to them is led past them
g_j      min(1, (closing speed / 0.3·s)²): a neighbor that is passed closely is no obstacle
w        share of s·T that a wall takes from a body as wide as the agent (see_colliders); straight
         on, none beyond its target, or the next corner of its way, does: it stops or turns there
o        how near another wish is: max_j (1 - cosine)/2, fading with the distance; of strangers
b        how much all keep to one side: the larger of 10·max_j (1 - cosine) and 2·(1 - |v|/s), at
         most 1: crowds that meet turn about one another, and an agent that is slowed down goes
         around agents that stand. Times o where a wall is near, straight ahead or on that side: a
         side would lead past a door
k        1 + 1.5·min(1, 2.5·o), o of neighbors that walk: where many ways cross all agents move
         around the middle, and do not lock there

   The parabola through the minimum and the ways beside it refines the direction.

3. Choose a speed (`pacing`) min(s, max((gap - l)/T_h, o·p·s)): gap to the next one ahead with a
   like wish, l the personal space, T_h the time headway. Crowds are slower where they are denser,
   and agents that meet head-on do not wait; p = 0.4 + min(0.6, |v|/s), as a standing agent presses
   less. In a queue, o ≤ 0.03, the gap is foreseen by 0.25 s, and at a door T_h is 65 % shorter.

4. When held up (`memory`), at less than a twentieth of s for 2 s though it chose more than a tenth,
   retreat at s/2 for about a body's width, back and to the side, if a neighbor at touch
   has the better lot: bodies in a ring would lock. With nobody near but walls, go along these.

5. Yield (`pacing`): of two, that one goes first which is ahead along the mean of both wishes, and
   does not wait for the other; in a queue near a wall the heading stands for the wish of an agent
   that turned away from it by more than 45°. A lot drawn from both ids decides between equals.
   An agent closer than l to one that goes first, with a like wish, nears it at gap / T_h at most.

6. Back out of its personal space at (l - gap)/T_h, as far as that leaves l to agents behind: those
   in front, at a door, then have the room to turn, and no arch holds. A share of it leaves them
   nothing: o, and up to 0.7 where wishes converge or a wall is ahead. A push of a close neighbor
   with another wish moves the agent by half of it.

7. Among others with another wish, do not turn back at once (`memory`): bend off the way that the
   agent went lately by at most 32°, and stand for 1.5 s before going back.

8. Propose Δ = v_chosen - wish: with weight 1 agents steer to v_chosen; without a wish they stay.

In GROUND motion all of this happens in the plane of the agent's ground.

Source: Moussaïd, Helbing & Theraulaz 2011, "How simple rules determine pedestrian behavior and
crowd disasters" (the choice of a direction by the free way in it); Karamouzas, Skinner & Guy 2014,
"Universal power law governing pedestrian interactions" (time to collision is what counts);
Tordeux, Chraibi & Seyfried 2016, "Collision-free speed model" (gap and headway). The costs, the
wishes of others, and which agent goes first are our own; docs/avoidance.md has the comparison.
"""

from __future__ import annotations

import math

from ...compiled.jit import kernel, record_kernel, scratch
from ...numeric.vec import EPSILON, add_scaled, dot, length, load, pick, store, sub, unit
from ...sensing.proposing import store_proposal
from ...sensing.seen_neighbors import seen_neighbors
from ...sensing.sight import eye, sides
from ...sensing.targeting import on_ground
from .choosing import ALL_WAYS, choose
from .foreseen import LINES, Own, foresee
from .memory import ALONG, bent, turned_frame, way_gone, when_held_up
from .pacing import pace, velocity_on
from .rules import MOST, NOWHERE, RULES
from .walls import in_world


@kernel
def _clear(i, agents, world, ahead):
    """Distance straight on from which no wall is in the way of an agent [m]; inf where each is.

    It is that of its target, or of the next corner of its way, if the agent heads there.
    """
    if len(world.heads) == 0:
        return math.inf
    offset = on_ground(i, agents, world, sub(load(world.heads, i), load(agents.position, i)))
    far = length(offset)
    heads = far > EPSILON and dot(offset, ahead) >= RULES.toward * far
    return far if heads else math.inf


@record_kernel
def _look_at_itself(i, agents, world, p, wish, seen, walls, along):
    """The agent itself: Own, in the frame of its wish or of a way along walls."""
    normal, speed = load(agents.normal, i), min(length(wish), agents.max_speed[i] * 1.0)
    right, above = sides(unit(wish), normal, world.flat)
    frame = turned_frame(unit(wish), right, above, along)
    v = load(agents.velocity, i)
    velocity = dot(v, frame[0]), dot(v, frame[1]), 0.0 if world.flat else dot(v, frame[2])
    return Own(
        eye=eye(i, agents, world),
        normal=normal if world.flat else NOWHERE,
        frame=frame,
        velocity=velocity,
        speed=speed,
        radius=agents.radius[i] * 1.0,
        horizon=pick(p.anticipation_time, i),
        spare=pick(p.personal_space, i),
        headway=pick(p.time_headway, i),
        side=int(p.side[0]),
        walls=walls,
        alone=seen == 0,
        clear=_clear(i, agents, world, frame[0]) if walls else math.inf,
    )


@kernel
def avoid_neighbors_kernel(start, stop, agents, world, p, memory, out, active):
    """Push from the wished velocity to the chosen one."""
    table, costs = scratch(LINES, MOST), scratch(3, ALL_WAYS)
    table[:, :] = 0.0
    solid = len(world.colliders.link) > 0 or (world.flat and len(world.ground.link) > 0)
    walls = solid and p.see_colliders[0] > 0.0
    for i in range(start, stop):
        if pick(p.acts, i) == 0.0:
            continue
        velocity = load(agents.velocity, i)
        wish = on_ground(i, agents, world, load(agents.desired, i))
        reach = pick(p.neighbor_distance, i)
        seen = seen_neighbors(i, world.neighbors, pick(p.max_neighbors, i), reach)
        own = _look_at_itself(i, agents, world, p, wish, seen, walls, memory[i, ALONG])
        gone = way_gone(load(memory, i), velocity, own.speed, world.dt)
        store(memory, i, gone)
        if own.speed < EPSILON or not (walls or seen > 0):
            continue
        others = foresee(i, agents, world, seen, own, table)
        if others.count == 0 and not walls:
            continue
        way = choose(world, own, others, table, costs)
        chosen, headway = pace(world, own, others, table, way)
        way, chosen = when_held_up(i, memory, world, own, others.waits, way, chosen)
        go = velocity_on(world, own, others, table, way, chosen, headway)
        go = bent(in_world(go, own.frame), gone, others.crossing)
        push = sub(go, wish)
        if world.dt > world.relaxation_time:  # the solver would go beyond what is chosen
            share = world.relaxation_time / world.dt - 1.0
            push = add_scaled(push, sub(go, velocity), share)
        if length(push) > EPSILON:
            store_proposal(out, active, i, push)
