"""Pushes: an agent that is pressed gives way, and hands the pressure on.

Cells alone only stop bodies. Bodies that lean on one another, in the arch at a door or in a disc
where ways cross, would then hold each other for ever. So before the cells the places g that agents
wish for are relaxed, as if they were frictionless bodies pressed together:

    gᵢ ← gᵢ - min(1, 1.3/kᵢ)·Σ_j n_ij·h_ij·m_j/(m_i + m_j)
    h_ij = min(r_i + r_j, |s_j - s_i|) - |g_j - gᵢ|

over the k_i others whose wishes meet i's, h_ij > 0, n_ij from gᵢ to g_j; and then out of the walls
near i. This is done for all agents at once, several times, so that a push reaches agents farther
behind. The cells lead each agent from its start (s) toward these places, and keep bodies apart
whatever the places are.

Only wishes push: an agent that wishes to stay is not moved, others slide along it. Bodies that
already overlap are pressed no farther into one another, and no agent goes farther than its span.

Source: Müller, Heidelberger, Hennix, Ratcliff 2007, "Position Based Dynamics"; Macklin, Müller,
Chentanez, Kim 2014, "Unified Particle Physics for Real-Time Applications" (averaged corrections).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..compiled import jit
from ..compiled.jit import kernel, scratch
from ..numeric.vec import add, add_scaled, dot, length, load, store, sub
from ..views import F32
from .cells import COLUMNS, PLANES
from .near import NearView, Touching, climb
from .passes import BodyView, SpaceView
from .walls import WALLS, add_walls, wall_margin

SWEEPS = 6
"""How often pushes are handed on in a step."""
RELAXED = 1.3
"""How much of the mean correction is made: more than 1 settles sooner."""
LEAST = 1.0e-6
"""Overlaps of wishes below this [m] push no agent: rest stays rest."""
CORNERS = 2
"""Rounds through the walls near an agent."""


@kernel
def _level(offset, flat):
    """An offset as it counts for bodies."""
    return (offset[0], offset[1], 0.0) if flat else offset


@kernel
def _between(i, j, a, b, agents):
    """Offset from the place a of a body to the place b of another, as it counts for them."""
    return (b[0] - a[0], b[1] - a[1], climb(i, j, a[2], b[2], agents.flat, agents.kinds))


@kernel
def _push(i, agents, near, goal):
    """Sum of the pushes of others on the wished place of an agent [m]."""
    here, start = load(goal, i), load(agents.start, i)
    give = agents.give[i]
    total, met = (0.0, 0.0, 0.0), 0
    for k in range(near.count[i]):
        j = near.index[i, k]
        offset = _between(i, j, here, load(goal, j), agents)
        touch = agents.radius[i] * 1.0 + agents.radius[j]
        square = dot(offset, offset)
        if square >= touch * touch or square == 0.0:
            continue
        begin = load(agents.start, j)
        distance = length(offset)
        over = min(touch, length(_between(i, j, start, begin, agents))) - distance
        if over > LEAST:
            other = agents.give[j] if load(agents.goal, j) != begin else 0.0
            total = add_scaled(total, offset, -over / distance * give / (give + other))
            met += 1
    if met == 0:
        return total
    share = min(1.0, RELAXED / met)
    return (total[0] * share, total[1] * share, total[2] * share)


@kernel
def _out_of_walls(way, plane, count):
    """An offset moved out of the walls that it would lead into."""
    for _round in range(CORNERS):
        for k in range(count):
            normal = (plane[k, 0], plane[k, 1], plane[k, 2])
            beyond = dot(normal, way) - plane[k, 3]
            if beyond > 0.0:
                way = add_scaled(way, normal, -beyond)
    return way


@kernel
def wall_planes_kernel(first, stop, rows, agents, world, span, planes, count):
    """The planes of the walls near some rows, see `walls.add_walls`."""
    found = scratch(PLANES, COLUMNS)
    last = len(world.walls.triangles)
    for at in range(first, stop):
        i = rows[at]
        x, y, z = load(agents.start, i)
        eye = (x, y, z + world.eye)
        radius = max(agents.radius[i] * 1.0, wall_margin(eye))
        reach = 2.0 * span[i]
        tall = agents.tall[i] * 1.0
        number, _left = add_walls(
            world.walls, eye, radius, reach, world.flat, tall, found, 0, 0, last
        )
        count[at] = number
        for k in range(number):
            for column in range(4):
                planes[at, k, column] = found[k, column]


@kernel
def push_kernel(first, stop, rows, agents, near, wall, planes, count, goal, after, moved, sweeps):
    """Relax the wished places of some rows once, or several times.

    Several sweeps are only for all rows at once: all have to finish one before the next.

    Args:
        first: First of the rows.
        stop: One after the last.
        rows: Agents that have others near them.
        agents: BodyView.
        near: NearView.
        wall: Row of an agent's walls in `planes`, -1 for none, shape (n,).
        planes: Normals and bounds, shape (m, WALLS, 4).
        count: How many walls there are, shape (m,).
        goal: Wished places [m], shape (n, 3); written between sweeps.
        after: Wished places after the last sweep; written.
        moved: Set to 1 for each agent that was ever pushed, shape (n,).
        sweeps: Number of sweeps.
    """
    for sweep in range(sweeps):
        if sweep > 0 and not _handed_on(first, stop, rows, goal, after, moved):
            break
        _sweep(first, stop, rows, agents, near, wall, planes, count, goal, after, moved)


@kernel
def _handed_on(first, stop, rows, goal, after, moved):
    """Begin the next sweep where the last one ended; returns whether any agent was pushed."""
    pushes = 0
    for at in range(first, stop):
        i = rows[at]
        store(goal, i, load(after, i))
        pushes += moved[i]
    return pushes > 0


@kernel
def _sweep(first, stop, rows, agents, near, wall, planes, count, goal, after, moved):
    """Relax the wished places of some rows once; see `push_kernel`."""
    for at in range(first, stop):
        i = rows[at]
        here, start = load(goal, i), load(agents.start, i)
        if agents.give[i] > 0.0 and load(agents.goal, i) != start:
            push = _push(i, agents, near, goal)
            if push != (0.0, 0.0, 0.0):
                here = add(here, push)
                moved[i] = 1
                row = wall[i]
                if row >= 0 and count[row] > 0:
                    way = _level(sub(here, start), agents.flat)
                    out = _out_of_walls(way, planes[row], count[row])
                    here = add(here, sub(out, way))
        store(after, i, here)


def pushed(
    agents: BodyView,
    spaces: Sequence[tuple[SpaceView, slice]],
    near: NearView,
    touch: Touching,
    walled: NDArray[np.uint8],
) -> tuple[F32, NDArray[np.uint8]]:
    """The places that agents wish for after they have pushed one another.

    Args:
        agents: The crowd with its wishes.
        spaces: What bodies meet, and the rows of those that do.
        near: The agents that each may touch.
        touch: The agents that may touch any.
        walled: Whether each may meet a wall, shape (n,).

    Returns:
        (places [m], shape (n, 3); 1 for agents that were pushed, shape (n,)).
    """
    n = len(agents.id)
    moved = np.zeros(n, np.uint8)
    rows = touch.rows
    goal = agents.goal.astype(np.float64)
    after = goal.copy()
    wall = np.full(n, -1, np.int64)
    fenced = rows[walled[rows] != 0]
    wall[fenced] = np.arange(len(fenced))
    planes = np.empty((len(fenced), WALLS, 4))
    count = np.zeros(len(fenced), np.int64)
    for world, own in spaces:
        first, last = np.searchsorted(fenced, (own.start, own.stop)).tolist()
        if first < last:
            some = (fenced[first:last], agents, world, near.span)
            found = (planes[first:last], count[first:last])
            jit.parallel_for(wall_planes_kernel, last - first, *some, *found)
    options = (rows, agents, near, wall, planes, count)
    # where hardly anybody touches anybody, handing this over takes longer than doing it
    chunk = jit.MANY if touch.total <= jit.MANY else jit.CHUNK
    at_once = SWEEPS if jit.runs_alone(len(rows), chunk) else 1
    for _sweeps in range(0, SWEEPS, at_once):
        places = (goal, after, moved, at_once)
        jit.parallel_for(push_kernel, len(rows), *options, *places, chunk=chunk)
        goal, after = after, goal
        if not moved.any():
            return agents.goal, moved
    return goal.astype(np.float32), moved
