"""Ways by cost are the cheapest ones, held against a plain search among many more directions."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
import way_scenes as scenes
from waytools import RADIUS, SHAPE, blocks_of

from steer_addon.core.ways.islands import Roots
from steer_addon.core.ways.lattice import places_of
from steer_addon.core.ways.room import BLOCKED, OPEN, make_room
from steer_addon.core.ways.searching import Scratch, fill_field
from steer_addon.core.ways.surface import bounds_of, make_surface

SIDE = 16.0
NO_GOALS = np.zeros((0, 3), np.float32)
STEPS = [
    (x, y) for x in range(-4, 5) for y in range(-4, 5) if np.gcd(abs(x), abs(y)) == 1
]  # 48 directions: ways along them are at most 0.3 % too long


def plane_of(scene):
    """The surface of a plane, where it is open, and its open cells by row and column."""
    blocks = blocks_of(scene)
    bounds = bounds_of(blocks.ground, blocks.colliders, NO_GOALS)
    surface = make_surface(SHAPE, blocks.ground, blocks.colliders, bounds)
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    # bodies stand off the middle of tight cells
    room = room._replace(state=np.where(room.state == OPEN, room.state, BLOCKED).astype(np.uint8))
    view = surface.view
    at = places_of(view, np.arange(surface.count))
    free = np.zeros((view.ny, view.nx), bool)
    free[at[:, 1], at[:, 0]] = room.state == OPEN
    return surface, room, free, at


def crowds(at, seed):
    """Costs up to 30 around places where people stand, and of a strip that is twice as dear."""
    rng = np.random.default_rng(seed)
    x, y = (at.T + 0.5) * 0.25
    cost = np.where((x > 6.0) & (x < 8.0), 2.0, 1.0)
    for middle in rng.uniform(2.0, SIDE - 2.0, (6, 2)):
        gap = (x - middle[0]) ** 2 + (y - middle[1]) ** 2
        cost += rng.uniform(2.0, 29.0) * np.exp(-gap / 2.0)
    return cost.astype(np.float32)


def line_between(a, b):
    """Cells on the line between the middles of two, evenly, (n, 2), and its length [cells]."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    far = np.abs(b - a).max()
    share = (np.arange(20 * int(far)) + 0.5) / (20 * int(far))
    return np.floor(a + 0.5 + share[:, None] * (b - a)).astype(int), np.hypot(*(b - a))


def moves_of(free, cost):
    """The moves in `STEPS`: each with the cells from which it is open, and what it costs there."""
    rows, columns = free.shape
    free, cost, found = np.pad(free, 4), np.pad(cost, 4), []
    for step in STEPS:
        cells, length = line_between((0, 0), step)
        passed, times = np.unique(cells, axis=0, return_counts=True)
        parts = [np.s_[4 + y : 4 + y + rows, 4 + x : 4 + x + columns] for x, y in passed]
        fits = np.all([free[part] for part in parts], axis=0)
        price = length * np.average([cost[part] for part in parts], axis=0, weights=times)
        found.append((*step, fits.tolist(), price.tolist()))
    return found


def plain_lengths(free, cost, goal):
    """What ways to a cell cost [cells], by moves in `STEPS`, shape (rows, columns)."""
    moves = moves_of(free, cost)
    found = np.full(free.shape, np.inf).tolist()
    found[goal[1]][goal[0]] = 0.0
    waiting = [(0.0, goal)]
    while waiting:
        way, (x, y) = heapq.heappop(waiting)
        if way > found[y][x]:
            continue
        for dx, dy, fits, price in moves:
            if fits[y][x] and way + price[y][x] < found[y + dy][x + dx]:
                found[y + dy][x + dx] = way + price[y][x]
                heapq.heappush(waiting, (found[y + dy][x + dx], (x + dx, y + dy)))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_ways_by_cost_are_the_cheapest(seed):
    walls = [
        scenes.rectangle(4, 3, 5, 9),
        scenes.rectangle(9, 7, 13, 8),
        scenes.rectangle(2, 12, 7, 13),
    ]
    scene = scenes.on_plane([*walls, *scenes.fence(0, 0, SIDE, SIDE)], (SIDE, SIDE))
    surface, room, free, at = plane_of(scene)
    view, cost = surface.view, crowds(at, seed)
    goal = int(np.flatnonzero((room.state == OPEN) & (at == [50, 40]).all(axis=1))[0])
    field = np.zeros(surface.count, np.int32), np.zeros(surface.count, np.float32)
    length = field[1]
    roots = Roots(goal, np.array([goal]), np.zeros(1))
    fill_field(view, room, roots, cost, field, Scratch())
    costs = np.ones(free.shape)
    costs[at[:, 1], at[:, 0]] = cost
    plain = plain_lengths(free, costs, tuple(at[goal].tolist())) * view.size
    plain = plain[at[:, 1], at[:, 0]]
    far = np.flatnonzero((room.state == OPEN) & (plain > 1.0) & np.isfinite(plain))
    assert len(far) > 2000
    ratio = length[far] / plain[far]
    # ways bend at middles of cells, and where costs differ they go from cell to cell
    assert ratio.min() > 0.99 and np.median(ratio) < 1.015
    assert np.quantile(ratio, 0.95) < 1.03 and ratio.max() < 1.05
