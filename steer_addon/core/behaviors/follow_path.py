"""Follow path: along a polyline from waypoint to waypoint, or in a corridor around it.

WAYPOINT: u = v_max · dir(w - p) toward the current waypoint w; the next one as soon as
|w - p| ≤ waypoint_radius, distance against radius. Past the last one of an open path: arrive
there, u = v_max · clamp(d / slow_radius, 0, 1) · dir(w - p), and stay; a cyclic path continues. A
waypoint nearer than one step's way counts as reached, so that radius 0 works too.

CORRIDOR: q = p + v · T is predicted, x is its foot on the path, moved to the lane. Inside,
|q - x| ≤ path_radius, u = v_max · e along the direction of travel e at x. Outside
u = v_max · dir(y - p) toward y, which lies max(path_radius, v_max · max(T, τ)) ahead of x: were it
nearer, an agent that takes τ to turn would swing across the path. Where an open path has at most
slow_radius left, y lies so far ahead of p, up to the very end, and the speed is
v_max · clamp(d / slow_radius, 0, 1), with d the way left.

The search for the foot starts at the remembered piece, so that the cost does not depend on the
path's length and no crossing misleads an agent. It covers the whole path only at the start, and
when the agent was carried off: q is farther from the path than
2·(g + path_radius + |lane|) + v_max·(T + 1 s), with g the least distance until then.

Path: `path_index` modulo their number; -1 leaves it to path_choice. A lane is to the right of e
seen from above (+Z), and both methods follow it as if it were the path; at sharp corners it stays
within 2·|lane| of it. GROUND: heights of paths do not count. A cyclic path of two points leads to
and fro. The attribute `waypoint` is the number of the current waypoint, or in CORRIDOR of the piece
of the path, from 0 in the direction of drawing.

Symbols: p position [m], v velocity [m/s], T anticipation time [s], τ relaxation time [s], v_max
maximum speed [m/s].
Source: WAYPOINT: Cocos2d-x tutorial (it compares a distance with a squared radius; not so here),
which begins with the first waypoint, see `start`. CORRIDOR: Reynolds 1999, Path Following.
"""

from __future__ import annotations

from ..compiled.jit import kernel, record_kernel
from ..numeric.vec import EPSILON, add_scaled, length, load, pick, project, scale, store, sub, unit
from ..parameters import choice, named_choices, param
from ..sensing.approach import arrive_speed, arrive_velocity
from ..sensing.declare import PATHS, VELOCITY, Behavior, Waypoints, behavior
from ..sensing.path_places import (
    foot_on,
    leveled,
    line_of,
    local_piece,
    moved_ahead,
    nearest_path,
    nearest_piece,
    onward,
    piece,
    share_of,
    way_left,
    waypoint,
)
from ..sensing.proposing import store_proposal
from ..sensing.units import meters

PATH_CHOICE = named_choices(
    {
        "NEAREST": "The path that is nearest at the start",
        "BY_ID": "The path with the number: id modulo the number of paths",
    }
)
START = named_choices(
    {
        "FIRST": "The first waypoint in the direction of travel, as in the Cocos2d-x tutorial",
        "NEAREST": "The next waypoint ahead of the nearest place on the path",
    }
)

# memory: what each column holds
PATH = 0
"""Number of the path + 1, negative for travel backward; 0 before the first step."""
PLACE = 1
"""Number of the current waypoint, or of the current piece."""
DONE = 2
"""1 past the last waypoint."""
LIMIT = 3
"""CORRIDOR: distance from the path [m] at which the agent counts as carried off."""

FAR = 1.0e30
"""Largest limit: 32-bit memory holds it."""


@kernel
def _path_of(chosen, by_id, number, remembered, total):
    """Number of the path that an agent follows; -1 when it has to be looked for."""
    if chosen >= 0.0:
        return int(chosen) % total
    if by_id:
        return number % total
    return remembered if remembered < total else -1


@record_kernel
def _path_for(i, agents, world, p, old, position):
    """The path that agent i follows from now on.

    Args:
        i: The agent.
        agents: AgentView.
        world: WorldView.
        p: Parameters.
        old: Memory of the agent: number of the path from 1 on, negative when it goes backward.
        position: Where the agent is [m].

    Returns:
        (number of the path, direction on it (1 or -1), its line).
    """
    point, first, cyclic, flat = p.paths.point, p.paths.first, p.paths.cyclic, world.flat
    by_id, number, remembered = (
        p.path_choice[0] == PATH_CHOICE.BY_ID,
        int(agents.id[i]),
        abs(old) - 1,
    )
    path = _path_of(pick(p.path_index, i), by_id, number, remembered, len(cyclic))
    if path < 0:
        path = nearest_path(point, first, cyclic, flat, position)
    direction = -1 if pick(p.direction, i) < 0.0 else 1
    return path, direction, line_of(first, cyclic, path, direction, flat, pick(p.lane, i))


