"""The scenes on which ways are looked for are what their descriptions say."""

from __future__ import annotations

import numpy as np
import pytest
import way_buildings as buildings
import way_scenes as scenes
from restated_ways import Plane, bracket

from steer_addon.core.geometry import bvh
from steer_addon.core.geometry.meshes import is_closed, signed_volume

DOWN = np.array([[0.0, 0.0, -1.0]])


def gap_below(scene, place) -> float:
    """How far below a place, 0.1 m higher, the ground is [m]."""
    tree = bvh.build(scene.ground.triangles)
    _triangle, reach = bvh.ray_cast_many(tree, place[None] + [[0.0, 0.0, 0.1]], DOWN)
    return float(reach[0]) - 0.1


def gap_aside(scene, place) -> float:
    """Distance of a body's middle over a place from all colliders [m]."""
    meshes = [mesh.triangles for mesh in scene.colliders]
    if not meshes:
        return np.inf
    tree = bvh.build(np.concatenate(meshes))
    return float(bvh.nearest_many(tree, place[None] + [[0.0, 0.0, 0.5]])[2][0])


ALL = [
    scenes.random_blocks(),
    scenes.maze(),
    scenes.rooms(1.0, 0.8),
    scenes.two_doors(),
    scenes.blocks_of_a_town(),
    buildings.three_storeys(),
    buildings.three_storeys(steps=16),
    buildings.spiral_ramp(),
    buildings.bridge(),
]


@pytest.mark.parametrize("scene", ALL)
def test_places_are_on_the_ground_and_free(scene):
    for place in scene.places.values():
        assert gap_below(scene, place) == pytest.approx(0.0, abs=0.01)
        assert gap_aside(scene, place) > 0.3


def test_boxes_are_closed_and_face_outward():
    mesh = scenes.boxes([(0, 0, 0), (5, 0, 0)], [(1, 2, 3), (6, 1, 1)])
    assert mesh.triangle_count == 24
    assert is_closed(mesh)
    assert signed_volume(mesh) == pytest.approx(7.0)


def test_outlines_are_where_the_walls_are():
    scene = scenes.random_blocks(3)
    places = scenes.free_places(scene, 0.3, 30, 0)
    for place in places:
        away = min(scenes.distance(outline, place[:2]) for outline in scene.outlines)
        assert gap_aside(scene, place) == pytest.approx(away, abs=1e-4)
    assert Plane(scene.outlines, 0.3).is_free(places[:, :2]).all()


def test_a_maze_has_one_way_from_end_to_end():
    scene = scenes.maze(4)
    start, goal = scene.places["start"][:2], scene.places["goal"][:2]
    low, high = bracket(scene.outlines, 0.25, start, goal, 8)
    straight = np.linalg.norm(goal - start)
    assert 1.3 * straight < low[0] <= high[0] < 1.02 * low[0]
    # with any more wall on that way there is none: bodies as wide as a corridor do not pass
    assert Plane(scene.outlines, 0.92, sides=8).lengths(start, goal)[0] == np.inf


@pytest.mark.parametrize(("radius", "passes"), [(0.38, True), (0.42, False)])
def test_doors_have_their_widths(radius, passes):
    scene = scenes.rooms(1.2, 0.8, 1.0)
    start, goal = scene.places["start"][:2], scene.places["goal"][:2]
    low, high = bracket(scene.outlines, radius, start, goal)
    assert np.isfinite([low[0], high[0]]).all() == passes
    shut = scenes.rooms(1.2, 0.8, shut=[0])
    assert Plane(shut.outlines, 0.1).lengths(start, shut.places["goal"][:2])[0] == np.inf


def test_a_shut_leaf_fills_its_door():
    scene = scenes.two_doors()
    shut, ajar = (scenes.door_leaf(share).triangles.reshape(-1, 3) for share in (1.0, 0.0))
    assert shut[:, 1].min() == pytest.approx(3.4) and shut[:, 1].max() == pytest.approx(4.6)
    # open, it stands within the wall
    assert ajar[:, 1].max() == pytest.approx(3.4)
    assert (np.abs(ajar[:, 0] - 10.0) <= 0.051).all()
    start, goal = scene.places["start"][:2], scene.places["goal"][:2]
    by_near = Plane(scene.outlines, 0.25).lengths(start, goal)[0]
    leaf = scenes.rectangle(9.95, 3.4, 10.05, 4.6)
    by_far = Plane([*scene.outlines, leaf], 0.25).lengths(start, goal)[0]
    assert by_near == pytest.approx(14.0)
    # a tangent to the circle about the corner of the far door, its arc, and half of the wall
    away, slope = np.hypot(6.9, 12.4), np.arctan2(12.4, 6.9)
    arc = 0.25 * (slope + np.arcsin(0.25 / away))
    assert by_far == pytest.approx(2.0 * (np.sqrt(away**2 - 0.25**2) + arc + 0.1), rel=1e-3)


