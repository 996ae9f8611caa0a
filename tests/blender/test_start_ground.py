"""Add > Crowd on what is there: terrain, a ground of the user's choice, and none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import crowds  # noqa: E402
from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.making import grounds, resizing, walkable  # noqa: E402
from steer_addon.blender.reading import extents  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import active, make_mesh, make_plane  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")

NAV_TEST = Path(__file__).resolve().parents[3] / "shared" / "meshes" / "nav_test.obj"


def hills(size=56.0, steps=12, height=3.0):
    """The active object: a terrain of waves, as wide as it is long."""
    side = np.linspace(-size / 2, size / 2, steps + 1)
    corners = [(x, y, height * np.sin(x / 9.0) * np.cos(y / 11.0)) for y in side for x in side]
    row = steps + 1
    faces = [
        (k, k + 1, k + row + 1, k + row)
        for y in range(steps)
        for k in range(y * row, y * row + steps)
    ]
    return make_mesh("Hills", corners, faces)


def basin(depth=25.0):
    """The active object: a terrain of a floor between high walls that lean outward."""
    low, high = 30.0, 40.0
    floor = [(-low, -low, 0), (low, -low, 0), (low, low, 0), (-low, low, 0)]
    rim = [(-high, -high, depth), (high, -high, depth), (high, high, depth), (-high, high, depth)]
    sides = [(0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
    return make_mesh("Basin", [*floor, *rim], [(0, 1, 2, 3), *sides])


def started(preset="pedestrians", count=40, **options):
    found = bpy.ops.object.steer_start(preset=preset, count=count, bodies=False, **options)
    assert found == {"FINISHED"}
    bpy.context.view_layer.update()
    return active()


def heights_over(obj, ground):
    """How high each agent starts over the face below it [m]."""
    up = np.array([0.0, 0.0, 1.0])
    found = []
    for point in extents.start_points(obj):
        hit, place, _, _ = ground.ray_cast(tuple(point + up), (0.0, 0.0, -1.0))
        assert hit
        found.append(point[2] - place.z)
    return np.array(found)


@pytest.mark.parametrize(
    "preset",
    often(["pedestrians", "panic", "street_lanes", "ahead_spheres"], "panic", "street_lanes"),
)
def test_agents_and_their_target_stand_on_the_active_terrain(preset, capfd):
    ground = hills()
    obj = started(preset)
    assert obj.steer.ground == ground and len(obj.data.vertices) == 40
    assert np.abs(heights_over(obj, ground)).max() < 0.4
    target = obj.steer.target_object
    if target is not None:
        x, y, z = target.matrix_world.translation
        hit, place, _, _ = ground.ray_cast((x, y, z + 20.0), (0.0, 0.0, -1.0))
        assert hit and abs(place.z - z) < 0.4
    assert "on 'Hills'" in capfd.readouterr().out
    scenes.play(1, 3)
    assert live.status(obj).warnings == ()


def test_steep_parts_do_not_keep_a_terrain_from_being_recognized():
    ground = basin()
    # a cursor high above, as after a click on the rim
    bpy.context.scene.cursor.location = (35.0, 0.0, 12.0)
    obj = started()
    assert obj.steer.ground == ground
    points = extents.start_points(obj)
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-3)
    assert np.abs(points[:, :2]).max() < 30.0


@pytest.mark.slow
@pytest.mark.skipif(not NAV_TEST.is_file(), reason="the shared mesh is not there")
def test_the_test_mesh_of_recast_is_walked():
    bpy.ops.wm.obj_import(filepath=str(NAV_TEST))
    ground = active()
    obj = started(count=80)
    assert obj.steer.ground == ground and len(obj.data.vertices) == 80
    scenes.play(1, 60)
    first, last = (live.get_frame(obj, number).position for number in (1, 60))
    assert live.status(obj).warnings == ()
    assert np.median(np.linalg.norm(last - first, axis=1)) > 1.5


def test_a_cube_is_no_ground_of_itself_but_may_be_chosen():
    scenes.make_box("Tower", half=5.0)
    bpy.context.view_layer.objects.active = tower = bpy.data.objects["Tower"]
    bpy.context.view_layer.update()
    assert started(count=5).steer.ground.name == "Ground"
    bpy.context.view_layer.objects.active = tower
    obj = started(count=5, ground="ACTIVE")
    assert obj.steer.ground == tower
    np.testing.assert_allclose(extents.start_points(obj)[:, 2], 5.0, atol=1e-3)


def test_a_level_ground_at_another_height_carries_the_crowd():
    ground = scenes.make_ground(half=60.0, height=3.0)
    bpy.context.view_layer.objects.active = ground
    obj = started()
    assert obj.steer.ground == ground
    np.testing.assert_allclose(extents.start_points(obj)[:, 2], 3.0)


def test_new_and_none_are_taken_at_their_word():
    hills()
    assert started(ground="NEW").steer.ground.name == "Ground"
    bpy.context.view_layer.objects.active = bpy.data.objects["Hills"]
    assert started(ground="NONE").steer.ground is None


@pytest.mark.parametrize("make", [lambda: None, lambda: scenes.make_target()])
def test_an_active_mesh_that_is_wanted_and_lacks_is_said(make):
    bpy.context.view_layer.objects.active = make()
    count = len(bpy.data.objects)
    with pytest.raises(RuntimeError, match="Ground is the active mesh, and there is none: select"):
        bpy.ops.object.steer_start(preset="pedestrians", count=5, ground="ACTIVE")
    assert len(bpy.data.objects) == count


def test_a_ground_without_a_place_to_stand_is_named():
    make_plane("Cliff", size=40.0, slope=80.0)
    with pytest.raises(RuntimeError, match="'Cliff' has no place to stand near the 3D cursor"):
        bpy.ops.object.steer_start(preset="pedestrians", count=5, ground="ACTIVE")
    assert crowds.crowds(bpy.context.scene) == []


def test_a_second_crowd_stands_beside_the_first_on_terrain():
    ground = hills()
    first, second = started(), started()
    assert first.steer.ground == second.steer.ground == ground
    boxes = [extents.start_box(first), extents.start_box(second)]
    apart = extents.start_points(first)[:, None] - extents.start_points(second)[None]
    assert np.linalg.norm(apart, axis=2).min() > 1.0
    points = extents.start_points(second)
    inside = (points[:, :2] > boxes[0][0, :2]) & (points[:, :2] < boxes[0][1, :2])
    assert not inside.all(axis=1).any()


def test_the_number_of_agents_on_terrain_is_changed_on_it():
    ground = hills()
    obj = started(count=20)
    before = extents.start_points(obj)
    obj.steer.agent_count = 70
    bpy.context.view_layer.update()
    points = extents.start_points(obj)
    assert len(points) == 70 and np.array_equal(points[:20], before)
    assert np.abs(heights_over(obj, ground)).max() < 0.4
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, 9.0)
    assert apart.min() > 0.5


def headings_of(obj):
    return np.array([row.vector for row in obj.data.attributes["heading"].data])


@pytest.mark.parametrize("has_target", [True, False])
def test_agents_that_join_on_terrain_look_where_the_first_ones_look(has_target):
    hills()
    obj = started(count=20)
    first = headings_of(obj)
    obj.steer.target_object = obj.steer.target_object if has_target else None
    obj.steer.agent_count = 60
    if has_target:
        way = np.array(obj.steer.target_object.location) - extents.start_points(obj)
        way[:, 2] = 0.0
        wanted = way / np.linalg.norm(way, axis=1, keepdims=True)
    else:
        wanted = np.tile(first, (3, 1))
    np.testing.assert_allclose(headings_of(obj), wanted, atol=1e-4)


@pytest.mark.parametrize("is_moved", [False, True])
def test_files_on_terrain_are_made_anew_at_its_height(is_moved):
    ground = hills()
    obj = started("parade_on_path", 30)
    if is_moved:
        obj.data.vertices[3].co.x += 0.3
    before = extents.start_points(obj)
    obj.steer.agent_count = 90
    bpy.context.view_layer.update()
    points = extents.start_points(obj)
    assert np.abs(heights_over(obj, ground)).max() < 0.4
    apart = np.linalg.norm(points[:, None, :2] - points[None, :, :2], axis=2)
    np.fill_diagonal(apart, 9.0)
    if is_moved:
        assert 60 < len(points) <= 90
        np.testing.assert_array_equal(points[:30], before)
        assert apart[:30].min() > 2.0 * obj.steer.agents.radius - 1e-3
    else:
        assert len(points) == 90 and apart.min() > 0.3
    lanes = [row.value for row in obj.data.attributes["lane"].data]
    assert len(lanes) == len(points) and set(lanes) == {-1.0, 0.0, 1.0}


def counting(monkeypatch, module, name):
    """The calls of a function of a module from now on."""
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a, **k: calls.append(a) or function(*a, **k))
    return calls


@pytest.mark.slow
def test_a_dragged_number_of_agents_searches_the_terrain_once(monkeypatch):
    hills()
    obj = started(count=60)
    found = counting(monkeypatch, grounds, "find_walkable")
    read = counting(monkeypatch, resizing.scene_meshes, "walkable_triangles")
    for number in range(61, 66):
        obj.steer.agent_count = number
    assert len(obj.data.vertices) == 65 and len(found) == 1
    del read[:]
    for number in range(64, 40, -1):
        obj.steer.agent_count = number
    assert len(obj.data.vertices) == 41 and not read


def test_another_shape_of_the_terrain_is_searched_anew():
    ground = hills()
    obj = started(count=20)
    obj.steer.agent_count = 30
    for vertex in ground.data.vertices:
        vertex.co.z += 2.0
    obj.location.z += 2.0
    bpy.context.view_layer.update()
    obj.steer.agent_count = 50
    bpy.context.view_layer.update()
    assert np.abs(heights_over(obj, ground)).max() < 0.4


def test_points_are_lifted_by_one_search_of_the_places(monkeypatch):
    position = np.array([(0, 0, 5), (0, 0, 1), (0, 2, 2), (2, 0, 3), (2, 2, 4)], np.float64)
    rows = np.zeros(5, np.int64)
    places = walkable.Walkable(2.0, position, position, position[:, :0], rows, rows)
    built = counting(monkeypatch, grounds, "KDTree")
    for _ in range(3):
        points = np.array([(0.4, 0.4, 9.0), (0.1, 1.8, 0.0), (9.0, 9.0, 0.0)])
        np.testing.assert_allclose(grounds.heights(places, points), [5.0, 2.0, 4.0])
    assert len(built) == 1


def test_the_box_of_a_ground_is_made_once():
    field = grounds.Field(None, np.array([[(0, 1, 2), (3, -1, 0), (1, 1, 1)]], np.float32))
    np.testing.assert_array_equal(field.box, [(0, -1, 0), (3, 1, 2)])
    assert field.box is field.box