@kernel
def _walked(u, normal, flat):
    """A desired velocity turned into the plane of the agent's ground, at the same speed."""
    return scale(unit(project(u, normal)), length(u)) if flat else u


@kernel
def _first_waypoint(point, line, position, start):
    """Where an agent begins."""
    if start == START.FIRST:
        return 0 if line.direction > 0 else line.size - 1
    k = nearest_piece(point, line, position)[0]
    a, b = piece(point, line, k)
    # beside the piece its end, before the whole path its start
    if (share_of(a, b, position) > 0.0) == (line.direction > 0):
        return k + 1 if k + 1 < line.size else 0
    return k


@kernel
def _reached(point, line, k, position, reach, done):
    """Current waypoint, the way to it [m], and whether the last one is past, coming from k."""
    offset = sub(waypoint(point, line, k), position)
    for _ in range(line.size):
        if length(offset) > reach:
            break
        following = onward(line, k, line.size, line.direction)
        if following < 0:
            return k, offset, True
        k = following
        offset = sub(waypoint(point, line, k), position)
    return k, offset, done


@kernel
def waypoint_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity to the current waypoint."""
    point, flat, begin = p.paths.point, world.flat, int(p.start[0])
    for i in range(start, stop if len(p.paths.cyclic) else start):
        if pick(p.acts, i) == 0.0:
            continue
        position = leveled(load(agents.position, i), flat)
        old = int(memory[i, PATH])
        path, direction, line = _path_for(i, agents, world, p, old, position)
        k = int(memory[i, PLACE])
        known, same_way = abs(old) - 1 == path and k < line.size, (old < 0) == (direction < 0)
        if not known:
            k = _first_waypoint(point, line, position, begin)
        following = onward(line, k, line.size, line.direction)
        done = known and same_way and following < 0 and memory[i, DONE] > 0.0
        if known and not same_way and following >= 0:
            # turned round between two waypoints: back to the one that was left
            k = following
        reach = max(pick(p.waypoint_radius, i), length(load(agents.velocity, i)) * world.dt)
        k, offset, done = _reached(point, line, k, position, reach, done)
        memory[i, PATH], memory[i, PLACE] = direction * (path + 1), k
        memory[i, DONE] = 1.0 if done else 0.0
        slow_radius = pick(p.slow_radius, i) if done else 0.0
        u = arrive_velocity(offset, agents.max_speed[i] * 1.0, slow_radius, 0.0)
        store_proposal(out, active, i, _walked(u, load(agents.normal, i), flat))


@kernel
def ends_kernel(start, stop, position, p, memory, flat, place, key):
    """Write the last waypoint of agents on the last stretch to it, and a number for it.

    They need not have reached it, nor the waypoints just before it: where others stand on them, no
    agent comes as near as that. An agent that only passes by has more of the path before it than
    the straight way to its end, and than what counts as having reached a waypoint.
    """
    paths, total = p.paths, len(p.paths.cyclic)
    for i in range(start, stop):
        path = abs(int(memory[i, PATH])) - 1
        if not 0 <= path < total or paths.cyclic[path] != 0:
            continue
        direction = 1 if memory[i, PATH] > 0.0 else -1
        line = line_of(paths.first, paths.cyclic, path, direction, flat, pick(p.lane, i))
        k, last = int(memory[i, PLACE]), line.size - 1 if direction > 0 else 0
        if k >= line.size:
            continue
        end = waypoint(paths.point, line, last)
        left = abs(paths.along[line.first + last] - paths.along[line.first + k])
        straight = length(sub(end, leveled(load(position, i), flat)))
        if left <= max(straight, pick(p.waypoint_radius, i)):
            store(place, i, end)
            key[i] = 2 * path + (0 if direction > 0 else 1)


@kernel
def _to_the_end(point, line, along, k, position, reach, speed, slow_radius):
    """The way to go near the end of an open path, and how fast; piece k is not far away."""
    k, a, b, share = local_piece(point, line, k, position)
    foot, share = foot_on(a, b, share)
    end = waypoint(point, line, line.size - 1 if line.direction > 0 else 0)
    rest = max(way_left(along, line, k, share), length(sub(end, position)))
    toward = unit(sub(moved_ahead(point, line, k, foot, reach), position))
    way = scale(toward, rest)
    return way, arrive_speed(length(way), speed, slow_radius, 0.0)


@kernel
def _slack(path_radius, lane, speed, seconds):
    """How much farther from the path [m] than before an agent may be and keep its place on it."""
    return 2.0 * (path_radius + abs(lane)) + speed * (seconds + 1.0)


@kernel
def _in_corridor(i, agents, world, p, memory):
    """The way [m] that agent i is to go, of any length, and how fast [m/s]."""
    point, along, flat = p.paths.point, p.paths.along, world.flat
    position = leveled(load(agents.position, i), flat)
    old = int(memory[i, PATH])
    path, direction, line = _path_for(i, agents, world, p, old, position)
    path_radius, slow_radius = pick(p.path_radius, i), pick(p.slow_radius, i)
    seconds, speed = pick(p.anticipation_time, i), agents.max_speed[i] * 1.0
    q = add_scaled(position, leveled(load(agents.velocity, i), flat), seconds)
    k, limit = int(memory[i, PLACE]), memory[i, LIMIT] * 1.0
    if abs(old) - 1 != path or k >= line.pieces:
        k, limit = 0, -1.0
    k, a, b, share = local_piece(point, line, k, q)
    foot, share = foot_on(a, b, share)
    gap = length(sub(q, foot))
    if gap > limit:
        k = nearest_piece(point, line, position)[0]
        k, a, b, share = local_piece(point, line, k, q)
        foot, share = foot_on(a, b, share)
        gap, limit = length(sub(q, foot)), FAR
    limit = min(limit, 2.0 * gap + _slack(path_radius, line.lane, speed, seconds))
    memory[i, PATH], memory[i, PLACE], memory[i, LIMIT] = direction * (path + 1), k, limit
    reach = max(path_radius, speed * max(seconds, world.relaxation_time))
    if not line.cyclic and way_left(along, line, k, share) <= slow_radius:
        return _to_the_end(point, line, along, k, position, reach, speed, slow_radius)
    if gap > path_radius:
        back = sub(moved_ahead(point, line, k, foot, reach), position)
        if length(back) >= EPSILON:
            return back, speed
    return sub(b, a), speed


@kernel
def corridor_kernel(start, stop, agents, world, p, memory, out, active):
    """Desired velocity along the path, and back to it from outside of the corridor."""
    for i in range(start, stop if len(p.paths.cyclic) else start):
        if pick(p.acts, i) == 0.0:
            continue
        way, speed = _in_corridor(i, agents, world, p, memory)
        u = _walked(scale(unit(way), speed), load(agents.normal, i), world.flat)
        store_proposal(out, active, i, u)


@behavior(
    label="Follow Path",
    output=VELOCITY,
    kernel={"WAYPOINT": waypoint_kernel, "CORRIDOR": corridor_kernel},
    uses=(PATHS,),
    memory_width=4,
    icon="CURVE_PATH",
    group="Paths",
    shows={"waypoint": PLACE},
    ends={"WAYPOINT": ends_kernel},
)
class FollowPath(Behavior):
    """Walk along a path, from end to end or round and round."""

    waypoints = Waypoints(
        PATH, PLACE, radius="waypoint_radius", lane="lane", shown_for=("method", ("WAYPOINT",))
    )
    lane_methods = ("CORRIDOR",)
    method: str = choice(
        "WAYPOINT",
        {
            "WAYPOINT": "From waypoint to waypoint, straight",
            "CORRIDOR": "Anywhere within some distance of the path (Reynolds)",
        },
        doc="How closely the path is followed",
    )
    start: str = choice(
        "NEAREST",
        START,
        doc="Where an agent begins",
        shown_for=("method", ("WAYPOINT",)),
    )
    waypoint_radius: float = meters(
        1.0,
        doc="A waypoint this near counts as reached; more cuts corners",
        shown_for=("method", ("WAYPOINT",)),
    )
    path_radius: float = meters(
        1.0,
        doc="Half the width of the corridor; more lets agents stray farther from the path",
        shown_for=("method", ("CORRIDOR",)),
    )
    anticipation_time: float = param(
        1.0,
        unit="s",
        minimum=0.0,
        maximum=1000.0,
        soft_maximum=5.0,
        doc="How far ahead an agent predicts its way; more turns earlier and cuts corners",
        shown_for=("method", ("CORRIDOR",)),
    )
    slow_radius: float = meters(
        2.0,
        doc="Braking before the end of an open path starts at this distance; more brakes earlier",
    )
    lane: float = param(
        0.0,
        unit="m",
        soft_maximum=20.0,
        doc="Offset to the right of the direction of travel; less than 0 is to the left",
    )
    direction: int = param(
        1,
        minimum=-1,
        maximum=1,
        doc="1 goes from the first point to the last, -1 the other way; 0 counts as 1",
    )
    path_choice: str = choice(
        "NEAREST",
        PATH_CHOICE,
        doc="Which of several paths an agent follows; path_index overrides it",
    )
    path_index: int = param(
        -1,
        minimum=-1,
        soft_maximum=100,
        doc="Number of the path, modulo how many there are; -1 leaves it to the choice above",
    )
