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
X, Y, Z, U, V, W, AWAY2, ROOM2, DRIFT, SPEED2, CARE, ALIKE, FACING = range(13)
"""Columns of a row: offset [m], velocity [m/s]; squared distance, and the same less that at which
bodies touch [m²]; velocity along the offset [m²/s], squared speed [m²/s²]; how much the neighbor is
in the way, cosine between both wishes, and its own way along the offset [m]."""
COLUMNS = 13

FOLLOWED = 0.15
"""How much one with the same wish is in the way, beside 1 for one who comes head-on."""
GRAZING = 0.3
"""Bodies that close in more slowly than this share of the own speed are in the way less."""
ABREAST = 0.5
"""Two are abreast when neither is ahead by more than this share of the distance at touch."""
FLANK = 0.9
"""The outer rays start at this share of the radius: beside a wall the outermost would lie in it."""
FLANK_ROUND = math.sqrt(1.0 - FLANK * FLANK)


@kernel
def precedes(a, b):
    """Whether the agent with the id a goes first, of two who are abreast: as if by lot."""
    lot_a, lot_b = (a * 2654435761) % 4294967296, (b * 2654435761) % 4294967296
    return lot_a < lot_b or (lot_a == lot_b and a < b)


@kernel
def _in_frame(v, frame, flat):
    """The parts of a vector ahead, to the right and, for flyers, above."""
    return dot(v, frame[0]), dot(v, frame[1]), 0.0 if flat else dot(v, frame[2])


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
        the spare distance of those who go first [m], along ahead, right and above).
    """
    position = load(agents.position, i)
    count, opposed, back = 0, 0.0, (0.0, 0.0, 0.0)
    for n in range(min(seen, ROWS)):
        j = world.neighbors.index[i, n]
        offset = sub(load(agents.position, j), position)
        x, y, z = _in_frame(offset, frame, world.flat)
        touch = agents.radius[i] * 1.0 + agents.radius[j]
        u, v, w = _in_frame(load(agents.velocity, j), frame, world.flat)
        away2, speed2 = x * x + y * y + z * z, u * u + v * v + w * w
        distance = math.sqrt(away2)
        meeting = (speed + math.sqrt(speed2)) * horizon
        gap = distance - touch
        if gap > meeting + spare or x < -touch:
            continue
        if distance < EPSILON:
            offset = scale(parting(i, j, agents, world), -EPSILON)
            x, y, z = _in_frame(offset, frame, world.flat)
            away2 = x * x + y * y + z * z
        wish = unit(_in_frame(load(agents.desired, j), frame, world.flat))
        alike = wish[0]
        rows[count, X], rows[count, Y], rows[count, Z] = x, y, z
        rows[count, U], rows[count, V], rows[count, W] = u, v, w
        rows[count, AWAY2], rows[count, ROOM2] = away2, away2 - touch * touch
        rows[count, DRIFT], rows[count, SPEED2] = x * u + y * v + z * w, speed2
        rows[count, CARE] = 0.5 * (1.0 + FOLLOWED) - 0.5 * (1.0 - FOLLOWED) * alike
        rows[count, ALIKE] = alike
        if alike > 0.0:
            heading = _in_frame(load(agents.heading, j), frame, world.flat)
            rows[count, FACING] = x * heading[0] + y * heading[1] + z * heading[2]
        near = min(1.0, max(0.0, 1.0 - gap / meeting))
        opposed = max(opposed, 0.5 * (1.0 - alike) * near)
        if gap < spare:
            lead = x + x * wish[0] + y * wish[1] + z * wish[2]
            if abs(lead) < ABREAST * touch:
                lead = 1.0 if precedes(agents.id[j], agents.id[i]) else -1.0
            if lead > 0.0:
                back = add_scaled(back, unit((x, y, z)), max(gap, 0.0) - spare)
        count += 1
    return count, opposed, back


@kernel
def threat(rows, count, way, speed, horizon, enough):
    """How much neighbors are in the way of a velocity: 0 when they are not, 1 at a head-on touch.

    Args:
        rows: See `foresee`.
        count: How many rows there are.
        way: Unit direction in the agent's frame.
        speed: [m/s] > 0.
        horizon: Collisions after so much time [s] do not count.
        enough: Whatever is found above this makes no difference: the search ends there.
    """
    worst = 0.0
    least = GRAZING * speed * GRAZING * speed
    for n in range(count):
        care = rows[n, CARE]
        if care <= worst:
            continue
        toward = way[0] * rows[n, X] + way[1] * rows[n, Y] + way[2] * rows[n, Z]
        closing = speed * toward - rows[n, DRIFT]
        if closing <= 0.0:
            continue
        room, time, square = rows[n, ROOM2], 0.0, closing * closing
        if room > 0.0:
            along = way[0] * rows[n, U] + way[1] * rows[n, V] + way[2] * rows[n, W]
            between = speed * (speed - 2.0 * along) + rows[n, SPEED2]
            found = square - between * room
            if found <= 0.0:
                continue
            time = room / (closing + math.sqrt(found))
            if time >= horizon:
                continue
        grazing = rows[n, AWAY2] * least
        soft = square / grazing if square < grazing else 1.0
        worst = max(worst, care * (1.0 - time / horizon) * soft)
        if worst > enough:
            break
    return worst


@kernel
def room_ahead(rows, count, way):
    """Least gap [m] in a direction to those with a like wish who are ahead; inf for none.

    The other is ahead when it is so by the mean of both directions: of two, one follows.
    """
    room = math.inf
    for n in range(count):
        if rows[n, ALIKE] <= 0.0:
            continue
        x, y, z = rows[n, X], rows[n, Y], rows[n, Z]
        along = x * way[0] + y * way[1] + z * way[2]
        if along <= 0.0 or along + rows[n, FACING] <= 0.0:
            continue
        half = along * along - rows[n, ROOM2]
        if half > 0.0:
            room = min(room, along - math.sqrt(half))
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
