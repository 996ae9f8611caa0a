"""What an agent foresees of those near it, for `avoid_neighbors`.

An agent looks along its wish: a frame of its own with the axes ahead, right and above. Each
neighbor that matters is a row of numbers in that frame.
"""

from __future__ import annotations

import math

from ..jit import kernel
from ..vec import EPSILON, add_scaled, dot, length, load, scale, sub, unit
from .flock import parting
from .sight import first_hit
from .targeting import on_ground

ROWS = 32
"""Most neighbors that are looked at."""
X, Y, Z, U, V, W, TOUCH, CARE, ALIKE, FACING = range(10)
"""Columns of a row: offset [m], velocity [m/s], distance at which bodies touch [m], how much the
neighbor is in the way, cosine between both wishes, and the offset along its heading [m]."""
COLUMNS = 10
LIKELY, ROOM, SOFT, HARM = 6, 7, 8, 9
"""Rows of the table of `threat`, after the first six columns of the rows: how much the neighbor is
in the way, squared distance beyond the one at touch [m²], square of the distance times the speed of
closing in from which on it counts in full [m⁴/s²], and room for the result."""
LINES = 10
BLOCK = 8
"""So many neighbors a processor looks at together."""

FOLLOWED = 0.25
"""How much one with the same wish is in the way, beside 1 for one who comes head-on."""
GRAZING = 0.3
"""Bodies that close in more slowly than this share of the own speed are in the way less."""
ABREAST = 0.5
"""Two are abreast when neither is ahead by more than this share of the distance at touch."""
APART = 1.0e-3
"""So far [m] two who stand on the same place are taken to be from one another."""
ASKEW = 0.25
"""Squared cosine of the angle beside the way beyond which others are not ahead: 60°."""
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
def foresee(i, agents, world, seen, frame, speed, horizon, spare, rows):
    """Fill a row for each neighbor that may matter within the horizon.

    Args:
        i: The agent.
        agents: AgentView.
        world: WorldView.
        seen: How many of its neighbors it looks at.
        frame: Unit vectors ahead, to the right and above.
        speed: Wished speed [m/s] > 0.
        horizon: How far ahead it looks [s].
        spare: Distance that is kept [m].
        rows: Filled, shape (ROWS, COLUMNS).

    Returns:
        (number of rows; from 0 to 1, how near someone with another wish is; sum of the ways out of
        the spare distance of those who go first [m]; velocity by which others push it away [m/s];
        whether one of those in that distance, and not behind, has the better lot).
    """
    ahead, right, above = frame
    position = load(agents.position, i)
    count, opposed, back, waits = 0, 0.0, (0.0, 0.0, 0.0), False
    pressed = (0.0, 0.0, 0.0)
    for n in range(min(seen, ROWS)):
        j = world.neighbors.index[i, n]
        offset = on_ground(i, agents, world, sub(load(agents.position, j), position))
        touch = agents.radius[i] * 1.0 + agents.radius[j]
        velocity = on_ground(i, agents, world, load(agents.velocity, j))
        distance = length(offset)
        meeting = (speed + length(velocity)) * horizon
        gap = distance - touch
        if gap > meeting + spare or dot(offset, ahead) < -touch:
            continue
        if distance < EPSILON:
            offset = scale(parting(i, j, agents, world), -APART)
        wished = on_ground(i, agents, world, load(agents.desired, j))
        wish = unit(wished)
        heading = on_ground(i, agents, world, load(agents.heading, j))
        x, y, z = dot(offset, ahead), dot(offset, right), dot(offset, above)
        alike = dot(wish, ahead)
        rows[count, X], rows[count, Y], rows[count, Z] = x, y, z
        rows[count, U], rows[count, V] = dot(velocity, ahead), dot(velocity, right)
        rows[count, W] = dot(velocity, above)
        rows[count, TOUCH] = touch
        rows[count, CARE] = 0.5 * (1.0 + FOLLOWED) - 0.5 * (1.0 - FOLLOWED) * alike
        rows[count, ALIKE], rows[count, FACING] = alike, dot(offset, heading)
        near = min(1.0, max(0.0, 1.0 - gap / meeting))
        opposed = max(opposed, 0.5 * (1.0 - alike) * near)
        if gap < spare:
            toward = max(0.0, -dot(offset, wished)) / max(distance, APART)
            nearness = 1.0 - max(gap, 0.0) / spare
            give = PUSHED * toward * (1.0 - alike) * nearness
            pressed = add_scaled(pressed, unit((x, y, z)), -give)
            wins = precedes(agents.id[j], agents.id[i])
            waits = waits or (wins and x > -0.5 * distance)
            lead = x + dot(offset, wish)
            if lead > ABREAST * touch or (wins and lead > -ABREAST * touch):
                back = add_scaled(back, unit((x, y, z)), max(gap, 0.0) - spare)
        count += 1
    return count, opposed, back, pressed, waits


