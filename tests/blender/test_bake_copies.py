"""Objects of a keyframe bake: linked copies with their hierarchies, or instances."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Euler, Matrix, Quaternion, Vector  # noqa: E402

from steer_addon.blender.bake.keyframes import bake, delete_bake, find_bakes  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.display.look import Look  # noqa: E402
from steer_addon.core.errors import SceneError  # noqa: E402

from .bake_frames import circling, counts, curves_of, users  # noqa: E402


@pytest.fixture
def scene():
    """An empty scene; the functions under test need nothing registered."""
    bpy.ops.wm.read_homefile(use_empty=True)
    yield bpy.context.scene
    bpy.ops.wm.read_homefile(use_empty=True)


def add(name, data=None, parent=None):
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    item.parent = parent
    return item


def triangle(name):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    return mesh


def rig():
    """An armature with one upright bone."""
    data = bpy.data.armatures.new("rig")
    item = add("rig", data)
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    bone = data.edit_bones.new("spine")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    return item


def bake_from(source, frames=None, **options):
    parent = bpy.context.scene.collection
    frames = frames or circling(range(1, 6))
    return bake(frames, name="Crowd", collection_parent=parent, source=source, **options)


def agent_matrix(frame, i, scale=1.0):
    turn = Quaternion(frame.rotation[i].tolist())
    return Matrix.LocRotScale(Vector(frame.position[i].tolist()), turn, Vector((scale,) * 3))


def assert_close(a, b):
    np.testing.assert_allclose(np.array(a), np.array(b), atol=2e-5)


def carriers():
    return [bpy.data.objects[f"Crowd.{i:04d}"] for i in range(3)]


def test_copies_share_the_mesh_and_give_it_back(scene):
    mesh = triangle("body")
    source = add("body", mesh)
    source.modifiers.new("thick", "SOLIDIFY")
    source.hide_render = True
    before, used = counts(), users()
    result = bake_from(source)
    assert mesh.users == 4
    assert counts()["meshes"] == before["meshes"]
    for item in result.collection.objects:
        assert item.data == mesh
        assert [modifier.type for modifier in item.modifiers] == ["SOLIDIFY"]
        assert not item.hide_render
    assert source.hide_render and source.animation_data is None
    delete_bake(*find_bakes("Crowd"))
    assert counts() == before and users() == used


def test_rotation_and_scale_of_the_source_are_kept_and_its_location_is_not(scene):
    """An imported character that stands upright by a turn of its object stays upright."""
    source = add("body", triangle("body"))
    source.location = (100.0, 200.0, 300.0)
    source.rotation_euler = (pi / 2, 0.3, 0.0)
    source.scale = (1.0, 2.0, -3.0)
    own = Euler((pi / 2, 0.3, 0.0)).to_matrix().to_4x4() @ Matrix.Diagonal((1, 2, -3, 1))
    frames = circling(range(1, 6))
    bake_from(source, frames, look=Look(scale=0.5))
    for frame in frames:
        scene.frame_set(frame.number)
        for i, item in enumerate(carriers()):
            assert_close(item.matrix_world, agent_matrix(frame, i, 0.5) @ own)
    np.testing.assert_allclose(source.location, (100.0, 200.0, 300.0))


def test_parent_and_constraints_of_the_source_do_not_move_copies(scene):
    above = add("above")
    above.location, above.scale = (5.0, 0.0, 0.0), (2.0, 2.0, 2.0)
    source = add("body", triangle("body"), above)
    source.delta_location = (0.0, 7.0, 0.0)
    source.constraints.new("COPY_LOCATION").target = above
    bpy.context.view_layer.update()
    frames = circling(range(1, 6))
    bake_from(source, frames)
    scene.frame_set(4)
    for i, item in enumerate(carriers()):
        assert_close(item.matrix_world, agent_matrix(frames[3], i, 2.0))
    assert source.parent == above and len(source.constraints) == 1


def test_hierarchy_is_copied_and_points_into_itself(scene):
    root = rig()
    body = add("body", triangle("body"), root)
    body.location = (0.0, 0.0, 0.5)
    body.matrix_parent_inverse = Matrix.Translation((0.0, 0.25, 0.0))
    body.modifiers.new("rig", "ARMATURE").object = root
    hat = add("hat", triangle("hat"), root)
    hat.parent_type, hat.parent_bone = "BONE", "spine"
    elsewhere = add("elsewhere")
    hat.constraints.new("TRACK_TO").target = elsewhere
    root.pose.bones["spine"].constraints.new("DAMPED_TRACK").target = body
    driver = body.driver_add("pass_index").driver
    driver.variables.new().targets[0].id = root
    bpy.context.view_layer.update()
    expected = [root.matrix_world.inverted() @ item.matrix_world for item in (body, hat)]

    before, used = counts(), users()
    frames = circling(range(1, 6))
    result = bake_from(root, frames)
    assert (result.agent_count, result.object_count) == (3, 9)
    scene.frame_set(3)
    for i, top in enumerate(carriers()):
        assert top.data == root.data
        copies = {item.name.split(".")[0]: item for item in top.children}
        assert set(copies) == {"body", "hat"}
        assert copies["body"].data == body.data
        assert copies["body"].modifiers["rig"].object == top
        assert copies["hat"].constraints[0].target == elsewhere
        assert top.pose.bones["spine"].constraints[0].target == copies["body"]
        variable = copies["body"].animation_data.drivers[0].driver.variables[0]
        assert variable.targets[0].id == top
        assert (copies["hat"].parent_type, copies["hat"].parent_bone) == ("BONE", "spine")
        assert_close(copies["body"].matrix_world, agent_matrix(frames[2], i) @ expected[0])
    assert body.modifiers["rig"].object == root and body.parent == root
    delete_bake(*find_bakes("Crowd"))
    assert counts() == before and users() == used


def test_inputs_of_geometry_nodes_point_to_the_copies(scene):
    top = add("top", triangle("top"))
    aim = add("aim", parent=top)
    group = bpy.data.node_groups.new("Follow", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Aim", in_out="INPUT", socket_type="NodeSocketObject")
    modifier = top.modifiers.new("Follow", "NODES")
    modifier.node_group = group
    display.set_input(modifier, "Aim", aim)
    collection = bake_from(top).collection
    for copy in (item for item in collection.objects if item.type == "MESH"):
        (child,) = copy.children
        assert display.get_input(copy.modifiers[0], "Aim") == child != aim


def test_animated_rig_keeps_its_walk_below_an_empty(scene):
    root = rig()
    root.rotation_euler = (0.0, 0.0, 1.0)
    bone = root.pose.bones["spine"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (5, 1.0)):
        bone.rotation_euler = (angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    walk = root.animation_data.action
    add("body", triangle("body"), root)
    before, used = counts(), users()
    frames = circling(range(1, 6))
    result = bake_from(root, frames, look=Look(scale=0.5))
    assert result.object_count == 9
    scene.frame_set(5)
    for i, carrier in enumerate(carriers()):
        assert carrier.type == "EMPTY" and ("location", 0) in curves_of(carrier)
        (copy,) = carrier.children
        assert copy.animation_data.action == walk and copy.data == root.data
        assert copy.pose.bones["spine"].rotation_euler.x == pytest.approx(1.0)
        own = Matrix.Rotation(1.0, 4, "Z")
        assert_close(copy.matrix_world, agent_matrix(frames[4], i, 0.5) @ own)
    delete_bake(*find_bakes("Crowd"))
    assert counts() == before and users() == used


def test_collection_is_instanced(scene):
    people = bpy.data.collections.new("people")
    people.objects.link(bpy.data.objects.new("body", triangle("body")))
    before, used = counts(), users()
    frames = circling(range(1, 6))
    result = bake_from(people, frames, look=Look(scale=2.0))
    assert people.users == 3 + used["collections/people"]
    for item in result.collection.objects:
        assert item.instance_type == "COLLECTION" and item.instance_collection == people
    scene.frame_set(2)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = [instance.matrix_world.copy() for instance in graph.object_instances
             if instance.is_instance]  # fmt: skip
    assert len(shown) == 3
    for i, matrix in enumerate(shown):
        assert_close(matrix, agent_matrix(frames[1], i, 2.0))
    delete_bake(*find_bakes("Crowd"))
    assert counts() == before and users() == used


def test_collection_cannot_contain_its_own_bake(scene):
    outer, inner = bpy.data.collections.new("outer"), bpy.data.collections.new("inner")
    scene.collection.children.link(outer)
    outer.children.link(inner)
    before = counts()
    for parent in (outer, inner):
        with pytest.raises(SceneError, match="instances of itself"):
            bake(circling([1]), name="Crowd", collection_parent=parent, source=outer)
    with pytest.raises(SceneError, match="whole scene"):
        bake(circling([1]), name="Crowd", collection_parent=outer, source=scene.collection)
    assert counts() == before


def test_other_sources_are_refused(scene):
    with pytest.raises(SceneError, match="cannot be copied"):
        bake_from(triangle("body"))
    assert not bpy.data.objects
