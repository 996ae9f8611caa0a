"""The neighbors as an agent foresees them, one by one and all together.

They stand in a table with a column each and a line for each meaning (X to AFTER, numbered here and
nowhere else), so that a processor does several neighbors at once.
"""

from __future__ import annotations

from typing import NamedTuple

from ...compiled.jit import kernel, record_kernel
from ...numeric.vec import EPSILON, add_scaled, dot, length, load, project, scale, sub, unit
from ...sensing.seen_neighbors import parting, precedes_by_id
from ...sensing.targeting import on_ground
from .rules import MOST, NOWHERE, RULES, Vec
from .walls import beside_wall

X, Y, Z = 0, 1, 2  # offset of the neighbor in the agent's frame [m]
U, V, W = 3, 4, 5  # its velocity in that frame [m/s]
TOUCH = 6  # distance at which both bodies touch [m]
GAP = 7  # distance beyond that [m]
MEETING = 8  # how far both can go toward one another within the horizon [m]
SQUARE = 9  # squared distance [m²]
BEYOND = 10  # part of the squared distance beyond a touch [m²]
SOFT = 11  # (distance · closing speed)² from which on the neighbor counts in full [m⁴/s²]
CARE = 12  # from 0 to 1, how much the neighbor is in the way
ALIKE = 13  # cosine between both wishes, 0 for a neighbor without one
OPPOSED = 14  # from 0 to 1, how near another wish is
FACING = 15  # offset along the neighbor's heading [m]
FIRST = 16  # 1 if it is close and goes first, -1 for the other close ones in a queue
OTHER = 17  # row of the neighbor in the views
OFFSET, VELOCITY, DESIRED, HEADING = 18, 21, 24, 27  # three lines each: what was read, world axes
RESULT, BEFORE, AFTER = 30, 31, 32  # places for the results of a loop
STRANGER = 33  # 0 for those with whom the agent walks, else 1
LINES = 34
BLOCK = 8
"""Neighbors that are done at once: the table ends with a whole block, whose columns beyond the last
neighbor are from another agent and are made to count for nothing."""
_INDEX = 0x7FFFFFFF  # for indices that are known to be right: numba else checks their sign


class Own(NamedTuple):
    """The agent that chooses a way."""

    eye: Vec  # where its rays start [m]
    normal: Vec  # unit, of its ground; 0 for flyers
    frame: tuple[Vec, Vec, Vec]  # unit vectors ahead, to the right, above
    velocity: Vec  # in that frame [m/s]
    speed: float  # wished: s [m/s] > 0
    radius: float  # [m]
    horizon: float  # anticipation time T [s]
    spare: float  # personal space l [m]
    headway: float  # T_h [s]
    side: int  # on which it passes others
    walls: bool  # whether it looks for walls
    alone: bool  # whether nobody is near
    clear: float  # from here no wall is in its way straight on [m]; inf where each is


class Others(NamedTuple):
    """All neighbors of an agent together."""

    count: int  # type: ignore[assignment]  # how many may matter within the horizon
    columns: int  # of the table, in whole blocks
    opposed: float  # from 0 to 1, how near another wish is: o
    crossing: float  # the same of neighbors that do not only stand
    differ: float  # from 0 to 1, how much wishes differ: 1 from 26° on
    back: Vec  # ways out of the personal space of agents that go first [m]
    pressed: Vec  # velocity by which pushes move the agent [m/s]
    waits: bool  # whether a neighbor that it nearly touches has the better lot


@kernel
def precedes(i, j, agents):
    """Whether agent i goes first, of two side by side: as if by lot."""
    lot, other = (agents.id[i] * 2654435761) % 4294967296, (agents.id[j] * 2654435761) % 4294967296
    return lot < other or (lot == other and precedes_by_id(i, j, agents))


@kernel
def goes_to(wish, heading):
    """Unit direction in which an agent goes: its wish, 0 for none, or where it turned to."""
    elsewhere = dot(wish, wish) > 0.0 and dot(wish, heading) < RULES.elsewhere
    return heading if elsewhere else wish


@kernel
def three(table, line, n):
    """Three lines of a column as a vector."""
    return (table[line, n], table[line + 1, n], table[line + 2, n])


