"""Rigs as studios make them: heroes look as the crowd does."""

from __future__ import annotations

import math

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Matrix  # noqa: E402

from steer_addon.blender.characters import rigs  # noqa: E402
from steer_addon.blender.characters.keys import curves  # noqa: E402
from tests.blender.made_once import import_rig  # noqa: E402
from tests.blender.test_heroes import assert_same_poses  # noqa: E402
from tests.blender.test_production_rigs import COARSE, Recipe, make  # noqa: E402
from tests.blender.walking_rigs import add_gait, box, make_rig, state, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


def dressed(rig):
    """A coat that is skinned, masked, subdivided and passed through nodes."""
    coat = box("coat", (0, 0, 1.1), (0.6, 0.5, 0.9), rig)
    low, high = coat.vertex_groups.new(name="root"), coat.vertex_groups.new(name="head")
    hidden = coat.vertex_groups.new(name="hidden")
    low.add([0, 2, 4, 6], 1.0, "REPLACE")
    high.add([1, 3, 5, 7], 0.5, "REPLACE")
    hidden.add([0], 1.0, "REPLACE")
    coat.modifiers.new("Armature", "ARMATURE").object = rig
    mask = coat.modifiers.new("Mask", "MASK")
    mask.vertex_group, mask.invert_vertex_group = "hidden", True
    coat.modifiers.new("Subdivision", "SUBSURF").levels = 1
    group = bpy.data.node_groups.new("Push", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes, links = group.nodes, group.links
    begin, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    move = nodes.new("GeometryNodeSetPosition")
    move.inputs["Offset"].default_value = (0.0, 0.0, 0.05)
    links.new(begin.outputs["Geometry"], move.inputs["Geometry"])
    links.new(move.outputs["Geometry"], end.inputs["Geometry"])
    coat.modifiers.new("Push", "NODES").node_group = group
    return coat


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_rig_in_centimeters_that_may_be_mirrored(side):
    rig, grown = walking_rig(), Matrix.Scale(100.0, 4)
    rig.data.transform(grown)
    for part in rig.children:
        part.data.transform(grown)
        part.location *= 100.0
    for curve in (curve for action in bpy.data.actions for curve in curves(action)):
        for point in curve.keyframe_points:
            point.co.y *= 100.0
        curve.update()
    rig.scale = (side * 0.01, 0.01, 0.01)
    bpy.context.view_layer.update()
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def test_actions_that_are_only_in_strips_and_clothes():
    rig = walking_rig()
    dressed(rig)
    data = rig.animation_data
    data.action = None
    for number, name in enumerate(("Idle", "Walk", "Run")):
        track = data.nla_tracks.new()
        track.name = name
        strip = track.strips.new(name, 1 + 50 * number, bpy.data.actions[name])
        strip.influence, track.mute = 1.0, number == 1
    assert rigs.guess_roles(rig) == {"stand": "Idle", "walk": "Walk", "run": "Run"}
    assert_same_poses(make(rig, Recipe("Idle", "Walk", "Run", plan=COARSE)), 0.003)


def ik_rig():
    """Deform legs of two bones that reach for controls by IK; only controls have keys."""
    rig = make_rig("Ik")
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for side, x in (("l", 0.1), ("r", -0.1)):
        thigh, shin = bones.new(f"DEF-thigh.{side}"), bones.new(f"DEF-shin.{side}")
        thigh.head, thigh.tail = (x, 0.0, 1.0), (x, -0.05, 0.5)
        shin.head, shin.tail = (x, -0.05, 0.5), (x, 0.0, 0.05)
        shin.parent, shin.use_connect, thigh.parent = thigh, True, bones["root"]
    bpy.ops.object.mode_set(mode="OBJECT")
    controls = rig.data.collections.new("Controls")
    deform = rig.data.collections.new("Deform")
    deform.is_visible = False
    for bone in rig.data.bones:
        (deform if bone.name.startswith("DEF") else controls).assign(bone)
    for side in "lr":
        constraint = rig.pose.bones[f"DEF-shin.{side}"].constraints.new("IK")
        constraint.target, constraint.subtarget, constraint.chain_count = rig, f"leg.{side}", 2
        part = bpy.data.objects[f"leg.{side}"]
        part.vertex_groups[0].name = f"DEF-shin.{side}"
        rig.data.bones[f"leg.{side}"].use_deform = False
    return rig


def test_controls_that_legs_reach_for():
    rig = ik_rig()
    for name, stride in (("Idle", 0.0), ("Walk", 0.6), ("Run", 0.8)):
        add_gait(rig, name, stride, 24, bob=0.01)
    assert_same_poses(make(rig, Recipe("Idle", "Walk", "Run", plan=COARSE)), 0.003)


def test_shape_keys_that_move_by_a_slot_of_the_same_action():
    rig = walking_rig()
    head = bpy.data.objects["head"]
    head.shape_key_add(name="Basis")
    for point in (block := head.shape_key_add(name="Wide")).data:
        point.co.x *= 2.0
    keys, walk = head.data.shape_keys, bpy.data.actions["Walk"]
    keys.animation_data_create().action = walk
    for frame, value in ((0, 0.0), (12, 1.0), (24, 0.0)):
        block.value = value
        block.keyframe_insert("value", frame=frame)
    assert keys.animation_data.action == walk and len(walk.slots) == 2
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def test_a_rig_that_is_put_by_its_deltas():
    rig = walking_rig()
    rig.delta_location, rig.delta_rotation_euler = (1.0, 2.0, 0.0), (0.0, 0.0, math.pi / 3)
    rig.delta_scale = (1.2,) * 3
    bpy.context.view_layer.update()
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def followed(rig, *, keyed, parent=None):
    """The constraint by which the head is where an empty is."""
    aim = bpy.data.objects.new("Aim", None)
    bpy.context.scene.collection.objects.link(aim)
    aim.location, aim.parent = (0.2, -0.3, 1.2), parent
    for frame, z in ((0, 1.2), (12, 2.2), (24, 1.2)) if keyed else ():
        aim.location.z = z
        aim.keyframe_insert("location", frame=frame)
    constraint = rig.pose.bones["head"].constraints.new("COPY_LOCATION")
    constraint.target = aim
    bpy.context.view_layer.update()
    return constraint


@pytest.mark.parametrize("beside", [False, True])
def test_bones_follow_empties_that_stay(beside):
    rig = walking_rig()
    followed(rig, keyed=False, parent=None if beside else rig)
    made = make(rig, Recipe("Idle", "Walk", plan=COARSE))
    assert made.left_out == ()
    assert_same_poses(made, 0.003)


@pytest.mark.parametrize("below", [False, True])
def test_bones_that_follow_what_moves_by_itself_are_named(below):
    rig = walking_rig()
    constraint = followed(rig, keyed=True, parent=rig)
    if below:
        up, constraint.target.name = constraint.target, "Up"
        rig.pose.bones["head"].constraints.remove(constraint)
        constraint = followed(rig, keyed=False, parent=up)
    recipe = Recipe("", "Walk", plan=COARSE)
    (told,) = make(rig, recipe).left_out
    assert told.startswith("Bones of 'Walker' follow 'Aim', which moves by itself: heroes")
    constraint.mute = True
    assert make(rig, recipe).left_out == ()


def named_by_importer(action, still=False):
    """Name an action as files of one action each do, and let its feet have bones of that name."""
    for curve in curves(action):
        for point in curve.keyframe_points if still and "leg" in curve.data_path else ():
            point.co.y = 0.0
        curve.data_path = curve.data_path.replace("leg.", "foot.")
        curve.update()
    action.name = "mixamo.com"
    return action


@pytest.mark.parametrize("drift", [0.0, 1.0])
def test_actions_whose_names_say_nothing_are_told_by_their_motion(drift):
    rig, made = make_rig(), {}
    for role, stride, frames in (("run", 2.0, 16), ("stand", 0.0, 48), ("walk", 1.0, 24)):
        made[role] = add_gait(rig, role, stride, frames, bob=0.01, drift=drift * stride)
    for side in "lr":
        rig.data.bones[f"leg.{side}"].name = f"foot.{side}"
    for role, action in made.items():
        named_by_importer(action, still=role == "stand")
    before = state(rig)
    assert rigs.guess_roles(rig) == {role: action.name for role, action in made.items()}
    assert state(rig) == before
    bpy.data.actions.remove(made.pop("run"))
    assert rigs.guess_roles(rig) == {role: action.name for role, action in made.items()}


def reversed_in_time(action):
    """An action that is played backward."""
    for curve in curves(action):
        for point in curve.keyframe_points:
            point.co.x = -point.co.x
        curve.keyframe_points.sort()
        curve.update()
    return action


@pytest.mark.parametrize("toes", [False, True])
def test_a_walk_ahead_is_told_from_a_slower_one_back_where_there_are_toes(toes):
    rig = make_rig()
    back = reversed_in_time(add_gait(rig, "a", 0.8, 24, bob=0.01))
    ahead = add_gait(rig, "b", 1.0, 24, bob=0.01)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for side, x in (("l", 0.1), ("r", -0.1)) if toes else ():
        toe = bones.new(f"toe.{side}")
        toe.head, toe.tail, toe.parent = (x, -0.2, 0.0), (x, -0.3, 0.0), bones[f"leg.{side}"]
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in "lr":
        rig.data.bones[f"leg.{side}"].name = f"foot.{side}"
    for action in (back, ahead):
        named_by_importer(action)
    assert rigs.guess_roles(rig) == {"walk": ahead.name if toes else back.name}
    bpy.data.actions.remove(ahead)
    for name in "abcd":
        # several, as the only action of a rig is its walk
        back.copy().name = name
    assert rigs.guess_roles(rig)["walk"] in {back.name, *"abcd"}


@pytest.mark.slow
def test_real_walks_ahead_are_told_by_their_motion_from_those_back_and_from_blows(shared):
    rig = import_rig(shared / "characters" / "Knight.glb")
    kept = ("Idle", "Walking_Backwards", "Walking_A", "Unarmed_Melee_Attack_Punch_B", "Running_A")
    for action in list(bpy.data.actions):
        if action.name not in kept:
            bpy.data.actions.remove(action)
    for name, hidden in zip(kept, "abcde", strict=True):
        bpy.data.actions[name].name = hidden
    assert rigs.guess_roles(rig) == {"stand": "a", "walk": "c", "run": "e"}
