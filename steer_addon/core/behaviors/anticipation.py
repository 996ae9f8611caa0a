"""What an agent foresees of those near it, for `avoid_neighbors`.

An agent looks along its wish: a frame of its own with the axes ahead, right and above. Each
neighbor that matters is a column of numbers in that frame.
"""

from __future__ import annotations

import math

from ..compiled.jit import kernel
from ..numeric.vec import EPSILON, add_scaled, dot, length, load, project, scale, sub, unit
from ..sensing.sight import eye, first_hit
from ..sensing.targeting import on_ground
from .flock import parting
from .queues import WITHOUT, beside_wall, goes_to

MOST = 32
"""Most neighbors that are looked at."""
X, Y, Z, U, V, W, TOUCH, CARE, ALIKE, FACING = range(10)
"""Lines of the table, which has a column for each neighbor: offset [m], velocity [m/s], distance at
which bodies touch [m], how much the neighbor is in the way, cosine between both wishes, and the
offset along its heading [m]."""
SQUARE, ROOM, SOFT, GAP, MEETING, OPPOSED, OTHER, RESULT = range(10, 18)
"""More of them: squared distance [m²] and what of it
is beyond a touch, square of the distance times the speed of closing in from which on it counts in
full [m⁴/s²], gap [m], how far both can go within the horizon [m], from 0 to 1 how near somebody
with another wish is, which agent it is, and room for results."""
OFFSET, VELOCITY, DESIRED, HEADING = 18, 21, 24, 27
"""The first of three lines each: what was read of the neighbor, in the world's axes."""
FIRST = 30
"""1 for those within the personal space who go first, -1 in a queue for the others there."""
AFTER, BEFORE = 31, 32
"""Room for more results."""
LINES = 33
BLOCK = 8
"""So many neighbors a processor looks at together: the table ends with a whole block, where columns
of others that were looked at before count for nothing."""
_INDEX = 0x7FFFFFFF
"""For indices that are known to be right: numba else checks each for being negative."""

FOLLOWED = 0.25
"""How much one with the same wish is in the way, beside 1 for one who comes head-on."""
GRAZING = 0.3
"""Bodies that close in more slowly than this share of the own speed are in the way less."""
ABREAST = 0.02
"""Two are abreast when neither is ahead by more than this share of the distance at touch."""
APART = 1.0e-3
"""So far [m] two who stand on the same place are taken to be from one another."""
ASKEW = 0.25
"""Squared cosine of the angle beside the way beyond which others are not ahead: 60°."""
LIKE = 0.7
"""Cosine between two wishes above which one does not press on the other who goes first: 45°."""
SWEEPS, SETTLED = 20, 1.0e-3
"""How often those are gone through, and the change [m/s] below which it is enough."""
MIXED = 10.0
PUSHED = 0.5
"""Share of the push of somebody with another wish that moves one who is nearly touched."""
FLANK = 0.9
"""The outer rays start at this share of the radius: beside a wall the outermost would lie in it."""
FLANK_ROUND = math.sqrt(1.0 - FLANK * FLANK)


@kernel
def precedes(a, b):
    """Whether the agent with the id a goes first, of two who are abreast: as if by lot."""
    lot_a, lot_b = (a * 2654435761) % 4294967296, (b * 2654435761) % 4294967296
    return lot_a < lot_b or (lot_a == lot_b and a < b)


@kernel
def _three(table, line, n):
    """Three lines of a column as a vector."""
    return (table[line, n], table[line + 1, n], table[line + 2, n])


@kernel
def _read(i, agents, world, seen, ahead, spare, table):
    """Read those that are not far behind into the table; how many, and with whole blocks."""
    position, own = load(agents.position, i), agents.radius[i] * 1.0
    read = 0
    # every one is written, and overwritten when it is behind: no branch that goes either way
    for n in range(min(seen, MOST)):
        j = world.neighbors.index[i, n] & _INDEX
        offset = on_ground(i, agents, world, sub(load(agents.position, j), position))
        touch = own + agents.radius[j]
        for axis in range(3):
            table[OFFSET + axis, read] = offset[axis]
        table[TOUCH, read], table[OTHER, read] = touch, j
        read += int(not dot(offset, ahead) < -touch - spare)
    whole = (read + BLOCK - 1) // BLOCK * BLOCK
    for n in range(whole):
        j = int(table[OTHER, n])
        if j < 0:
            break  # never: but loops that cannot end early are made of gathers, which take longer
        velocity, desired = load(agents.velocity, j), load(agents.desired, j)
        heading = load(agents.heading, j)
        for axis in range(3):
            table[VELOCITY + axis, n], table[DESIRED + axis, n] = velocity[axis], desired[axis]
            table[HEADING + axis, n] = heading[axis]
    return read, whole


