"""Avoid neighbors: go the way on which the next collision is far off, and keep to one side.

Each agent looks at directions e beside its wish, 15° apart up to 120° to both sides (FLY: also
above and below), and takes the one of least cost, at its wished speed s:

    E(e) = 1 - cos α - 0.15·(v·e)/s - 0.25·b·k·sin α + max(1.8·max_j c_j·(1 - t_j/T)·g_j, 1.5·w)

α        angle between e and the wish, counted to the preferred side
t_j      time until the bodies of the agent and neighbor j touch, if the agent goes s·e and j goes
         on as it does; T the anticipation time; j does not count with t_j ≥ T
c_j      how much j is in the way, from 0.25 for one with the same wish to 1 for the opposite one,
         linear in the cosine between both wishes: who wants the same is followed, not overtaken
g_j      min(1, (closing speed / 0.3·s)²): those who are passed closely are no obstacle
w        share of s·T that a wall takes from a body as wide as the agent (see_colliders)
o        how much others want something else: max_j (1 - cosine)/2, fading with their distance
b        how much all keep to one side: the larger of 10·max_j (1 - cosine) and 2·(1 - |v|/s), at
         most 1. Crowds that meet turn about one another, and who is slowed down goes around those
         who stand. Times o where a wall is near, straight ahead or on that side: a side would lead
         past a door
k        1 + 1.5·min(1, 2.5·o), o of those who do not only stand: where many ways cross all move
         around the middle, and do not lock there

The minimum is refined by the parabola through it and the ways beside it, so that the direction
changes smoothly. The cost of turning away from v keeps agents with what they chose.

The speed on the chosen way is min(s, max((gap - l)/T_h, o·p·s)): gap to the next one ahead with a
like wish, l the personal space, T_h the time headway. It makes the crowd slower where it is denser,
and those who meet others head-on do not wait for one another. p = 0.4 + min(0.6, |v|/s): who does
not get on presses less. In a queue, where wishes hardly differ, the gap is foreseen by a
quarter of a second, and near a door T_h is shorter by up to 65 %, see `queues`.

Of two, that one goes first who is ahead along the mean of both wishes, and does not wait for the
other; in a queue near a wall the heading stands for the wish of one who turned away from it by more
than 45°. When they are abreast a lot drawn from both ids decides. Who is nearer than l to one who
goes first does not press on it, when their wishes are alike: its velocity toward it is at most
gap / T_h. And it backs out at (l - gap)/T_h, as far as that leaves l to those behind: those in
front, at a door, then have the room to turn, and no arch holds. By a share it does so whatever it
leaves: by o, and by up to 0.7 where wishes converge or a wall is near, straight ahead, as at doors.

Who is as near as that to somebody with another wish, who pushes, is moved by half of the push.

Bodies in a ring can still lock one another. Who has been held up for 2 s, choosing more than a
tenth of s and going at less than a twentieth, gives way if one of those it nearly touches has the
better lot: it goes back and to its side at s/2 for about a body's width. The others then have room
to go on. With nobody near but walls it goes along these, see `along_walls`.

Who has gone one way among others who go another bends off it by at most 32°, and does not go back
for 1.5 s, but stands, see `turning_round`. Those who only stand there are walked around.

Δ = v_chosen - wish: with weight 1 agents steer to v_chosen. Those who wish nothing get no proposal:
who stands stays.

In GROUND motion all of this happens in the plane of the agent's ground.

Source: Moussaïd, Helbing & Theraulaz 2011, "How simple rules determine pedestrian behavior and
crowd disasters" (the choice of a direction by the free way in it); Karamouzas, Skinner & Guy 2014,
"Universal power law governing pedestrian interactions" (time to collision is what counts);
Tordeux, Chraibi & Seyfried 2016, "Collision-free speed model" (gap and headway). The costs, the
wishes of others, and who goes first are our own; docs/avoidance.md has the comparison.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel, scratch
from ..numeric.vec import (
    EPSILON,
    add,
    add_scaled,
    length,
    load,
    pick,
    scale,
    store,
    sub,
    truncate,
    unit,
)
from ..parameters import choice, param
from ..sensing.declare import COLLIDERS, NEIGHBORS, PUSH, Behavior, behavior
from ..sensing.sight import eye, sides
from ..sensing.targeting import on_ground
from .along_walls import turned_frame
from .anticipation import LINES, MOST, crossed, foresee, mixed, room_ahead, wall_ahead, yielded
from .flock import seen_neighbors
from .giving_way import ALONG, when_held_up
from .queues import CLOSER, WITHOUT, at_door, response
from .threats import threat, three_threats
from .turning_round import turned_round, way_gone
from .ways import (
    ALL,
    LEFT,
    LEVEL,
    LEVEL_ROOM,
    NONE,
    NOTHING,
    OTHERS,
    ROOM,
    SIDES,
    SPATIAL,
    TURNS,
    any_cheaper,
    beside,
    cheapest,
    in_frame,
    in_world,
    numbered_way,
    refined,
    turned_way,
    way_of,
    weigh_turns,
)

CROWD = 1.8
WALL = 1.5
KEEP = 0.15
ONE_SIDE = 0.25
AROUND, CROSSING = 1.5, 2.5
"""By how much more among those with another wish, in full from 1 / CROSSING of it on."""
SLOWED = 2.0
"""How soon who is slowed down keeps to a side: in full where 1 / SLOWED of the speed is lost."""
PRESSES, CONVERGE = 0.7, 3.0
"""By how much backing out presses on those behind at most, where wishes converge or before a wall;
and how much sooner wishes count as converging there than where a side is kept to."""

PRESSING = 0.4
"""Share of its pace at which one who stands presses on others with another wish."""


@kernel
def _walled(world, origin, way, frame, reach, radius):
    """Share of the reach that walls take on a way."""
    across = frame[1]
    if way[2] == 0.0:
        across = add_scaled(scale(frame[0], -way[1]), frame[1], way[0])
    return wall_ahead(world, origin, in_world(way, frame), across, reach, radius)


@kernel
def _sided(world, origin, frame, sign, reach, radius, opposed):
    """How much of the side is kept to: less before a wall, unless others have another wish."""
    for turn in (0, 3, 6):
        if _walled(world, origin, way_of(turn, 0, sign), frame, reach, radius) > 0.0:
            return opposed
    return 1.0


@kernel
def _choose(
    world,
    origin,
    table,
    whole,
    frame,
    velocity,
    speed,
    horizon,
    radius,
    bias,
    opposed,
    walls,
    costs,
):
    """The way of least cost, as a unit direction in the agent's frame.

    Args:
        world: WorldView.
        origin: Where rays start [m].
        table: Neighbors, see `foresee`.
        whole: How many columns that has.
        frame: The agent's frame.
        velocity: Its velocity in that frame [m/s].
        speed: Its wished speed [m/s] > 0.
        horizon: Anticipation time [s].
        radius: Of its body [m].
        bias: How dear it is to pass on the wrong side; negative to prefer the left.
        opposed: From 0 to 1, how near someone with another wish is: before a wall only these make
            agents keep to a side.
        walls: Whether to look for walls.
        costs: Room for the ways: cost of the turn, harm, and what that knows of.
    """
    several = 2 if world.flat else SIDES
    sign, reach = -1.0 if bias < 0.0 else 1.0, horizon * speed
    if walls and opposed < 1.0:
        bias *= _sided(world, origin, frame, sign, reach, radius, opposed)
    if world.flat:
        weigh_turns(LEVEL, LEVEL_ROOM, velocity, speed, KEEP, bias, sign, costs)
    else:
        weigh_turns(SPATIAL, ROOM, velocity, speed, KEEP, bias, sign, costs)
    # most often the one of least cost is free; it and those beside it are looked at together
    start = cheapest(costs)
    before, after = beside(start, several)
    costs[1, before], costs[1, start], costs[1, after] = three_threats(
        table, whole, numbered_way(before, several, sign), numbered_way(start, several, sign),
        numbered_way(after, several, sign), CROWD, speed, horizon,
    )  # fmt: skip
    costs[2, before], costs[2, start], costs[2, after] = OTHERS, OTHERS, OTHERS
    best, chosen = math.inf, 0
    for n in range(3 + 1 + TURNS * several):
        if n == 3 and not (walls or any_cheaper(costs, world.flat, best)):
            break
        k = start if n == 0 else before if n == 1 else after if n == 2 else n - 3
        cost = costs[0, k]
        if cost > best:
            continue
        if costs[2, k] == NOTHING:
            way = numbered_way(k, several, sign)
            costs[1, k], costs[2, k] = CROWD * threat(table, whole, way, speed, horizon), OTHERS
        if walls and costs[2, k] != ALL and cost + costs[1, k] <= best:
            way = numbered_way(k, several, sign)
            wall = WALL * _walled(world, origin, way, frame, reach, radius)
            costs[1, k], costs[2, k] = max(costs[1, k], wall), ALL
        cost += costs[1, k]
        if cost < best or (cost == best and k < chosen):
            best, chosen = cost, k
    (before, after), step = beside(chosen, several), 0.0
    if before != after and chosen > 0:
        for k in (before, after):
            way = numbered_way(k, several, sign)
            if costs[2, k] == NOTHING:
                costs[1, k] = CROWD * threat(table, whole, way, speed, horizon)
            if walls and costs[2, k] != ALL:
                wall = WALL * _walled(world, origin, way, frame, reach, radius)
                costs[1, k] = max(costs[1, k], wall)
        step = refined(costs[0, before] + costs[1, before], best, costs[0, after] + costs[1, after])
    return turned_way(chosen, several, step, sign)


@kernel
def _pace(world, origin, frame, now, speed, room, spare, headway, walls, opposed):
    """The speed [m/s] that the room ahead [m] leaves, and the headway [s] of it: less at a door."""
    if walls and opposed <= WITHOUT and room - spare < headway * speed:
        headway *= 1.0 - CLOSER * at_door(world, origin, frame[0], frame[1])
    effort = PRESSING + min(1.0 - PRESSING, now / speed)
    return min(speed, max((room - spare) / headway, opposed * effort * speed)), headway


@kernel
def _backed_out(world, origin, frame, reach, radius, differ, opposed, walls, back, gentle):
    """The velocity of backing out: `gentle`, and a share of what that leaves to those behind."""
    if back == gentle:
        return back
    if walls and opposed < PRESSES:
        fenced = _walled(world, origin, (1.0, 0.0, 0.0), frame, reach, radius)
        opposed = max(opposed, PRESSES * min(1.0, 2.0 * fenced))
    share = max(opposed, PRESSES * min(1.0, CONVERGE * differ))
    return add_scaled(gentle, sub(back, gentle), share)


@kernel
def avoid_neighbors_kernel(start, stop, agents, world, p, memory, out, active):
    """Push from the wished velocity to that on the chosen way."""
    table, costs = scratch(LINES, MOST), scratch(3, ROOM)
    table[:, :] = 0.0
    side = int(p.side[0])
    most_bias = 0.0 if side == NONE else -ONE_SIDE if side == LEFT else ONE_SIDE
    solid = len(world.colliders.link) > 0 or (world.flat and len(world.ground.link) > 0)
    walls = solid and p.see_colliders[0] > 0.0
    for i in range(start, stop):
        wish = on_ground(i, agents, world, load(agents.desired, i))
        speed = min(length(wish), agents.max_speed[i] * 1.0)
        reach = pick(p.neighbor_distance, i)
        seen = seen_neighbors(i, world.neighbors, pick(p.max_neighbors, i), reach)
        now = load(agents.velocity, i)
        gone = way_gone(load(memory, i), now, speed, world.dt)
        store(memory, i, gone)
        if speed < EPSILON or not (walls or seen > 0):
            continue
        horizon, spare = pick(p.anticipation_time, i), pick(p.personal_space, i)
        right, above = sides(unit(wish), load(agents.normal, i), world.flat)
        frame = turned_frame(unit(wish), right, above, memory[i, ALONG])
        count, whole, opposed, back, pressed, waits = foresee(
            i, agents, world, seen, frame, speed, horizon, spare, table
        )
        if count == 0 and not walls:
            continue
        differ = mixed(table, whole)
        radius, origin = agents.radius[i] * 1.0, eye(i, agents, world)
        velocity = in_frame(now, frame, world.flat)
        bias = most_bias * max(differ, min(1.0, SLOWED * (1.0 - length(velocity) / speed)))
        among = crossed(table, whole)
        bias *= 1.0 + AROUND * min(1.0, CROSSING * among)
        way = _choose(
            world, origin, table, whole, frame, velocity, speed, horizon, radius,
            bias, opposed, walls, costs,
        )  # fmt: skip
        headway = pick(p.time_headway, i)
        room = room_ahead(table, whole, way, velocity, response(opposed, world.dt))
        pace, following = _pace(
            world, origin, frame, length(velocity), speed, room, spare, headway, walls, opposed
        )
        way, pace = when_held_up(
            i, memory, world, origin, radius, speed, length(velocity), waits, seen == 0, walls,
            side, way, pace,
        )  # fmt: skip
        chosen = yielded(table, whole, scale(way, pace), following, False, 0.0)
        back = scale(back, 1.0 / headway)
        back = _backed_out(
            world, origin, frame, horizon * speed, radius, differ, opposed, walls,
            back, yielded(table, whole, back, headway, True, spare),
        )  # fmt: skip
        chosen = add(add(chosen, back), truncate(pressed, speed))
        chosen = turned_round(in_world(chosen, frame), gone, among)
        push = sub(chosen, wish)
        if world.dt > world.relaxation_time:  # the solver would go beyond what is chosen
            share = world.relaxation_time / world.dt - 1.0
            push = add_scaled(push, sub(chosen, now), share)
        if length(push) > EPSILON:
            store(out, i, push)
            active[i] = 1


@behavior(
    label="Avoid Neighbors",
    output=PUSH,
    kernel=avoid_neighbors_kernel,
    uses=(NEIGHBORS, COLLIDERS),
    memory_width=6,
    icon="COMMUNITY",
    group="Neighbors",
)
class AvoidNeighbors(Behavior):
    """Foresee collisions with others and with walls, and take the way around them."""

    anticipation_time: float = param(
        3.0,
        unit="s",
        minimum=0.01,
        soft_maximum=10.0,
        doc="Collisions this far ahead are avoided; more turns aside earlier and more gently",
    )
    neighbor_distance: float = param(
        5.0,
        unit="m",
        minimum=0.0,
        soft_maximum=50.0,
        doc="Others farther than this are not seen; more looks farther and takes longer",
    )
    max_neighbors: int = param(
        12,
        minimum=1,
        maximum=MOST,
        doc="Only so many of the nearest others count; more foresees more and takes longer",
    )
    field_of_view: float = param(
        360.0,
        unit="deg",
        minimum=0.0,
        maximum=360.0,
        doc="Angle around the heading in which others are seen; less ignores those behind",
    )
    time_headway: float = param(
        0.385,
        unit="s",
        minimum=0.01,
        soft_maximum=5.0,
        doc="Time that agents stay behind those ahead of them; more is slower in a crowd",
    )
    personal_space: float = param(
        0.085,
        unit="m",
        minimum=0.0,
        soft_maximum=1.0,
        doc="Gap that is left to others in a queue; more makes standing crowds less dense",
    )
    side: str = choice(
        "RIGHT",
        {
            "RIGHT": "Those who meet pass on their right",
            "LEFT": "Those who meet pass on their left",
            "NONE": "Either side: large crowds that meet take longer to sort themselves out",
        },
        doc="On which side agents pass those who come toward them",
    )
    see_colliders: bool = param(
        True,
        doc="Look for ways around walls too, together with those around others",
    )
