"""Which triangles can be nearest around the place where an agent looked last.

Agents hardly move from step to step. So a search for the nearest triangle fills a row of the
agent's own: a place q, the KEPT triangles that could be nearest soonest on the way from q to
anywhere, and how far from q none of the others can. As long as the agent looks at places that are
not so far from q, only triangles of its row are asked: one, most often, and two at an edge.

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

from .bvh_build import STACK
from .bvh_points import is_steep, load_corners, nearer, on_triangle, walk
from .jit import kernel, scratch
from .vec import add_scaled, dot, length, load, scale, sub

if TYPE_CHECKING:
    from .views import F32, I64, BvhView

KEPT = 8
"""Triangles in a row."""
SEEN = KEPT + 1
PLACE, OUTER, FREE, FIRST = 0, 3, 4, 5
"""Columns of a row: the place that it was made for [m], how far from there it tells [m], in
what distance from there there is no triangle at all [m], and the first of its triangles."""
HOLD, NUMBER, LEAST, WAY, WIDTH = 0, 1, 2, 3, 6
"""Columns of each triangle: how far from that place it cannot be the nearest [m], its number, the
least distance that it has at the place [m], and the unit vector along which that grows."""
COLUMNS = FIRST + WIDTH * KEPT
TURNS = 32
"""Agents without a row get one in one step of so many."""
AHEAD = 0.7
"""How far ahead of an agent its row is made for, in how far the one before told."""
ROOM = 1.0e-6
"""Share of a distance, and of the coordinates, that covers any rounding."""
FAR = 1.0e30
"""Distances above this are kept as this [m]."""
MOST = 1 << 24
"""Numbers up to this one are exact in 32-bit floats."""
NO_ROWS = np.zeros((0, COLUMNS), np.float32)


@dataclass(frozen=True, eq=False)
class _Known:
    """Rows, and what they depend on."""

    tree: BvhView
    min_up: float
    ids: I64
    rows: F32


@dataclass(eq=False, repr=False)
class Vicinities:
    """Keeps the rows of one crowd, by behavior, while the colliders stand still."""

    _known: dict[str, _Known] = field(default_factory=dict)

    def rows(self, key: str, ids: I64, tree: BvhView, min_up: float) -> F32:
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
            known = _Known(tree, min_up, ids, NO_ROWS)
        elif len(tree.triangles) < MOST:
            known = _Known(tree, min_up, ids, _aligned(known, ids))
        self._known[key] = known
        return known.rows


def _aligned(known: _Known, ids: I64) -> F32:
    """The rows of some agents; zeros for those who have none yet."""
    if known.ids is ids or np.array_equal(known.ids, ids):
        return known.rows if len(known.rows) else np.zeros((len(ids), COLUMNS), np.float32)
    rows = np.zeros((len(ids), COLUMNS), np.float32)
    if len(known.rows):
        _ids, new, old = np.intersect1d(ids, known.ids, return_indices=True)
        rows[new] = known.rows[old]
    return rows


@kernel
def nearest_around(bvh, point, min_up, guess, rows, i, turn):
    """`bvh.nearest_from` with no limit, by row i of an agent where that tells.

    Args:
        bvh: BvhView.
        point: Where to look from (x, y, z) [m].
        min_up: Only triangles with |normal.z| below it count; all do when it is negative.
        guess: A triangle that may be the nearest; -1 for none.
        rows: From `Vicinities`; without any the tree is asked.
        i: The agent's row, which may be written to.
        turn: The number of the step.

    Returns:
        (triangle, (x, y, z) [m], distance [m]); (-1, point, inf) when there is none.
    """
    place = (float(point[0]), float(point[1]), float(point[2]))
    if len(bvh.link) == 0:
        return -1, place, np.inf
    if len(rows) > 0:
        told, triangle, found, best, moved = _by_row(bvh.triangles, place, rows, i)
        outer = np.float64(rows[i, OUTER])
        if not told and ((i + turn) % TURNS == 0 or moved <= 1.5 * outer):
            # it will probably go on as it came, from where the row was made for
            way = sub(place, load(rows, i))
            center = add_scaled(place, way, AHEAD * outer / moved) if outer > 0.0 else place
            _fill(bvh.box, bvh.link, bvh.order, bvh.triangles, center, min_up, guess, rows, i)
            told, triangle, found, best, moved = _by_row(bvh.triangles, place, rows, i)
        if told:
            return triangle, found, math.sqrt(best)
    return walk(bvh.box, bvh.link, bvh.order, bvh.triangles, place, np.inf, -1, guess, min_up)


@kernel
def is_free(rows, i, a, b):
    """Whether row i tells that nothing is met on the straight way from a to b."""
    if len(rows) == 0:
        return False
    place, free = load(rows, i), np.float64(rows[i, FREE])
    p, q = sub(a, place), sub(b, place)
    # what is met counts, whether steep or not; a ball that holds both ends holds the way
    return max(dot(p, p), dot(q, q)) < free * free


@kernel
def _by_row(triangles, point, rows, i):
    """What row i tells: (whether it does, triangle, point, squared distance [m²], way from it)."""
    x = point[0] - np.float64(rows[i, PLACE])
    y = point[1] - np.float64(rows[i, PLACE + 1])
    z = point[2] - np.float64(rows[i, PLACE + 2])
    moved = math.sqrt(x * x + y * y + z * z)
    chosen, found, best = -1, point, np.inf
    if not moved < np.float64(rows[i, OUTER]):
        return False, chosen, found, best, moved
    chosen, found, best = nearer(
        triangles, int(rows[i, FIRST + NUMBER]), point, -1.0, chosen, found, best
    )
    gap = math.sqrt(best) + ROOM * moved
    for k in range(FIRST + WIDTH, COLUMNS, WIDTH):
        if np.float64(rows[i, k + HOLD]) > moved:
            break
        least = np.float64(rows[i, k + LEAST]) + (
            np.float64(rows[i, k + WAY]) * x
            + np.float64(rows[i, k + WAY + 1]) * y
            + np.float64(rows[i, k + WAY + 2]) * z
        )
        if least <= gap:
            chosen, found, best = nearer(
                triangles, int(rows[i, k + NUMBER]), point, -1.0, chosen, found, best
            )
    return True, chosen, found, best, moved


@kernel
def _least_distance(a, b, c, point, nearest):
    """A lower bound [m] of how far a triangle is from a point, and the unit vector it grows along.

    It needs not be the very nearest point: any gives a plane that all of the triangle is behind.
    """
    way = sub(point, nearest)
    size = length(way)
    if not size > 0.0:
        return 0.0, way
    way = scale(way, 1.0 / size)
    least = min(dot(sub(point, a), way), dot(sub(point, b), way), dot(sub(point, c), way))
    return max(least, 0.0), way


@kernel
def _box_way(box, i, point):
    """From the nearest point of box i to a point [m]."""
    return (
        _beyond(np.float64(box[i, 0]), np.float64(box[i, 3]), point[0]),
        _beyond(np.float64(box[i, 1]), np.float64(box[i, 4]), point[1]),
        _beyond(np.float64(box[i, 2]), np.float64(box[i, 5]), point[2]),
    )


@kernel
def _beyond(low, high, value):
    """How far a number is above an interval; negative below it."""
    if value < low:
        return value - low
    return value - high if value > high else 0.0


@kernel
def _holds(least, way, best, best_way, rounding):
    """How far [m] a point may move so that one thing stays farther than another one.

    With Δ the motion the one is at least `least` + `way`·Δ away, since the distance of a convex set
    is convex, and the other one, whose nearest point is kept, at most `best` + `best_way`·Δ +
    |Δ|²/(2·best). Neither distance changes by more than |Δ|.
    """
    more = least - best - rounding
    if not more > 0.0:
        return 0.0
    apart = length(sub(way, best_way))
    if best <= 0.0:
        return 0.5 * more
    turned = 2.0 * more / (apart + math.sqrt(apart * apart + 2.0 * more / best))
    return max(turned, 0.5 * more)


@kernel
def _box_holds(box, i, point, best, best_way, rounding, limit):
    """`_holds` for all that is in box i; `limit` where it is seen at once that it is no less."""
    way = _box_way(box, i, point)
    square = dot(way, way)
    if square <= best * best:
        return 0.0
    least = (
        _behind(np.float64(box[i, 0]), np.float64(box[i, 3]), point[0], best_way[0])
        + _behind(np.float64(box[i, 1]), np.float64(box[i, 4]), point[1], best_way[1])
        + _behind(np.float64(box[i, 2]), np.float64(box[i, 5]), point[2], best_way[2])
    )
    if 2.0 * best * (least - best - rounding) >= limit * limit:
        return limit
    size = math.sqrt(square)
    return _holds(size, scale(way, 1.0 / size), best, best_way, rounding)


@kernel
def _behind(low, high, value, way):
    """What an axis adds to how far a box is at least, along a unit vector."""
    return way * (value - (high if way > 0.0 else low))


@kernel
def _insert(kept, count, hold, triangle, least, way):
    """Put a triangle into the sorted list of the SEEN first ones; returns how many there are."""
    place = min(count, KEPT)
    while place > 0 and kept[place - 1, HOLD] > hold:
        for column in range(WIDTH):
            kept[place, column] = kept[place - 1, column]
        place -= 1
    kept[place, HOLD], kept[place, NUMBER], kept[place, LEAST] = hold, triangle, least
    kept[place, WAY], kept[place, WAY + 1], kept[place, WAY + 2] = way
    return min(count + 1, SEEN)


@kernel
def _consider(triangles, t, point, min_up, best, best_way, rounding, kept, count, free):
    """Put triangle t into the list if it counts, and holds for less than what is in it.

    Returns how many the list has, and the least distance so far.
    """
    a, b, c = load_corners(triangles, t)
    limit = kept[KEPT, HOLD] if count > KEPT else FAR
    least = min(
        dot(sub(point, a), best_way), dot(sub(point, b), best_way), dot(sub(point, c), best_way)
    )
    if 2.0 * best * (least - best - rounding) >= limit * limit:
        return count, free
    least, way = _least_distance(a, b, c, point, on_triangle(a, b, c, point))
    hold = _holds(least, way, best, best_way, rounding)
    if hold < limit and (min_up < 0.0 or is_steep(a, b, c, min_up)):
        count = _insert(kept, count, hold, t, least - rounding, way)
    return count, min(free, least - rounding)


@kernel
def _is_seed(seeds, t):
    """Whether a triangle has been considered before."""
    for k in range(SEEN):
        if seeds[k, 0] == t:
            return True
    return False


@kernel
def _near(box, link, order, triangles, point, min_up, guess, rows, i, seeds):
    """A triangle that is quite near to a point, and its point; `seeds` are the others in row i."""
    chosen, found, best = -1, point, np.inf
    known = np.float64(rows[i, OUTER]) > 0.0
    for k in range(KEPT):
        t = int(rows[i, FIRST + WIDTH * k + NUMBER]) if known else -1
        seeds[k, 0] = t
        if t >= 0:
            chosen, found, best = nearer(triangles, t, point, -1.0, chosen, found, best)
    if chosen < 0:
        chosen, found, best = walk(box, link, order, triangles, point, np.inf, -1, guess, min_up)
    return chosen, found


@kernel
def _fill(box, link, order, triangles, point, min_up, guess, rows, i):
    """Fill row i for a point [m]."""
    if not abs(point[0]) + abs(point[1]) + abs(point[2]) < FAR:
        return
    kept, seeds = scratch(SEEN, WIDTH), scratch(SEEN, 1)
    chosen, found = _near(box, link, order, triangles, point, min_up, guess, rows, i, seeds)
    best_way = sub(point, found)
    best = length(best_way)
    if chosen < 0 or not best < FAR:
        return
    rounding = ROOM * (abs(point[0]) + abs(point[1]) + abs(point[2]) + best + 1.0)
    best_way = scale(best_way, 1.0 / best) if best > 0.0 else best_way
    count = _insert(kept, 0, 0.0, chosen, 0.0, best_way)
    # what is not considered at all is farther away than the first one
    free = best - rounding
    seeds[KEPT, 0] = chosen
    # those of the row before are near, too: little else has to be looked at
    for k in range(KEPT):
        t = int(seeds[k, 0])
        if t >= 0 and t != chosen:
            count, free = _consider(
                triangles, t, point, min_up, best, best_way, rounding, kept, count, free
            )
    stack = scratch(STACK, 2)
    stack[0, 0], stack[0, 1] = 0, 0.0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        limit = kept[KEPT, HOLD] if count > KEPT else FAR
        if stack[waiting, 1] >= limit:
            continue
        node = int(stack[waiting, 0])
        while link[node, 2] == 0:
            near, far = link[node, 0], link[node, 1]
            near_hold = _box_holds(box, near, point, best, best_way, rounding, limit)
            far_hold = _box_holds(box, far, point, best, best_way, rounding, limit)
            if far_hold < near_hold:
                near, far, near_hold, far_hold = far, near, far_hold, near_hold
            if near_hold >= limit:
                break
            if far_hold < limit:
                stack[waiting, 0], stack[waiting, 1] = far, far_hold
                waiting += 1
            node = near
        start, stop = link[node, 0], link[node, 0] + link[node, 2]
        for k in range(start, stop):
            t = int(order[k])
            if not _is_seed(seeds, t):
                count, free = _consider(
                    triangles, t, point, min_up, best, best_way, rounding, kept, count, free
                )
    _write(rows, i, point, kept, count, free)


@kernel
def _write(rows, i, point, kept, count, free):
    """Write what was found around a point to row i."""
    rows[i, PLACE], rows[i, PLACE + 1], rows[i, PLACE + 2] = point[0], point[1], point[2]
    rows[i, OUTER] = kept[KEPT, HOLD] * (1.0 - ROOM) if count > KEPT else FAR
    # with more than KEPT that can be nearest here, others were not even looked at
    rows[i, FREE] = max(free, 0.0) * (1.0 - ROOM) if rows[i, OUTER] > 0.0 else 0.0
    for k in range(KEPT):
        column = FIRST + WIDTH * k
        if k >= count:
            rows[i, column + HOLD], rows[i, column + NUMBER] = np.inf, -1.0
            continue
        for n in range(WIDTH):
            rows[i, column + n] = kept[k, n]
        rows[i, column + HOLD] = kept[k, HOLD] * (1.0 - ROOM)