@kernel
def _look(n, normal, frame, speed, horizon, table):
    """Fill a column in from what was read; `normal` is that of the ground, 0 for flyers."""
    ahead, right, above = frame
    offset = _three(table, OFFSET, n)
    velocity = project(_three(table, VELOCITY, n), normal)
    wished = project(_three(table, DESIRED, n), normal)
    heading = project(_three(table, HEADING, n), normal)
    gap = length(offset) - table[TOUCH, n]
    meeting = (speed + length(velocity)) * horizon
    size = length(wished)
    stands = size < EPSILON
    size = 1.0 if stands else size
    wish = (wished[0] / size, wished[1] / size, wished[2] / size)
    alike = dot(wish, ahead)
    alike = 0.0 if stands else alike
    x, y, z = dot(offset, ahead), dot(offset, right), dot(offset, above)
    table[X, n], table[Y, n], table[Z, n] = x, y, z
    table[U, n], table[V, n] = dot(velocity, ahead), dot(velocity, right)
    table[W, n] = dot(velocity, above)
    table[CARE, n] = 0.5 * (1.0 + FOLLOWED) - 0.5 * (1.0 - FOLLOWED) * alike
    table[ALIKE, n], table[FACING, n] = alike, dot(offset, heading)
    square = x * x + y * y + z * z
    table[SQUARE, n], table[ROOM, n] = square, square - table[TOUCH, n] * table[TOUCH, n]
    table[SOFT, n] = square * (GRAZING * speed * GRAZING * speed)
    table[GAP, n], table[MEETING, n] = gap, meeting
    near = min(1.0, max(0.0, 1.0 - gap / meeting))
    table[OPPOSED, n] = 0.5 * (1.0 - alike) * near


@kernel
def _leave_out(n, table):
    """Make a column one that does not count: never in the way, and of the same wish."""
    table[X, n], table[Y, n], table[Z, n] = 0.0, 0.0, 0.0
    table[CARE, n], table[ALIKE, n], table[SOFT, n] = 0.0, 1.0, 1.0
    table[GAP, n] = math.inf


@kernel
def largest(table, line, whole):
    """The largest number in a line, 0 at least."""
    most = 0.0
    for block in range(0, whole, BLOCK):
        n = block & _INDEX
        a = max(max(table[line, n], table[line, n + 1]), table[line, n + 2])
        b = max(max(table[line, n + 3], table[line, n + 4]), table[line, n + 5])
        most = max(max(most, a), max(b, max(table[line, n + 6], table[line, n + 7])))
    return most


@kernel
def _is_crowded(table, read, whole, spare):
    """Whether somebody who counts is within the spare distance, or stands on the same place."""
    for n in range(whole):
        gap = table[GAP, n]
        close = (gap < spare) | (gap + table[TOUCH, n] < EPSILON)
        counts = (n < read) & (gap <= table[MEETING, n] + spare)
        table[RESULT, n] = 1.0 if close & counts else 0.0
    return largest(table, RESULT, whole) > 0.0


@kernel
def _sort_out(table, read, whole, spare):
    """What `foresee` does with the columns where nobody is close, without branches.

    Returns:
        (number of those who matter, how near someone with another wish is).
    """
    count = 0
    for n in range(whole):
        far = (n >= read) | (table[GAP, n] > table[MEETING, n] + spare)
        beside = far | (table[X, n] < -table[TOUCH, n])
        table[FIRST, n] = 0.0
        table[X, n] = 0.0 if far else table[X, n]
        table[Y, n] = 0.0 if far else table[Y, n]
        table[Z, n] = 0.0 if far else table[Z, n]
        table[ALIKE, n] = 1.0 if far else table[ALIKE, n]
        table[SOFT, n] = 1.0 if far else table[SOFT, n]
        table[CARE, n] = 0.0 if beside else table[CARE, n]
        table[RESULT, n] = 0.0 if beside else table[OPPOSED, n]
        count += int(not far)
    return count, largest(table, RESULT, whole)


