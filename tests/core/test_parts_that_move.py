"""Colliders of which a part moves: the surface is found again around it only, and is the same."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import way_scenes as scenes
from hypothesis import given, settings
from hypothesis import strategies as st
from tried import tried
from waytools import RADIUS, SHAPE, blocks_of, led

from steer_addon.core.inputs.world import CollidersBuilder
from steer_addon.core.ways import known as known_module
from steer_addon.core.ways.known import Blocks
from steer_addon.core.ways.surface import bounds_of, make_surface
from steer_addon.core.ways.ways import Ways

NO_GOALS = np.zeros((0, 3), np.float32)
PARKED = [(6.0 * x, 6.0 * y) for x in range(5) for y in range(4)]


class Street:
    """Cars of one mesh on a square, each at a place of its own."""

    def __init__(self):
        self.ground = blocks_of(scenes.on_plane([], (40.0, 40.0))).ground
        self._builder = CollidersBuilder()

    def blocks(self, places, extra=()):
        low = np.array([[x, y, 0.3] for x, y in places])
        cars = scenes.boxes(low, low + [2.0, 3.0, 1.5], "cars")
        found = self._builder.build((cars, *extra))
        return Blocks(self.ground, found.bvh, dict(zip(found.names, found.trees, strict=True)))


def assert_fresh(ways, blocks):
    found = ways.surface(SHAPE, blocks, NO_GOALS)
    bounds = bounds_of(blocks.ground, blocks.colliders, NO_GOALS)
    wanted = make_surface(SHAPE, blocks.ground, blocks.colliders, bounds)
    for name, one, other in zip(found.view._fields, found.view, wanted.view, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.fixture
def touched(monkeypatch):
    """How many cells are found again each time."""
    counts, find = [], known_module._touched
    monkeypatch.setattr(
        known_module, "_touched", lambda *given: counts.append(len(found := find(*given))) or found
    )
    return counts


def test_one_car_of_a_mesh_drives_and_the_others_stand(touched):
    street, ways = Street(), Ways()
    ways.surface(SHAPE, street.blocks([*PARKED, (30.0, 2.0)]), NO_GOALS)
    starts, goal = np.float32([[33.0, 30.0, 0.0], [1.0, 28.0, 0.0]]), np.float32([36.0, 1.0, 0.0])
    for step in range(1, 5):
        blocks = street.blocks([*PARKED, (30.0, 2.0 + 0.6 * step)])
        assert_fresh(ways, blocks)
        kept, fresh = (led(None, starts, goal, RADIUS, each, blocks) for each in (ways, Ways()))
        for one, other in zip(kept, fresh, strict=True):
            np.testing.assert_array_equal(one, other)
    assert len(touched) > 4 and max(touched) < 600
    # all of them stop in between
    ways.surface(SHAPE, blocks, NO_GOALS)
    assert touched[-1] == 0


def test_cars_that_come_and_go_and_ride_off_the_ground():
    street, ways = Street(), Ways()
    for places in (PARKED, PARKED[:-3], [*PARKED, (60.0, 60.0)], [*PARKED, (-50.0, 38.0)], PARKED):
        assert_fresh(ways, street.blocks(places))
    assert_fresh(ways, street.blocks(PARKED, extra=(scenes.door_leaf(0.3),)))
    assert_fresh(ways, street.blocks(PARKED[:1]))


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_any_of_them_may_drive_at_once(seed):
    rng, street, ways = np.random.default_rng(seed), Street(), Ways()
    places = np.array(PARKED)
    ways.surface(SHAPE, street.blocks(places), NO_GOALS)
    for _frame in range(3):
        drive = rng.random(len(places)) < rng.random()
        places = places + drive[:, None] * rng.uniform(-2.0, 2.0, places.shape)
        assert_fresh(ways, street.blocks(places))


@given(st.integers(0, 10**6))
@settings(max_examples=tried(50), deadline=None)
def test_rectangles_of_tiles_cover_all_boxes_and_little_else(seed):
    rng = np.random.default_rng(seed)
    low, size = rng.uniform(-50.0, 50.0, 2), float(rng.uniform(0.1, 2.0))
    nx, ny = (int(n) for n in rng.integers(1, 60, 2))
    view = SimpleNamespace(low=low, size=size, nx=nx, ny=ny)
    begin = low + rng.uniform(-0.2, 1.1, (rng.integers(1, 30), 2)) * [nx * size, ny * size]
    boxes = np.hstack([begin, begin + rng.exponential(3.0 * size, begin.shape)])
    found = known_module._outline(boxes, SimpleNamespace(view=view))

    def columns(rectangles, wider):
        there = np.zeros((nx, ny), bool)
        for x0, y0, x1, y1 in rectangles:
            first = np.floor((np.array([x0, y0]) - low) / size).astype(int) - wider
            last = np.floor((np.array([x1, y1]) - low) / size).astype(int) + 1 + wider
            x, y = (slice(max(a, 0), max(b, 0)) for a, b in zip(first, last, strict=True))
            there[x, y] = True
        return there

    covered = columns(found, 0)
    assert (covered | ~columns(boxes, 0)).all()
    inside = (boxes[:, :2] <= low + [nx * size, ny * size]).all() and (boxes[:, 2:] >= low).all()
    if inside:
        assert (columns(boxes, known_module.TILE) | ~covered).all()