@kernel
def mixed(rows, count):
    """From 0 to 1, how much the wishes of those near differ: 1 from 26° between two on."""
    most = 0.0
    for n in range(count):
        most = max(most, 1.0 - rows[n, ALIKE])
    return min(1.0, MIXED * most)


@kernel
def lay_out(rows, count, speed, table):
    """Turn rows into the table that `threat` reads, a column for each neighbor.

    Args:
        rows: See `foresee`.
        count: How many rows there are.
        speed: [m/s] > 0.
        table: Filled, shape (LINES, ROWS).

    Returns:
        How many columns there are: whole blocks, of which the last columns do not count.
    """
    least = GRAZING * speed * GRAZING * speed
    for n in range(count):
        x, y, z = rows[n, X], rows[n, Y], rows[n, Z]
        square = x * x + y * y + z * z
        for line in range(W + 1):
            table[line, n] = rows[n, line]
        table[LIKELY, n] = rows[n, CARE]
        table[ROOM, n] = square - rows[n, TOUCH] * rows[n, TOUCH]
        table[SOFT, n] = square * least
    whole = (count + BLOCK - 1) // BLOCK * BLOCK
    for n in range(count, whole):
        for line in range(LINES):
            table[line, n] = 0.0
        table[SOFT, n] = 1.0
    return whole


@kernel
def threat(table, whole, way, speed, horizon):
    """How much neighbors are in the way of a velocity: 0 when they are not, 1 at a head-on touch.

    Args:
        table: See `lay_out`.
        whole: How many columns it has.
        way: Unit direction in the agent's frame.
        speed: [m/s] > 0.
        horizon: Collisions after so much time [s] do not count.
    """
    worst = 0.0
    go_x, go_y, go_z = way[0] * speed, way[1] * speed, way[2] * speed
    # without branches: compilers make a few wide instructions of it
    for n in range(whole):
        x, y, z = table[X, n], table[Y, n], table[Z, n]
        u, v, w = go_x - table[U, n], go_y - table[V, n], go_z - table[W, n]
        closing = x * u + y * v + z * w
        room, soft = table[ROOM, n], table[SOFT, n]
        toward = closing * closing
        found = toward - (u * u + v * v + w * w) * room
        below = closing + math.sqrt(max(found, 0.0))
        time = room / (below if below > 0.0 else 1.0)
        time = time if room > 0.0 else 0.0
        share = toward / soft
        share = share if toward < soft else 1.0
        harm = table[LIKELY, n] * (1.0 - time / horizon) * share
        meets = (closing > 0.0) & ((room <= 0.0) | ((found > 0.0) & (time < horizon)))
        table[HARM, n] = harm if meets else 0.0
    for n in range(whole):
        worst = max(worst, table[HARM, n])
    return worst


@kernel
def room_ahead(rows, count, way):
    """Least gap [m] on a way to those with a like wish who are ahead; inf for none.

    The gap to someone askew counts as longer, by 1/cos² of the angle beside the way. The other is
    ahead when it is so by the mean of the way and its own heading: of two, one follows.
    """
    room = math.inf
    for n in range(count):
        if rows[n, ALIKE] <= 0.0:
            continue
        x, y, z = rows[n, X], rows[n, Y], rows[n, Z]
        along = x * way[0] + y * way[1] + z * way[2]
        square = x * x + y * y + z * z
        if along <= 0.0 or along * along < ASKEW * square or along + rows[n, FACING] <= 0.0:
            continue
        gap = math.sqrt(square) - rows[n, TOUCH]
        room = min(room, gap * square / (along * along))
    return room


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
