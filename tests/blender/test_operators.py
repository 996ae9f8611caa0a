"""Making crowds and giving them up: what the operators do, undo, refuse, and say."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import crowds, properties, state  # noqa: E402
from steer_addon.blender.operators.common import counted  # noqa: E402
from steer_addon.core.crowd import presets  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402
from tests.blender.crowd_makers import (  # noqa: E402
    active,
    curves_of,
    make_crowd,
    make_empty,
    make_mesh,
    make_plane,
    make_points,
)
from tests.blender.operator_calls import refusal, undone  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


@pytest.mark.parametrize(("count", "said"), [(0, "0 clips"), (1, "1 clip"), (13, "13 clips")])
def test_one_of_a_thing_is_no_plural(count, said):
    assert counted(count, "clip") == said


def points_of(obj):
    return np.array([obj.matrix_world @ v.co for v in obj.data.vertices])


def nearest_distance(points):
    gap = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(gap, np.inf)
    return gap.min()


# Add > Crowd


def test_a_grid_stands_around_the_cursor():
    bpy.context.scene.cursor.location = (5.0, 6.0, 7.0)
    assert bpy.ops.object.steer_add_crowd(distribution="GRID", count=10, spacing=2.0) == {
        "FINISHED"
    }
    obj = active()
    bpy.context.view_layer.update()
    points = points_of(obj)
    assert crowds.is_crowd(obj) and obj.select_get()
    assert len(points) == 10
    assert nearest_distance(points) == pytest.approx(2.0)
    np.testing.assert_allclose(points[:, 2], 7.0)
    np.testing.assert_allclose((points.min(0) + points.max(0)) / 2, (5.0, 6.0, 7.0), atol=1e-5)
    assert state.get_state(obj) is not None


def test_a_disc_keeps_the_distance_and_the_seed():
    found = []
    for seed in (1, 1, 2):
        bpy.ops.object.steer_add_crowd(
            distribution="DISC", count=40, spacing=0.5, radius=4.0, seed=seed
        )
        found.append(np.array([vertex.co for vertex in active().data.vertices]))
    points = found[0]
    assert len(points) == 40
    assert nearest_distance(points) >= 0.5
    assert np.linalg.norm(points[:, :2], axis=1).max() <= 4.0
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_no_room_is_said(capfd):
    bpy.ops.object.steer_add_crowd(distribution="DISC", count=50, spacing=1.0, radius=1.0)
    points = points_of(active())
    assert 3 <= len(points) <= 7
    assert nearest_distance(points) >= 1.0
    assert f"Placed {len(points)} of 50 agents: there is no room" in capfd.readouterr().out


def test_a_surface_gets_agents_where_it_is_flat_and_becomes_the_ground():
    corners = [(0, 0, 1), (10, 0, 1), (10, 10, 1), (0, 10, 1), (10, 0, 9), (10, 10, 9)]
    ground = make_mesh("Ground", corners, [(0, 1, 2, 3), (2, 1, 4, 5)])
    ground.location = (100.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    bpy.ops.object.steer_add_crowd(
        distribution="SURFACE", count=30, spacing=0.5, max_slope=math.radians(30.0)
    )
    obj = active()
    assert obj != ground and obj.steer.ground == ground
    assert obj.steer.motion.max_slope == pytest.approx(math.radians(30.0))
    points = points_of(obj)
    assert len(points) == 30 and nearest_distance(points) >= 0.5
    np.testing.assert_allclose(points[:, 2], 1.0, atol=1e-5)
    assert points[:, 0].min() >= 100.0 and points[:, 0].max() <= 110.0
    # both halves of the face, by area
    assert 5 < (points[:, 1] > 5.0).sum() < 25


def test_a_mirrored_surface_still_looks_up():
    ground = make_plane()
    ground.scale = (-1.0, 1.0, -1.0)
    ground.rotation_euler = (math.pi, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert bpy.ops.object.steer_add_crowd(distribution="SURFACE", count=5) == {"FINISHED"}
    assert len(active().data.vertices) == 5


def test_the_evaluated_surface_counts():
    ground = make_plane()
    modifier = ground.modifiers.new("Array", "ARRAY")
    modifier.count = 3
    bpy.context.view_layer.update()
    bpy.ops.object.steer_add_crowd(distribution="SURFACE", count=100, spacing=0.2)
    assert points_of(active())[:, 0].max() > 20.0


@pytest.mark.parametrize(
    ("active_mesh", "message"),
    [
        ("none", "select the ground, or choose Grid or Disc"),
        ("points", "'Points' has no faces to stand on"),
        ("steep", "within 45° of level: raise Max Slope"),
    ],
)
def test_a_surface_that_cannot_carry_agents_is_named(active_mesh, message):
    if active_mesh == "points":
        make_points()
    elif active_mesh == "steep":
        make_plane(slope=60.0)
    count = len(bpy.data.objects)
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.object.steer_add_crowd(distribution="SURFACE", count=5)
    assert len(bpy.data.objects) == count


def test_add_crowd_is_undone():
    undone(bpy.ops.object.steer_add_crowd, count=4)
    assert not bpy.data.objects and not bpy.data.node_groups


def test_add_crowd_is_grey_in_edit_mode():
    make_plane()
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.object.steer_add_crowd.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.object.steer_add_crowd.poll()


def test_a_broken_default_preset_is_no_obstacle(monkeypatch, tmp_path):
    monkeypatch.setattr(presets, "builtin_folder", lambda: tmp_path)
    assert bpy.ops.object.steer_add_crowd(count=4) == {"FINISHED"}
    assert {"separation", "wander"} <= {item.type for item in active().steer.behaviors}


def test_a_new_crowd_moves_even_without_a_target():
    bpy.ops.object.steer_add_crowd(count=4)
    used = [properties.uses_targets(item) for item in active().steer.behaviors]
    assert any(used) and not all(used)
    assert active().steer.frame_end == bpy.context.scene.frame_end


# Add Modifier > Crowd


def test_a_mesh_becomes_a_crowd_and_stays_as_it_was():
    obj = make_plane()
    before = points_of(obj)
    assert bpy.ops.object.steer_add_modifier() == {"FINISHED"}
    assert crowds.is_crowd(obj)
    assert crowds.crowds(bpy.context.scene) == [obj]
    assert len(obj.steer.behaviors) == len(crowds.default_settings().behaviors)
    np.testing.assert_array_equal(points_of(obj), before)
    assert not bpy.ops.object.steer_add_modifier.poll()


def test_add_modifier_is_undone():
    make_plane()
    undone(bpy.ops.object.steer_add_modifier)
    obj = bpy.data.objects["Plane"]
    assert not obj.steer.is_crowd and not obj.modifiers and len(bpy.data.objects) == 1


def test_what_is_no_mesh_says_so():
    assert refusal(bpy.ops.object.steer_add_modifier) == "Select a mesh object"
    bpy.context.view_layer.objects.active = make_empty("Nil")
    assert "'Nil' is no mesh" in refusal(bpy.ops.object.steer_add_modifier)
    with pytest.raises(SceneError, match="of type EMPTY"):
        crowds.make_crowd(active())


def test_a_mesh_without_vertices_says_so():
    make_points(0)
    with pytest.raises(RuntimeError, match="'Points' has no vertices: give its mesh one vertex"):
        bpy.ops.object.steer_add_modifier()
    assert not active().modifiers and not active().steer.is_crowd


def test_removing_gives_the_mesh_back():
    obj = make_crowd()
    obj.steer.agents.radius = 0.7
    obj.steer.target_object = make_empty()
    obj.keyframe_insert("steer.behaviors[0].weight", frame=1)
    obj.driver_add("steer.agents.max_speed")
    obj.keyframe_insert("location", frame=1)
    shown = state.get_state(obj).name
    assert bpy.ops.object.steer_remove_modifier() == {"FINISHED"}
    assert not obj.modifiers and shown not in bpy.data.objects
    assert not obj.steer.is_crowd and len(obj.steer.behaviors) == 0
    assert obj.steer.target_object is None
    assert properties.settings_of(obj) == properties.CrowdSettings()
    assert sorted(curves_of(obj)) == ["location"]
    assert not obj.animation_data.drivers
    assert refusal(bpy.ops.object.steer_remove_modifier).startswith("'Crowd' is no crowd")


def test_removing_is_undone():
    obj = make_crowd()
    obj.steer.agents.radius = 0.7
    undone(bpy.ops.object.steer_remove_modifier)
    obj = bpy.data.objects["Crowd"]
    assert crowds.is_crowd(obj) and state.get_state(obj) is not None
    assert obj.steer.agents.radius == pytest.approx(0.7)


def test_half_a_crowd_can_be_removed_or_made_whole():
    obj = make_crowd()
    obj.steer.agents.radius = 0.7
    obj.modifiers.clear()
    assert not crowds.is_crowd(obj)
    assert bpy.ops.object.steer_add_modifier() == {"FINISHED"}
    assert crowds.is_crowd(obj) and obj.steer.agents.radius == pytest.approx(0.7)
    obj.modifiers.clear()
    assert bpy.ops.object.steer_remove_modifier() == {"FINISHED"}
    assert not obj.steer.is_crowd


# Linked data and overrides


@pytest.fixture
def linked(tmp_path):
    """A crowd linked from another file, not the active object yet."""
    make_crowd(name="Far")
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.objects = ["Far"]
    obj = there.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    return obj


CHANGING = (
    "steer_remove_modifier",
    "steer_behavior_add",
    "steer_behavior_remove",
    "steer_behavior_move",
    "steer_behavior_duplicate",
    "steer_preset_apply",
    "steer_bake_keyframes",
    "steer_delete_bake",
    "steer_clear_cache",
)


@pytest.mark.parametrize("name", CHANGING)
def test_linked_crowds_are_refused_with_the_way_out(linked, name):
    assert crowds.is_crowd(linked)
    assert "is linked from" in refusal(getattr(bpy.ops.object, name))
    assert "Make Local" in refusal(getattr(bpy.ops.object, name))


def test_overrides_are_refused_with_the_way_out(linked):
    bpy.context.view_layer.objects.active = linked.override_create(remap_local_usages=True)
    assert "is a library override" in refusal(bpy.ops.object.steer_behavior_remove)
    with pytest.raises(SceneError, match="Make Local"):
        crowds.make_crowd(active())


def test_a_linked_crowd_can_still_be_saved_as_a_preset(linked):
    assert bpy.ops.object.steer_preset_save.poll()


@pytest.mark.parametrize("name", CHANGING)
def test_without_a_crowd_the_buttons_say_so(name):
    assert refusal(getattr(bpy.ops.object, name)) == "Select a crowd"
    make_points()
    assert "is no crowd: use Add Modifier > Crowd" in refusal(getattr(bpy.ops.object, name))


def test_an_object_that_cannot_become_a_crowd_is_not_sent_to_its_modifiers():
    camera = bpy.data.objects.new("Cam", bpy.data.cameras.new("Cam"))
    bpy.context.collection.objects.link(camera)
    bpy.context.view_layer.objects.active = camera
    assert refusal(bpy.ops.object.steer_play) == "'Cam' is no crowd: select a crowd"
