"""Every operator: what it does, that it can be undone, when it is grey, and what it says then."""

from __future__ import annotations

import math

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender import crowds, display, properties, registration, state  # noqa: E402
from steer_addon.blender.bake import keyframes  # noqa: E402
from steer_addon.blender.operators import presets as preset_operators  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402
from steer_addon.core.presets import read_preset  # noqa: E402
from tests.blender.crowd_makers import make_crowd, make_empty, make_points  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def undone(operator, **options):
    """Run an operator, then undo it; objects have to be looked up anew afterwards."""
    bpy.ops.ed.undo_push(message="before")
    assert operator(**options) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    assert bpy.ops.ed.undo() == {"FINISHED"}


def points_of(obj):
    return np.array([obj.matrix_world @ v.co for v in obj.data.vertices])


def nearest_distance(points):
    gap = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(gap, np.inf)
    return gap.min()


def active():
    return bpy.context.view_layer.objects.active


def make_mesh(name, corners, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.context.view_layer.update()
    return obj


def make_plane(name="Plane", size=10.0, slope=0.0):
    up = size * math.sin(math.radians(slope))
    far = size * math.cos(math.radians(slope))
    return make_mesh(name, [(0, 0, 0), (far, 0, up), (far, size, up), (0, size, 0)], [(0, 1, 2, 3)])


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
        found.append(points_of(active()))
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
    ("make", "message"),
    [
        (lambda: None, "select the ground, or choose Grid or Disc"),
        (lambda: make_points(), "'Points' has no faces to stand on"),
        (lambda: make_plane(slope=60.0), "within 45° of level: raise the maximum slope"),
    ],
)
def test_a_surface_that_cannot_carry_agents_is_named(make, message):
    make()
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
    monkeypatch.setattr(crowds, "builtin_folder", lambda: tmp_path)
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


def refusal(operator):
    """Why an operator cannot run, as its grey button says."""
    name = operator.idname_py().replace(".", "_", 1).replace("object_", "OBJECT_OT_", 1)
    cls = next(c for c in registration.CLASSES if c.__name__ == name)
    assert not operator.poll()
    return cls.why_not(bpy.context)


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


# Behaviors


def curves_of(obj):
    """Value at frame 1 of every f-curve of an object, by path."""
    data = obj.animation_data
    found = {}
    for strip in data.action.layers[0].strips:
        for curve in strip.channelbag(data.action_slot).fcurves:
            found[curve.data_path] = curve.evaluate(1)
    return found


def make_keyed():
    """A crowd of three behaviors, weights 1, 2, 3 keyed, and one driver."""
    obj = make_crowd()
    obj.steer.behaviors.clear()
    for number, name in enumerate(("seek", "wander", "separation")):
        item = properties.add_behavior(obj, name)
        item.weight = number + 1
        obj.keyframe_insert(f"steer.behaviors[{number}].weight", frame=1)
    obj.steer.behaviors[1].wander.jitter = 0.25
    obj.keyframe_insert("steer.behaviors[1].wander.jitter", frame=1)
    driver = obj.driver_add("steer.behaviors[1].wander.distance").driver
    driver.expression = "4.0"
    bpy.context.scene.frame_set(1)
    return obj


def weights(obj):
    return {item.name: item.weight for item in obj.steer.behaviors}


def test_a_behavior_is_added_at_the_end():
    obj = make_crowd()
    before = len(obj.steer.behaviors)
    assert bpy.ops.object.steer_behavior_add(type="seek") == {"FINISHED"}
    assert len(obj.steer.behaviors) == before + 1
    assert obj.steer.behaviors[before].type == "seek"
    assert obj.steer.active_behavior == before
    bpy.ops.object.steer_behavior_add(type="seek")
    assert obj.steer.behaviors[before + 1].name == "seek.001"


def test_moving_takes_animation_along():
    obj = make_keyed()
    obj.steer.active_behavior = 1
    bpy.ops.object.steer_behavior_move(direction="UP")
    assert [item.name for item in obj.steer.behaviors] == ["wander", "seek", "separation"]
    assert obj.steer.active_behavior == 0
    assert curves_of(obj) == {
        "steer.behaviors[0].weight": 2.0,
        "steer.behaviors[0].wander.jitter": 0.25,
        "steer.behaviors[1].weight": 1.0,
        "steer.behaviors[2].weight": 3.0,
    }
    driver = obj.animation_data.drivers[0]
    assert driver.data_path == "steer.behaviors[0].wander.distance"
    bpy.context.scene.frame_set(1)
    assert weights(obj) == {"wander": 2.0, "seek": 1.0, "separation": 3.0}
    assert obj.steer.behaviors[0].wander.distance == pytest.approx(4.0)


