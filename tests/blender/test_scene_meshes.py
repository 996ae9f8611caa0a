"""Inputs of a crowd from a scene: colliders and ground."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.crowd.properties import settings_of  # noqa: E402
from steer_addon.blender.reading.scene import WorldReader  # noqa: E402
from steer_addon.blender.reading.scene_agents import read_agents  # noqa: E402
from steer_addon.core.diagnoses import diagnose  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    CUBE_FACES,
    data_counts,
    deps,
    make_box,
    make_colliders,
    make_crowd,
    make_ground,
    make_target,
    move,
)
from tests.blender.source_makers import make_copies  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def agents_of(obj):
    return read_agents(obj, deps(), settings_of(obj))


def read(obj, reader=None):
    return (reader or WorldReader()).read(obj, deps(), 24.0)


def test_colliders_are_read_in_world_space():
    obj, box = make_crowd(), make_box(location=(10, 0, 0))
    box.scale = (1, 2, 3)
    box.modifiers.new("Bevel", "BEVEL")
    inner = bpy.data.collections.new("Inner")
    make_colliders(obj, box).children.link(inner)
    inner.objects.link(make_box("Inside", (0, 10, 0)))
    inner.objects.link(make_target(name="No mesh"))
    world = read(obj)
    assert world.colliders.names == ("Box", "Inside")
    assert len(world.colliders.bvh.triangles) == 44 + 12
    np.testing.assert_allclose(world.colliders.center, [(10, 0, 0), (0, 10, 0)], atol=1e-5)


def test_what_is_static_is_read_once_and_what_moves_every_frame():
    obj, still, moving = make_crowd(), make_box("Still"), make_box("Moving")
    bending = make_box("Bending", (30, 0, 0))
    bending.modifiers.new("Wave", "WAVE").time_offset = -100
    move(moving, {1: (5, 0, 0), 20: (15, 0, 0)})
    make_colliders(obj, still, moving, bending)
    reader = WorldReader()
    for number in range(1, 6):
        bpy.context.scene.frame_set(number)
        world = read(obj, reader)
    assert reader.meshes.reads == {"Still": 1, "Moving": 5, "Bending": 5}
    place = moving.evaluated_get(deps()).matrix_world.translation
    np.testing.assert_allclose(world.colliders.center[1], tuple(place), atol=1e-5)


def test_nothing_is_built_again_while_nothing_changes():
    obj = make_crowd()
    make_colliders(obj, make_box())
    obj.steer.ground = make_ground()
    reader = WorldReader()
    first, second = read(obj, reader), read(obj, reader)
    assert first.colliders is second.colliders
    assert first.ground is second.ground
    reader.forget({obj.steer.ground.session_uid})
    assert read(obj, reader).colliders is first.colliders
    assert reader.meshes.reads == {"Box": 1, "Ground (ground)": 2}


def test_mirrored_colliders_keep_their_outside():
    obj, box = make_crowd(), make_box()
    box.scale = (-1, 1, 1)
    make_colliders(obj, box)
    reader = WorldReader()
    read(obj, reader)
    assert reader.scene_warnings == []


def test_defects_are_said_and_the_mesh_is_used():
    inside_out = [face[::-1] for face in CUBE_FACES]
    obj = make_crowd()
    make_colliders(
        obj,
        make_box("Inverted", faces=inside_out),
        make_box("Open", faces=CUBE_FACES[:5]),
        make_box("Bare", faces=[]),
    )
    reader = WorldReader()
    world = read(obj, reader)
    assert world.colliders.names == ("Inverted", "Open")
    assert {(found.code, found.values["object"]) for found in reader.scene_warnings} == {
        ("MESH_INSIDE_OUT", "Inverted"),
        ("MESH_OPEN", "Open"),
        ("MESH_WITHOUT_FACES", "Bare"),
    }


def test_what_is_mended_is_said_no_more():
    obj, box = make_crowd(), make_box(faces=[face[::-1] for face in CUBE_FACES])
    make_colliders(obj, box)
    reader = WorldReader()
    for expected in (["MESH_INSIDE_OUT"], [], ["MESH_INSIDE_OUT"]):
        read(obj, reader)
        assert [found.code for found in reader.scene_warnings] == expected
        box.data.flip_normals()
        reader.forget({box.session_uid})


def test_faces_that_go_while_their_points_stay_are_noticed():
    obj, box = make_crowd(), make_box()
    make_colliders(obj, box)
    group = bpy.data.node_groups.new("Opens", "GeometryNodeTree")
    group.is_modifier = True
    for side in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=side, socket_type="NodeSocketGeometry")
    given, made = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    gone, now = (
        group.nodes.new(f"GeometryNode{name}") for name in ("DeleteGeometry", "InputSceneTime")
    )
    gone.mode, gone.domain = "ONLY_FACE", "FACE"
    late = group.nodes.new("ShaderNodeMath")
    late.operation, late.inputs[1].default_value = "GREATER_THAN", 2.5
    for one, other in (
        (given.outputs[0], gone.inputs[0]),
        (gone.outputs[0], made.inputs[0]),
        (now.outputs["Frame"], late.inputs[0]),
        (late.outputs[0], gone.inputs["Selection"]),
    ):
        group.links.new(one, other)
    box.modifiers.new("Opens", "NODES").node_group = group
    reader, counts = WorldReader(), []
    for number in (1, 2, 3, 1):
        bpy.context.scene.frame_set(number)
        colliders = read(obj, reader).colliders
        counts.append(0 if colliders is None else colliders.trees[0].triangles.shape[0])
    # edges without faces are walls: two triangles on each of the eight level ones
    assert counts == [12, 12, 16, 12]


def test_a_collider_that_is_not_finite_is_ignored():
    obj, box = make_crowd(), make_box()
    places = np.tile(np.float32([0, 0, np.nan]), 8)
    box.data.vertices.foreach_set("co", places)
    make_colliders(obj, box)
    reader = WorldReader()
    assert read(obj, reader).colliders is None
    (found,) = reader.scene_warnings
    assert (found.code, found.subject, found.values["object"]) == ("MESH_IGNORED", "Box", "Box")
    assert "not finite" in found.values["reason"]
    box.data.vertices.foreach_set("co", np.nan_to_num(places))
    reader.forget({box.session_uid})
    assert read(obj, reader).colliders is not None


def test_flat_and_huge_colliders_are_usable():
    obj, flat, huge = make_crowd(), make_box("Flat"), make_box("Huge")
    flat.scale, huge.scale = (1, 1, 0), (1e7, 1e7, 1e7)
    make_colliders(obj, flat, huge)
    assert read(obj).colliders.radius[1] > 1e7


def test_curves_and_instanced_collections_collide():
    obj = make_crowd()
    curve = bpy.data.curves.new("Pipe", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", 0.5
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (5, 0, 0, 1)
    pipe = bpy.data.objects.new("Pipe", curve)
    source = bpy.data.collections.new("Source")
    box = make_box("Part", (1, 0, 0))
    bpy.context.scene.collection.objects.unlink(box)
    source.objects.link(box)
    source.instance_offset = (1, 0, 0)
    empty = make_target(location=(0, 20, 0), name="Instance")
    empty.instance_type, empty.instance_collection = "COLLECTION", source
    bpy.context.scene.collection.objects.link(pipe)
    make_colliders(obj, pipe, empty)
    colliders = read(obj).colliders
    assert colliders.names == ("Instance/Part", "Pipe")
    np.testing.assert_allclose(colliders.center[0], (0, 20, 0), atol=1e-5)


@pytest.mark.parametrize("how", ["viewport", "eye", "render"])
def test_hidden_proxies_still_count(how):
    obj, box = make_crowd(), make_box(location=(3, 0, 0))
    make_colliders(obj, box)
    target = make_target(obj, (0, 9, 0))
    for hidden in (box, target):
        if how == "viewport":
            hidden.hide_viewport = True
        elif how == "render":
            hidden.hide_render = True
        else:
            hidden.hide_set(True)
    bpy.context.view_layer.update()
    reader, before = WorldReader(), data_counts()
    for _ in range(2):
        world = read(obj, reader)
        np.testing.assert_allclose(world.colliders.center, [(3, 0, 0)], atol=1e-6)
        np.testing.assert_allclose(world.targets[""].position, [(0, 9, 0)])
    assert reader.warnings == []
    assert data_counts() == before


def test_hidden_copies_of_a_set_stay_where_they_are():
    obj = make_crowd()
    part = make_box("Part", (1, 0, 0))
    copies = make_copies(part, offset=(0, 3, 0))
    copies.hide_viewport = True
    make_colliders(obj, copies)
    reader = WorldReader()
    for _ in range(3):
        np.testing.assert_allclose(read(obj, reader).colliders.center, [(1, -3, 0)], atol=1e-6)


def test_hidden_and_moving_is_said():
    obj, box = make_crowd(), make_box()
    move(box, {1: (0, 0, 0), 9: (9, 0, 0)})
    box.hide_viewport = True
    make_colliders(obj, box)
    reader = WorldReader()
    bpy.context.view_layer.update()
    read(obj, reader)
    assert reader.scene_warnings == [diagnose("HIDDEN_MOTION", "Box", object="Box")]


def test_a_ground_without_faces_is_said_to_be_one():
    obj = make_crowd()
    obj.steer.ground = make_box("Bare", faces=[])
    reader = WorldReader()
    assert read(obj, reader).ground is None
    assert reader.scene_warnings == [diagnose("GROUND_WITHOUT_FACES", "Bare", object="Bare")]


def test_ground_is_read_and_may_be_open():
    obj = make_crowd()
    obj.steer.ground = ground = make_ground(height=2.0)
    reader = WorldReader()
    assert len(read(obj, reader).ground.triangles) == 2
    assert reader.scene_warnings == []
    bpy.data.objects.remove(ground)
    assert read(obj, reader).ground is None


def test_what_the_crowd_made_itself_is_no_input():
    obj = make_crowd()
    baked = make_box("Baked")
    obj.steer.bake_collection = bpy.data.collections.new("Bake")
    obj.steer.bake_collection.objects.link(baked)
    collection = make_colliders(obj, obj, state.get_state(obj), baked, make_box("Wall"))
    assert read(obj).colliders.names == ("Wall",)
    obj.steer.target_kind, obj.steer.target_collection = "COLLECTION", collection
    assert len(read(obj).targets[""].position) == 1