@kernel
def largest(table, line, columns, most=0.0):
    """The largest number in a line, or the one given."""
    for block in range(0, columns, BLOCK):
        n = block & _INDEX
        a = max(max(table[line, n], table[line, n + 1]), table[line, n + 2])
        b = max(max(table[line, n + 3], table[line, n + 4]), table[line, n + 5])
        most = max(max(most, a), max(b, max(table[line, n + 6], table[line, n + 7])))
    return most


@kernel
def _read(i, agents, world, seen, own, table):
    """Read neighbors not far behind into the table: (their number, columns in whole blocks)."""
    position, read = load(agents.position, i), 0
    # every one is written, and overwritten when it is behind: no branch that goes either way
    for n in range(min(seen, MOST)):
        j = world.neighbors.index[i, n] & _INDEX
        offset = on_ground(i, agents, world, sub(load(agents.position, j), position))
        if dot(offset, offset) < EPSILON * EPSILON:
            offset = scale(parting(i, j, agents, world), -RULES.apart)
        touch = own.radius + agents.radius[j]
        for axis in range(3):
            table[OFFSET + axis, read] = offset[axis]
        table[TOUCH, read], table[OTHER, read] = touch, j
        read += int(not dot(offset, own.frame[0]) < -touch - own.spare)
    columns = (read + BLOCK - 1) // BLOCK * BLOCK
    for n in range(columns):
        j = int(table[OTHER, n])
        if j < 0:
            break  # never: but loops that cannot end early are made of gathers, which take longer
        velocity, desired = load(agents.velocity, j), load(agents.desired, j)
        heading = load(agents.heading, j)
        for axis in range(3):
            table[VELOCITY + axis, n], table[DESIRED + axis, n] = velocity[axis], desired[axis]
            table[HEADING + axis, n] = heading[axis]
        together = agents.group[j] == agents.group[i] and agents.group[i] >= 0
        table[STRANGER, n] = 0.0 if together else 1.0
    return read, columns


@kernel
def _look(n, own, table):
    """Fill in a column from what was read: without branches, so that blocks are done at once."""
    ahead, right, above = own.frame
    offset = three(table, OFFSET, n)
    velocity = project(three(table, VELOCITY, n), own.normal)
    wished = project(three(table, DESIRED, n), own.normal)
    heading = project(three(table, HEADING, n), own.normal)
    gap = length(offset) - table[TOUCH, n]
    meeting = (own.speed + length(velocity)) * own.horizon
    size = length(wished)
    stands = size < EPSILON
    size = 1.0 if stands else size
    alike = dot((wished[0] / size, wished[1] / size, wished[2] / size), ahead)
    alike = 0.0 if stands else alike
    x, y, z = dot(offset, ahead), dot(offset, right), dot(offset, above)
    table[X, n], table[Y, n], table[Z, n] = x, y, z
    table[U, n], table[V, n] = dot(velocity, ahead), dot(velocity, right)
    table[W, n] = dot(velocity, above)
    care = 0.5 * (1.0 + RULES.followed) - 0.5 * (1.0 - RULES.followed) * alike
    table[CARE, n] = care * table[STRANGER, n]
    table[ALIKE, n], table[FACING, n] = alike, dot(offset, heading)
    square = x * x + y * y + z * z
    table[SQUARE, n], table[BEYOND, n] = square, square - table[TOUCH, n] * table[TOUCH, n]
    table[SOFT, n] = square * (RULES.grazing * own.speed * RULES.grazing * own.speed)
    table[GAP, n], table[MEETING, n] = gap, meeting
    opposed = 0.5 * (1.0 - alike) * min(1.0, max(0.0, 1.0 - gap / meeting))
    table[OPPOSED, n] = opposed * table[STRANGER, n]


