"""What ways keep only saves time: moved doors, other threads and resumed runs change no bit."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from hypothesis import given, settings
from hypothesis import strategies as st
from restated_ways import bracket
from waytools import ARRAYS, RADIUS, SHAPE, Walk, blocks_of, led

from steer_addon.core.compiled import jit
from steer_addon.core.ways import classes
from steer_addon.core.ways import surface as surface_module
from steer_addon.core.ways.classes import class_radii
from steer_addon.core.ways.costs import crowding
from steer_addon.core.ways.islands import BEYOND, NOWHERE, find_roots, islands_at, label_islands
from steer_addon.core.ways.lattice import cell_at, neighbor_of
from steer_addon.core.ways.room import BLOCKED, make_room
from steer_addon.core.ways.searching import Scratch, fill_field
from steer_addon.core.ways.surface import bounds_of, make_surface
from steer_addon.core.ways.ways import Ways

NO_GOALS = np.zeros((0, 3), np.float32)


def surface_of(blocks):
    return make_surface(
        SHAPE, blocks.ground, blocks.colliders, bounds_of(blocks.ground, blocks.colliders, NO_GOALS)
    )


@pytest.mark.parametrize("shut", [0.3, 0.7, 1.0])
def test_a_surface_that_was_mended_is_the_one_made_anew(shut):
    scene, ways = scenes.two_doors(), Ways()
    ways.surface(SHAPE, blocks_of(scene, scenes.door_leaf(0.0)), NO_GOALS)
    after = blocks_of(scene, scenes.door_leaf(shut))
    mended, anew = ways.surface(SHAPE, after, NO_GOALS).view, surface_of(after).view
    for name in ARRAYS:
        assert np.array_equal(getattr(mended, name), getattr(anew, name)), name


def test_links_lead_both_ways():
    view = surface_of(blocks_of(buildings.three_storeys(16))).view
    back = {0: 2, 1: 3, 2: 0, 3: 1, 4: 6, 5: 7, 6: 4, 7: 5}
    for cell in range(0, len(view.z), 7):
        for side in range(8):
            other = neighbor_of(view, cell, side)
            if other >= 0:
                assert neighbor_of(view, other, back[side]) == cell


@pytest.mark.slow
def test_threads_change_no_bit():
    scene = scenes.random_blocks(1, 30, 60.0)
    starts = scenes.free_places(scene, 2.0 * RADIUS, 300, 3)
    before, answers = jit.set_threads(1), []
    try:
        for count in (1, 2, 5):
            jit.set_threads(count)
            answers.append(led(scene, starts[1:], starts[0]))
    finally:
        jit.set_threads(before)
    for via, length in answers[1:]:
        assert np.array_equal(via, answers[0][0]) and np.array_equal(length, answers[0][1])


@pytest.mark.parametrize(
    "make", [scenes.random_blocks, buildings.three_storeys, scenes.maze, scenes.two_doors]
)
def test_fields_that_reach_as_far_as_agents_lead_as_whole_ones(make, monkeypatch):
    scene, rng = make(), np.random.default_rng(7)
    blocks, reached = blocks_of(scene), []
    low, high = np.split(blocks.ground.box[0], 2)
    whole, growing = Ways(), Ways()
    fill = classes.fill_field

    def filled(*given, **named):
        reached.append(fill(*given, **named))
        return reached[-1]

    monkeypatch.setattr(classes, "fill_field", filled)
    goal = np.asarray(next(iter(scene.places.values()), (50.0, 3.0, 0.0)), np.float32)
    # some of them in walls or above the ground; ever further away
    for spread in (1.0, 6.0, 1000.0, 2.0):
        places = rng.uniform(low - 1.0, high + 1.0, (2000, 3)).astype(np.float32)
        places[:, 2] = np.where(rng.random(2000) < 0.8, goal[2], places[:, 2])
        near = places[np.linalg.norm(places - goal, axis=1) < spread]
        near = np.concatenate([near, goal[None] + np.float32([0.3, 0.0, 0.0])])
        monkeypatch.setattr(classes, "LARGE", 1 << 40)
        wanted = led(scene, near, goal, ways=whole, blocks=blocks)
        monkeypatch.setattr(classes, "LARGE", 1)
        found = led(scene, near, goal, ways=growing, blocks=blocks)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    # the whole field, and those that reach as far as they have to
    assert reached[0] == np.inf and len(reached) >= 3
    assert np.isfinite(reached[1]) and max(reached[1:]) > 2.0 * reached[1]


@pytest.mark.slow
@pytest.mark.parametrize("ways", ["AROUND", "QUICKEST"])
def test_a_run_that_is_resumed_has_the_same_bits(ways):
    scene = scenes.two_doors(near=0.6)
    starts = [[4.0 + 0.6 * (k % 5), 3.0 + 0.6 * (k // 5), 0.0] for k in range(20)]
    walk = Walk(scene, starts, scene.places["goal"], ways)
    walk.on(70)
    kept = walk.simulation.agents.copy()
    walk.on(60)
    again = Walk(scene, starts, scene.places["goal"], ways)
    again.on(70)
    again.simulation.adopt(kept)
    again.simulation._ways = Ways()
    again.on(60)
    for name in ("position", "velocity", "heading"):
        first, second = (getattr(w.simulation.agents, name) for w in (walk, again))
        assert np.array_equal(first, second), name


@given(st.floats(-0.13, 0.13), st.floats(0.3, 0.9).filter(lambda w: abs(w - 2.0 * RADIUS) > 0.03))
@settings(max_examples=20, deadline=None)
def test_a_gap_is_passed_by_those_that_fit_wherever_it_lies_on_the_lattice(shift, width):
    low, high = 5.0 + shift - 0.5 * width, 5.0 + shift + 0.5 * width
    walls = [scenes.rectangle(4.9, 0, 5.1, low), scenes.rectangle(4.9, high, 5.1, 10)]
    scene = scenes.on_plane([*walls, *scenes.fence(0, 0, 10, 10)], (10.0, 10.0))
    blocks = blocks_of(scene)
    surface = surface_of(blocks)
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    label, _count = label_islands(surface.view, room)
    sides = [
        set(islands_at(label, room, surface.within(np.array(a), np.array(b))).tolist()) - {-1}
        for a, b in (((1.0, 1.0), (4.0, 9.0)), ((6.0, 1.0), (9.0, 9.0)))
    ]
    assert len(sides[0]) == len(sides[1]) == 1
    assert (sides[0] == sides[1]) == (width > 2.0 * RADIUS)


def test_who_has_no_way_goes_as_near_as_it_can():
    walls = [scenes.rectangle(4.9, 0, 5.1, 10), *scenes.fence(0, 0, 10, 10)]
    scene = scenes.on_plane(walls, (10.0, 10.0))
    via, length = led(scene, [[1.0, 2.0, 0.0]], [8.0, 7.0, 0.0])
    # the place before the wall that is next to the goal
    assert via[0] == pytest.approx([4.9 - RADIUS, 7.0, 0.0], abs=0.2)
    assert length[0] == pytest.approx(np.hypot(3.65, 5.0), abs=0.2)


def test_who_has_no_way_is_told_once_with_the_place():
    walls = [scenes.rectangle(4.9, 0, 5.1, 10), *scenes.fence(0, 0, 10, 10)]
    scene = scenes.on_plane(walls, (10.0, 10.0))
    walk = Walk(scene, [[1.0, 2.0, 0.0], [2.0, 6.0, 0.0], [7.0, 2.0, 0.0]], [8.0, 7.0, 0.0])
    walk.on(75)
    found = [d for d in walk.simulation.warnings if d.code == "NO_WAY"]
    assert [d.values for d in found] == [{"count": 2, "place": "8.0, 7.0, 0.0"}]
    assert not Walk(scene, [7.0, 2.0, 0.0], [8.0, 7.0, 0.0]).simulation.warnings


def test_cells_that_would_take_too_much_memory_are_larger_and_said(monkeypatch):
    monkeypatch.setattr(surface_module, "MOST_COLUMNS", 900)
    scene = scenes.on_plane(scenes.fence(0, 0, 20, 20), (20.0, 20.0))
    walk = Walk(scene, [5.0, 5.0, 0.0], [15.0, 15.0, 0.0])
    walk.on(30)
    (found,) = [d for d in walk.simulation.warnings if d.code == "COARSE_CELLS"]
    # a square of 21 m in 900 cells
    assert found.values["wanted"] == 0.25
    assert found.values["size"] == pytest.approx(0.7, abs=0.05)


def test_goals_in_walls_in_the_air_and_outside_have_ends():
    scene = scenes.on_plane(
        [scenes.rectangle(4, 4, 6, 6), *scenes.fence(0, 0, 10, 10)], (10.0, 10.0)
    )
    blocks = blocks_of(scene)
    surface = surface_of(blocks)
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    label, count = label_islands(surface.view, room)
    start = led(scene, [[1.0, 1.0, 0.0]], [9.0, 9.0, 4.0])
    assert start[1][0] > np.hypot(8.0, 8.0)
    roots = find_roots(surface.view, room, label, count, np.array([40.0, 5.0, 0.0]))
    assert roots.goal == NOWHERE
    assert (room.state[roots.cells] != BLOCKED).all()
    # before the box, not in it
    via, rest = led(scene, [[1.0, 5.0, 0.0]], [4.4, 5.0, 0.0])
    assert via[0] == pytest.approx([4.0 - RADIUS, 5.0, 0.0], abs=0.2)


def test_beyond_a_plane_without_end_goals_and_agents_are_led_too():
    scene = scenes.on_plane([scenes.rectangle(0, 0, 1, 20)], (1.0, 20.0))
    blocks = blocks_of(scene)
    plane = type(blocks)(type(blocks.ground)(*(x[:0] for x in blocks.ground)), *_without(blocks))
    starts = np.float32([[-30.0, 12.0, 0.0]])
    goals = np.float32([[30.0, 12.0, 0.0]])
    told = starts, np.zeros(1, np.int64), np.full(1, RADIUS, np.float32)
    ways = Ways()
    via, rest, _kept = ways.lead(SHAPE, plane, goals, np.zeros(1, np.int64), told)
    way = rest[0] + np.linalg.norm(via[0] - starts[0])
    low, high = bracket(scene.outlines, RADIUS, starts[:, :2], goals[0, :2], 64)
    assert low[0] <= way <= 1.02 * high[0]
    surface = ways.surface(SHAPE, plane, NO_GOALS)
    room = make_room(surface, plane.ground, plane.colliders, RADIUS)
    roots = find_roots(surface.view, room, *label_islands(surface.view, room), goals[0])
    assert roots.goal == BEYOND


def _without(blocks):
    return blocks.colliders, blocks.trees, blocks.level


def test_bodies_of_a_class_differ_by_a_quarter_at_most_and_none_counts_as_smaller():
    radius = np.float32([0.2, 0.25, 0.26, 0.3, 0.5])
    found = class_radii(radius)
    assert (found >= radius - 1.0e-6).all() and (found <= 1.2501 * radius).all()
    assert found.max() == pytest.approx(0.5)
    assert len(class_radii(np.zeros(0, np.float32))) == 0


def test_a_crowd_that_stands_costs_what_it_holds_up_and_one_agent_little():
    scene = scenes.on_plane(scenes.fence(0, 0, 20, 20), (20.0, 20.0))
    view = surface_of(blocks_of(scene)).view
    # 36 people who stand, one who does, and one who is gone
    grid = [[4.0 + 0.4 * (k % 6), 4.0 + 0.4 * (k // 6), 0.0, 30.0] for k in range(36)]
    cost = crowding(view, np.float32([*grid, [15.0, 15.0, 0.0, 30.0], [10.0, 10.0, 0.0, 0.0]]))

    def at(x, y):
        return cost[cell_at(view, x, y, 0.0)]

    assert at(5.0, 5.0) == pytest.approx(30.0)
    area = (5 * view.size) ** 2
    assert at(15.1, 15.1) == pytest.approx(1.0 + 29.0 / (area * 2.0) ** 2, rel=1e-5)
    assert at(10.1, 10.1) == at(18.0, 3.0) == 1.0


def test_where_nothing_costs_more_ways_with_costs_are_as_long():
    scene = scenes.random_blocks(2)
    blocks = blocks_of(scene)
    surface = surface_of(blocks)
    view, room = surface.view, make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    label, count = label_islands(view, room)
    roots = find_roots(view, room, label, count, scenes.free_places(scene, 1.0, 1, 0)[0])
    lengths = []
    for cost in (None, np.ones(surface.count, np.float32)):
        field = np.zeros(surface.count, np.int32), np.zeros(surface.count, np.float32)
        fill_field(view, room, roots, cost, field, Scratch())
        lengths.append(field[1])
    assert np.array_equal(np.isfinite(lengths[0]), np.isfinite(lengths[1]))
    islands = islands_at(label, room, np.arange(surface.count))
    there = (islands == islands[roots.goal]) & (lengths[0] > 1.0)
    ratio = lengths[1][there] / lengths[0][there]
    assert ratio.min() > 0.98 and np.median(ratio) < 1.005
    # ways from cell to cell, with a diagonal of eight, are longer by 1/cos(π/8) at most
    assert ratio.max() < 1.01 / np.cos(np.pi / 8.0)
