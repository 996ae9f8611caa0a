"""Ways are as long as the shortest ones, which graphs of corners in sight know."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from restated_ways import bracket
from waytools import RADIUS, blocks_of, followed, led

from steer_addon.core.ways import classes
from steer_addon.core.ways.ways import Ways
from tests.often import often


@pytest.mark.slow
@pytest.mark.parametrize("seed", often(range(3), 0))
def test_ways_among_blocks_and_thin_walls_are_shortest(seed):
    scene = scenes.random_blocks(seed)
    places = scenes.free_places(scene, 2.0 * RADIUS, 41, seed)
    starts, goal = places[1:], places[0]
    low, high = bracket(scene.outlines, RADIUS, starts[:, :2], goal[:2], 16)
    _via, length = led(scene, starts, goal)
    assert (length <= 1.02 * high).all()
    # a way through a gap that is too narrow would be shorter
    assert (length >= 0.99 * low).all()


def test_the_way_that_is_gone_is_no_longer_than_it_was_said_to_be():
    scene = scenes.random_blocks(0)
    places = scenes.free_places(scene, 2.0 * RADIUS, 9, 7)
    goal, ways, blocks = places[0], Ways(), blocks_of(scene)
    _via, said = led(scene, places[1:], goal, ways=ways, blocks=blocks)
    gone = [followed(scene, place, goal, ways=ways, blocks=blocks) for place in places[1:]]
    # agents look past small corners, and tight cells seem a little longer than they are
    assert (np.array(gone) <= 1.005 * said).all() and (np.array(gone) >= 0.98 * said).all()


@pytest.mark.parametrize("seed", often(range(3), 0))
def test_the_way_through_a_maze_is_the_shortest(seed):
    scene = scenes.maze(seed)
    start, goal = scene.places["start"], scene.places["goal"]
    low, high = bracket(scene.outlines, RADIUS, start[:2], goal[:2], 8)
    _via, length = led(scene, start, goal)
    assert 0.99 * low[0] <= length[0] <= 1.02 * high[0]


@pytest.mark.slow
@pytest.mark.parametrize("steps", [0, 16])
def test_ways_from_floor_to_floor_are_shortest(steps):
    scene = buildings.three_storeys(steps)
    start, goal = scene.places["start"], scene.places["goal"]
    unfolded = buildings.storeys_unfolded(RADIUS)
    exact = unfolded.length(("floor 0", start[:2]), ("floor 2", goal[:2]))
    _via, length = led(scene, start, goal)
    assert length[0] == pytest.approx(exact, rel=0.02)


def test_without_one_of_the_stairs_the_other_is_taken():
    start, goal = np.array([3.0, 3.0, 0.0]), np.array([3.0, 3.0, 3.2])
    both = led(buildings.three_storeys(), start, goal)[1][0]
    right = led(buildings.three_storeys(wells=["right"]), start, goal)[1][0]
    exact = buildings.storeys_unfolded(RADIUS, ["right"])
    exact = exact.length(("floor 0", start[:2]), ("floor 1", goal[:2]))
    assert right == pytest.approx(exact, rel=0.02)
    assert right > 2.0 * both


def test_the_way_up_a_spiral_ramp_follows_its_inner_edge():
    scene = buildings.spiral_ramp()
    _via, length = led(scene, scene.places["start"], scene.places["goal"])
    assert length[0] == pytest.approx(buildings.spiral_length(RADIUS), rel=0.02)


@pytest.mark.parametrize("width", [0.42, 0.48, 0.52, 0.6, 0.7, 0.9])
def test_doors_are_taken_by_who_fits(width):
    scene = scenes.two_doors(near=width)
    start, goal = scene.places["start"], scene.places["goal"]
    low, high = bracket(scene.outlines, RADIUS, start[:2], goal[:2], 64)
    # the far door is twice as far
    assert (high[0] > 28.0) == (width < 0.5)
    assert 0.99 * low[0] <= followed(scene, start, goal) <= 1.02 * high[0]


@pytest.mark.parametrize("radius", [0.15, 0.25, 0.39])
def test_each_body_takes_the_doors_that_it_fits(radius):
    scene = scenes.two_doors(near=0.6)
    start, goal = scene.places["start"], scene.places["goal"]
    _low, high = bracket(scene.outlines, radius, start[:2], goal[:2], 64)
    assert followed(scene, start, goal, radius) == pytest.approx(high[0], rel=0.02)


def test_a_door_that_shuts_changes_the_way_and_opens_it_again():
    scene, ways = scenes.two_doors(), Ways()
    start, goal = scene.places["start"], scene.places["goal"]
    lengths = []
    for shut in (0.0, 0.3, 0.9, 1.0, 0.0):
        blocks = blocks_of(scene, scenes.door_leaf(shut))
        lengths.append(led(scene, start, goal, ways=ways, blocks=blocks)[1][0])
    # 0.84 m are left at first, then less than the body
    assert np.round(lengths, 0).tolist() == [14.0, 14.0, 29.0, 29.0, 14.0]
    afresh = led(scene, start, goal, blocks=blocks_of(scene, scenes.door_leaf(0.9)))[1][0]
    assert afresh == lengths[2]


def test_ends_of_ways_to_goals_that_stay_are_found_once(monkeypatch):
    asked = []
    found = classes.find_roots
    monkeypatch.setattr(
        classes, "find_roots", lambda *given: asked.append(given[-1]) or found(*given)
    )
    scene, ways = scenes.two_doors(), Ways()
    blocks = blocks_of(scene)
    start, goal = scene.places["start"], scene.places["goal"]
    for _step in range(3):
        led(scene, start, goal, ways=ways, blocks=blocks)
    assert len(asked) == 1
    led(scene, start, goal + [0.5, 0.0, 0.0], ways=ways, blocks=blocks)
    assert len(asked) == 2
    # where a door shut, they may be elsewhere
    led(scene, start, goal, ways=ways, blocks=blocks_of(scene, scenes.door_leaf(1.0)))
    assert len(asked) == 3