@kernel
def _set_apart(i, n, agents, world, normal, frame, speed, horizon, table):
    """Look at one who stands on the same place anew, as if it stood a little beside."""
    gap, opposed = table[GAP, n], table[OPPOSED, n]
    offset = scale(parting(i, int(table[OTHER, n]), agents, world), -APART)
    table[OFFSET, n], table[OFFSET + 1, n], table[OFFSET + 2, n] = offset
    _look(n, normal, frame, speed, horizon, table)
    table[GAP, n], table[OPPOSED, n] = gap, opposed


@kernel
def _queues(table, read):
    """Whether nobody of those who were read has another wish."""
    for n in range(read):
        if table[OPPOSED, n] > WITHOUT:
            return False
    return True


@kernel
def foresee(i, agents, world, seen, frame, speed, horizon, spare, table):
    """Fill a column for each neighbor that may matter within the horizon.

    Args:
        i: The agent.
        agents: AgentView.
        world: WorldView.
        seen: How many of its neighbors it looks at.
        frame: Unit vectors ahead, to the right and above.
        speed: Wished speed [m/s] > 0.
        horizon: How far ahead it looks [s].
        spare: Distance that is kept [m].
        table: Filled, shape (LINES, MOST).

    Returns:
        (number of those who matter; number of columns: some of them do not count; from 0 to 1, how
        near someone with another wish is; sum of the ways out of the spare distance of those who go
        first [m]; velocity by which others push it away [m/s]; whether one of those in that
        distance, and not behind, has the better lot).
    """
    normal = load(agents.normal, i) if world.flat else (0.0, 0.0, 0.0)
    count, opposed, back, waits = 0, 0.0, (0.0, 0.0, 0.0), False
    pressed = (0.0, 0.0, 0.0)
    read, whole = _read(i, agents, world, seen, frame[0], spare, table)
    # without branches, over whole blocks: compilers make a few wide instructions of it
    for n in range(whole):
        _look(n, normal, frame, speed, horizon, table)
    if not _is_crowded(table, read, whole, spare):
        count, opposed = _sort_out(table, read, whole, spare)
        return count, whole, opposed, back, pressed, waits
    queues, own, here = _queues(table, read), frame[0], eye(i, agents, world)
    turned = goes_to(own, project(load(agents.heading, i), normal))
    for n in range(whole):
        gap, touch = table[GAP, n], table[TOUCH, n]
        table[FIRST, n] = 0.0
        if n >= read or gap > table[MEETING, n] + spare:
            _leave_out(n, table)
            continue
        j = int(table[OTHER, n])
        if gap + touch < EPSILON:
            _set_apart(i, n, agents, world, normal, frame, speed, horizon, table)
        x, y, z, alike = table[X, n], table[Y, n], table[Z, n], table[ALIKE, n]
        if x < -touch:
            # not in the way, but there is to be room for it
            table[CARE, n] = 0.0
            count += 1
            continue
        opposed = max(opposed, table[OPPOSED, n])
        if gap < spare:
            offset, distance = _three(table, OFFSET, n), gap + touch
            wished = project(_three(table, DESIRED, n), normal)
            wish = unit(wished)
            toward = max(0.0, -dot(offset, wished)) / max(distance, APART)
            nearness = 1.0 - max(gap, 0.0) / spare
            give = PUSHED * toward * (1.0 - alike) * nearness
            pressed = add_scaled(pressed, unit((x, y, z)), -give)
            wins = precedes(agents.id[j], agents.id[i])
            waits = waits or (wins and x > -0.5 * distance)
            lead = dot(offset, own) + dot(offset, wish)
            if queues:
                other = goes_to(wish, project(_three(table, HEADING, n), normal))
                led = dot(offset, turned) + dot(offset, other)
                between = add_scaled(here, offset, 0.5)
                if led != lead and beside_wall(world, between, 0.5 * touch):
                    lead = led
            table[FIRST, n] = -1.0 if queues else 0.0
            if lead > ABREAST * touch or (wins and lead > -ABREAST * touch):
                back = add_scaled(back, unit((x, y, z)), max(gap, 0.0) - spare)
                table[FIRST, n] = 1.0
        count += 1
    return count, whole, opposed, back, pressed, waits


@kernel
def crossed(table, whole):
    """From 0 to 1, how near someone is who wants something else, and not only stands there."""
    for n in range(whole):
        x, y, z = table[DESIRED, n], table[DESIRED + 1, n], table[DESIRED + 2, n]
        goes = (x != 0.0) | (y != 0.0) | (z != 0.0)
        table[RESULT, n] = table[OPPOSED, n] if goes & (table[CARE, n] > 0.0) else 0.0
    return largest(table, RESULT, whole)


