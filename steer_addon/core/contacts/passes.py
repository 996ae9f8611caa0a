"""One pass of the contacts: every agent moves toward its wish as far as its cell allows.

The cell of agent i holds the places y, as offsets from where it is, with

    n_ij · y ≤ b_ij   for all others j near it, n_ij the unit direction to j
    m · y ≤ d - r     for the walls near it, see `walls`

and b_ij + b_ji = g_ij, the gap between both bodies, b ≥ 0. So whatever the others do, no two bodies
can touch, at any speed and after any number of passes; and a cell always holds the place of its
agent. The wishes of both toward one another decide how the gap is shared: a spare gap is halved,
and a missing one is taken from both by the other's share of the mass,

    own = max(n·u, 0), spare = g - own_i - own_j
    b_ij = own_i + spare / 2 or, when it is negative, own_i + spare · m_j / (m_i + m_j).

Every pass starts where the last one ended, with the rest of the wishes, so that agents behind
close up. Bodies that overlap, because they were placed so, back out of each other by the same
shares of mass, and never nearer to a third one.

Source: Zhou, Wang, Bandyopadhyay, Schwager 2017, "Fast, On-line Collision Avoidance for Dynamic
Vehicles Using Buffered Voronoi Cells". Sharing by wishes and mass, passes and walls are ours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel, scratch
from ..geometry.bvh_sweep import sweep_cast
from ..geometry.ground import walk
from ..geometry.regions import rounded
from ..numeric.rng import random_purpose, unit_vector
from ..numeric.vec import add, dot, length, load, scale, store, sub, truncate, unit
from ..views import F32, I32, I64, BvhView
from .cells import COLUMNS, PLANES, add_plane, backed_out, nearest_in_cell
from .free import crosses
from .heaps import CLOSE, FARTHEST
from .near import Kinds, ahead_of, climb, squared, within
from .walls import add_walls, next_wall, wall_margin

F64 = NDArray[np.float64]
U8 = NDArray[np.uint8]

CONTACT = random_purpose("contact", 7)
COINCIDENT = 1.0e-9
"""Centers nearer than this [m] have no direction: ids give them one."""
TOUCH = 1.0e-4
"""Share of the radii by which bodies overlap before they back out: rest stays rest."""

DEEP = 0.1
"""Share of the radii by which bodies overlap that are in a heap."""

BACKING = 0.5
"""Farthest that overlapping bodies back out in a step, as a share of their radius."""


class BodyView(NamedTuple):
    """The agents of a step's contacts, without the arrays that passes change."""

    id: I64  # (n,)
    radius: F32  # (n,) [m]
    tall: F32  # (n,) [m] how far an upright body reaches above `SpaceView.eye`, 0 of spheres
    give: F64  # (n,) [1/kg] 1 / mass, 0 for those that do not move
    back: F64  # (n,) [m] how far one that overlaps may back out in a pass
    origin: F32  # (n, 3) [m] where the step starts
    start: F32  # (n, 3) [m] the same after moving colliders have pushed
    goal: F32  # (n, 3) [m] where they wish to be after it
    goal_normal: F32  # (n, 3) unit normals of the ground there
    level: U8  # (n,) how many bodies away from a heap, see `heaps`
    shifted: U8  # (n,) 1 where others have pushed the wished place: its height is not known
    flat: bool  # whether all are discs
    kinds: Kinds


class SpaceView(NamedTuple):
    """All that bodies can meet except each other."""

    walls: BvhView  # the colliders; without triangles where they do not count
    first: I32  # (c + 1,) first triangle of each of them
    still: U8  # (c,) 1 for those that did not move
    ground: BvhView
    eye: float  # [m] height above the position from which on colliders count
    rise: float  # [m] step height
    min_up: float  # cosine of the steepest walkable slope
    flat: bool
    together: bool  # whether bodies touch each other