def test_moving_stops_at_the_ends():
    obj = make_keyed()
    obj.steer.active_behavior = 2
    bpy.ops.object.steer_behavior_move(direction="DOWN")
    assert [item.name for item in obj.steer.behaviors] == ["seek", "wander", "separation"]


def test_removing_takes_its_animation_away():
    obj = make_keyed()
    obj.steer.active_behavior = 1
    bpy.ops.object.steer_behavior_remove()
    assert [item.name for item in obj.steer.behaviors] == ["seek", "separation"]
    assert curves_of(obj) == {"steer.behaviors[0].weight": 1.0, "steer.behaviors[1].weight": 3.0}
    assert not obj.animation_data.drivers
    bpy.context.scene.frame_set(1)
    assert weights(obj) == {"seek": 1.0, "separation": 3.0}


def test_duplicating_copies_values_and_animation():
    obj = make_keyed()
    item = obj.steer.behaviors[0]
    item.use_own_target, item.target_object = True, make_empty()
    curve = curve_of(obj, "steer.behaviors[1].weight")
    curve.keyframe_points.insert(10.0, 5.0).interpolation = "CONSTANT"
    curve.modifiers.new("NOISE").strength = 0.5
    for place in (0, 2):
        obj.steer.active_behavior = place
        bpy.ops.object.steer_behavior_duplicate()
    names = [item.name for item in obj.steer.behaviors]
    assert names == ["seek", "seek.001", "wander", "wander.001", "separation"]
    assert obj.steer.behaviors[1].target_object == obj.steer.behaviors[0].target_object
    assert obj.steer.behaviors[1].use_own_target
    assert obj.steer.behaviors[3].wander.jitter == pytest.approx(0.25)
    found = curves_of(obj)
    assert len(found) == 7
    assert found["steer.behaviors[0].weight"] == found["steer.behaviors[1].weight"] == 1.0
    assert found["steer.behaviors[4].weight"] == 3.0
    assert found["steer.behaviors[3].wander.jitter"] == 0.25
    copy = curve_of(obj, "steer.behaviors[3].weight")
    original = curve_of(obj, "steer.behaviors[2].weight")
    assert [tuple(k.co) for k in copy.keyframe_points] == [(1.0, 2.0), (10.0, 5.0)]
    assert copy.keyframe_points[1].interpolation == "CONSTANT"
    assert copy.modifiers[0].strength == 0.5
    for frame in np.linspace(-5.0, 20.0, 26):
        assert copy.evaluate(frame) == pytest.approx(original.evaluate(frame), abs=1e-6)
    paths = sorted(curve.data_path for curve in obj.animation_data.drivers)
    assert paths == ["steer.behaviors[2].wander.distance", "steer.behaviors[3].wander.distance"]


def curve_of(obj, path):
    data = obj.animation_data
    bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
    return bag.fcurves.find(path)


def test_animation_in_nla_strips_follows_too():
    obj = make_keyed()
    data = obj.animation_data
    action, slot = data.action, data.action_slot
    strip = data.nla_tracks.new().strips.new("Strip", 1, action)
    strip.action_slot = slot
    data.action = None
    obj.steer.active_behavior = 0
    bpy.ops.object.steer_behavior_remove()
    curves = action.layers[0].strips[0].channelbag(slot).fcurves
    assert sorted(curve.data_path for curve in curves) == [
        "steer.behaviors[0].wander.jitter",
        "steer.behaviors[0].weight",
        "steer.behaviors[1].weight",
    ]


def test_drivers_of_others_follow_too():
    obj = make_keyed()
    other = make_empty("Other")
    driver = other.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id = obj
    variable.targets[0].data_path = "steer.behaviors[2].weight"
    obj.steer.active_behavior = 0
    bpy.ops.object.steer_behavior_remove()
    assert variable.targets[0].data_path == "steer.behaviors[1].weight"