def test_sizes_of_the_large_scenes():
    town = scenes.blocks_of_a_town()
    assert town.ground.triangle_count + town.colliders[0].triangle_count == 20_174
    size = np.ptp(town.ground.triangles.reshape(-1, 3), axis=0)
    assert size[0] * size[1] == pytest.approx(1.0e6, rel=0.01)
    house = buildings.large_house()
    assert 200_000 <= house.ground.triangle_count <= 250_000
    for place in house.places.values():
        assert gap_below(house, place) == pytest.approx(0.0, abs=0.01)


@pytest.mark.slow
def test_ways_from_floor_to_floor():
    house = buildings.storeys_unfolded(0.25)
    start, goal = ("floor 0", (15.0, 3.0)), ("floor 2", (15.0, 17.0))
    both = house.length(start, goal)
    left = buildings.storeys_unfolded(0.25, ["left"]).length(start, goal)
    right = buildings.storeys_unfolded(0.25, ["right"]).length(start, goal)
    # the building is the same seen from either side
    assert both == pytest.approx(min(left, right), rel=1e-6) == pytest.approx(left, rel=1e-3)
    # to the stairs, up, back to their foot, up, and to the goal; at least straight, at most by
    # right angles
    flight = np.hypot(6.4, 3.2)
    to_stairs, back, to_goal = np.hypot(11.25, 3.0), 6.4, np.hypot(11.25, 4.6)
    assert to_stairs + flight + back + flight + to_goal < left
    assert left < 11.25 + 3.0 + 2 * flight + 6.4 + 2 * 2.5 + 1.0 + 11.25 + 4.6
    assert house.length(("floor 1", (10.0, 3.0)), ("floor 1", (20.0, 3.0))) == 10.0


def test_flights_of_steps_rise_evenly_from_floor_to_floor():
    scene = buildings.three_storeys(steps=16)
    tree = bvh.build(scene.ground.triangles)
    y = np.arange(5.5, 13.0, 0.05)
    # from below the next flight
    eyes = np.clip(0.5 * (y - 6.0), 0.0, 3.2) + 1.0
    feet = np.column_stack([np.full(len(y), 3.0), y, eyes])
    _triangle, reach = bvh.ray_cast_many(tree, feet, np.tile(DOWN, (len(y), 1)))
    rises = np.diff(eyes - reach)
    assert rises.min() > -1e-4
    assert rises.max() == pytest.approx(3.2 / 17, abs=1e-3)


def test_the_spiral_ramp_rises_without_gaps():
    scene = buildings.spiral_ramp()
    # nobody comes nearer to the axis than the inner edge and the body
    assert buildings.spiral_length(0.25) > buildings.spiral_length(0.0)
    angle = np.linspace(0.05, 2 * np.pi * buildings.TURNS - 0.05, 200)
    for rho in (3.1, 4.5, 5.9):
        places = buildings._on_spiral(rho, angle)
        assert all(abs(gap_below(scene, place)) < 0.02 for place in places[::7])


def test_the_bridge_is_the_only_way_over_the_road():
    scene = buildings.bridge()
    tree = bvh.build(np.concatenate([mesh.triangles for mesh in scene.colliders]))
    south = scene.places["south"] + [[x, 0.0, 0.5] for x in np.linspace(-29, 29, 59)]
    ahead = np.tile([[0.0, 1.0, 0.0]], (len(south), 1))
    triangle, reach = bvh.ray_cast_many(tree, south, ahead)
    assert (triangle >= 0).all() and (reach < 23.0).all()
    # on the road nothing stands below the deck, on the bridge nothing along its middle
    for place, way in (
        (scene.places["west"], (1.0, 0, 0)),
        (np.array([0, -9.0, 5.0]), (0, 1.0, 0)),
    ):
        triangle, reach = bvh.ray_cast_many(tree, place[None] + [[0, 0, 0.5]], np.array([way]))
        assert triangle[0] < 0 or reach[0] > 30.0
    assert buildings.bridge_length() == pytest.approx(2 * np.sqrt(250) + 26.0)


def test_the_train_stands_at_the_platform_with_open_doors():
    assert [buildings.train_place(frame) for frame in (0, 100, 600, 700)] == [-40.0, 0.0, 0.0, 40.0]
    scene = buildings.with_train(0.0)
    tree = bvh.build(scene.colliders[0].triangles)
    for x in np.arange(-5.5, 5.6, 0.5):
        place = np.array([[x, -1.0, 0.9]])
        _triangle, reach = bvh.ray_cast_many(tree, place, np.array([[0.0, 1.0, 0.0]]))
        # through a door to the far wall, or to the near one
        door = min(abs(x - at) for at in buildings.DOORS) < 0.7
        assert (reach[0] > 3.0) == door
    for place in scene.places.values():
        assert gap_below(scene, place) == pytest.approx(0.0, abs=1e-4)