@kernel
def _toward(i, j, a, b, agents):
    """Unit direction from body i at the place a to body j at b, and their distance [m].

    Bodies at one place stand there like a cloud too small to see, the same way in every step.
    """
    flat = agents.flat
    offset = (b[0] - a[0], b[1] - a[1], climb(i, j, a[2], b[2], flat, agents.kinds))
    size = length(offset)
    if size > COINCIDENT:
        return scale(offset, 1.0 / size), size
    id_a, id_b = agents.id[i], agents.id[j]
    out = sub(unit_vector(0, id_b, 0, CONTACT), unit_vector(0, id_a, 0, CONTACT))
    out = unit((out[0], out[1], 0.0 if flat else out[2]))
    if length(out) < 0.5:
        out = (1.0 if id_a < id_b else -1.0, 0.0, 0.0)
    return out, size


@kernel
def _excess(gap, part, own, other):
    """How far an agent backs out of an overlap: its part of it, at most as fast as it may."""
    if gap >= 0.0:
        return 0.0
    whole = -gap
    if part > 0.0:
        whole = min(whole, own / part)
    if part < 1.0:
        whole = min(whole, other / (1.0 - part))
    return whole * part


@kernel
def _bound(gap, own, other, part):
    """How far an agent may go toward another, given how far both wish to go."""
    own, other = max(own, 0.0), max(other, 0.0)
    spare = gap - own - other
    bound = own + spare * (0.5 if spare >= 0.0 else part)
    return min(max(bound, 0.0), gap)


@kernel
def _add_bodies(i, agents, near, place, plane):
    """Planes between an agent and the others near it; how many there are."""
    here, start = load(place, i), load(agents.start, i)
    wish = sub(load(agents.goal, i), here)
    own_radius, own_give = agents.radius[i] * 1.0, agents.give[i]
    for k in range(near.count[i]):
        j = near.index[i, k]
        touch = own_radius + agents.radius[j]
        both = own_give + agents.give[j]
        part = own_give / both if both > 0.0 else 0.5
        begin = load(agents.start, j)
        square = squared(i, j, start, begin, agents.flat, agents.kinds)
        there = load(place, j)
        normal, distance = _toward(i, j, here, there, agents)
        gap = distance - touch
        excess = 0.0
        if gap < -TOUCH * touch:
            # out of one that goes its way whoever stands there, an agent backs out at once
            played = agents.give[j] == 0.0 and load(agents.goal, j) != begin
            excess = _excess(gap, part, -gap if played else agents.back[i], agents.back[j])
        elif agents.level[j] < agents.level[i] and gap < CLOSE * touch:
            excess = min(agents.back[i], CLOSE * touch - gap)
        seen = within(square, agents.radius[j] * 1.0, own_radius, near.reach[j])
        if seen and ahead_of(square, i, near.end[j], near.last[j], agents.id[j], agents.id):
            toward = sub(load(agents.goal, j), there)
            bound = _bound(max(gap, 0.0), dot(wish, normal), -dot(toward, normal), part)
        else:
            # the other one does not mind this agent, and goes as far as its span lets it
            first, apart = _toward(i, j, start, begin, agents)
            bound = apart - touch - near.span[j] - dot(sub(here, start), first)
            if gap > 0.0:
                normal = first
            else:
                bound = 0.0
        if gap < -DEEP * touch:
            # nothing to guard here: in the midst of a heap all may give way
            bound = agents.back[i]
        add_plane(plane, k, normal, bound, excess)
    return near.count[i]


@kernel
def _in_cell(plane, count, offset):
    """Whether an offset is inside of a cell, but for rounding."""
    for k in range(count):
        across = plane[k, 0] * offset[0] + plane[k, 1] * offset[1] + plane[k, 2] * offset[2]
        if across > plane[k, 3] + 1.0e-9:
            return False
    return True


@kernel
def _in_span(offset, step, span):
    """A step shortened so that offset + step is no longer than the span, as offset is."""
    whole, square = add(offset, step), dot(step, step)
    if square == 0.0 or dot(whole, whole) <= span * span * (1.0 + 1.0e-9):
        return step
    along = dot(offset, step)
    room = max(span * span - dot(offset, offset), 0.0)
    share = (math.sqrt(along * along + square * room) - along) / square
    return scale(step, min(max(share, 0.0), 1.0))


