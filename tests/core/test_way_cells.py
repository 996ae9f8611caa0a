"""Cells of surfaces: little memory, floors above others, columns without any, and clearance."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from waytools import ARRAYS, SHAPE, blocks_of, neighbors_of

from steer_addon.core.compiled import jit
from steer_addon.core.geometry import bvh
from steer_addon.core.inputs.world import CollidersBuilder
from steer_addon.core.ways import surface as surface_module
from steer_addon.core.ways.clearance import clearance_at, is_clear, shares_of
from steer_addon.core.ways.islands import islands_at, label_islands
from steer_addon.core.ways.lattice import (
    LAYERED,
    VOID,
    cell_at,
    cell_in,
    cells_above,
    column_of,
    layer_of,
    middles_of,
    places_of,
    stand_of,
)
from steer_addon.core.ways.room import (
    BLOCKED,
    OPEN,
    TIGHT,
    make_room,
    passable,
    same_room,
    shifts_of,
    updated_room,
)
from steer_addon.core.ways.surface import bounds_of, make_surface

OPPOSITE = np.array([2, 3, 0, 1, 6, 7, 4, 5])
NOWHERE = np.zeros((0, 3), np.float32)


def surface_on(blocks):
    return make_surface(
        SHAPE,
        blocks.ground,
        blocks.colliders,
        bounds_of(blocks.ground, blocks.colliders, NOWHERE),
    )


def test_a_square_kilometer_of_one_floor_takes_less_than_100_mb():
    blocks = blocks_of(scenes.random_blocks(1))
    surface = surface_on(blocks)
    assert surface.layers == 1 and surface.floors == surface.count
    view = surface.view
    arrays = [array for array in view if isinstance(array, np.ndarray)]
    assert surface.bytes == sum(array.nbytes for array in arrays)
    assert all(array.base is None for array in arrays)
    assert surface.bytes / surface.count * (1_000.0 / 0.25) ** 2 < 98.0e6
    room = make_room(surface, blocks.ground, blocks.colliders, 0.3)
    assert 0 < (room.state == TIGHT).sum() < 0.1 * surface.count
    assert sum(array.nbytes for array in room) < 3.0 * surface.count


def test_cells_of_storeys_take_less_than_two_and_a_half_times_as_much():
    surface = surface_on(blocks_of(buildings.three_storeys(16)))
    assert surface.layers == 3
    assert surface.bytes / surface.floors < 15.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three_storeys", "bridge", "spiral_ramp"])
def test_floors_above_others_are_cells_of_their_columns(name):
    surface = surface_on(blocks_of(getattr(buildings, name)()))
    view, columns = surface.view, surface.view.nx * surface.view.ny
    seen = np.zeros(surface.count, int)
    for column in range(columns):
        begin, end = cells_above(view, column)
        cells = [column, *range(begin, end)]
        seen[cells] += 1
        z = view.z[cells]
        assert (np.diff(z) > 0.0).all() or (len(z) == 1 and z[0] == VOID)
        if column % 5:
            continue
        for layer, cell in enumerate(cells):
            assert column_of(view, cell) == column and layer_of(view, cell, column) == layer
            assert cell_in(view, column, layer) == cell
            if z[layer] != VOID:
                x, y, _z = middles_of(view, np.array([cell]))[0]
                assert cell_at(view, x, y, z[layer] + 0.1) == cell
    assert (seen == 1).all()


@pytest.mark.parametrize("name", ["three_storeys", "bridge", "spiral_ramp"])
def test_lowest_floors_and_those_above_others_are_linked_both_ways(name):
    surface = surface_on(blocks_of(getattr(buildings, name)()))
    view, columns = surface.view, surface.view.nx * surface.view.ny
    others = neighbors_of(view)
    cell, side = np.nonzero(others >= 0)
    other = others[cell, side]
    assert np.array_equal(others[other, OPPOSITE[side]], cell)
    step = places_of(view, other) - places_of(view, cell)
    sides = np.array([(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
    assert np.array_equal(step, sides[side])
    # from the lowest floor of one column to a higher one of the next
    assert ((cell < columns) & (other >= columns)).sum() >= 4
    # links are short where nothing is above within a block: only the bridge has such places
    assert (view.link[:columns] != LAYERED).any() == (name == "bridge")


@pytest.mark.parametrize("z", [0.0, buildings.STOREY, 2.0 * buildings.STOREY])
def test_floors_above_one_another_are_mended_as_they_are_made(z):
    building = buildings.three_storeys(16)
    before = surface_on(blocks_of(building))
    box = scenes.boxes([(14.2, 4.2, z + 0.1)], [(16.1, 15.3, z + 1.9)], "box")
    blocks = blocks_of(building, box)
    low, high = box.triangles.reshape(-1, 3).min(axis=0), box.triangles.reshape(-1, 3).max(axis=0)
    cells = before.within(low[:2] - 1.0, high[:2] + 1.0)
    places = places_of(before.view, np.arange(before.count))
    near = places[cells].min(axis=0), places[cells].max(axis=0)
    wanted = ((places >= near[0]) & (places <= near[1])).all(axis=1)
    assert np.array_equal(cells, np.flatnonzero(wanted))
    mended, new = before.updated(cells, blocks.ground, blocks.colliders), surface_on(blocks)
    for name in ARRAYS:
        assert np.array_equal(getattr(mended.view, name), getattr(new.view, name)), name
    linked = [surface.links_of(cells) for surface in (before, mended, new)]
    assert np.array_equal(linked[1], linked[2]) and not np.array_equal(linked[0], linked[1])
    old, solid = blocks_of(building), (blocks.ground, blocks.colliders)
    room = make_room(before, old.ground, old.colliders, 0.3)
    kept = room.state.copy(), room.part.copy(), room.shift.copy(), room.leap.copy()
    after, fresh = updated_room(room, cells, mended, *solid, 0.3), make_room(new, *solid, 0.3)
    assert same_room(after, fresh, np.arange(new.count))
    assert np.array_equal(after.leap, fresh.leap) and not same_room(after, room, cells)
    assert all(np.array_equal(a, b) for a, b in zip(room[:4], kept, strict=True))


def test_threads_change_no_bit_of_surfaces(monkeypatch):
    monkeypatch.setattr(surface_module, "BAND", 3000)
    blocks = blocks_of(buildings.three_storeys(16))
    before, found = jit.set_threads(1), []
    try:
        for count in (1, 2, 5):
            jit.set_threads(count)
            surface = surface_on(blocks)
            room = make_room(surface, blocks.ground, blocks.colliders, 0.25)
            found.append([getattr(surface.view, name) for name in ARRAYS] + list(room[:4]))
    finally:
        jit.set_threads(before)
    for others in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], others, strict=True))


def test_nobody_is_where_the_ground_has_a_hole():
    rim = [scenes.floor(0, 0, 10, 4), scenes.floor(0, 6, 10, 10), scenes.floor(0, 4, 4, 6)]
    ground = bvh.build(scenes.joined("rim", *rim).triangles)
    none = CollidersBuilder().build(()).bvh
    surface = make_surface(SHAPE, ground, none, bounds_of(ground, none, NOWHERE))
    view = surface.view
    x, y, z = middles_of(view, np.arange(surface.count)).T
    hole = (x > 4.0) & (y > 4.0) & (y < 6.0)
    assert hole.sum() == 24 * 8 and np.array_equal(z == VOID, hole)
    assert surface.floors == (~hole).sum() and surface.layers == 1
    assert cell_at(view, 7.0, 5.0, 0.0) == -1 and cell_at(view, 7.0, 3.0, 0.0) >= 0
    others = neighbors_of(view)
    assert (others[hole] == -1).all()
    assert not hole[others[others >= 0]].any()
    room = make_room(surface, ground, none, 0.25)
    assert (room.state[hole] == BLOCKED).all() and (room.leap[hole] == 0).all()
    assert (room.state[~hole] != BLOCKED).any()
    assert len(surface.slopes(np.flatnonzero(hole), ground)) == hole.sum()


def test_shares_of_clearance_are_rounded_down():
    rng = np.random.default_rng(0)
    for reach in (0.05, 0.3, 0.5, 1.7):
        clear = np.concatenate(
            [rng.uniform(0.0, reach, 500), reach * np.arange(256) / 255, [0.0, reach]]
        )
        for value in [*clear, *np.nextafter(clear, 0.0), *np.nextafter(clear, 9.0)]:
            shares = shares_of(float(value), reach)
            assert shares == 255 or value < (shares + 1) / 255 * reach
            assert shares / 255 * reach <= value
            assert (shares == 255) == (value >= reach)


def test_kept_clearance_is_never_more_than_there_is_and_questions_are_exact():
    blocks = blocks_of(scenes.random_blocks(4, count=12, size=30.0))
    surface, body = surface_on(blocks), SHAPE.body
    view, on = surface.view, (blocks.ground, blocks.colliders)
    near = np.flatnonzero(view.clear < 255)
    kept = view.clear.astype(float) / 255 * SHAPE.reach
    assert len(near) > 1000
    for cell in near[::10]:
        point = tuple(middles_of(view, np.array([cell]))[0].tolist())
        exact = clearance_at(*on, point, body, SHAPE.reach)[0]
        assert kept[cell] <= exact < kept[cell] + SHAPE.reach / 255
        for gap in (exact, np.nextafter(exact, 9.0), kept[cell], 0.25):
            assert is_clear(view, cell, float(gap), *on, body) == (exact >= gap)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("low", "high"), [(0.66, 0.7), (0.0, 3.0), (1.2, 1.4)])
def test_furniture_that_belongs_to_the_ground_is_as_far_as_its_edge(low, high, seed):
    """A table top, a wall, a beam: by their side, under and over which nothing is to be seen."""
    thing = scenes.boxes([(4.0, 4.0, low)], [(6.0, 6.0, high)])
    triangles = scenes.joined("ground", scenes.floor(0.0, 0.0, 10.0, 10.0), thing).triangles
    ground = bvh.build(np.random.default_rng(seed).permutation(triangles))
    none = CollidersBuilder().build(()).bvh
    # ground that rises by no more than its distance beyond a step counts as stairs
    for away in (a for a in (0.02, 0.1, 0.23, 0.34, 0.48) if high > SHAPE.step_height + a):
        for along in (4.1, 4.9, 5.37):
            for x, y in ((4.0 - away, along), (along, 6.0 + away), (6.0 + away, along)):
                found, at_x, at_y = clearance_at(ground, none, (x, y, 0.0), SHAPE.body, 0.5)
                assert found == pytest.approx(away, abs=1e-5)
                assert np.hypot(at_x - x, at_y - y) == pytest.approx(away, abs=1e-5)
    # below it there is no room at all
    if low > 0.0:
        assert clearance_at(ground, none, (5.0, 5.2, 0.0), SHAPE.body, 0.5)[0] == 0.0


@pytest.mark.parametrize("radius", [0.2, 0.25, 0.3, 0.4, 0.5])
@pytest.mark.parametrize("begin", [4.0, 4.1, 4.23])
def test_doors_as_wide_as_a_body_are_open_and_narrower_ones_are_not(radius, begin):
    for width, opened in ((2.0 * radius, True), (2.0 * radius - 0.005, False)):
        walls = [
            scenes.rectangle(0.0, 5.0, begin, 5.2),
            scenes.rectangle(begin + width, 5.0, 10.0, 5.2),
        ]
        blocks = blocks_of(scenes.on_plane(walls, (10.0, 10.0)))
        surface = surface_on(blocks)
        room = make_room(surface, blocks.ground, blocks.colliders, radius)
        x, y, _z = middles_of(surface.view, np.arange(surface.count)).T
        door = (x > begin) & (x < begin + width) & (y > 4.9) & (y < 5.3)
        assert (room.state[door] != BLOCKED).any() == opened
        assert np.isin(room.state[door], (BLOCKED, OPEN, TIGHT)).all()


def test_bodies_stand_where_they_have_room_in_tight_cells():
    blocks = blocks_of(scenes.random_blocks(4, count=12, size=30.0))
    surface, radius = surface_on(blocks), 0.3
    room = make_room(surface, blocks.ground, blocks.colliders, radius)
    cells, on = np.arange(surface.count), (blocks.ground, blocks.colliders)
    tight, shift = room.state == TIGHT, shifts_of(room, cells)
    assert tight.sum() > 50 and not shift[~tight].any()
    for cell in np.flatnonzero(tight):
        place = stand_of(surface.view, room, cell)
        off = (np.array(place) - middles_of(surface.view, cells[[cell]])[0])[:2]
        assert off == pytest.approx(shift[cell] / 127.0 * 0.5 * surface.view.size)
        assert clearance_at(*on, place, SHAPE.body, 0.5)[0] >= radius - 1.1e-3


@pytest.mark.parametrize("radius", [0.25, 0.5])
@pytest.mark.parametrize(("across", "along"), [(0.0, 0.0), (0.07, 0.04), (0.11, 0.12)])
@pytest.mark.parametrize("share", [0.93, 0.998, 1.002, 1.1])
def test_nobody_is_led_through_a_gap_between_corners_that_is_too_narrow(
    radius, across, along, share
):
    # two long walls whose corners face each other: from side to side one goes between these only
    gap = share * 2.0 * radius / np.sqrt(2.0)
    walls = [
        scenes.rectangle(-9.0, -9.0, across, along),
        scenes.rectangle(across + gap, along + gap, 9.0, 9.0),
    ]
    blocks = blocks_of(scenes.Scene(scenes.floor(-8.0, -8.0, 8.0, 8.0), (scenes.upright(walls),)))
    surface = surface_on(blocks)
    room = make_room(surface, blocks.ground, blocks.colliders, radius)
    view = passable(surface, room).view
    label, _count = label_islands(view, room)
    sides = np.array([cell_at(view, x, y, 0.0) for x, y in ((-4.0, 4.0), (4.0, -4.0))])
    above, below = islands_at(label, room, sides)
    assert above >= 0 and below >= 0
    assert (above == below) == (share > 1.0)
    # whoever fits through is stopped nowhere
    if share > 1.0:
        assert len(room.narrow) == 0


def test_round_a_corner_nothing_is_too_narrow():
    walls = scenes.upright([scenes.rectangle(-1.03, -0.98, 1.11, 0.87)])
    blocks = blocks_of(scenes.Scene(scenes.floor(-6.0, -6.0, 6.0, 6.0), (walls,)))
    surface = surface_on(blocks)
    for radius in (0.2, 0.25, 0.3, 0.5):
        room = make_room(surface, blocks.ground, blocks.colliders, radius)
        assert len(room.narrow) == 0
