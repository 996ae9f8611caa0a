"""The agents that each agent may touch in a step: a list, complete for as far as it can go.

Agent i may go c_i from its start. Its list holds every other agent j with a gap below 2 c_i: it
can meet no other, as long as the other one keeps to its half of the gap too. When more than WIDTH
agents are that near, the nearest are kept, ties by id, and c_i shrinks to half the gap to the
nearest of those left out. So a list that is cut short makes an agent slow, and never careless.

In a flat crowd bodies are discs: distances are level, and only agents at about the same height
count, so that floors above one another stay apart.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import inlined_kernel, kernel, parallel_for, scratch
from ..geometry.grid import FEW, GridView, axis_cells, build_grid, wrap_cell
from ..numeric.vec import load, pick
from ..views import F32, I32, I64, NeighborView

F64 = NDArray[np.float64]
B8 = NDArray[np.bool_]

WIDTH = 32
"""Most others in the list of an agent."""
ROUNDING = 1.0e-6
"""Relative error of known distances, which have 32 bits, with room to spare."""
_MASK = 0x7FFFFFFFFFFFFFFF


class Kinds(NamedTuple):
    """What tells bodies of one pass apart, where they are of several crowds."""

    tall: F32  # (1,), or (n,) [m] height of those that walk, and 0 of those that fly
    crowd: I64  # (1,), or (n,) number of the crowd
    touches: B8  # (m, m) whether the bodies of two crowds touch


ALIKE = Kinds(np.zeros(1, np.float32), np.zeros(1, np.int64), np.ones((1, 1), np.bool_))
"""The kinds of the bodies of one crowd."""


class Searching(NamedTuple):
    """The crowd as the search for others reads it."""

    position: F32  # (n, 3) [m] where they start
    id: I64  # (n,)
    radius: F32  # (n,) [m]
    wish: F64  # (n,) [m] how far each may go from its start
    backing: F64  # (n,) [m] how far those that overlap may back out
    widest: float  # [m] the largest radius
    farthest: float  # [m] the longest wish
    rise: float  # [m] highest step between the ground of two that may touch
    flat: bool  # whether bodies are discs
    tallest: float  # [m] height of the tallest of those that walk, where others fly
    kinds: Kinds


class Known(NamedTuple):
    """Neighbors that were found for a behavior whose agents see all around."""

    seen: NeighborView
    radius: F32  # (1,) or (n,) [m] how far was looked
    most: F32  # (1,) or (n,) how many are kept


class NearView(NamedTuple):
    """For each agent the others that it may touch, nearest first, ties by id."""

    count: I32  # type: ignore[assignment]  # (n,) hides tuple.count, which nobody calls
    index: I32  # type: ignore[assignment]  # (n, WIDTH) rows of the agents
    span: F64  # (n,) [m] how far agents may go from their start
    end: F64  # (n,) [m²] squared distance of the first one left out; inf for none
    last: I32  # (n,) its row, or -1
    deep: F64  # (n,) largest share of the radii by which the agent overlaps another
    reach: F64  # (n,) [m] how far agents would go if their list were complete


@inlined_kernel
def climb(i, j, low, high, flat, kinds):
    """How much higher body j is than body i, as it counts for them [m].

    Args:
        i: An agent.
        j: Another one.
        low: Height of the place of i [m].
        high: Height of the place of j [m].
        flat: Whether all bodies are discs, which count as equally high.
        kinds: Kinds: where some walk and some fly, those that walk are upright for those that fly.
    """
    if flat:
        return 0.0
    rise = high - low
    if kinds.tall.size > 1:
        own, other = kinds.tall[i], kinds.tall[j]
        if own > 0.0 and other > 0.0:
            return 0.0
        if rise > own:
            return rise - own
        return min(rise + other, 0.0)
    return rise


@inlined_kernel
def squared(i, j, a, b, flat, kinds):
    """Squared distance between the places a and b of two bodies, as it counts for them [m²]."""
    dx, dy, dz = b[0] - a[0], b[1] - a[1], climb(i, j, a[2], b[2], flat, kinds)
    return dx * dx + dy * dy + dz * dz


@kernel
def within(square, own_radius, radius, wish):
    """Whether an agent that goes as far as its wish could touch another."""
    reach = own_radius + radius + 2.0 * wish
    return square < reach * reach


@kernel
def after(own, other):
    """How many ids lie between an agent's own and another's, counted upward around."""
    return (int(other) - int(own)) & _MASK


@inlined_kernel
def ahead_of(square, row, other_square, other_row, own, ids):
    """Whether one comes before another in the list of the agent with the id `own`.

    The nearer one comes first; among equally near ones each agent starts with the ids after its
    own, so that of many agents at one place each has different others in its list.
    """
    if square != other_square:
        return square < other_square
    return other_row < 0 or after(own, ids[row]) < after(own, ids[other_row])


@inlined_kernel
def _insert(best, found, row, square, own, ids):
    """Insert one into a sorted list: (its length, the agent that drops out or -1, its distance)."""
    out, out_square = -1, 0.0
    if found == WIDTH:
        out_square, out = best[WIDTH - 1, 0], int(best[WIDTH - 1, 1])
        if not ahead_of(square, row, out_square, out, own, ids):
            return found, row, square
        found -= 1
    at = found
    while at > 0 and ahead_of(square, row, best[at - 1, 0], int(best[at - 1, 1]), own, ids):
        best[at, 0], best[at, 1] = best[at - 1, 0], best[at - 1, 1]
        at -= 1
    best[at, 0], best[at, 1] = square, row
    return found + 1, out, out_square


@kernel
def _reaches(i, agents):
    """The distance within which agent i searches for others, level and up and down [m]."""
    both = agents.radius[i] * 1.0 + agents.widest
    reach = both + 2.0 * agents.wish[i]
    level = both + agents.rise + agents.wish[i] + agents.farthest
    if agents.flat:
        return reach, level
    return reach, max(level, reach + agents.tallest) if agents.tallest > 0.0 else reach


@kernel
def _considered(i, j, square, lift, agents, best, minded):
    """Take agent j into the list of agent i, if the two may touch.

    Args:
        i: The agent with the list.
        j: The other one.
        square: Squared distance between both [m²].
        lift: How much higher or lower the other one is [m].
        agents: Searching.
        best: The list, shape (WIDTH, 2).
        minded: Its length, squared distance and row of the first one left out, least gap to those.

    Returns:
        The same four after it.
    """
    found, end, last, least = minded
    own, radius, wish = agents.radius[i] * 1.0, agents.radius[j] * 1.0, agents.wish[i]
    # two without a size are in nobody's way, however many stand on one point
    if not within(square, own, radius, wish) or own + radius == 0.0:
        return minded
    flat = agents.flat
    if agents.kinds.tall.size > 1:
        flat = flat or (agents.kinds.tall[i] > 0.0 and agents.kinds.tall[j] > 0.0)
    if flat and lift > own + radius + (wish + agents.wish[j]) + agents.rise:
        return minded
    crowd = agents.kinds.crowd
    if crowd.size > 1 and not agents.kinds.touches[crowd[i], crowd[j]]:
        return minded
    found, out, away = _insert(best, found, j, square, agents.id[i], agents.id)
    if out >= 0:
        least = min(least, math.sqrt(away) - own - agents.radius[out])
        if ahead_of(away, out, end, last, agents.id[i], agents.id):
            end, last = away, out
    return found, end, last, least


@kernel
def _search(me, grid, agents, reach, height, best):
    """Fill the list of the agent in slot `me`; see `_considered` for what it returns."""
    i, found = grid.order[me], (0, np.inf, -1, np.inf)
    px, py, pz = grid.x[me], grid.y[me], grid.z[me]
    own_x, down_x, up_x, _sure = axis_cells(px, reach, grid.inverse, grid.nx)
    own_y, down_y, up_y, _sure = axis_cells(py, reach, grid.inverse, grid.ny)
    own_z, down_z, up_z, _sure = axis_cells(pz, height, grid.inverse, grid.nz)
    for step_z in range(-down_z, up_z + 1):
        layer = wrap_cell(own_z + step_z, grid.nz) * grid.ny
        for step_y in range(-down_y, up_y + 1):
            row = (layer + wrap_cell(own_y + step_y, grid.ny)) * grid.nx
            low, high = own_x - down_x, own_x + up_x + 1
            # cells next to each other along x are one run of slots, or two where it wraps around
            parts = 2 if low < 0 or high > grid.nx else 1
            for part in range(parts):
                begin, stop = low, high
                if parts == 2:
                    begin = 0 if part == 0 else low + (grid.nx if low < 0 else 0)
                    stop = grid.nx if part == 1 else high - (grid.nx if high > grid.nx else 0)
                for slot in range(grid.start[row + begin], grid.start[row + stop]):
                    z, j = grid.z[slot], grid.order[slot]
                    there = (grid.x[slot], grid.y[slot], z)
                    square = squared(i, j, (px, py, pz), there, agents.flat, agents.kinds)
                    if square < reach * reach and slot != me:
                        found = _considered(i, j, square, abs(z - pz), agents, best, found)
    return found


@kernel
def _written(i, agents, best, minded, near):
    """Write the list of agent i."""
    found, cut, row, gap = minded
    own, wish = agents.radius[i] * 1.0, agents.wish[i]
    deep = 0.0
    for k in range(found):
        j = int(best[k, 1])
        near.index[i, k] = j
        touch = own + agents.radius[j]
        if best[k, 0] < touch * touch:
            deep = max(deep, 1.0 - math.sqrt(best[k, 0]) / touch)
    near.count[i], near.end[i], near.last[i], near.deep[i] = found, cut, row, deep
    near.span[i] = wish
    if row >= 0:
        # those left out may come as near; among bodies that overlap anyway all back out
        near.span[i] = min(wish, 0.5 * gap if gap >= 0.0 else agents.backing[i])


@kernel
def _near_kernel(first, stop, grid, agents, near):
    """Rows of the agents in the slots first to stop - 1: neighbors in memory are so in space."""
    best = scratch(WIDTH, 2)
    for me in range(first, stop):
        i = grid.order[me]
        if near.count[i] < 0:
            reach, height = _reaches(i, agents)
            _written(i, agents, best, _search(me, grid, agents, reach, height, best), near)


@kernel
def _known_kernel(first, stop, agents, known, near):
    """Fill the lists of agents whose known neighbors include all that they may touch."""
    best = scratch(WIDTH, 2)
    seen = known.seen
    for i in range(first, stop):
        reach, height = _reaches(i, agents)
        needed = math.sqrt(reach * reach + height * height) if height != reach else reach
        needed *= 1.0 + ROUNDING
        count, sure = seen.count[i], pick(known.radius, i)
        if count >= min(seen.index.shape[1], int(pick(known.most, i))):
            sure = seen.distance[i, count - 1] * 1.0 if count > 0 else 0.0
        if sure <= needed and count + 1 < len(seen.count):
            continue
        found = (0, np.inf, -1, np.inf)
        here = load(agents.position, i)
        for n in range(count):
            if seen.distance[i, n] > needed:
                break
            j = seen.index[i, n]
            there = load(agents.position, j)
            square = squared(i, j, here, there, agents.flat, agents.kinds)
            if square < reach * reach:
                found = _considered(i, j, square, abs(there[2] - here[2]), agents, best, found)
        _written(i, agents, best, found, near)


@kernel
def _summed(count, deep, rows, sums):
    """Write the agents that touch others, and of the lists: number, length, deepest overlap, rest.

    One pass over all lists: several, each by a function of its own, take longer.
    """
    found, total, deepest, unknown = 0, 0, 0.0, 0
    for i in range(len(count)):
        rows[found] = i
        found += int(count[i] != 0)
        total += count[i]
        deepest = max(deepest, deep[i])
        unknown += int(count[i] < 0)
    sums[0], sums[1], sums[2], sums[3] = found, total, deepest, unknown


class Touching(NamedTuple):
    """The agents that may touch others."""

    rows: I64  # (m,) of the agents
    total: int  # length of all their lists
    deepest: float  # largest share of the radii by which an agent overlaps another
    unknown: int  # lists that are still to be made


def touching(near: NearView) -> Touching:
    """The agents that may touch others."""
    count = len(near.count)
    # as where nothing is known, for a dry run
    rows, sums = np.empty(count + 1, np.int64), np.array([count, count, 0.0, count])
    _summed(near.count, near.deep, rows, sums)
    found, total, deepest, unknown = sums.tolist()
    return Touching(rows[: int(found)], int(total), deepest, int(unknown))


def find_near(
    position: F32,
    ids: I64,
    radius: F32,
    wish: F64,
    backing: F64,
    rise: float,
    flat: bool,
    known: Known | None = None,
    kinds: Kinds = ALIKE,
) -> tuple[NearView, Touching]:
    """Find the agents that each agent may touch, and the agents that may touch any.

    Args:
        position: Places at the start [m], shape (n, 3).
        ids: Unique identities, shape (n,); they decide ties.
        radius: Body radii [m], shape (n,).
        wish: How far each may go from its start [m], shape (n,).
        backing: How far those that overlap may back out [m], shape (n,).
        rise: Highest step [m] between the ground of two that may touch.
        flat: Whether bodies are discs.
        known: Neighbors found from these very positions, which may spare the search.
        kinds: What tells bodies of several crowds apart.
    """
    n = len(position)
    near = NearView(
        np.full(n, -1, np.int32),
        np.empty((n, WIDTH), np.int32),
        np.empty(n, np.float64),
        np.empty(n, np.float64),
        np.empty(n, np.int32),
        np.empty(n, np.float64),
        wish,
    )
    far = (float(radius.max(initial=0.0)), float(wish.max(initial=0.0)), float(rise), flat)
    tallest = float(kinds.tall.max(initial=0.0))
    agents = Searching(position, ids, radius, wish, backing, *far, tallest, kinds)
    if n <= FEW:
        known = None
    if known is not None:
        parallel_for(_known_kernel, n, agents, known, near)
        known_all = touching(near)
        if not known_all.unknown:
            return near, known_all
    parallel_for(_near_kernel, n, _grid(position, radius, wish), agents, near)
    return near, touching(near)


def _grid(position: F32, radius: F32, wish: F64) -> GridView:
    """Cells as large as most searches reach; a few that reach farther cover more cells."""
    usual = (float(radius.sum()) + float(wish.sum())) / max(1, len(position))
    return build_grid(position, 2.0 * usual)
