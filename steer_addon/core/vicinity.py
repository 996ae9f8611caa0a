"""Which triangles can be nearest around the place where an agent looked last.

Agents hardly move from step to step. So a search for the nearest triangle fills a row of the
agent's own: a place q, the triangles that could be nearest soonest on the way from q to anywhere,
and how far from q none of the others can. As long as the agent looks at places that are not so far
from q, only triangles of its row are asked: one, most often, and two at an edge. How a row is
filled is in `vicinity_rows`.

A row says what is true of the triangles, not of the agent, and says it with room for rounding:
answers are those of the tree to the last bit, whatever the rows hold and whoever asks. They are
not stored in frames; who resumes starts without them, and gets the same.

How far a triangle cannot be nearest follows from two bounds. Let x be a point of any triangle that
counts, d its distance from q, n the unit vector from x to q, and Δ the motion. Then something is as
near as |q + Δ - x| ≤ d + n·Δ + |Δ|²/2d. A convex set behind a plane at the distance e from q, with
the normal m, stays e + m·Δ away at least; so nearest points need not be exact, and slivers may have
bad ones. For |Δ| < ρ, e - d > |m - n|·ρ + ρ²/2d keeps it out. Boxes of the tree are convex, too.

A row takes 4 · COLUMNS bytes, for each agent of a behavior that asks for it, while the colliders
stand still. It is filled when the agent leaves the surroundings that it knows, and for the first
time in the agent's turn, one step in TURNS, so that no step has to fill them all. Where triangles
are so small that an agent leaves them with each step, the tree goes on being asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .bvh_points import nearer, walk
from .eights import make_eights, no_eights
from .jit import kernel, scratch
from .triangles_at_once import (
    FOUND,
    PLACE,
    SQUARE,
    nearest_at_once,
    put_corners,
    put_three,
    three,
)
from .triangles_at_once import LINES as COLUMN_LINES
from .vec import add_scaled, dot, load, sub
from .vicinity_rows import (
    BEFORE,
    COLUMNS,
    FAR,
    FIRST,
    FREE,
    FREE_BEFORE,
    HOLD,
    LEAST,
    NUMBER,
    OTHERS,
    OUTER,
    ROOM,
    WAY,
    fill,
)

if TYPE_CHECKING:
    from .views import I64, BvhView, VicinityView

BLOCK = 64
"""Agents that are looked at together."""
LISTED = OTHERS * BLOCK + 1
AT, NEAR, TRIANGLE, BEST, LINES = 0, 3, 6, 7, 8
"""Lines of the table of `nearest_around`; BEST is a squared distance [m²]."""
SKIP = -2
"""In TRIANGLE: nobody asks."""
TURNS = 32
"""Agents without a row get one in one step of so many."""
SOON = 4.0
"""Who left its surroundings by no more than so many times their extent gets a new row at once."""
AHEAD = 0.7
"""How far ahead of an agent its row is made for, in how far the one before told."""
MOST = 1 << 24
"""Numbers up to this one are exact in 32-bit floats."""


@dataclass(frozen=True, eq=False)
class _Known:
    """Rows, and what they depend on."""

    tree: BvhView
    min_up: float
    ids: I64
    view: VicinityView


@dataclass(eq=False, repr=False)
class Vicinities:
    """Keeps the rows of one crowd, by behavior, while the colliders stand still."""

    _known: dict[str, _Known] = field(default_factory=dict)

    def view(self, key: str, ids: I64, tree: BvhView, min_up: float) -> VicinityView:
        """The rows of a behavior, shape (agent_count, COLUMNS); none in the first step with a tree.

        Colliders that move are another tree in every step, and not worth the work.

        Args:
            key: Name of the behavior.
            ids: Of the agents, shape (agent_count,); rows stay with their agents.
            tree: What is looked at.
            min_up: Which triangles count, see `nearest_around`.
        """
        known = self._known.get(key)
        if known is None or known.tree is not tree or known.min_up != min_up:
            known = _Known(tree, min_up, ids, no_vicinity())
        elif len(tree.triangles) < MOST:
            known = _Known(tree, min_up, ids, _aligned(known, ids))
        self._known[key] = known
        return known.view


def no_vicinity() -> VicinityView:
    """Nothing is known: the tree is always asked."""
    # imported with the first crowd: enabling the extension has to be quick
    from .views import VicinityView

    return VicinityView(np.zeros((0, COLUMNS), np.float32), no_eights())


def _aligned(known: _Known, ids: I64) -> VicinityView:
    """What some agents know; zeros for those who know nothing yet."""
    from .views import VicinityView

    old_rows, eights = known.view
    if len(old_rows) == 0:
        eights = make_eights(known.tree)
    elif known.ids is ids or np.array_equal(known.ids, ids):
        return known.view
    rows = np.zeros((len(ids), COLUMNS), np.float32)
    if len(old_rows):
        _ids, new, old = np.intersect1d(ids, known.ids, return_indices=True)
        rows[new] = old_rows[old]
    return VicinityView(rows, eights)


@kernel
def is_free(vicinity, i, a, b):
    """Whether row i tells that nothing is met on the straight way from a to b."""
    rows = vicinity.rows
    if len(rows) == 0:
        return False
    # what is met counts, whether steep or not; a ball that holds both ends holds the way
    free = np.float64(rows[i, FREE])
    center = load(rows, i)
    p, q = sub(a, center), sub(b, center)
    if not dot(q, q) < free * free:
        return False
    return dot(p, p) < free * free or _leads_into(rows, i, a, sub(b, a), center, free)


@kernel
def _leads_into(rows, i, a, along, center, free):
    """Whether the way from a stays in the ball before until it is in that around `center`."""
    before = (
        np.float64(rows[i, BEFORE]),
        np.float64(rows[i, BEFORE + 1]),
        np.float64(rows[i, BEFORE + 2]),
    )
    start, free_before = sub(a, before), np.float64(rows[i, FREE_BEFORE])
    inside = free_before * free_before - dot(start, start)
    whole = dot(along, along)
    if not (inside > 0.0 and whole > 0.0):
        return False
    half = dot(start, along)
    # where it leaves, and a little before that
    share = (math.sqrt(half * half + whole * inside) - half) / whole * (1.0 - ROOM)
    offset = sub(add_scaled(a, along, share), center)
    return dot(offset, offset) < free * free


@kernel
def nearest_around(bvh, min_up, vicinity, first, turn, count, table):
    """`bvh.nearest_from` with no limit for some agents in a row, by their rows where those tell.

    Many are looked at together: triangles are strewn over memory, and while one agent waits for
    its own others go on.

    Args:
        bvh: BvhView.
        min_up: Only triangles with |normal.z| below it count; all do when it is negative.
        vicinity: From `Vicinities`; without rows the tree is asked. Rows of these agents may be
            written to.
        first: The row of the first agent.
        turn: The number of the step.
        count: How many agents, BLOCK at most.
        table: A column for each, shape (≥ LINES, BLOCK). AT is where it looks from [m], TRIANGLE
            one that may be the nearest, -1 for none, SKIP for those who do not ask. Filled:
            TRIANGLE, -1 for none, and its point NEAR [m], AT itself for none.
    """
    columns, owner = scratch(COLUMN_LINES, BLOCK), scratch(1, BLOCK)
    told = 0
    for k in range(count):
        guess = int(table[TRIANGLE, k])
        if guess == SKIP:
            continue
        place = three(table, AT, k)
        if _is_told(bvh, min_up, vicinity, first + k, turn, place, guess):
            triangle = int(vicinity.rows[first + k, FIRST])
            put_corners(columns, told, bvh.triangles, triangle)
            put_three(columns, PLACE, told, place)
            owner[0, told] = k
            table[TRIANGLE, k] = triangle
            told += 1
        elif len(bvh.link) == 0:
            table[TRIANGLE, k] = -1.0
            put_three(table, NEAR, k, place)
        else:
            triangle, found, _distance = walk(
                bvh.box, bvh.link, bvh.order, bvh.triangles, place, np.inf, -1, guess, min_up
            )
            table[TRIANGLE, k] = triangle
            put_three(table, NEAR, k, found)
    nearest_at_once(columns, told)
    _ask_others(bvh, vicinity, first, table, columns, owner, told)


@kernel
def _is_told(bvh, min_up, vicinity, i, turn, place, guess):
    """Whether row i tells what is nearest to a place; it is filled if it is its turn."""
    rows = vicinity.rows
    if len(rows) == 0 or len(bvh.link) == 0:
        return False
    way, outer = sub(place, load(rows, i)), np.float64(rows[i, OUTER])
    moved = math.sqrt(dot(way, way))
    if moved < outer:
        return True
    if (i + turn) % TURNS == 0 or moved <= SOON * outer:
        # it will probably go on as it came, from where the row was made for
        center = add_scaled(place, way, AHEAD * outer / moved) if outer > 0.0 else place
        _fill(bvh, vicinity.eights, center, min_up, guess, rows, i)
        way = sub(place, load(rows, i))
        return math.sqrt(dot(way, way)) < np.float64(rows[i, OUTER])
    return False


@kernel
def _list_others(rows, i, place, square, k, listed, count):
    """List the other triangles of row i that can be as near to a place as a squared distance."""
    way = sub(place, load(rows, i))
    moved = math.sqrt(dot(way, way))
    gap = math.sqrt(square) + ROOM * moved
    near = scratch(1, OTHERS)
    for n in range(OTHERS):
        least = np.float64(rows[i, LEAST + n]) + (
            np.float64(rows[i, WAY + n]) * way[0]
            + np.float64(rows[i, WAY + OTHERS + n]) * way[1]
            + np.float64(rows[i, WAY + 2 * OTHERS + n]) * way[2]
        )
        counts = (np.float64(rows[i, HOLD + n]) <= moved) & (least <= gap)
        near[0, n] = 1.0 if counts else 0.0
    for n in range(OTHERS):
        listed[0, count], listed[1, count] = k, rows[i, NUMBER + n]
        count += int(near[0, n] > 0.0)
    return count


@kernel
def _ask_others(bvh, vicinity, first, table, columns, owner, told):
    """Write the nearest of the triangles in their rows to the columns of some agents.

    `columns` holds the first triangle of each, `owner` whose it is.
    """
    listed = scratch(2, LISTED)
    count = 0
    for n in range(told):
        k, square = int(owner[0, n]), columns[SQUARE, n]
        table[BEST, k] = square
        put_three(table, NEAR, k, three(columns, FOUND, n))
        place = three(columns, PLACE, n)
        count = _list_others(vicinity.rows, first + k, place, square, k, listed, count)
    for start in range(0, count, BLOCK):
        some = min(count - start, BLOCK)
        for n in range(some):
            put_corners(columns, n, bvh.triangles, int(listed[1, start + n]))
            put_three(columns, PLACE, n, three(table, AT, int(listed[0, start + n])))
        nearest_at_once(columns, some)
        for n in range(some):
            k, triangle = int(listed[0, start + n]), listed[1, start + n]
            square, best = columns[SQUARE, n], table[BEST, k]
            if square < best or (square == best and triangle < table[TRIANGLE, k]):
                table[BEST, k], table[TRIANGLE, k] = square, triangle
                put_three(table, NEAR, k, three(columns, FOUND, n))


@kernel
def _near_row(triangles, point, rows, i):
    """The nearest of the triangles in row i, or one that is hardly farther: (triangle, point)."""
    first = int(rows[i, FIRST])
    chosen, found, best = nearer(triangles, first, point, -1.0, -1, point, np.inf)
    way = sub(point, load(rows, i))
    for n in range(OTHERS):
        least = np.float64(rows[i, LEAST + n]) + (
            np.float64(rows[i, WAY + n]) * way[0]
            + np.float64(rows[i, WAY + OTHERS + n]) * way[1]
            + np.float64(rows[i, WAY + 2 * OTHERS + n]) * way[2]
        )
        if rows[i, HOLD + n] < FAR and least * max(least, 0.0) <= best:
            other = int(rows[i, NUMBER + n])
            chosen, found, best = nearer(triangles, other, point, -1.0, chosen, found, best)
    return chosen, found


@kernel
def _fill(bvh, eights, point, min_up, guess, rows, i):
    """Fill row i for a point [m]."""
    if not abs(point[0]) + abs(point[1]) + abs(point[2]) < np.inf:
        return
    if np.float64(rows[i, OUTER]) > 0.0:
        # one of those of the row before is near, if not the nearest
        chosen, found = _near_row(bvh.triangles, point, rows, i)
    else:
        chosen, found, _distance = walk(
            bvh.box, bvh.link, bvh.order, bvh.triangles, point, np.inf, -1, guess, min_up
        )
    if chosen >= 0:
        fill(bvh, eights, point, min_up, chosen, found, rows, i)