@kernel
def mixed(table, whole):
    """From 0 to 1, how much the wishes of those near differ: 1 from 26° between two on."""
    for n in range(whole):
        table[RESULT, n] = 1.0 - table[ALIKE, n]
    return min(1.0, MIXED * largest(table, RESULT, whole))


@kernel
def room_ahead(table, whole, way, velocity, response):
    """Least gap [m] on a way to those with a like wish who are ahead; inf for none.

    The gap to someone askew counts as longer, by 1/cos² of the angle beside the way. The other is
    ahead when it is so by the mean of the way and its own heading, unless the agent goes first: of
    two, one follows.

    Args:
        table: See `foresee`.
        whole: How many columns it has.
        way: Unit direction in the agent's frame.
        velocity: Of the agent, in that frame [m/s].
        response: Time [s] by which gaps are foreseen, as both go now.
    """
    for n in range(whole):
        x, y, z = table[X, n], table[Y, n], table[Z, n]
        along = x * way[0] + y * way[1] + z * way[2]
        square, below = table[SQUARE, n], along * along
        distance = math.sqrt(square)
        opening = x * (table[U, n] - velocity[0]) + y * (table[V, n] - velocity[1])
        opening += z * (table[W, n] - velocity[2])
        gap = distance - table[TOUCH, n]
        gap += response * opening / (distance if distance > 0.0 else 1.0)
        room = gap * square / (below if below > 0.0 else 1.0)
        ahead = (along > 0.0) & (below >= ASKEW * square) & (along + table[FACING, n] > 0.0)
        ahead = ahead & (table[FIRST, n] >= 0.0)
        table[RESULT, n] = room if ahead & (table[ALIKE, n] > 0.0) else math.inf
    room = math.inf
    for block in range(0, whole, BLOCK):
        n = block & _INDEX
        a = min(min(table[RESULT, n], table[RESULT, n + 1]), table[RESULT, n + 2])
        b = min(min(table[RESULT, n + 3], table[RESULT, n + 4]), table[RESULT, n + 5])
        room = min(min(room, a), min(b, min(table[RESULT, n + 6], table[RESULT, n + 7])))
    return room


@kernel
def yielded(table, whole, velocity, headway, everybody, left):
    """A velocity that presses on nobody who goes first, of those with a like wish.

    Args:
        table: See `foresee`.
        whole: How many columns it has.
        velocity: In the agent's frame [m/s].
        headway: Time [s] in which a gap may be closed.
        everybody: Whether it presses on none of the others with a like wish either.
        left: So much of a gap [m] stays.
    """
    count = 0
    for n in range(whole):
        count += int((table[ALIKE, n] > LIKE) & (everybody | (table[FIRST, n] > 0.0)))
    if count == 0 or velocity == (0.0, 0.0, 0.0):
        return velocity
    for _sweep in range(SWEEPS):
        most = 0.0
        for n in range(whole):
            if table[ALIKE, n] <= LIKE or not (everybody or table[FIRST, n] > 0.0):
                continue
            x, y, z = table[X, n], table[Y, n], table[Z, n]
            distance = math.sqrt(x * x + y * y + z * z)
            gap = max(distance - table[TOUCH, n] - left, 0.0)
            toward = unit((x, y, z))
            over = dot(toward, velocity) - gap / headway
            if over > 0.0:
                velocity = add_scaled(velocity, toward, -over)
                most = max(most, over)
        if most < SETTLED:
            break
    return velocity


@kernel
def wall_ahead(world, origin, direction, across, reach, radius):
    """Share of a reach that walls take from a body: 0 for a free way, 1 at a touch.

    Three rays: from the center, and from both flanks.

    Args:
        world: WorldView.
        origin: The center, at eye height [m].
        direction: Unit direction of the way.
        across: Unit direction square to it.
        reach: [m] > 0.
        radius: Of the body [m].
    """
    free = reach
    for side in range(-1, 2):
        start = add_scaled(origin, across, FLANK * side * radius)
        front = radius if side == 0 else FLANK_ROUND * radius
        triangle, distance, _normal = first_hit(world, start, direction, free + front)
        if triangle >= 0:
            free = min(free, max(0.0, distance - front))
    return 1.0 - free / reach
