"""Ways of single agents that are searched among the corners of a surface."""

from __future__ import annotations

import numpy as np
import pytest
import way_scenes as scenes
from restated_ways import bracket
from test_own_ways import inside_fence
from waytools import RADIUS, SHAPE, blocks_of

from steer_addon.core.geometry import bvh
from steer_addon.core.inputs.world import CollidersBuilder
from steer_addon.core.ways import own
from steer_addon.core.ways.corners import graph, single
from steer_addon.core.ways.islands import (
    island_of,
    islands_at,
    label_islands,
    label_kernel,
    nearest_kernel,
    nearest_on,
)
from steer_addon.core.ways.known import Blocks
from steer_addon.core.ways.room import OPEN, make_room
from steer_addon.core.ways.surface import bounds_of, make_surface
from steer_addon.core.ways.ways import Ways


def kept_ways(blocks, starts, goals, ways=None, kept=None):
    """(places headed for, lengths of the ways from there, what is kept) of single agents."""
    n = len(starts)
    told = starts.astype(np.float32), np.zeros(n, np.int64), np.full(n, RADIUS, np.float32)
    options = SHAPE, blocks, goals.astype(np.float32), np.arange(n), told
    return (ways or Ways()).lead(*options, None, kept, each=True)


def surface_of(blocks):
    """The surface, and the room on it."""
    solid = blocks.ground, blocks.colliders
    surface = make_surface(SHAPE, *solid, bounds_of(*solid, np.zeros((0, 3), np.float32)))
    return surface, make_room(surface, *solid, RADIUS)


def lines(starts, kept):
    """The lines that agents go from corner to corner, up to the last one kept: (from, to) [m]."""
    for start, row in zip(starts, kept, strict=True):
        count = int(row[own.COUNT])
        places = row[own.FIRST : own.FIRST + 3 * count].reshape(-1, 3)
        yield from zip([start, *places][:count], places, strict=True)


def check(scene, starts, goal, monkeypatch) -> int:
    """Hold ways to a goal against exact ones: how many were searched among all cells."""
    searched, fill = [], single.fill_field
    monkeypatch.setattr(single, "fill_field", lambda *a, **k: searched.append(1) or fill(*a, **k))
    blocks = blocks_of(scene)
    low, high = bracket(scene.outlines, RADIUS, starts[:, :2], goal[:2], 16)
    via, rest, kept = kept_ways(blocks, starts, np.tile(goal, (len(starts), 1)))
    length = rest + np.linalg.norm(via - starts, axis=1)
    assert (length <= 1.02 * high).all() and (length >= 0.99 * low).all()
    for start, stop in lines(starts, kept):
        for share in np.linspace(0.0, 1.0, 40):
            place = (start + share * (stop - start))[:2]
            for outline in scenes.near(scene, place, RADIUS):
                # to the middle of each cell there is room
                gap = scenes.distance(outline, place)
                assert gap > RADIUS - 0.5 * SHAPE.cell_size * np.sqrt(2.0)
    return len(searched)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_ways_among_corners_are_shortest(seed, monkeypatch):
    scene = inside_fence(scenes.random_blocks(seed, 24))
    places = scenes.free_places(scene, 2.0 * RADIUS, 41, seed)
    assert check(scene, places[1:], places[0], monkeypatch) < 20


@pytest.mark.parametrize("width", [0.42, 0.48, 0.52, 0.6, 0.9])
def test_doors_in_a_long_wall_are_taken_by_who_fits(width, monkeypatch):
    # a narrow door straight ahead, and a wide one 20 m beside it
    walls = [(0.0, 20.0), (20.0 + width, 40.0), (41.2, 60.0)]
    outlines = [scenes.rectangle(a, 39.8, b, 40.2) for a, b in walls]
    scene = inside_fence(scenes.on_plane(outlines, (60.0, 80.0)))
    starts = np.column_stack([np.linspace(12.0, 28.0, 9), np.full(9, 5.0), np.zeros(9)])
    check(scene, starts, np.array([21.0, 75.0, 0.0]), monkeypatch)