def test_animation_of_other_objects_in_the_same_action_stays():
    obj = make_keyed()
    other = make_crowd(name="Other")
    data = other.animation_data_create()
    data.action = obj.animation_data.action
    data.action_slot = data.action.slots.new("OBJECT", "Other")
    other.keyframe_insert("steer.behaviors[0].weight", frame=1)
    bpy.context.view_layer.objects.active = obj
    obj.steer.active_behavior = 0
    bpy.ops.object.steer_behavior_remove()
    assert list(curves_of(other)) == ["steer.behaviors[0].weight"]


@pytest.mark.parametrize(
    ("operator", "options"),
    [
        ("steer_behavior_add", {"type": "seek"}),
        ("steer_behavior_remove", {}),
        ("steer_behavior_move", {"direction": "DOWN"}),
        ("steer_behavior_duplicate", {}),
        ("steer_preset_apply", {"name": "birds"}),
    ],
)
def test_list_operators_are_undone(operator, options):
    obj = make_keyed()
    before = properties.settings_of(obj), curves_of(obj)
    undone(getattr(bpy.ops.object, operator), **options)
    obj = bpy.data.objects["Crowd"]
    assert (properties.settings_of(obj), curves_of(obj)) == before
    assert obj.animation_data.drivers[0].data_path == "steer.behaviors[1].wander.distance"


def test_an_empty_list_has_nothing_to_remove():
    make_crowd().steer.behaviors.clear()
    assert refusal(bpy.ops.object.steer_behavior_remove) == "Add a behavior first"


# Presets


@pytest.fixture
def preset_folder(tmp_path, monkeypatch):
    """A folder for presets in place of the user's."""
    monkeypatch.setattr(preset_operators, "user_preset_folder", lambda: tmp_path / "new")
    monkeypatch.setattr(preset_operators, "user_preset_folders", lambda: [tmp_path / "new"])
    return tmp_path / "new"


def test_a_preset_is_saved_and_applied(preset_folder):
    obj = make_crowd()
    obj.steer.agents.max_speed = 3.3
    properties.add_behavior(obj, "flee").flee.panic_radius = 7.7
    wanted = properties.settings_of(obj)
    assert bpy.ops.object.steer_preset_save(name="My Crowd") == {"FINISHED"}
    saved = read_preset(preset_folder / "my_crowd.json")
    assert saved.settings == wanted and saved.label == "My Crowd"
    other = make_crowd(name="Other")
    assert bpy.ops.object.steer_preset_apply(name="my_crowd") == {"FINISHED"}
    assert properties.settings_of(other) == wanted


def test_the_users_folder_is_blenders():
    folder = crowds.user_preset_folder()
    assert folder.parts[-2:] == ("presets", "steer")
    folder.mkdir(parents=True, exist_ok=True)
    assert folder in crowds.user_preset_folders()


@pytest.mark.parametrize("name", ["", "  ", "a/b", "..", "a\\b", "a\nb"])
def test_names_that_are_no_file_names_are_refused(preset_folder, name):
    make_crowd()
    with pytest.raises(RuntimeError, match="cannot be a file name"):
        bpy.ops.object.steer_preset_save(name=name)
    assert not preset_folder.exists()


def test_a_preset_that_does_not_fit_changes_nothing(preset_folder):
    preset_folder.mkdir()
    text = '{"format": "steer-preset", "version": 1, "settings": {"agents": {"radius": -1}}}'
    (preset_folder / "bad.json").write_text(text)
    obj = make_crowd()
    before = properties.settings_of(obj)
    with pytest.raises(RuntimeError, match=r"bad.json: agents.radius is -1: give a value from 0"):
        bpy.ops.object.steer_preset_apply(name="bad")
    with pytest.raises(RuntimeError, match="There is no preset 'tango': known are"):
        bpy.ops.object.steer_preset_apply(name="tango")
    assert properties.settings_of(obj) == before


def test_a_folder_that_cannot_be_written_is_named(preset_folder):
    preset_folder.write_text("a file is in the way")
    make_crowd()
    with pytest.raises(RuntimeError, match="cannot be written: .*choose another folder"):
        bpy.ops.object.steer_preset_save(name="mine")


# Bake


