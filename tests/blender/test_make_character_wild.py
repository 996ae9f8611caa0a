"""Rigs as they come from other files: actions with several slots, strips, stands that drift."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import gathering, library, making, rigs  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.walking_rigs import (  # noqa: E402
    RECIPE,
    box,
    make_rig,
    make_usual,
    state,
    take_coarse_plans,
    walking_rig,
)
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def make(rig, recipe=RECIPE):
    return making.make_character(bpy.context.scene, rig, recipe).space


def add_slot(action, obj, path, values):
    """Move another object by the same action."""
    slot = action.slots.new("OBJECT", obj.name)
    curve = action.layers[0].strips[0].channelbag(slot, ensure=True).fcurves.new(path, index=0)
    for frame, value in enumerate(values):
        curve.keyframe_points.insert(24.0 * frame, value)
    return slot


def merged(rig):
    """The walk of a rig, as the second slot of an action that moves a prop by its first one."""
    prop, action = bpy.data.objects.new("Prop", None), bpy.data.actions.new("Both")
    action.use_fake_user = True
    action.layers.new("Layer").strips.new(type="KEYFRAME")
    add_slot(action, prop, "location", (0.0, 1.0))
    walk, strip = bpy.data.actions["Walk"], action.layers[0].strips[0]
    bag = strip.channelbag(action.slots.new("OBJECT", rig.name), ensure=True)
    for curve in walk.layers[0].strips[0].channelbag(walk.slots[0]).fcurves:
        copy = bag.fcurves.new(curve.data_path, index=curve.array_index)
        for point in curve.keyframe_points:
            copy.keyframe_points.insert(*point.co)
    return action


def test_of_an_action_that_moves_other_objects_too_the_slot_of_the_rig_counts():
    rig = walking_rig()
    expected = make_usual(rig)
    merged(rig)
    found = make(rig, replace(RECIPE, walk="Both"))
    assert [row.stride for row in found.gaits] == pytest.approx(
        [row.stride for row in expected.gaits], rel=0.02
    )


def test_of_two_rigs_in_one_action_each_gets_its_own_motion():
    rig = walking_rig()
    action = merged(rig)
    action.slots[-1].name_display = "Somebody Else"
    other = make_rig("Other")
    strip = action.layers[0].strips[0]
    bag = strip.channelbag(action.slots.new("OBJECT", rig.name), ensure=True)
    curve = bag.fcurves.new('pose.bones["head"].location', index=1)
    curve.keyframe_points.insert(0.0, 0.0)
    curve.keyframe_points.insert(24.0, 1.0)
    # the slot of the rig's name moves its head only, so nothing walks
    with pytest.raises(CharacterError, match="No feet|no feet|Stride"):
        make(rig, replace(RECIPE, stand="", walk="Both"))
    assert other.name != rig.name


def test_a_strip_that_is_being_edited_is_no_obstacle():
    rig = walking_rig()
    expected = make_usual(rig)
    data = rig.animation_data_create()
    track = data.nla_tracks.new()
    track.strips.new("Walk", 1, bpy.data.actions["Walk"])
    track.select = True
    data.use_tweak_mode = True
    if not data.use_tweak_mode:
        pytest.skip("this Blender does not enter tweak mode without a window")
    np.testing.assert_allclose(make(rig).positions, expected.positions, atol=1e-6)
    assert data.use_tweak_mode


def test_a_rig_in_rest_position_is_told_to_leave_it():
    rig = walking_rig()
    rig.data.pose_position = "REST"
    before = state(rig)
    with pytest.raises(CharacterError, match="'Walker' is in Rest Position.*choose Pose Position"):
        make(rig)
    assert state(rig) == before


@pytest.mark.parametrize("drift", [(0.3, 0.0), (0.05, -0.2)])
def test_a_stand_that_slides_away_stands(drift):
    rig = walking_rig()
    expected = make_usual(rig)
    idle = bpy.data.actions["Idle"]
    bag = idle.layers[0].strips[0].channelbag(idle.slots[0])
    for index, curve in enumerate(c for c in bag.fcurves if '"root"' in c.data_path):
        # bones point up: their x is the world's x, and their z its -y
        along = {0: drift[0], 2: drift[1]}.get(curve.array_index, 0.0)
        for point in curve.keyframe_points:
            point.co.y += along * point.co.x / 24.0
            point.interpolation = "LINEAR"
        curve.update()
        assert index < 3
    found = make(rig)
    assert [row.name for row in found.gaits] == [row.name for row in expected.gaits]
    for one, other in zip(found.gaits, expected.gaits, strict=True):
        assert one.stride == pytest.approx(other.stride, rel=0.02, abs=1e-3)
    stand, usual = (space.positions[: space.gaits[0].count] for space in (found, expected))
    jumps, before = (np.diff(p, axis=0, append=p[:1]) for p in (stand, usual))
    np.testing.assert_allclose(jumps, before, atol=0.002)


@pytest.mark.parametrize("kind", ["CHILD_OF", "COPY_SCALE"])
def test_constraints_of_the_rig_itself_act_once(kind):
    rig = walking_rig()
    whole = np.ptp(make_usual(rig).positions[..., 2])
    empty, constraint = bpy.data.objects.new("Half", None), rig.constraints.new(kind)
    bpy.context.scene.collection.objects.link(empty)
    empty.scale = (0.5, 0.5, 0.5)
    constraint.target = empty
    if kind == "CHILD_OF":
        constraint.set_inverse_pending = False
    found = make(rig)
    assert np.ptp(found.positions[..., 2]) == pytest.approx(0.5 * whole, rel=0.02)


@pytest.mark.parametrize("order", ["XYZ", "ZXY"])
def test_drivers_that_read_angles_of_bones_are_followed(order):
    rig = walking_rig()
    rig.pose.bones["head"].rotation_mode = order
    for name in ("Idle", "Walk"):
        action = bpy.data.actions[name]
        bag = action.layers[0].strips[0].channelbag(action.slots[0])
        curve = bag.fcurves.new('pose.bones["head"].rotation_euler', index=1)
        curve.keyframe_points.insert(0.0, 0.4)
    hat = bpy.data.objects["hat"]
    narrow = make(rig).positions
    driver = hat.driver_add("scale", 2).driver
    variable = driver.variables.new()
    variable.targets[0].id = rig
    variable.targets[0].data_path = 'pose.bones["head"].rotation_euler[1]'
    driver.expression = f"1.0 + 10.0 * {variable.name}"
    tall = make(rig).positions
    # the hat is five times as long along its own z
    assert np.ptp(tall[0], axis=0).sum() > np.ptp(narrow[0], axis=0).sum() + 0.3


def test_parts_keep_their_textures_whatever_their_uv_maps_are_called():
    rig = walking_rig()
    parts = [obj for obj in rig.children_recursive if obj.type == "MESH"]
    for number, part in enumerate(parts):
        layer = part.data.uv_layers[0]
        layer.name = f"map{number}" if number % 2 else "UVMap"
        layer.uv.foreach_set("vector", [0.1 + 0.1 * number] * (2 * len(part.data.loops)))
        part.data.uv_layers.new(name="Spare")
        part.data.uv_layers[0].active_render = True
    made = making.make_character(bpy.context.scene, rig, RECIPE).character.data
    shown = next(layer for layer in made.uv_layers if layer.active_render)
    uvs = np.empty(2 * len(made.loops), np.float32)
    shown.uv.foreach_get("vector", uvs)
    faces = [len(part.data.loops) for part in parts]
    expected = {0.1 + 0.1 * number: 2 * count for number, count in enumerate(faces)}
    found = dict(zip(*np.unique(uvs.round(4), return_counts=True), strict=True))
    assert {round(float(k), 4): int(v) for k, v in found.items()} == {
        round(k, 4): v for k, v in expected.items()
    }


@pytest.mark.slow
def test_what_is_no_mesh_is_named(capfd, monkeypatch):
    take_coarse_plans(monkeypatch)
    rig = walking_rig()
    hair, path = (bpy.data.curves.new(name, "CURVE") for name in ("Hair", "Path"))
    hair.bevel_depth = 0.01
    for data in (hair, path):
        obj = bpy.data.objects.new(data.name, data)
        bpy.context.scene.collection.objects.link(obj)
        obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", "head"
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.object.steer_make_character(way_per_pose=0.05) == {"FINISHED"}
    told = capfd.readouterr().out
    assert "Left out, as only meshes have poses: 'Hair'; Object > Convert > Mesh" in told
    bpy.data.objects["Hair"].hide_render = True
    assert bpy.ops.object.steer_make_character(way_per_pose=0.05) == {"FINISHED"}
    assert "Left out" not in capfd.readouterr().out


def test_messages_name_the_object_that_was_chosen():
    cube = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    bpy.context.scene.collection.objects.link(cube)
    cube.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 1)], [], [(0, 1, 2)])
    with pytest.raises(CharacterError, match="^'Cube' is no armature"):
        make(cube)


def key(action, path, value, index=0):
    """Key a value of a rig in an action, at its first frame."""
    bag = action.layers[0].strips[0].channelbag(action.slots[0])
    bag.fcurves.new(path, index=index).keyframe_points.insert(0.0, value)


def tall(character):
    """Height of all poses of the gaits of a character [m], by their names."""
    return {
        row.name: float(np.ptp(character.positions[row.first : row.first + row.count, :, 2]))
        for row in character.gaits
    }


def test_keyed_influences_of_constraints_are_followed():
    rig = walking_rig()
    before = tall(make_usual(rig))
    up = bpy.data.objects.new("Up", None)
    bpy.context.scene.collection.objects.link(up)
    up.location.z = 3.0
    constraint = rig.pose.bones["head"].constraints.new("COPY_LOCATION")
    constraint.name, constraint.target, constraint.influence = 'A "switch"', up, 0.0
    path = constraint.path_from_id("influence")
    key(bpy.data.actions["Walk"], path, 1.0)
    found = tall(make(rig))
    assert found["stand"] == pytest.approx(before["stand"], abs=0.01)
    assert found["walk"] == pytest.approx(before["walk"] + 2.0, abs=0.05)
    half = next(name for name in found if name.startswith("walk ") and 0.4 < share(name) < 0.6)
    assert found[half] == pytest.approx(before[half] + 2.0 * share(half), abs=0.05)
    assert constraint.influence == 0.0


def share(name):
    return float(name.removeprefix("walk ").rstrip("%")) / 100.0


@pytest.mark.parametrize("kind", [float, int, bool])
def test_keyed_custom_properties_are_followed(kind):
    rig = walking_rig()
    before = tall(make_usual(rig))
    bone = rig.pose.bones["root"]
    bone["Hat On"] = kind(0)
    driver = bpy.data.objects["hat"].driver_add("location", 1).driver
    variable = driver.variables.new()
    variable.targets[0].id = rig
    variable.targets[0].data_path = 'pose.bones["root"]["Hat On"]'
    driver.expression = f"5.0 * {variable.name}"
    key(bpy.data.actions["Walk"], 'pose.bones["root"]["Hat On"]', 1.0)
    found = tall(make(rig))
    assert found["stand"] == pytest.approx(before["stand"], abs=0.01)
    assert found["walk"] > before["walk"] + 1.0
    half = next(name for name in found if name.startswith("walk ") and 0.4 < share(name) < 0.6)
    part = (found[half] - before[half]) / (found["walk"] - before["walk"])
    expected = share(half) if kind is float else round(share(half))
    assert part == pytest.approx(expected, abs=0.05)
    assert bone["Hat On"] == kind(0)


def test_shape_keys_in_the_action_of_the_rig_are_followed():
    rig = walking_rig()
    before = tall(make_usual(rig))
    head = bpy.data.objects["head"]
    head.shape_key_add(name="Basis")
    block = head.shape_key_add(name="Long")
    block.value = 0.0
    for point in block.data:
        point.co.z += 1.5
    walk = bpy.data.actions["Walk"]
    slot = walk.slots.new("KEY", head.data.shape_keys.name)
    bag = walk.layers[0].strips[0].channelbag(slot, ensure=True)
    bag.fcurves.new('key_blocks["Long"].value').keyframe_points.insert(0.0, 1.0)
    found = tall(make(rig))
    assert found["stand"] == pytest.approx(before["stand"], abs=0.01)
    assert found["walk"] > before["walk"] + 1.0
    assert block.value == 0.0


def caged(rig, kind):
    """A hat whose shape follows an object that is no child of the rig."""
    hat, cage = bpy.data.objects["hat"], box("cage", (0, 0, 0), (0.3, 0.3, 0.2))
    hat.parent = None
    if kind == "constraint":
        target = hat.constraints.new("ARMATURE").targets.new()
        target.target, target.subtarget = rig, "head"
        return
    follow = cage.constraints.new("CHILD_OF")
    follow.target, follow.subtarget, follow.set_inverse_pending = rig, "head", False
    hat.parent = rig
    if kind == "shrinkwrap":
        hat.modifiers.new("Wrap", "SHRINKWRAP").target = cage
        return
    group = bpy.data.node_groups.new("Show", "GeometryNodeTree")
    group.is_modifier = True
    socket = group.interface.new_socket("Object", in_out="INPUT", socket_type="NodeSocketObject")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes = [group.nodes.new(t) for t in ("NodeGroupInput", "GeometryNodeObjectInfo",
                                          "NodeGroupOutput")]  # fmt: skip
    nodes[1].transform_space = "RELATIVE"
    group.links.new(nodes[0].outputs[0], nodes[1].inputs["Object"])
    group.links.new(nodes[1].outputs["Geometry"], nodes[2].inputs[0])
    modifier = hat.modifiers.new("Show", "NODES")
    modifier.node_group = group
    if bpy.app.version >= (5, 2, 0):
        getattr(modifier.properties.inputs, socket.identifier).value = cage
    else:
        modifier[socket.identifier] = cage


@pytest.mark.parametrize("kind", ["nodes", "shrinkwrap", "constraint"])
def test_helpers_that_are_no_children_follow_the_pose(kind):
    rig = walking_rig()
    walk = bpy.data.actions["Walk"]
    bag = walk.layers[0].strips[0].channelbag(walk.slots[0])
    for curve in bag.fcurves:
        if '"head"' in curve.data_path and curve.array_index == 1:
            for point in curve.keyframe_points:
                point.co.y += 4.0
            curve.update()
    caged(rig, kind)
    found = make(rig)
    row = found.gaits[[row.name for row in found.gaits].index("walk")]
    heights = found.positions[row.first, :, 2]
    # eight vertices each of two legs, the head, and the hat
    assert np.sort(heights)[-16:].min() > 3.9


@pytest.mark.parametrize("hide", ["exclude", "hide_render", "hide_viewport"])
def test_what_lies_in_a_hidden_collection_is_no_part(hide):
    rig = walking_rig()
    props, inside = (bpy.data.collections.new(name) for name in ("Props", "Inside"))
    bpy.context.scene.collection.children.link(props)
    props.children.link(inside)
    hat = bpy.data.objects["hat"]
    inside.objects.link(hat)
    bpy.context.scene.collection.objects.unlink(hat)
    names = {"head", "leg.l", "leg.r"}
    assert {obj.name for obj in rigs.candidates(rig)} == names | {"hat"}
    if hide == "exclude":
        # Blender excludes those in it too
        bpy.context.view_layer.layer_collection.children["Props"].exclude = True
    else:
        setattr(props, hide, True)
    assert {obj.name for obj in rigs.candidates(rig)} == names
    # a rig that is put aside as a whole keeps its parts
    for obj in (rig, *rig.children):
        for collection in obj.users_collection:
            collection.objects.unlink(obj)
        inside.objects.link(obj)
    assert {obj.name for obj in rigs.candidates(rig)} == names | {"hat"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scale", "unit"), often([(0.01, 1.0), (1.0, 0.01), (60.0, 0.01)], (0.01, 1.0), (60.0, 0.01))
)
def test_bodies_of_all_sizes_get_their_poses(scale, unit, monkeypatch):
    take_coarse_plans(monkeypatch, steps=Plan().steps)
    rig = walking_rig()
    # the walk is asked for
    bpy.data.actions.remove(bpy.data.actions["Run"])
    bpy.context.scene.unit_settings.scale_length = unit
    rig.scale = (scale / unit,) * 3
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.object.steer_make_character() == {"FINISHED"}
    made = library.rows_of(bpy.data.objects["Walker Character"])[0]
    walk = next(row for row in made if row.name == "walk")
    assert walk.stride == pytest.approx(scale, rel=0.02)
    assert 50 <= walk.count <= 320


def test_poses_have_no_weights_of_bones():
    made = making.make_character(bpy.context.scene, walking_rig(), RECIPE).character
    assert not made.vertex_groups and len(bpy.data.objects["head"].vertex_groups) == 1
    # characters of files of before have them
    made.vertex_groups.new(name="head")
    gathering.on_load()
    assert not made.vertex_groups and len(bpy.data.objects["head"].vertex_groups) == 1


def test_instances_that_are_not_realized_are_named():
    rig = walking_rig()
    caged(rig, "nodes")
    assert making.make_character(bpy.context.scene, rig, RECIPE).left_out == ()
    group = bpy.data.node_groups["Show"]
    info = next(node for node in group.nodes if node.bl_idname == "GeometryNodeObjectInfo")
    info.inputs["As Instance"].default_value = True
    (told,) = making.make_character(bpy.context.scene, rig, RECIPE).left_out
    assert "modifiers of 'hat' make are left out: a Realize Instances node" in told
