"""Bodies see the corners that fields give them: all points of the straight way there are open.

Most cells take over what their neighbors see without a look of their own. That is right only where
nothing fits between two looks: a thin wall does beside small bodies, and the side of a bump.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from waytools import neighbors_of

from steer_addon.core.geometry import bvh
from steer_addon.core.ways.islands import Roots
from steer_addon.core.ways.lattice import places_of
from steer_addon.core.ways.room import OPEN, make_room, shifts_of
from steer_addon.core.ways.searching import Scratch, fill_field
from steer_addon.core.ways.surface import Shape, bounds_of, make_surface
from tests.often import often

SIDE, CELL, STEP = 16.0, 0.25, 0.35
GRAZED = 0.02
"""Points so close to the border of two cells may be in either [cells]."""


def wall(x, y, to_x, to_y, low=-1.0, high=3.0):
    """A wall without thickness."""
    a, b, c, d = (x, y, low), (to_x, to_y, low), (to_x, to_y, high), (x, y, high)
    return [(a, b, c), (a, c, d)]


def bump(x, y, long, wide, high):
    """A ramp up and one down along x, with upright sides that are too high to step up."""
    ends = [(x, y), (x + 0.5 * long, y), (x + long, y)]
    near = [(*ends[0], 0.0), (*ends[1], high), (*ends[2], 0.0)]
    far = [(px, py + wide, pz) for px, py, pz in near]
    tops = [(near[k], near[k + 1], far[k + 1]) for k in (0, 1)]
    tops += [(near[k], far[k + 1], far[k]) for k in (0, 1)]
    return [*tops, tuple(near), tuple(far[::-1])]


def scene(seed):
    """Ground with bumps, and walls, most of them short: (triangles of the ground, of the walls)."""
    rng = np.random.default_rng(seed)
    a, b, c, d = (0.0, 0.0, 0.0), (SIDE, 0.0, 0.0), (SIDE, SIDE, 0.0), (0.0, SIDE, 0.0)
    ground, walls = [(a, b, c), (a, c, d)], []
    for _ in range(3):
        x, y = rng.uniform(1.0, SIDE - 5.0, 2)
        ground += bump(x, y, *rng.uniform((2.0, 0.6, 0.6), (4.0, 1.5, 1.2)))
    for k in range(60):
        x, y = rng.uniform(1.0, SIDE - 4.0, 2)
        long = rng.uniform(0.2, 3.0 if k < 6 else 0.6)
        walls += wall(x, y, x + long * (k % 2), y + long * (1 - k % 2))
    return np.array(ground, np.float32), np.array(walls, np.float32)


def walked(view, room, others, middles, begin, end):
    """Whether the points of a straight way are in open cells that are linked one to the next.

    Args:
        view: The surface.
        room: The room on it.
        others: The cell at each side of each cell, see `neighbors_of`.
        middles: Where bodies stand in each cell [cells], shape (cells, 2).
        begin: The cell where it begins.
        end: The cell where it ends.
    """
    middle = middles[[begin, end]]
    share = np.linspace(0.0, 1.0, 2 + int(50.0 * np.abs(middle[1] - middle[0]).max()))[:, None]
    points = middle[0] + share * (middle[1] - middle[0])
    sure = (np.abs(points - np.round(points)) > GRAZED).all(axis=1)
    columns = np.floor(points[sure]).astype(int)
    columns = columns[np.r_[True, (np.diff(columns, axis=0) != 0).any(axis=1)]]
    cells = columns[:, 1] * view.nx + columns[:, 0]
    steps = np.diff(columns, axis=0)
    beside = np.abs(steps).sum(axis=1) == 1
    side = np.abs(steps[:, 1]) + 2 * (steps.sum(axis=1) < 0)
    linked = others[cells[:-1], side] >= 0
    return (room.state[cells[1:-1]] == OPEN).all() and linked[beside].all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("radius", "costly"),
    often(product((0.05, 0.3), (False, True)), (0.05, False), (0.3, True)),
)
def test_corners_of_fields_are_seen(radius, costly):
    ground, walls = (bvh.build(triangles) for triangles in scene(5))
    shape = Shape(CELL, STEP, 50.0, 1.75, 0.5)
    bounds = bounds_of(ground, walls, np.zeros((0, 3), np.float32))
    surface = make_surface(shape, ground, walls, bounds)
    view, room = surface.view, make_room(surface, ground, walls, radius)
    assert surface.layers == 1
    at, others = places_of(view, np.arange(surface.count)), neighbors_of(view)
    middles = at + 0.5 + 0.5 / 127.0 * shifts_of(room, np.arange(surface.count)).astype(float)
    rng = np.random.default_rng(9)
    cost = np.ones(surface.count, np.float32)
    cost[((at // 12).sum(axis=1) % 3) == 0] = 1.7
    far_looks = 0
    for number, goal in enumerate(rng.choice(np.flatnonzero(room.state == OPEN), 3)):
        field = np.zeros(surface.count, np.int32), np.zeros(surface.count, np.float32)
        roots = Roots(int(goal), np.array([goal]), np.zeros(1))
        fill_field(view, room, roots, cost if costly else None, field, Scratch())
        corner = field[0]
        way = np.abs(at[corner] - at).max(axis=1)
        # to one that is next to it a link leads; others are looked at in turns
        for cell in np.flatnonzero((room.state == OPEN) & (corner >= 0) & (way > 1))[number::3]:
            assert walked(view, room, others, middles, cell, corner[cell]), (goal, cell)
        far_looks += (way[corner >= 0] > 8).sum()
    assert far_looks > 1000


@pytest.mark.parametrize("costly", [False, True])
def test_a_field_that_ends_early_knows_what_the_whole_one_knows(costly):
    ground, walls = (bvh.build(triangles) for triangles in scene(5))
    shape = Shape(CELL, STEP, 50.0, 1.75, 0.5)
    bounds = bounds_of(ground, walls, np.zeros((0, 3), np.float32))
    surface = make_surface(shape, ground, walls, bounds)
    view, room = surface.view, make_room(surface, ground, walls, 0.3)
    rng = np.random.default_rng(4)
    cost = np.ones(surface.count, np.float32)
    at = places_of(view, np.arange(surface.count))
    cost[((at // 12).sum(axis=1) % 3) == 0] = 1.7
    goal = int(rng.choice(np.flatnonzero(room.state == OPEN)))
    roots = Roots(goal, np.array([goal]), np.zeros(1))
    counts = []

    def filled(limit):
        field = np.zeros(surface.count, np.int32), np.zeros(surface.count, np.float32)
        options = roots, cost if costly else None, field, Scratch()
        return field, fill_field(view, room, *options, limit=limit)

    (corner, distance), reach = filled(np.inf)
    assert reach == np.inf
    for limit in (0.0, 3.0, 8.0, 1000.0):
        (early, length), reach = filled(limit)
        known = np.isfinite(length)
        counts.append(known.sum())
        assert reach == (limit if limit < 1000.0 else np.inf)
        np.testing.assert_array_equal(early[known], corner[known])
        np.testing.assert_array_equal(length[known], distance[known])
        assert (early[~known] == -1).all()
        # nothing is missing that is nearer, but for ways that became a little shorter in their turn
        assert (distance[~known] > 0.95 * limit).all()
    assert counts[0] == 1 and counts == sorted(counts) and counts[2] < counts[3]
