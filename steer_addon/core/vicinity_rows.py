"""How `vicinity` fills a row: the triangles that can be nearest soonest around a place.

A column of a table holds a triangle; all columns are computed side by side: `triangles_at_once`.
"""

from __future__ import annotations

import math

import numpy as np

from .bvh_rays import TINY
from .eights import MOST, ROOMY, around
from .jit import kernel, scratch
from .triangles_at_once import CORNERS, FOUND, PLACE, nearest_at_once, put_corners, put_three, three
from .triangles_at_once import LINES as FIRST_LINE
from .vec import cross, dot, length, scale, sub

OTHERS = 8
"""Triangles in a row besides the first one."""
SEEN = OTHERS + 1
PLACED, OUTER, FREE, BEFORE, FREE_BEFORE, FIRST = 0, 3, 4, 5, 8, 9
"""Columns of a row: the place that it was made for [m], how far from there it tells [m], in
what distance from there there is no triangle at all [m], such a place and distance of a row before,
and the number of its first triangle."""
HOLD, NUMBER, LEAST, WAY = (10 + k * OTHERS for k in (0, 1, 2, 3))
"""First columns of the other triangles, all of one kind side by side: how far from that place each
cannot be the nearest [m], its number, the least distance that it has at the place [m], and the unit
vector along which that grows, first all x."""
COLUMNS = WAY + 3 * OTHERS
ROOM = 1.0e-6
"""Share of a distance, and of the coordinates, that covers any rounding."""
FAR = 1.0e30
"""Distances above this are kept as this [m]."""

OWN, HOLDS, AT_LEAST, ALONG, LINES = (FIRST_LINE + k for k in (0, 1, 2, 3, 6))
"""Lines of the table: number of the triangle, and what a row says of it."""
TRIES = 6
GROWTH = 1.25
"""A row may tell for so much longer a way than the one before."""


@kernel
def _gather(bvh, eights, point, way, limit, best, rounding, table):
    """Write a column for each triangle that may hold for less; tells how many, MOST + 1 if more."""
    lists = scratch(2, ROOMY)
    side, count = around(eights.groups, eights.level, point, way, limit, best, rounding, lists)
    if count > MOST:
        return MOST + 1
    for n in range(count):
        i = int(bvh.order[int(lists[side, n])])
        put_corners(table, n, bvh.triangles, i)
        put_three(table, PLACE, n, point)
        table[OWN, n] = i
    return count


@kernel
def _weigh(table, count, point, min_up, chosen, best, best_way, rounding):
    """What a row says of each triangle: how far it holds, inf for those that do not count.

    With Δ the motion one triangle is at least `least` + `way`·Δ away, since the distance of a
    convex set is convex, and the chosen one, whose nearest point is kept, at most `best` +
    `best_way`·Δ + |Δ|²/(2·best). Neither distance changes by more than |Δ|.
    """
    curve = 2.0 / best if best > 0.0 else 0.0
    for n in range(count):
        a, b, c = (
            three(table, CORNERS, n),
            three(table, CORNERS + 3, n),
            three(table, CORNERS + 6, n),
        )
        # it needs not be the very nearest point: any gives a plane that all the rest is behind
        way = sub(point, three(table, FOUND, n))
        size = length(way)
        way = scale(way, 1.0 / (size if size > 0.0 else 1.0))
        least = min(dot(sub(point, a), way), dot(sub(point, b), way), dot(sub(point, c), way))
        least = max(least, 0.0)
        more = max(least - best - rounding, 0.0)
        apart = sub(way, best_way)
        square = dot(apart, apart)
        turned = math.sqrt(square) + math.sqrt(square + curve * more)
        hold = 2.0 * more / (turned if (turned > 0.0) & (best > 0.0) else 4.0)
        hold = max(hold, 0.5 * more)
        counts = (table[OWN, n] != chosen) & ((min_up < 0.0) | _is_steep(a, b, c, min_up))
        table[HOLDS, n] = hold if counts else math.inf
        table[AT_LEAST, n] = least - rounding
        put_three(table, ALONG, n, way)


