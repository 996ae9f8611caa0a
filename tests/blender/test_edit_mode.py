"""Edit Mode: what is edited counts at once, and entering or leaving it is no edit."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")
import bmesh  # noqa: E402

from steer_addon.blender.checks.collider_checks import check_colliders, found  # noqa: E402
from steer_addon.blender.live import live, simulate  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.live_scenes import code_of, frame_set, play, seekers, shown, update  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def mode(name, *objects):
    """Enter or leave Edit Mode with some objects."""
    layer = bpy.context.view_layer
    if objects:
        for obj in layer.objects:
            obj.select_set(obj in objects)
        layer.objects.active = objects[0]
    bpy.ops.object.mode_set(mode=name)


def nudge(obj, row=0, by=(5.0, 0.0, 0.0)):
    """Move a vertex in Edit Mode as a user does."""
    edited = bmesh.from_edit_mesh(obj.data)
    edited.verts.ensure_lookup_table()
    edited.verts[row].co += type(edited.verts[row].co)(by)
    bmesh.update_edit_mesh(obj.data)
    update()


def offline(obj, last):
    """The last frame of a bake from the scene as it is."""
    return list(simulate.run(obj, bpy.context.scene, range(1, last + 1)))[-1].position


def session(obj):
    return live.runs.get(obj)._session


@pytest.fixture
def said(capfd):
    """All that was printed: no handler fails."""
    yield
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.usefixtures("said")
def test_points_edited_at_the_start_count_at_once():
    obj = scenes.make_runner()
    scenes.add_attribute(obj, "max_speed", "FLOAT", [1.0, 2.0, 3.0])
    frame_set(1)
    mode("EDIT", obj)
    nudge(obj)
    assert code_of(obj) == ""
    np.testing.assert_array_equal(shown(obj)[:, 0], [5, 1, 2])
    edited = bmesh.from_edit_mesh(obj.data)
    edited.verts.new((9, 0, 0))
    bmesh.update_edit_mesh(obj.data)
    update()
    np.testing.assert_array_equal(shown(obj)[:, 0], [5, 1, 2, 9])
    assert session(obj).start_agents.max_speed.tolist() == [1, 2, 3, 0]
    # playing and baking from Edit Mode
    play(2, 10)
    played = live.get_frame(obj, 10).position
    np.testing.assert_array_equal(offline(obj, 10), played)
    assert obj.mode == "EDIT" and code_of(obj) == ""
    frame_set(1)
    mode("OBJECT")
    assert scenes.stored(obj) == (1, 10)
    np.testing.assert_array_equal(offline(obj, 10), played)


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("modified", ["", "modifier", "shape key"])
def test_entering_and_leaving_is_no_edit(modified):
    obj, ground, wall = scenes.make_runner(), scenes.make_ground(), scenes.make_box()
    wall.location.y = 50
    obj.steer.ground = ground
    scenes.make_colliders(obj, wall)
    if modified == "modifier":
        obj.modifiers.move(obj.modifiers.find(obj.modifiers.new("Above", "DISPLACE").name), 0)
    elif modified:
        obj.shape_key_add(name="Basis")
    play(1, 10)
    assert code_of(obj) == ""
    for edited in (obj, ground, wall):
        mode("EDIT", edited)
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.select_all(action="DESELECT")
        mode("OBJECT")
        update()
        assert code_of(obj) == "" and scenes.stored(obj) == (1, 10), edited.name


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("modified", [False, True])
def test_points_edited_later_are_told_and_count_from_the_start_on(modified):
    obj = scenes.make_runner()
    if modified:
        above = obj.modifiers.new("Above", "DISPLACE")
        above.direction, above.strength = "Z", 2.0
        obj.modifiers.move(obj.modifiers.find(above.name), 0)
    play(1, 10)
    mode("EDIT", obj)
    nudge(obj)
    assert code_of(obj) == "OUT_OF_DATE"
    mode("OBJECT")
    assert code_of(obj) == "OUT_OF_DATE"
    play(1, 10)
    assert code_of(obj) == ""
    assert live.get_frame(obj, 1).position[0, 0] == 5
    np.testing.assert_array_equal(offline(obj, 10), live.get_frame(obj, 10).position)


@pytest.mark.usefixtures("said")
def test_undo_in_edit_mode_gives_the_points_back():
    obj = scenes.make_runner()
    frame_set(1)
    bpy.ops.ed.undo_push(message="made")
    mode("EDIT", obj)
    bpy.ops.ed.undo_push(message="entered")
    nudge(obj)
    bpy.ops.ed.undo_push(message="edited")
    np.testing.assert_array_equal(shown(obj)[:, 0], [5, 1, 2])
    for step, first in ((bpy.ops.ed.undo, 0), (bpy.ops.ed.redo, 5), (bpy.ops.ed.undo, 0)):
        step()
        update()
        obj = bpy.data.objects["Crowd"]
        assert obj.mode == "EDIT"
        np.testing.assert_array_equal(shown(obj)[:, 0], [first, 1, 2])
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Crowd"]
    assert obj.mode == "OBJECT"
    play(1, 3)
    np.testing.assert_array_equal(live.get_frame(obj, 1).position[:, 0], [0, 1, 2])


@pytest.mark.usefixtures("said")
def test_several_objects_are_edited_at_once():
    first = scenes.make_runner()
    second = scenes.make_crowd([(0, 9, 0)], "Second")
    second.steer.target_object, second.steer.target_kind = first, "CROWD"
    ground = scenes.make_ground()
    first.steer.ground = ground
    frame_set(1)
    mode("EDIT", first, second, ground)
    assert {o.mode for o in (first, second, ground)} == {"EDIT"}
    nudge(first)
    nudge(second, by=(0, 1, 0))
    for row in range(4):
        nudge(ground, row, (0, 0, 3))
    play(1, 5)
    assert code_of(first) == code_of(second) == ""
    np.testing.assert_array_equal(live.get_frame(first, 1).position[:, 2], [3, 3, 3])
    np.testing.assert_array_equal(live.get_frame(second, 1).position, [[0, 10, 0]])
    for obj in (first, second):
        np.testing.assert_array_equal(offline(obj, 5), live.get_frame(obj, 5).position)


@pytest.mark.usefixtures("said")
def test_a_linked_duplicate_of_the_edited_mesh_is_edited_too():
    obj = scenes.make_runner()
    twin = scenes.make_crowd([(0, 0, 0)], "Twin")
    twin.data = obj.data
    frame_set(1)
    mode("EDIT", obj)
    nudge(obj)
    assert twin.mode == "OBJECT"
    np.testing.assert_array_equal(live.get_frame(twin, 1).position[:, 0], [5, 1, 2])


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("in_edit_mode", [False, True])
def test_ground_and_colliders_are_read_as_edited_with_their_modifiers(in_edit_mode):
    obj, ground, wall = scenes.make_runner(), scenes.make_ground(), scenes.make_box()
    wall.location.y = 50
    obj.steer.ground = ground
    scenes.make_colliders(obj, wall)
    for name in (ground, wall):
        name.modifiers.new("Twice", "ARRAY").show_in_editmode = in_edit_mode
    frame_set(1)
    mode("EDIT", ground, wall)
    for row in range(4):
        nudge(ground, row, (0, 0, 3))
    nudge(wall, 0, (-2, 0, 0))
    world, codes = session(obj).world, [one.code for one in live.status(obj).warnings]
    assert "GROUND_WITHOUT_FACES" not in codes and "MESH_WITHOUT_FACES" not in codes
    times = 2 if in_edit_mode else 1
    assert len(world.ground.triangles) == 2 * times
    assert len(world.colliders.bvh.triangles) == 12 * times
    np.testing.assert_array_equal(world.ground.triangles[:, :, 2], 3)
    assert world.colliders.bvh.triangles[:, :, 0].min() == -3
    assert check_colliders(obj, scenes.deps()) and not found(obj)
    play(2, 4)
    np.testing.assert_array_equal(live.get_frame(obj, 4).position[:, 2], [3, 3, 3])
    np.testing.assert_array_equal(offline(obj, 4), live.get_frame(obj, 4).position)
    frame_set(1)
    mode("OBJECT")
    update()
    assert len(session(obj).world.ground.triangles) == 4


@pytest.mark.usefixtures("said")
def test_a_deleted_face_of_a_collider_counts():
    obj, wall = scenes.make_runner(), scenes.make_box()
    wall.location.y = 50
    scenes.make_colliders(obj, wall)
    frame_set(1)
    mode("EDIT", wall)
    edited = bmesh.from_edit_mesh(wall.data)
    bmesh.ops.delete(edited, geom=edited.faces[:1], context="FACES_ONLY")
    bmesh.update_edit_mesh(wall.data)
    update()
    assert len(session(obj).world.colliders.bvh.triangles) == 10
    assert "MESH_OPEN" in [one.code for one in live.status(obj).warnings]


@pytest.mark.usefixtures("said")
def test_points_as_targets_and_a_path_are_read_as_edited():
    obj = scenes.make_crowd(settings=seekers({"type": "seek"}, {"type": "follow_path"}))
    goals = scenes.make_ground("Goals", half=2.0)
    obj.steer.target_object, obj.steer.target_kind = goals, "POINTS"
    line = bpy.data.meshes.new("Line")
    line.from_pydata([(0, 0, 0), (0, 5, 0)], [(0, 1)], [])
    path = bpy.data.objects.new("Line", line)
    bpy.context.scene.collection.objects.link(path)
    obj.steer.behaviors["follow_path"].source_object = path
    frame_set(1)
    mode("EDIT", goals, path)
    nudge(goals)
    nudge(path, 1)
    world = session(obj).world
    np.testing.assert_array_equal(world.targets[""].position[0], [3, -2, 0])
    assert [5, 5, 0] in world.paths["follow_path"].view().point.tolist()
    np.testing.assert_array_equal(offline(obj, 5), [play(2, 5), live.get_frame(obj, 5).position][1])
