"""Surfaces and ways of unusual scenes: nothing fails, and nobody is led where no body fits."""

from __future__ import annotations

import numpy as np
import pytest
import way_scenes as scenes
from waytools import RADIUS, SHAPE, Walk, blocks_of, led

from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.ways import surface as surface_module
from steer_addon.core.ways.islands import label_islands
from steer_addon.core.ways.room import BLOCKED, make_room
from steer_addon.core.ways.surface import bounds_of, make_surface
from steer_addon.core.ways.ways import Ways

NO_GOALS = np.zeros((0, 3), np.float32)


def surface_of(scene):
    blocks = blocks_of(scene)
    bounds = bounds_of(blocks.ground, blocks.colliders, NO_GOALS)
    return make_surface(SHAPE, blocks.ground, blocks.colliders, bounds), blocks


def ground_of(*meshes: Mesh, colliders=()):
    return scenes.Scene(ground=scenes.joined("ground", *meshes), colliders=tuple(colliders))


def heights(scene):
    """The floors that bodies can stand on [m]."""
    surface, blocks = surface_of(scene)
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    return np.unique(surface.view.z[room.state != BLOCKED].round(2)).astype(float).round(2).tolist()


def test_storeys_closer_than_a_head_leave_the_upper_one():
    low, upper = scenes.floor(0, 0, 8, 8), scenes.floor(0, 0, 8, 8, 1.2)
    assert heights(ground_of(low, upper)) == [1.2]
    high = scenes.floor(0, 0, 8, 8, 2.2)
    assert heights(ground_of(low, high)) == [0.0, 2.2]


def test_what_hangs_lower_than_a_head_is_gone_round():
    beam = scenes.boxes([[3.0, -1.0, 0.6]], [[5.0, 6.0, 1.0]], "beam")
    scene = ground_of(scenes.floor(0, 0, 8, 8), colliders=[beam])
    _via, length = led(scene, [1.0, 1.0, 0.0], [7.0, 1.0, 0.0])
    # round its upper end, a radius away
    exact = 2.0 * np.hypot(2.0, 5.25) + 2.0
    assert length[0] == pytest.approx(exact, rel=0.03)
    higher = scenes.boxes([[3.0, -1.0, 1.9]], [[5.0, 6.0, 2.4]], "beam")
    scene = ground_of(scenes.floor(0, 0, 8, 8), colliders=[higher])
    assert led(scene, [1.0, 1.0, 0.0], [7.0, 1.0, 0.0])[1][0] == pytest.approx(6.0)


def test_a_wall_without_thickness_is_gone_round():
    sheet = Mesh("sheet", scenes.quad((4, -1, -1), (4, 6, -1), (4, 6, 3), (4, -1, 3)))
    scene = ground_of(scenes.floor(0, 0, 8, 8), colliders=[sheet])
    _via, length = led(scene, [1.0, 1.0, 0.0], [7.0, 1.0, 0.0])
    assert length[0] == pytest.approx(2.0 * np.hypot(3.0, 5.25), rel=0.03)


def test_steep_ground_and_high_steps_part_islands():
    ramp = Mesh("steep", scenes.quad((4, 0, 0), (5, 0, 2), (5, 8, 2), (4, 8, 0)))
    floors = scenes.floor(0, 0, 4, 8), scenes.floor(5, 0, 9, 8, 2.0)
    surface, blocks = surface_of(ground_of(*floors, ramp))
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    assert label_islands(surface.view, room)[1] == 2
    surface, blocks = surface_of(ground_of(floors[0], scenes.floor(4, 0, 9, 8, 0.4)))
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    assert label_islands(surface.view, room)[1] == 2
    surface, blocks = surface_of(ground_of(floors[0], scenes.floor(4, 0, 9, 8, 0.3)))
    room = make_room(surface, blocks.ground, blocks.colliders, RADIUS)
    assert label_islands(surface.view, room)[1] == 1


def test_a_body_larger_than_every_door_goes_as_near_as_it_can():
    scene = scenes.two_doors(near=0.6, far=0.6)
    start, goal = scene.places["start"], scene.places["goal"]
    via, _length = led(scene, start, goal, 0.45)
    assert np.isfinite(via).all() and via[0, 0] < 10.0


def test_bodies_larger_than_all_of_the_ground_are_said_to_have_no_way():
    scene = scenes.two_doors()
    starts = [scene.places["start"], scene.places["goal"]]
    ways, told = Ways(), (np.asarray(starts, np.float32), np.arange(2), np.float32([12.0, 0.25]))
    goals = np.asarray(scene.places["goal"], np.float32)[None]
    lost = ways.without_way(SHAPE, blocks_of(scene), goals, np.zeros(2, np.int64), told)
    assert lost.tolist() == [True, False]


def test_without_ground_and_colliders_all_go_straight():
    walk = Walk(scenes.Scene(ground=None, colliders=()), [0.0, 0.0, 0.0], [6.0, 2.0, 0.0])
    places = walk.on(160)[:, 0]
    assert places[-1] == pytest.approx([6.0, 2.0, 0.0], abs=0.3)
    # nobody leaves the line
    assert np.abs(places[:, 1] - places[:, 0] / 3.0).max() < 0.05


def test_colliders_that_move_in_every_frame_are_gone_round_where_they_are():
    scene, ways = scenes.two_doors(), Ways()
    start, goal = scene.places["start"], scene.places["goal"]
    for shut in np.linspace(0.0, 1.0, 9):
        blocks = blocks_of(scene, scenes.door_leaf(float(shut)))
        kept = led(scene, start, goal, ways=ways, blocks=blocks)
        anew = led(scene, start, goal, blocks=blocks)
        assert all(np.array_equal(a, b) for a, b in zip(kept, anew, strict=True))


def test_a_ground_of_one_face_and_one_without_area_have_ways_too():
    flat = Mesh("line", np.zeros((1, 3, 3), np.float32))
    for mesh in (flat, Mesh("face", np.array([[[0, 0, 0], [9, 0, 0], [0, 9, 0]]], np.float32))):
        scene = scenes.Scene(ground=mesh, colliders=())
        via, length = led(scene, [1.0, 1.0, 0.0], [3.0, 2.0, 0.0])
        assert via[0] == pytest.approx([3.0, 2.0, 0.0])
        assert length[0] == pytest.approx(np.sqrt(5.0))


def test_storeys_count_when_cells_are_made_larger(monkeypatch):
    monkeypatch.setattr(surface_module, "MOST_CELLS", 3000)
    monkeypatch.setattr(surface_module, "MOST_LAYERS", 15)
    one, _blocks = surface_of(ground_of(scenes.floor(0, 0, 12, 12)))
    assert one.shape.cell_size == 0.25 and one.count == 2304
    floors = [scenes.floor(0, 0, 12, 12, 3.0 * k) for k in range(6)]
    # half of the ground has one floor only
    beside = scenes.floor(12, 0, 24, 12)
    six, _blocks = surface_of(ground_of(*floors, beside))
    assert 1500 < six.count < 3300 and six.view.size > 0.4
    found = np.unique(six.view.z[np.isfinite(six.view.z)].round(2))
    assert found.tolist() == [0.0, 3.0, 6.0, 9.0, 12.0, 15.0]
    # clearance reaches from cell to cell
    assert six.shape.reach > six.view.size