@kernel
def _is_steep(a, b, c, min_up):
    """`bvh_points.is_steep` without branches."""
    p, q = sub(b, a), sub(c, a)
    normal = cross(p, q)
    size = math.sqrt(dot(normal, normal))
    has_area = (size > 1.0e-12 * (dot(p, p) + dot(q, q))) & (size >= TINY)
    size = size if has_area else 1.0
    leans = (normal[0] / size != 0.0) | (normal[1] / size != 0.0)
    return has_area & leans & (abs(normal[2] / size) < min_up)


@kernel
def _limit(triangles, outer, best):
    """How far a row is tried to tell [m]."""
    if len(triangles) <= SEEN:
        return FAR
    return GROWTH * outer if outer > 0.0 else 0.1 * best


@kernel
def fill(bvh, eights, point, min_up, chosen, found, rows, i):
    """Fill row i for a point [m].

    Args:
        bvh: BvhView.
        eights: EightsView of the same triangles.
        point: The place to know around (x, y, z) [m].
        min_up: Which triangles count, see `vicinity.nearest_around`.
        chosen: One of those that count, best the nearest.
        found: Its point next to the place [m].
        rows: From `vicinity.Vicinities`.
        i: The row.
    """
    best_way = sub(point, found)
    best = length(best_way)
    if not abs(point[0]) + abs(point[1]) + abs(point[2]) + best < FAR:
        return
    rounding = ROOM * (abs(point[0]) + abs(point[1]) + abs(point[2]) + best + 1.0)
    best_way = scale(best_way, 1.0 / best) if best > 0.0 else best_way
    table = scratch(LINES, MOST)
    limit = _limit(bvh.triangles, np.float64(rows[i, OUTER]), best)
    count = _gather(bvh, eights, point, best_way, limit, best, rounding, table)
    few = count <= OTHERS
    for _try in range(TRIES):
        few = few and count <= OTHERS
        if not few and count <= MOST:
            break
        limit *= 2.0 if few else 0.5
        count = _gather(bvh, eights, point, best_way, limit, best, rounding, table)
    nearest_at_once(table, min(count, MOST))
    _weigh(table, min(count, MOST), point, min_up, chosen, best, best_way, rounding)
    _write(rows, i, point, chosen, best - rounding, limit if count <= MOST else 0.0, table, count)


@kernel
def _write(rows, i, point, chosen, free, limit, table, count):
    """Write what was found around a point to row i."""
    kept, places = 0, scratch(2, SEEN)
    for n in range(count if limit > 0.0 else 0):
        free = min(free, table[AT_LEAST, n])
        hold = table[HOLDS, n]
        if hold >= (places[0, OTHERS] if kept > OTHERS else limit):
            continue
        place = min(kept, OTHERS)
        while place > 0 and places[0, place - 1] > hold:
            places[0, place], places[1, place] = places[0, place - 1], places[1, place - 1]
            place -= 1
        places[0, place], places[1, place] = hold, n
        kept = min(kept + 1, SEEN)
    _keep_ball(rows, i)
    rows[i, PLACED], rows[i, PLACED + 1], rows[i, PLACED + 2] = point[0], point[1], point[2]
    outer = places[0, OTHERS] if kept > OTHERS else limit
    rows[i, OUTER] = outer * (1.0 - ROOM) if outer < FAR else FAR
    # where too many can be nearest, others were not even looked at
    rows[i, FREE] = max(free, 0.0) * (1.0 - ROOM) if outer > 0.0 else 0.0
    rows[i, FIRST] = chosen
    for k in range(OTHERS):
        rows[i, HOLD + k] = math.inf
        if k < kept:
            n = int(places[1, k])
            rows[i, HOLD + k] = places[0, k] * (1.0 - ROOM)
            rows[i, NUMBER + k] = table[OWN, n]
            rows[i, LEAST + k] = table[AT_LEAST, n]
            for axis in range(3):
                rows[i, WAY + axis * OTHERS + k] = table[ALONG + axis, n]


@kernel
def _keep_ball(rows, i):
    """Keep the free ball of row i as the one before."""
    for column in range(4):
        rows[i, BEFORE + column] = rows[i, (PLACED + column) if column < 3 else FREE]
