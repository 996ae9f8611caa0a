"""Assignment: goers and places one to one, so that the sum of all ways is least.

An auction finds prices of the places: one after the other, each goer without a place takes the one
where way and price together are least, and raises its price by what the next best costs more, and
by ε; who had the place goes on. That is done for smaller and smaller ε, each time from the prices
before. Goers know the few places that were best when they last looked at all of them, and look
again only when another one may have become better: prices never fall.

From these prices it is few steps to the optimum: pairs whose way and price are least of all are
kept, and the others are joined along shortest ways of exchange (the Hungarian method). That part is
exact whatever the prices are, but for the rounding of positions, so an auction that takes long is
broken off. Places beyond the number of goers are taken by goers to whom all places are equally far,
one kind of goers that do not bid against one another.

Among more than MOST the sum is only nearly the least. Both sides are divided into cells of CELL by
halving them across their longest side, cells are assigned to cells by their middles, and the goers
of each cell to the places of its cell. Then groups of GROUP pairs near one another, with those
without a pair among them, are assigned anew, with other groups each time: by where goers, places,
and the middles of ways are.

Where all go the same way many assignments have nearly the same sum, and in the least one goers may
have to pass others that already stand. A small weight of the squares of ways keeps their order.

Symbols: ε least raise of a price [m].
Source: Bertsekas 1988, "The auction algorithm: a distributed relaxation method for the assignment
problem"; Jonker, Volgenant 1987, "A shortest augmenting path algorithm for dense and sparse linear
assignment problems".
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled.jit import kernel

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

KNOWN = 8
"""Number of places that a goer knows."""
FIRST, FACTOR, LAST = 0.2, 5.0, 3.0e-8
"""The first and the last ε as shares of the size of the scene; each is smaller by the factor."""
BIDS = 100
"""Bids in all, for each place, after which an auction is broken off."""
ROUNDING = 3.0e-8
"""Differences that are none, as shares of the size of the scene: positions are as exact as that."""
MOST = 5000
"""Number of goers, or of places, up to which the sum of the ways is the least."""
CELL, GROUP = 50, 250
"""Number of goers or places in a cell, and of pairs in a group."""
TURNS = ((1.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (3.0, 1.0), (1.0, 3.0))
"""Directions along which groups are made, not by angles: sines differ between machines."""
_SHUFFLE = 2654435761


class MarketView(NamedTuple):
    """Working memory of an assignment of n goers to m places, n ≤ m."""

    price: F64  # (m,) [m]
    owner: I64  # (m,) goer at each place, -1 for none; from n on those to whom all are equal
    place: I64  # (m,) place of each goer, -1 for none
    known: I64  # (m, KNOWN) places that a goer knows
    bound: F64  # (m,) [m] least sum of way and price of those that it does not know
    least: F64  # (KNOWN + 1,) [m]
    sums: F64  # (m,) [m] way and price of all places for a goer
    stack: I64  # (m,) goers without a place
    way: F64  # (m,) [m] least sum of way and price for each goer
    reach: F64  # (m,) [m] length of the shortest exchange that is known; -inf once it is final
    final: F64  # (m,) [m]
    before: I64  # (m,) the goer from whom the exchange comes
    open: I64  # (m,) places, those that are not final first
    bend: F64  # (1,) [1/m] weight of the squares of ways


def _market(count: int) -> MarketView:
    whole = {"owner", "place", "known", "stack", "before", "open"}
    widths = {"known": (count, KNOWN), "least": (KNOWN + 1,)}
    widths["bend"] = (1,)
    made: dict[str, Any] = {
        name: np.full(widths.get(name, (count,)), -1, np.int64)
        if name in whole
        else np.zeros(widths.get(name, (count,)))
        for name in MarketView._fields
    }
    return MarketView(**made)


def assigned(goers: Any, places: Any, bend: float = 0.0) -> I64:
    """The assignment with the least sum of ways, with the best subset of what there is more of.

    Among more than MOST goers or places the sum is nearly the least.

    Args:
        goers: Positions [m], shape (n, 3).
        places: Positions [m], shape (m, 3).
        bend: Weight of the squares of the ways in the sum [1/m]; 0 for none.

    Returns:
        Row of each goer's place, shape (n,); -1 for those without.
    """
    goers, places = np.asarray(goers, np.float64), np.asarray(places, np.float64)
    if len(goers) > len(places):
        result = np.full(len(goers), -1, np.int64)
        result[assigned(places, goers, bend)] = np.arange(len(places))
        return result
    if not len(goers):
        return np.zeros(0, np.int64)
    if len(goers) ** 2 < len(places):
        # nobody has to go farther than to the nearest ones, as many as there are goers
        gaps = np.linalg.norm(places - goers[:, None], axis=2)
        near = np.unique(np.argpartition(gaps, len(goers) - 1)[:, : len(goers)])
        places, found = places[near], near
    else:
        found = np.arange(len(places))
    find = _least if len(places) <= MOST else _nearly_least
    rows = find(goers, places, bend)
    taken: I64 = found[rows]
    return taken


def _least(goers: F64, places: F64, bend: float) -> I64:
    """Places with the least sum of ways of no more goers than places, shape (n,)."""
    # places in rows are often sorted: looked at in that order, each would be the best so far
    order = np.argsort(np.arange(len(places)) * _SHUFFLE % 2**32, kind="stable")
    columns = np.ascontiguousarray(places[order].T)
    size = float(np.ptp(np.concatenate([goers, places]), axis=0).max()) or 1.0
    size += bend * size * size
    market = _market(len(places))
    market.bend[0] = bend
    _auction(goers, columns, market, FIRST * size, LAST * size)
    _settle(goers, columns, market)
    _finish(goers, columns, market, ROUNDING * size)
    found: I64 = order[market.place[: len(goers)]]
    return found


def _cells(points: F64, rows: I64, size: int) -> list[I64]:
    """Rows of points in groups of `size` that lie near one another; the last one may be smaller."""
    if len(rows) <= size:
        return [rows]
    axis = int(np.ptp(points[rows], axis=0).argmax())
    rows = rows[np.argsort(points[rows, axis], kind="stable")]
    half = -(-len(rows) // (2 * size)) * size
    return _cells(points, rows[:half], size) + _cells(points, rows[half:], size)


def _nearly_least(goers: F64, places: F64, bend: float) -> I64:
    """Places with nearly the least sum of ways of no more goers than places, shape (n,)."""
    result = np.full(len(goers), -1, np.int64)
    sides = []
    for points in (goers, places):
        cells = _cells(points, np.arange(len(points)), CELL)
        sides.append([cell for cell in cells if len(cell) == CELL])
    middles = [
        np.array([points[cell].mean(axis=0) for cell in cells]).reshape(-1, 3)
        for points, cells in zip((goers, places), sides, strict=True)
    ]
    for cell, other in zip(sides[0], assigned(middles[0], middles[1], bend), strict=True):
        result[cell] = sides[1][other][_least(goers[cell], places[sides[1][other]], bend)]
    rest = np.flatnonzero(result < 0)
    free = np.setdiff1d(np.arange(len(places)), result)
    result[rest] = free[assigned(goers[rest], places[free], bend)]
    for turn in TURNS:
        for share in (0.0, 0.5, 1.0):
            _improve(goers, places, result, share, turn, bend)
    return result


def _improve(
    goers: F64, places: F64, result: I64, share: float, turn: tuple[float, float], bend: float
) -> None:
    """Assign groups of pairs anew.

    Args:
        goers: Positions [m], shape (n, 3).
        places: Positions [m], shape (m, 3).
        result: Row of each goer's place, shape (n,); it is changed.
        share: Where on their ways pairs count as near one another: 0 at the goers, 1 at the places.
        turn: Direction along which the groups are made.
        bend: See `assigned`.
    """
    free = np.setdiff1d(np.arange(len(places)), result)
    ways = goers + share * (places[result] - goers)
    points = np.concatenate([ways, places[free]])
    (x, y), (a, b) = points[:, :2].T, turn
    turned = np.stack([a * x - b * y, b * x + a * y, points[:, 2]], axis=1)
    for group in _cells(turned, np.arange(len(points)), GROUP):
        pairs = group[group < len(goers)]
        open_places = np.concatenate([result[pairs], free[group[group >= len(goers)] - len(goers)]])
        result[pairs] = open_places[_least(goers[pairs], places[open_places], bend)]


@kernel
def _sum_up(goers, columns, market, i):
    """Way and price of all places for goer i."""
    price, sums, bend = market.price, market.sums, market.bend[0]
    count = len(price)
    if i >= len(goers):
        for j in range(count):
            sums[j] = price[j]
        return
    x, y, z = goers[i, 0], goers[i, 1], goers[i, 2]
    for j in range(count):
        dx, dy, dz = columns[0, j] - x, columns[1, j] - y, columns[2, j] - z
        square = dx * dx + dy * dy + dz * dz
        sums[j] = math.sqrt(square) + bend * square + price[j]


@kernel
def _look(goers, columns, market, i):
    """Let a goer look at all places, and know the best of them."""
    sums, least, known = market.sums, market.least, market.known
    _sum_up(goers, columns, market, i)
    size = 0
    worst = np.inf
    for j in range(len(sums)):
        if sums[j] >= worst:
            continue
        q = min(size, KNOWN)
        size = min(size + 1, KNOWN + 1)
        while q > 0 and least[q - 1] > sums[j]:
            least[q] = least[q - 1]
            if q < KNOWN:
                known[i, q] = known[i, q - 1]
            q -= 1
        least[q] = sums[j]
        if q < KNOWN:
            known[i, q] = j
        if size > KNOWN:
            worst = least[KNOWN]
    market.bound[i] = worst


@kernel
def _two_known(goers, columns, market, i):
    """The best place that goer i knows, and the sums of way and price for it and the next best."""
    best, second, found = np.inf, np.inf, -1
    for q in range(KNOWN):
        j = market.known[i, q]
        if j < 0:
            break
        dx, dy = columns[0, j] - goers[i, 0], columns[1, j] - goers[i, 1]
        dz = columns[2, j] - goers[i, 2]
        square = dx * dx + dy * dy + dz * dz
        total = math.sqrt(square) + market.bend[0] * square + market.price[j]
        if total < best:
            best, second, found = total, best, j
        elif total < second:
            second = total
    return found, best, second


@kernel
def _two_cheapest(market, n):
    """The cheapest place that none of those has to whom all are equal, and the two least prices."""
    best, second, found = np.inf, np.inf, -1
    for j in range(len(market.price)):
        if market.owner[j] >= n:
            continue
        if market.price[j] < best:
            best, second, found = market.price[j], best, j
        elif market.price[j] < second:
            second = market.price[j]
    return found, best, second


@kernel
def _bid(goers, columns, market, i):
    """The place that goer i takes, and by how much it is better than the next one [m]."""
    n = len(goers)
    if i >= n:
        found, best, second = _two_cheapest(market, n)
    else:
        found, best, second = _two_known(goers, columns, market, i)
        if found < 0 or second > market.bound[i]:
            _look(goers, columns, market, i)
            found, best, second = _two_known(goers, columns, market, i)
    return found, 0.0 if second == np.inf else second - best


@kernel
def _auction(goers, columns, market, raise_first, raise_last):
    """Find prices that are nearly those of the optimum, and owners for these."""
    count = len(market.price)
    epsilon, bids = raise_first, BIDS * count
    while True:
        for j in range(count):
            market.owner[j] = -1
            market.stack[j] = count - 1 - j
        top = count
        while top > 0 and bids > 0:
            bids -= 1
            top -= 1
            i = market.stack[top]
            j, better = _bid(goers, columns, market, i)
            market.price[j] += better + epsilon
            if market.owner[j] >= 0:
                market.stack[top] = market.owner[j]
                top += 1
            market.owner[j] = i
        if epsilon <= raise_last or bids <= 0:
            break
        epsilon = max(epsilon / FACTOR, raise_last)


@kernel
def _settle(goers, columns, market):
    """Keep those pairs whose way and price are least; the others have no place."""
    n, count = len(goers), len(market.price)
    # those to whom all places are equal have the cheapest ones, all at one price
    floor = -np.inf
    for j in range(count):
        market.place[j] = -1
        if market.owner[j] >= n:
            floor = max(floor, market.price[j])
    for j in range(count):
        market.price[j] = max(market.price[j], floor)
        if market.owner[j] >= n:
            market.place[market.owner[j]] = j
        else:
            market.owner[j] = -1
    for i in range(count):
        _sum_up(goers, columns, market, i)
        found = 0
        for j in range(1, count):
            free = market.owner[j] < 0 and market.owner[found] >= 0
            if market.sums[j] < market.sums[found] or (
                market.sums[j] == market.sums[found] and free
            ):
                found = j
        market.way[i] = market.sums[found]
        if market.place[i] < 0 and market.owner[found] < 0:
            market.place[i], market.owner[found] = found, i


@kernel
def _nearer(goers, columns, market, i, reached):
    """Note to which places goer i would go on, `reached` [m] from the start of the exchange."""
    _sum_up(goers, columns, market, i)
    offset = reached - market.way[i]
    for j in range(len(market.sums)):
        if market.sums[j] + offset < market.reach[j]:
            market.reach[j] = market.sums[j] + offset
            market.before[j] = i


@kernel
def _finish(goers, columns, market, tolerance):
    """Give a place to every goer that has none."""
    for goer in range(len(market.place)):
        if market.place[goer] < 0:
            _exchange(goers, columns, market, goer, tolerance)


@kernel
def _exchange(goers, columns, market, first, tolerance):
    """Give a place to a goer without: others go on to their next ones, at the least cost in all."""
    n, count = len(goers), len(market.price)
    for j in range(count):
        market.reach[j], market.open[j] = np.inf, j
    i, reached, left, end = first, 0.0, count, -1
    equals = False
    while end < 0:
        # those to whom all places are equal go on to the same ones: the first comes soonest
        if i < n or not equals:
            _nearer(goers, columns, market, i, reached)
            equals = equals or i >= n
        best, at, best_free, free = np.inf, 0, np.inf, 0
        for q in range(left):
            j = market.open[q]
            if market.reach[j] < best:
                best, at = market.reach[j], q
            if market.reach[j] < best_free and market.owner[j] < 0:
                best_free, free = market.reach[j], q
        if best_free <= best + tolerance:
            best, at = best_free, free
        j = market.open[at]
        left -= 1
        market.open[at], market.open[left] = market.open[left], j
        reached = best
        market.final[j], market.reach[j] = best, -np.inf
        i = market.owner[j]
        if i < 0:
            end = j
    market.way[first] += reached
    for q in range(left + 1, count):
        j = market.open[q]
        market.way[market.owner[j]] += reached - market.final[j]
        market.price[j] += reached - market.final[j]
    j = end
    while j >= 0:
        i = market.before[j]
        market.owner[j] = i
        j, market.place[i] = market.place[i], j
        if i == first:
            break
