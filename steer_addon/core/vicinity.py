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
from .jit import kernel
from .vec import add_scaled, dot, load, sub
from .vicinity_rows import (
    COLUMNS,
    FIRST,
    FREE,
    HOLD,
    LEAST,
    NUMBER,
    OTHER,
    OUTER,
    ROOM,
    WAY,
    WIDTH,
    fill,
)

if TYPE_CHECKING:
    from .views import I64, BvhView, VicinityView

TURNS = 32
"""Agents without a row get one in one step of so many."""
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
def nearest_around(bvh, point, min_up, guess, vicinity, i, turn):
    """`bvh.nearest_from` with no limit, by row i of an agent where that tells.

    Args:
        bvh: BvhView.
        point: Where to look from (x, y, z) [m].
        min_up: Only triangles with |normal.z| below it count; all do when it is negative.
        guess: A triangle that may be the nearest; -1 for none.
        vicinity: From `Vicinities`; without rows the tree is asked.
        i: The agent's row, which may be written to.
        turn: The number of the step.

    Returns:
        (triangle, (x, y, z) [m], distance [m]); (-1, point, inf) when there is none.
    """
    place = (float(point[0]), float(point[1]), float(point[2]))
    if len(bvh.link) == 0:
        return -1, place, np.inf
    rows = vicinity.rows
    if len(rows) > 0:
        told, triangle, found, best, moved = _by_row(bvh.triangles, place, rows, i)
        outer = np.float64(rows[i, OUTER])
        if not told and ((i + turn) % TURNS == 0 or moved <= 1.5 * outer):
            # it will probably go on as it came, from where the row was made for
            way = sub(place, load(rows, i))
            center = add_scaled(place, way, AHEAD * outer / moved) if outer > 0.0 else place
            _fill(bvh, vicinity.eights, center, min_up, guess, rows, i)
            told, triangle, found, best, moved = _by_row(bvh.triangles, place, rows, i)
        if told:
            return triangle, found, math.sqrt(best)
    return walk(bvh.box, bvh.link, bvh.order, bvh.triangles, place, np.inf, -1, guess, min_up)


@kernel
def is_free(vicinity, i, a, b):
    """Whether row i tells that nothing is met on the straight way from a to b."""
    rows = vicinity.rows
    if len(rows) == 0:
        return False
    place, free = load(rows, i), np.float64(rows[i, FREE])
    p, q = sub(a, place), sub(b, place)
    # what is met counts, whether steep or not; a ball that holds both ends holds the way
    return max(dot(p, p), dot(q, q)) < free * free


@kernel
def _by_row(triangles, point, rows, i):
    """What row i tells: (whether it does, triangle, point, squared distance [m²], way from it)."""
    way = sub(point, load(rows, i))
    moved = math.sqrt(dot(way, way))
    chosen, found, best = -1, point, np.inf
    told = moved < np.float64(rows[i, OUTER])
    if told:
        chosen, found, best = _of_row(triangles, point, rows, i, way, moved)
    return told, chosen, found, best, moved


@kernel
def _of_row(triangles, point, rows, i, way, moved):
    """The nearest of the triangles in row i: (triangle, point, squared distance [m²])."""
    first = int(rows[i, FIRST])
    chosen, found, best = nearer(triangles, first, point, -1.0, -1, point, np.inf)
    gap = math.sqrt(best) + ROOM * moved
    for k in range(OTHER, COLUMNS, WIDTH):
        if np.float64(rows[i, k + HOLD]) > moved:
            break
        least = np.float64(rows[i, k + LEAST]) + (
            np.float64(rows[i, k + WAY]) * way[0]
            + np.float64(rows[i, k + WAY + 1]) * way[1]
            + np.float64(rows[i, k + WAY + 2]) * way[2]
        )
        if least <= gap:
            other = int(rows[i, k + NUMBER])
            chosen, found, best = nearer(triangles, other, point, -1.0, chosen, found, best)
    return chosen, found, best


@kernel
def _fill(bvh, eights, point, min_up, guess, rows, i):
    """Fill row i for a point [m]."""
    if not abs(point[0]) + abs(point[1]) + abs(point[2]) < np.inf:
        return
    if np.float64(rows[i, OUTER]) > 0.0:
        # one of those of the row before is near, if not the nearest
        way = sub(point, load(rows, i))
        moved = math.sqrt(dot(way, way))
        chosen, found, _best = _of_row(bvh.triangles, point, rows, i, way, moved)
    else:
        chosen, found, _best = walk(
            bvh.box, bvh.link, bvh.order, bvh.triangles, point, np.inf, -1, guess, min_up
        )
    if chosen >= 0:
        fill(bvh, eights, point, min_up, chosen, found, rows, i)