@kernel
def _landed(world, here, step, normal, radius, plane, count):
    """Where a corrected step ends on the terrain, and the normal there; its start if it cannot."""
    rise = -(step[0] * normal[0] + step[1] * normal[1]) / max(normal[2], 1.0e-3)
    move = (step[0], step[1], rise)
    place, up, blocked = walk(world.ground, here, move, normal, radius, world.rise, world.min_up)
    if blocked and not _in_cell(plane, count, (place[0] - here[0], place[1] - here[1], 0.0)):
        return here, normal
    return place, up


@kernel
def _free_way(world, tall, start, stop):
    """How far the straight way between two places is free [m], and how long it is."""
    way = sub(stop, start)
    size = length(way)
    if size == 0.0:
        return 0.0, 0.0
    eye = (start[0], start[1], start[2] + world.eye)
    _wall, distance = sweep_cast(world.walls, eye, scale(way, 1.0 / size), size, tall)
    return distance, size


@kernel
def _guarded(i, agents, world, here, there):
    """The place that an agent reaches, since no straight way of a step may meet a wall.

    Cells alone let it go around a corner in several passes; the straight way from the start would
    then lead through the corner.
    """
    there, tall = rounded(there), agents.tall[i] * 1.0
    distance, size = _free_way(world, tall, here, there)
    if distance < size:
        if len(world.ground.link) > 0:
            return here
        margin = wall_margin((here[0], here[1], here[2] + world.eye))
        there = rounded(add(here, scale(sub(there, here), max(distance - margin, 0.0) / size)))
    start, origin = load(agents.start, i), load(agents.origin, i)
    distance, size = _free_way(world, tall, start, there)
    if distance < size:
        return here
    if start != origin:
        begin = (origin[0], origin[1], origin[2] + world.eye)
        end = (there[0], there[1], there[2] + world.eye)
        if crosses(world.walls, world.first, world.still, begin, end, tall):
            return here
    return there


@kernel
def _step(i, agents, world, near, place, walled, plane):
    """An agent's offset in this pass: (whether it gets where it wishes, offset, planes)."""
    here, start = load(place, i), load(agents.start, i)
    wish = sub(load(agents.goal, i), here)
    span = near.span[i]
    count = _add_bodies(i, agents, near, place, plane) if world.together else 0
    reach = span
    if walled:
        eye = (here[0], here[1], here[2] + world.eye)
        radius = max(agents.radius[i] * 1.0, wall_margin(eye))
        last = len(world.walls.triangles)
        tall = agents.tall[i] * 1.0
        count, reach = add_walls(
            world.walls, eye, radius, span, world.flat, tall, plane, count, 0, last
        )
    if world.flat:
        wish = (wish[0], wish[1], 0.0)
    step = truncate(backed_out(plane, count, wish), reach)
    step = nearest_in_cell(plane, count, step, world.flat)
    offset = sub(here, start)
    if world.flat:
        offset = (offset[0], offset[1], 0.0)
    step = _in_span(offset, step, span)
    return step == wish, step, count


@kernel
def _passed(i, agents, world, near, place, walled, normal, plane, on_terrain):
    """The result of a pass for agent i: (place, normal of the ground there, whether it is done).

    An agent that has reached its wish, and is in no other's way, is done.
    """
    here, goal = load(place, i), load(agents.goal, i)
    rests = near.deep[i] <= TOUCH and agents.level[i] == FARTHEST and not walled
    there, up = goal, load(agents.goal_normal, i)
    if not rests or (near.count[i] > 0 and here != goal):
        arrives, step, count = _step(i, agents, world, near, place, walled, plane)
        if not arrives or (on_terrain and agents.shifted[i] != 0):
            there, up = add(here, step), load(normal, i)
            if on_terrain:
                radius = agents.radius[i] * 1.0
                there, up = _landed(world, here, step, up, radius, plane, count)
        if walled:
            reached = _guarded(i, agents, world, here, there)
            if reached != there:
                there, up = reached, load(normal, i)
    return there, up, rests and there == goal