def make_short_crowd():
    obj = make_crowd(4)
    obj.steer.frame_start, obj.steer.frame_end = 1, 6
    return obj


def test_a_bake_hides_the_crowd_and_deleting_shows_it():
    obj = make_short_crowd()
    assert refusal(bpy.ops.object.steer_delete_bake) == "'Crowd' has no keyframe bake"
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    baked = obj.steer.bake_collection
    assert len(baked.objects) == 4
    assert obj.hide_viewport and obj.hide_render
    assert active() == obj and bpy.ops.object.steer_delete_bake.poll()
    assert bpy.ops.object.steer_delete_bake() == {"FINISHED"}
    assert not obj.hide_viewport and not obj.hide_render
    assert obj.steer.bake_collection is None and not bpy.data.collections
    assert not any(action.get(keyframes.MARK) for action in bpy.data.actions)


def test_what_the_user_had_hidden_stays_hidden():
    obj = make_short_crowd()
    obj.hide_render = True
    bpy.ops.object.steer_bake_keyframes()
    bpy.ops.object.steer_delete_bake()
    assert obj.hide_render and not obj.hide_viewport


def test_baking_again_replaces_the_bake_also_under_a_new_name():
    obj = make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    obj.steer.frame_end = 4
    bpy.ops.object.steer_bake_keyframes()
    assert [c.name for c in bpy.data.collections] == ["Crowd Bake"]
    obj.name = "Renamed"
    bpy.ops.object.steer_bake_keyframes()
    assert [c.name for c in bpy.data.collections] == ["Renamed Bake"]
    assert len([o for o in bpy.data.objects if keyframes.MARK in o]) == 4
    bpy.ops.object.steer_delete_bake()
    assert not obj.hide_viewport and not obj.hide_render and not bpy.data.collections


def test_the_bakes_source_and_settings_are_used():
    obj = make_short_crowd()
    source = make_plane("Walker")
    bpy.context.view_layer.objects.active = obj
    obj.steer.bake_source_object = source
    obj.steer.bake.step = 5
    display.set_input(display.find_modifier(obj), "Scale", 2.0)
    bpy.ops.object.steer_bake_keyframes()
    copies = list(obj.steer.bake_collection.objects)
    assert all(copy.data == source.data for copy in copies)
    assert tuple(copies[0].scale) == (2.0, 2.0, 2.0)
    assert len(curve_of(copies[0], "location").keyframe_points) == 2


def test_a_bake_that_fails_changes_nothing():
    obj = make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    obj.steer.frame_end = -3
    with pytest.raises(RuntimeError, match="ends at frame -3, before its start at 1: set the end"):
        bpy.ops.object.steer_bake_keyframes()
    assert len(obj.steer.bake_collection.objects) == 4
    assert obj.hide_viewport and obj.hide_render
    assert obj.steer.hidden_by_bake == {"VIEWPORT", "RENDER"}


def test_a_deleted_collection_still_gives_the_crowd_back():
    obj = make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    bpy.data.collections.remove(obj.steer.bake_collection)
    assert bpy.ops.object.steer_delete_bake() == {"FINISHED"}
    assert not obj.hide_viewport and not obj.hide_render


def test_removing_a_baked_crowd_shows_it_and_keeps_the_bake():
    obj = make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    bpy.ops.object.steer_remove_modifier()
    assert not obj.hide_viewport and not obj.hide_render
    assert len(bpy.data.collections["Crowd Bake"].objects) == 4


def test_bake_is_undone():
    make_short_crowd()
    undone(bpy.ops.object.steer_bake_keyframes)
    obj = bpy.data.objects["Crowd"]
    assert not bpy.data.collections and not obj.hide_viewport and not obj.hide_render
    assert not any(keyframes.MARK in other for other in bpy.data.objects)


def test_delete_bake_is_undone():
    make_short_crowd()
    bpy.ops.object.steer_bake_keyframes()
    undone(bpy.ops.object.steer_delete_bake)
    obj = bpy.data.objects["Crowd"]
    assert len(obj.steer.bake_collection.objects) == 4
    assert obj.hide_viewport and obj.hide_render


def test_clearing_needs_no_frames():
    make_crowd()
    assert bpy.ops.object.steer_clear_cache() == {"FINISHED"}