@kernel
def _sort_out(table, read, columns, spare):
    """Let columns too far away, or behind, count for nothing: (how many may matter, are close)."""
    count = close = 0
    for n in range(columns):
        far = (n >= read) | (table[GAP, n] > table[MEETING, n] + spare)
        behind = far | (table[X, n] < -table[TOUCH, n])
        table[FIRST, n] = 0.0
        table[X, n] = 0.0 if far else table[X, n]
        table[Y, n] = 0.0 if far else table[Y, n]
        table[Z, n] = 0.0 if far else table[Z, n]
        table[ALIKE, n] = 1.0 if far else table[ALIKE, n]
        table[SOFT, n] = 1.0 if far else table[SOFT, n]
        # neighbors behind are not in the way, but there is to be room for them
        table[CARE, n] = 0.0 if behind else table[CARE, n]
        table[RESULT, n] = 0.0 if behind else table[OPPOSED, n]
        count += int(not far)
        close += int((table[GAP, n] < spare) & (not behind))
    return count, close


@kernel
def _wishes(table, columns):
    """All wishes of the neighbors together: `opposed`, `crossing` and `differ` of Others."""
    opposed = largest(table, RESULT, columns)
    for n in range(columns):
        x, y, z = three(table, DESIRED, n)
        goes = (x != 0.0) | (y != 0.0) | (z != 0.0)
        table[RESULT, n] = table[OPPOSED, n] if goes & (table[CARE, n] > 0.0) else 0.0
        table[AFTER, n] = (1.0 - table[ALIKE, n]) * table[STRANGER, n]
    differ = min(1.0, RULES.mixed * largest(table, AFTER, columns))
    return opposed, largest(table, RESULT, columns), differ


@kernel
def _lead(world, own, turned, offset, wish, heading, touch, queues):
    """How far a close neighbor is ahead, of both: along both wishes [m].

    In a queue near a wall it is along where both turn to, when that is elsewhere: people who walk
    along the wall beside a door do not go before people in the opening.
    """
    lead = dot(offset, own.frame[0]) + dot(offset, wish)
    if queues:
        led = dot(offset, turned) + dot(offset, goes_to(wish, heading))
        if led != lead and beside_wall(world, add_scaled(own.eye, offset, 0.5), 0.5 * touch):
            return led
    return lead


@kernel
def _close(i, agents, world, read, own, table):
    """Effects of neighbors in the personal space: `back`, `pressed` and `waits` of Others."""
    back, pressed, waits, queues = NOWHERE, NOWHERE, False, True
    for n in range(read):
        queues = queues and not table[OPPOSED, n] > RULES.another
    turned = goes_to(own.frame[0], project(load(agents.heading, i), own.normal))
    for n in range(read):
        gap, touch = table[GAP, n], table[TOUCH, n]
        if gap >= own.spare or table[X, n] < -touch:
            continue
        offset, distance, toward = three(table, OFFSET, n), gap + touch, unit(three(table, X, n))
        wished = project(three(table, DESIRED, n), own.normal)
        heading = project(three(table, HEADING, n), own.normal)
        push = max(0.0, -dot(offset, wished)) / max(distance, RULES.apart)
        nearness = 1.0 - max(gap, 0.0) / own.spare
        push = RULES.pushed * push * (1.0 - table[ALIKE, n]) * nearness
        pressed = add_scaled(pressed, toward, -push)
        wins = precedes(int(table[OTHER, n]), i, agents)
        waits = waits or (wins and table[X, n] > -0.5 * distance)
        lead = _lead(world, own, turned, offset, unit(wished), heading, touch, queues)
        even = RULES.abreast * touch
        table[FIRST, n] = -1.0 if queues else 0.0
        if lead > even or (wins and lead > -even):
            back = add_scaled(back, toward, max(gap, 0.0) - own.spare)
            table[FIRST, n] = 1.0
    return back, pressed, waits


@record_kernel
def foresee(i, agents, world, seen, own, table):
    """Fill a column for each of the `seen` nearest that may matter within the horizon: Others."""
    read, columns = _read(i, agents, world, seen, own, table)
    for n in range(columns):
        _look(n, own, table)
    count, close = _sort_out(table, read, columns, own.spare)
    opposed, crossing, differ = _wishes(table, columns)
    back, pressed, waits = NOWHERE, NOWHERE, False
    if close > 0:
        back, pressed, waits = _close(i, agents, world, read, own, table)
    return Others(count, columns, opposed, crossing, differ, back, pressed, waits)
