"""Ways on real ground are as long as the shortest ones that a search in all directions finds."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from meshfiles import shared_triangles
from numba import njit
from waytools import RADIUS, SHAPE, followed, neighbors_of

from steer_addon.core.geometry import bvh
from steer_addon.core.inputs.world import CollidersBuilder
from steer_addon.core.ways.known import Blocks
from steer_addon.core.ways.lattice import places_of
from steer_addon.core.ways.room import OPEN, make_room, shifts_of
from steer_addon.core.ways.surface import bounds_of, make_surface
from steer_addon.core.ways.ways import Ways

RING = 5
STEPS = np.array(
    [(x, y) for x in range(-RING, RING + 1) for y in range(-RING, RING + 1) if math.gcd(x, y) == 1]
)
"""Steps of the search [cells], in 80 directions."""
AROUND = 1.0 / math.cos(0.5 * math.atan2(1.0, RING))
"""By how much ways of these steps can be longer than straight ones."""
GOALS, STARTS = 20, 10


@njit
def _side(dx, dy):
    """The side of a cell at which a neighbor lies, as `core.ways.lattice.SIDES` numbers them."""
    if dx == 0 or dy == 0:
        return 0 if dx > 0 else 1 if dy > 0 else 2 if dx < 0 else 3
    if dx > 0:
        return 4 if dy > 0 else 7
    return 5 if dy > 0 else 6


@njit
def _along(neighbors, state, cell, dx, dy):
    """The cell at the end of a step, from cell to cell that the line crosses; -1 for none."""
    ax, ay, sx, sy = abs(dx), abs(dy), np.sign(dx), np.sign(dy)
    x = y = 0
    # short of room bodies stand off the middle, and the line leads elsewhere
    least = OPEN if ax + ay > 2 else 1
    while x < ax or y < ay:
        # by which side the line leaves this cell: both at a corner
        across = (2 * x + 1) * ay - (2 * y + 1) * ax
        to_x, to_y = (1 if across <= 0 else 0), (1 if across >= 0 else 0)
        other = neighbors[cell, _side(to_x * sx, to_y * sy)]
        if other < 0 or state[cell] < least:
            return -1
        cell = other
        x, y = x + to_x, y + to_y
    return cell if state[cell] >= least else -1


@njit
def search(neighbors, state, stands, steps, goal):
    """Lengths of the shortest ways of such steps from a cell to all others [m]."""
    found = np.full(len(stands), np.inf)
    found[goal] = 0.0
    waiting = [(0.0, goal)]
    while len(waiting):
        way, cell = heapq.heappop(waiting)
        if way > found[cell]:
            continue
        for k in range(len(steps)):
            other = _along(neighbors, state, cell, steps[k, 0], steps[k, 1])
            if other < 0:
                continue
            gap = stands[cell] - stands[other]
            longer = way + math.sqrt(gap[0] ** 2 + gap[1] ** 2 + gap[2] ** 2)
            if longer < found[other]:
                found[other] = longer
                heapq.heappush(waiting, (longer, other))
    return found


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", ["nav_test.obj", "dungeon.obj"])
def test_ways_between_random_places_are_shortest(name):
    ground = bvh.build(shared_triangles(name))
    blocks = Blocks(ground, CollidersBuilder().build(()).bvh, {})
    bounds = bounds_of(ground, blocks.colliders, np.zeros((0, 3), np.float32))
    surface = make_surface(SHAPE, ground, blocks.colliders, bounds)
    room = make_room(surface, ground, blocks.colliders, RADIUS)
    view, ways, rng = surface.view, Ways(), np.random.default_rng(3)
    neighbors = neighbors_of(view)
    cells = np.arange(surface.count)
    middles = view.low + view.size * (places_of(view, cells) + 0.5 + shifts_of(room, cells) / 254.0)
    stands = np.column_stack([middles, view.z])
    # column by column, the lowest first
    order = np.lexsort((view.z, places_of(view, cells) @ [1, view.nx]))
    roomy = order[room.state[order] == OPEN]
    ratios = []
    while len(ratios) < GOALS * STARTS:
        goal = int(rng.choice(roomy))
        exact = search(neighbors, room.state, stands, STEPS, goal)
        there = roomy[np.isfinite(exact[roomy]) & (exact[roomy] > 1.0)]
        if len(there) < 1000:
            # on an island
            continue
        starts = rng.choice(there, STARTS, replace=False)
        ratios += [
            followed(None, stands[start], stands[goal], ways=ways, blocks=blocks) / exact[start]
            for start in starts
        ]
    assert max(ratios) <= 1.02 / AROUND
    # shorter where lines cut the steps of stairs that the search climbs one by one; else they
    # would go through something
    assert min(ratios) >= 0.94 and np.median(ratios) >= 0.99