def test_what_is_known_from_before_changes_no_bit():
    scene = inside_fence(scenes.two_doors(near=0.9))
    places = scenes.free_places(scene, 2.0 * RADIUS, 80, 3)
    here, goals = places[:40].astype(np.float32), places[40:].astype(np.float32)
    # goals in walls, above the floor and outside
    goals[:4] = [(10.0, 1.0, 0.0), (3.0, 3.0, 9.0), (-30.0, 2.0, 0.0), (300.0, 300.0, 0.0)]
    known, kept = Ways(), None
    for step in range(30):
        shut = (0.0, 0.4, 1.0)[step // 10]
        blocks = blocks_of(scene, scenes.door_leaf(shut))
        found = kept_ways(blocks, here, goals, known, kept)
        fresh = kept_ways(blocks, here, goals, None, kept)
        assert all(np.array_equal(a, b) for a, b in zip(found, fresh, strict=True))
        via, _rest, kept = found
        way = via - here
        far = np.linalg.norm(way, axis=1, keepdims=True)
        here = here + way * np.minimum(0.4 / np.maximum(far, 1.0e-6), 1.0)
        goals[5] += np.float32([0.2, 0.0, 0.0])


def test_corners_after_something_moved_are_those_of_a_fresh_start(monkeypatch):
    scene, builder = inside_fence(scenes.random_blocks(1, 24)), CollidersBuilder()
    places = scenes.free_places(scene, 2.0 * RADIUS, 80, 6)
    ground, known, asked = bvh.build(scene.ground.triangles), Ways(), []
    find = single.find_corners
    monkeypatch.setattr(single, "find_corners", lambda *a: asked.append((a, find(*a))) or find(*a))
    for x in (40.0, 41.5, 60.0):
        block = scenes.boxes((x, 50.0, -1.0), (x + 3.0, 50.9, 3.0), "block")
        colliders = builder.build((*scene.colliders, block))
        trees = dict(zip(colliders.names, colliders.trees, strict=True))
        blocks = Blocks(ground, colliders.bvh, trees)
        kept_ways(blocks, places[:40], places[40:], known)
        options, found = asked[-1]
        fresh = graph.find_corners(*options[:2])
        assert all(np.array_equal(a, b) for a, b in zip(found, fresh, strict=True))
        assert len(found.cells) > 80
    # most of the lines were known
    before, changed = options[2:]
    view, turns = options[0], np.zeros(len(options[0].z), np.uint8)
    turns[found.cells] = found.turns
    numbers, _lines, box = graph._before(view, found.cells, turns, before, changed)
    assert (numbers >= 0).mean() > 0.8 and box[2] - box[0] < 120.0


def test_islands_are_kept_for_cells_together_as_they_are_for_each():
    scene = scenes.random_blocks(3, 30, 40.0)
    surface, room = surface_of(blocks_of(scene))
    plain, waiting = np.zeros((2, surface.count), np.int32)
    count = label_kernel(surface.view, room, plain, waiting)
    label, islands = label_islands(surface.view, room)
    assert islands == count > 5
    cells = np.arange(surface.count)
    assert np.array_equal(islands_at(label, room, cells), plain)
    assert [island_of(label, room, cell) for cell in cells] == plain.tolist()
    # some of the cells that are kept together are of several islands, most are not
    assert 0 < len(label.single) < 0.5 * len(label.part)


@pytest.mark.slow
def test_the_nearest_place_of_an_island_is_that_of_all_its_cells():
    scene = scenes.random_blocks(3, 30, 40.0)
    surface, room = surface_of(blocks_of(scene))
    label, count = label_islands(surface.view, room)
    assert count > 5
    rng = np.random.default_rng(2)
    for goal in [*rng.uniform(-20.0, 60.0, (20, 3)), *rng.uniform(0.0, 40.0, (20, 3))]:
        cells, least = np.zeros(count, np.int64), np.zeros(count)
        nearest_kernel(surface.view, room, label, tuple(goal.tolist()), cells, least)
        found = [
            nearest_on(surface.view, room, label, island, tuple(goal.tolist()))
            for island in range(count)
        ]
        assert found == cells.tolist()


def test_surfaces_with_too_many_corners_have_no_graph(monkeypatch):
    surface, room = surface_of(blocks_of(inside_fence(scenes.two_doors())))
    found = graph.find_corners(surface.view, room)
    assert found is not None and (room.state[found.cells] == OPEN).any()
    monkeypatch.setattr(graph, "MOST_CORNERS", len(found.cells) - 1)
    assert graph.find_corners(surface.view, room) is None