@kernel
def pass_kernel(first, stop, rows, agents, world, near, walled, place, normal, after, busy, passes):
    """Move some rows from `place` to `after`, with one pass or several.

    Several passes are only for all rows at once: all agents have to finish a pass before the next.

    Args:
        first: First of the rows.
        stop: The one after the last.
        rows: The agents that are not done; written.
        agents: BodyView.
        world: SpaceView.
        near: NearView.
        walled: 1 for those that may meet a wall, shape (n,).
        place: Places before the pass [m], shape (n, 3); written between passes.
        normal: Normals of the ground under their feet, shape (n, 3); written.
        after: Places after it [m], shape (n, 3); written.
        busy: 0 for agents that are done, shape (n,); written.
        passes: Number of passes.
    """
    plane = scratch(PLANES, COLUMNS)
    on_terrain = world.flat and len(world.ground.link) > 0
    for number in range(passes):
        for at in range(first, stop):
            i = rows[at]
            there, up, done = _passed(
                i, agents, world, near, place, walled[i] != 0, normal, plane, on_terrain
            )
            busy[i] = 0 if done else 1
            store(after, i, there)
            store(normal, i, up)
        if number + 1 < passes:
            last = first
            for at in range(first, stop):
                i = rows[at]
                store(place, i, load(after, i))
                rows[last] = i
                last += int(busy[i])
            stop = last


@kernel
def walled_kernel(first, stop, agents, world, span, walled):
    """Mark the agents that may meet a wall in this step."""
    none = scratch(1, COLUMNS)
    last = len(world.walls.triangles)
    for i in range(first, stop):
        x, y, z = load(agents.start, i)
        eye = (x, y, z + world.eye)
        reach = max(agents.radius[i] * 1.0, wall_margin(eye)) + 2.0 * span[i]
        wall, _place, _distance = next_wall(
            world.walls, eye, reach, world.flat, agents.tall[i] * 1.0, none, 0, 0, 0, last
        )
        # cells of a flat crowd know the walls at one height only
        climbs = world.flat and z != agents.goal[i, 2]
        pushed = load(agents.origin, i) != (x, y, z)
        walled[i] = 1 if wall >= 0 or climbs or pushed else 0


@kernel
def correct_kernel(first, stop, start, place, normal, flat, dt, position, velocity, normals):
    """Write the places that agents reached, for agents that did not reach their wish."""
    for i in range(first, stop):
        x, y, z = np.float32(place[i, 0]), np.float32(place[i, 1]), np.float32(place[i, 2])
        if x == position[i, 0] and y == position[i, 1] and z == position[i, 2]:
            continue
        begin, wished = load(start, i), load(velocity, i)
        done = (x - begin[0], y - begin[1], 0.0 if flat else z - begin[2])
        # contacts only take speed away: an agent that is pushed does not fly off
        store(velocity, i, truncate(scale(done, 1.0 / dt), length(wished)))
        store(normals, i, load(normal, i))
        position[i, 0], position[i, 1], position[i, 2] = x, y, z


@kernel
def prepare_kernel(
    first, stop, agents, max_speed, mass, flat, dt, passes, wish, backing, give, back
):
    """How far each agent would go, and back out of others, in this step.

    Args:
        first: First agent.
        stop: Agent after the last.
        agents: BodyView.
        max_speed: [m/s].
        mass: [kg].
        flat: Whether bodies are discs.
        dt: Length of the step [s].
        passes: How many there are in a step.
        wish: How far each would go [m]; written, as all that follow.
        backing: How far it may back out in the step [m].
        give: See BodyView.
        back: See BodyView.
    """
    for i in range(first, stop):
        most = np.float64(max_speed[i] * np.float32(dt))
        back[i] = min(most, BACKING * agents.radius[i]) / passes
        give[i] = 1.0 / np.float64(mass[i]) if max_speed[i] > 0.0 else 0.0
        way = sub(load(agents.goal, i), load(agents.start, i))
        if flat:
            way = (way[0], way[1], 0.0)
        backing[i] = back[i] * passes
        wish[i] = max(length(way), backing[i])
