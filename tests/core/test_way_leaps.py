"""Looks that leap over open cells find what looks from cell to cell find."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from tried import LONG
from waytools import RADIUS, SHAPE, blocks_of, neighbors_of

from steer_addon.core.ways.lattice import places_of, sees
from steer_addon.core.ways.room import OPEN, make_room, same_room, updated_room
from steer_addon.core.ways.surface import bounds_of, make_surface

SCENES = {
    "blocks": lambda: scenes.random_blocks(4, count=12, size=30.0),
    "storeys": lambda: buildings.three_storeys(16),
}
MOST = 31
LOOKS = 20_000 if LONG else 5_000


def surface_and_blocks(scene):
    blocks = blocks_of(scene)
    bounds = bounds_of(blocks.ground, blocks.colliders, np.zeros((0, 3), np.float32))
    return make_surface(SHAPE, blocks.ground, blocks.colliders, bounds), blocks


def restated(surface, room) -> np.ndarray:
    """Steps like a king's to a cell that is not open, or has no eight neighbors in its layer."""
    view = surface.view
    count = surface.count
    # places of cells in their columns, by their heights
    order = np.lexsort((view.z, column := places_of(view, np.arange(count)) @ [1, view.nx]))
    layer = np.zeros(count, int)
    layer[order] = np.arange(count) - np.searchsorted(column[order], column[order])
    others = neighbors_of(view)
    good = (room.state == OPEN) & (others >= 0).all(axis=1)
    good &= (layer[others] == layer[:, None]).all(axis=1)
    steps = np.where(good, MOST, 0)
    for _round in range(MOST):
        steps = np.where(good, np.minimum(steps[others].min(axis=1) + 1, MOST), 0)
    return steps


@pytest.mark.parametrize("name", SCENES)
def test_leaps_are_the_steps_to_the_nearest_cell_that_is_not_open(name):
    surface, blocks = surface_and_blocks(SCENES[name]())
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    assert room.leap.max() > 8
    assert np.array_equal(room.leap, restated(surface, room))


@pytest.mark.parametrize("name", SCENES)
def test_leaping_looks_see_what_looks_from_cell_to_cell_see(name):
    surface, blocks = surface_and_blocks(SCENES[name]())
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    slow = room._replace(leap=np.zeros_like(room.leap))
    cells = np.random.default_rng(0).choice(np.flatnonzero(room.state == OPEN), (LOOKS, 2))
    seen = [[sees(surface.view, r, int(a), int(b)) for a, b in cells] for r in (room, slow)]
    # lines that pass exactly between two cells may go either way
    assert np.mean(seen[0]) == pytest.approx(np.mean(seen[1]), abs=1.0e-3)
    assert np.mean(np.array(seen[0]) != seen[1]) < 1.0e-3
    assert 0.05 < np.mean(seen[0]) < 0.95


def test_where_a_door_shuts_leaps_are_found_again():
    scene = scenes.two_doors()
    surface, blocks = surface_and_blocks(scene)
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    shut = blocks_of(scene, scenes.door_leaf(1.0))
    (leaf,) = [tree.box[0] for name, tree in shut.trees.items() if name not in blocks.trees]
    cells = surface.within(leaf[:2] - 1.0, leaf[3:5] + 1.0)
    after = surface.updated(cells, shut.ground, shut.colliders)
    room = updated_room(room, cells, after, shut.ground, shut.colliders, RADIUS)
    new = make_room(after, shut.ground, shut.colliders, RADIUS)
    assert np.array_equal(room.leap, new.leap)
    assert same_room(room, new, np.arange(after.count))
