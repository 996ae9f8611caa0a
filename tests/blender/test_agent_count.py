"""The field Agents: the number of agents of a crowd, changed at any time."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live import live  # noqa: E402
from steer_addon.blender.making import resizing, scene_maker  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.crowd_makers import active, make_crowd, make_plane  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


def added(**options):
    assert bpy.ops.object.steer_add_crowd(**options) == {"FINISHED"}
    return active()


def started(preset, count):
    assert bpy.ops.object.steer_start(preset=preset, count=count, bodies=False) == {"FINISHED"}
    return active()


def points_of(obj):
    return np.array([vertex.co for vertex in obj.data.vertices])


def distances(points):
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return apart


@pytest.mark.parametrize("preset", ["pedestrians", "panic", "birds"])
def test_more_agents_join_those_that_stand_already(preset):
    obj = started(preset, 30)
    before = points_of(obj)
    obj.steer.agent_count = 75
    after = points_of(obj)
    assert len(after) == obj.steer.agent_count == 75
    np.testing.assert_array_equal(after[:30], before)
    obj.steer.agent_count = 12
    np.testing.assert_array_equal(points_of(obj), before[:12])
    headings = np.array([row.vector for row in obj.data.attributes["heading"].data])
    np.testing.assert_allclose(headings, np.tile([0.0, -1.0, 0.0], (12, 1)))


def test_walkers_that_join_keep_their_distance_and_clear_of_pillars():
    obj = started("pedestrians", 30)
    obj.steer.agent_count = 600
    points, body = points_of(obj), obj.steer.agents.radius
    assert distances(points).min() > 2.4 * body
    for pillar in obj.steer.colliders.objects:
        center = np.array(pillar.location - obj.location)[:2]
        wide = pillar.dimensions.x / 2
        assert np.linalg.norm(points[:, :2] - center, axis=1).min() > wide + body


def test_files_stay_in_order_and_know_their_lane():
    obj = started("parade_on_path", 9)
    obj.steer.agent_count = 15
    lanes = [row.value for row in obj.data.attributes["lane"].data]
    assert lanes == 5 * [-1.0, 0.0, 1.0]
    assert started("parade_on_path", 15).data.attributes["lane"].data[14].value == 1.0


def test_a_grid_is_made_anew_around_its_middle():
    obj = added(distribution="GRID", count=9, spacing=2.0)
    obj.steer.agent_count = 16
    points = points_of(obj)
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=1e-6)
    assert distances(points).min() == pytest.approx(2.0)


def test_points_that_were_moved_stay_in_a_grid():
    obj = added(distribution="GRID", count=9, spacing=1.0)
    obj.data.vertices[0].co = (0.3, 0.4, 0.0)
    obj.data.update()
    before = points_of(obj)
    obj.steer.agent_count = 20
    after = points_of(obj)
    np.testing.assert_array_equal(after[:9], before)
    assert len(after) == 20 and distances(after)[9:].min() > 0.99


def test_a_full_disc_takes_no_more_and_says_so(caplog):
    obj = added(distribution="DISC", count=5, spacing=1.0, radius=2.0)
    obj.steer.agent_count = 500
    assert 5 < obj.steer.agent_count < 20
    assert f"'Crowd': {obj.steer.agent_count} of 500 agents found room" in caplog.text
    assert distances(points_of(obj)).min() > 0.99


def test_agents_on_a_surface_join_on_it():
    make_plane(size=20.0, slope=20.0)
    obj = added(distribution="SURFACE", count=10, spacing=0.5)
    obj.steer.agent_count = 60
    points = points_of(obj)
    assert len(points) == 60
    np.testing.assert_allclose(points[:, 2], points[:, 0] * math.tan(math.radians(20.0)), atol=1e-4)


def test_a_scene_of_the_command_line_takes_more_on_its_ground():
    obj = scene_maker.make_scene(scene_maker.SceneOptions(agents=20, frames=range(1, 3))).crowd
    before = points_of(obj)
    obj.steer.agent_count = 60
    points = points_of(obj)
    assert len(points) == 60 and np.array_equal(points[:20], before)
    assert distances(points).min() > 2.0 * obj.steer.agents.radius
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-4)


def test_new_points_take_over_attributes_and_get_ids_of_their_own():
    obj = added(distribution="DISC", count=3, spacing=1.0, radius=9.0)
    scenes.add_attribute(obj, "max_speed", "FLOAT", [1.0, 2.0, 3.0])
    scenes.add_attribute(obj, "id", "INT", [5, 7, 6])
    obj.steer.agent_count = 6
    speeds = [row.value for row in obj.data.attributes["max_speed"].data]
    ids = [row.value for row in obj.data.attributes["id"].data]
    assert speeds == [1.0, 2.0, 3.0] * 2 and ids == [5, 7, 6, 8, 9, 10]


def test_frames_are_simulated_anew():
    obj = started("pedestrians", 10)
    scenes.play(1, 4)
    assert len(live.get_frame(obj, 4).id) == 10
    obj.steer.agent_count = 14
    bpy.context.view_layer.update()
    assert live.status(obj).diagnosis is not None
    scenes.play(1, 4)
    assert len(live.get_frame(obj, 4).id) == 14 and live.status(obj).diagnosis is None


def test_it_is_undone():
    added(distribution="GRID", count=9)
    bpy.ops.ed.undo_push(message="before")
    active().steer.agent_count = 20
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert active().steer.agent_count == 9


def own_points():
    return make_crowd(4)


def behind_a_modifier():
    obj = added(count=4)
    obj.modifiers.new("Array", "ARRAY")
    obj.modifiers.move(1, 0)
    return obj


def in_edit_mode():
    obj = added(count=4)
    bpy.ops.object.mode_set(mode="EDIT")
    return obj


def baked():
    obj = added(count=4)
    obj.steer.hidden_by_bake = {"VIEWPORT"}
    return obj


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (own_points, "COUNT_OF_OWN_POINTS"),
        (behind_a_modifier, "COUNT_BY_MODIFIERS"),
        (in_edit_mode, "COUNT_IN_EDIT_MODE"),
        (baked, "COUNT_BAKED"),
    ],
)
def test_where_it_is_fixed_the_panel_says_why_and_nothing_changes(make, code):
    obj = make()
    assert resizing.why_fixed(obj).code == code
    obj.steer.agent_count = 30
    if obj.mode == "EDIT":
        bpy.ops.object.mode_set(mode="OBJECT")
    assert obj.steer.agent_count == 4


def test_a_mesh_that_is_edited_elsewhere_is_left_alone():
    obj = added(distribution="DISC", count=4)
    bpy.ops.object.duplicate(linked=True)
    other = active()
    bpy.context.view_layer.objects.active = obj
    other.select_set(False)
    bpy.ops.object.mode_set(mode="EDIT")
    assert other.data == obj.data and other.mode == "OBJECT"
    assert resizing.why_fixed(other).code == "COUNT_IN_EDIT_MODE"
    for crowd in (obj, other):
        # Blender would print a traceback of the setter and go on
        resizing.resize(crowd, 20)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(obj.data.vertices) == 4


def test_a_scene_that_was_never_shown_is_passed_over_or_named(caplog):
    ground = make_plane(size=20.0)
    obj = added(distribution="SURFACE", count=9)
    shown, unseen = bpy.context.scene, bpy.data.scenes.new("A Scene before it")
    unseen.collection.objects.link(obj)
    resizing.resize(obj, 20)
    assert obj.steer.agent_count == 20 and obj.steer.ground == ground
    shown.collection.objects.unlink(obj)
    resizing.resize(obj, 30)
    assert obj.steer.agent_count == 20
    assert "No scene of crowd 'Crowd' was shown yet" in caplog.text


@pytest.mark.parametrize("distribution", ["GRID", "DISC"])
def test_points_that_were_all_deleted_come_back(distribution):
    obj = added(distribution=distribution, count=9)
    obj.data.clear_geometry()
    resizing.resize(obj, 12)
    assert obj.steer.agent_count == 12


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"kind": "GRID", "spacing": "x"}', "{"])
def test_a_damaged_arrangement_changes_nothing(text):
    obj = added(count=4)
    obj.steer.arrangement = text
    obj.steer.agent_count = 9
    assert obj.steer.agent_count == 4
