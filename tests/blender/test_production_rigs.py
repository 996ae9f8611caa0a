"""Rigs as productions have them, played as Blender shows them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import making, rigs  # noqa: E402
from steer_addon.blender.characters.heroes import hero  # noqa: E402
from steer_addon.blender.characters.keys import curves  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.test_heroes import assert_same_poses, mesh_points  # noqa: E402
from tests.blender.walking_rigs import add_gait, box, make_rig, state, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

COARSE = Plan(tolerance=0.05, steps=24, ratio=2.5)


def make(rig, recipe):
    return making.make_character(bpy.context.scene, rig, recipe)


def test_without_standing_a_walk_with_root_motion_begins_where_it_stands():
    rig = make_rig()
    add_gait(rig, "Walk", 1.0, 24, bob=0.02, drift=1.0)
    add_gait(rig, "Wave", 0.0, 20, bob=0.2)
    made = make(rig, Recipe("", "Walk", clips=(("wave", "Wave"),), plan=COARSE))
    wave = made.space.clips[0]
    poses = made.space.positions[wave.first : wave.first + wave.count]
    assert np.ptp(poses[..., :2].mean(axis=1), axis=0).max() < 0.1
    assert_same_poses(made, 0.003)


def free(part, rig):
    """Let a part be deformed by a rig without being its child."""
    part.parent = None
    part.matrix_world = rig.matrix_world.copy()


def test_a_hero_takes_along_skin_that_is_no_child_of_its_rig():
    rig = walking_rig()
    rig.location = (1.0, 2.0, 0.0)
    for part in [obj for obj in rig.children if obj.parent_type == "OBJECT"]:
        free(part, rig)
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def test_what_only_some_actions_move_is_blended_in_heroes_as_in_poses():
    """As root motion that standing has no keys of."""
    rig = make_rig()
    idle = add_gait(rig, "Idle", 0.0, 24, bob=0.01)
    add_gait(rig, "Walk", 1.0, 24, bob=0.02, drift=1.0)
    bag = idle.layers[0].strips[0].channelbag(idle.slots[0])
    for curve in [curve for curve in bag.fcurves if '"root"' in curve.data_path]:
        bag.fcurves.remove(curve)
    before = {action.name for action in bpy.data.actions}
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)
    assert not [curve for curve in bag.fcurves if '"root"' in curve.data_path]
    added = [action for action in bpy.data.actions if action.name not in before]
    assert added and all(hero.MARK in action for action in added)


def size_in(rig, name):
    """Width and height of all parts in the first frame of an action, as Blender shows them."""
    rig.animation_data_create().action = action = bpy.data.actions[name]
    bpy.context.scene.frame_set(int(action.frame_range[0]))
    graph = bpy.context.evaluated_depsgraph_get()
    points = np.concatenate([mesh_points(graph, part) for part in rigs.candidates(rig)])
    rig.animation_data.action = None
    return np.ptp(points, axis=0)[::2]


@pytest.mark.parametrize("kind", ["LIMIT_ROTATION", "driver"])
def test_angles_of_bones_are_those_of_their_order(kind):
    rig = walking_rig()
    head = rig.pose.bones["head"]
    head.rotation_mode = "ZXY"
    for action in map(bpy.data.actions.get, ("Idle", "Walk")):
        bag = action.layers[0].strips[0].channelbag(action.slots[0])
        for index, angle in enumerate((0.9, 1.2, 0.8)):
            curve = bag.fcurves.new(head.path_from_id("rotation_euler"), index=index)
            curve.keyframe_points.insert(0.0, angle)
    part = bpy.data.objects["head"]
    if kind == "driver":
        free(part, rig)
        part.shape_key_add(name="Basis")
        for point in (block := part.shape_key_add(name="Wide")).data:
            point.co.x *= 3.0
        driver = block.driver_add("value").driver
        target = driver.variables.new().targets[0]
        target.id, target.data_path = rig, head.path_from_id("rotation_euler") + "[0]"
        driver.expression = driver.variables[0].name
    else:
        limit = head.constraints.new(kind)
        limit.owner_space, limit.use_limit_x, limit.max_x = "LOCAL", True, 0.2
    expected = size_in(rig, "Walk")
    made = make(rig, Recipe("Idle", "Walk", plan=COARSE))
    row = next(row for row in made.space.gaits if row.name == "walk")
    poses = made.space.positions[row.first : row.first + row.count]
    assert np.abs(np.ptp(poses, axis=1)[:, ::2] - expected).max(axis=1).min() < 0.01


def longer(action, frames, name):
    """Let an action move something else too, over more frames, before all others in it."""
    other = bpy.data.objects.new(name, None)
    slot = action.slots.new("OBJECT", other.name)
    bag = action.layers[0].strips[0].channelbag(slot, ensure=True)
    for bone in ("root", "leg.l", "leg.r", "head", "more"):
        curve = bag.fcurves.new(f'pose.bones["{bone}"].location', index=0)
        curve.keyframe_points.insert(0.0, 0.0)
        curve.keyframe_points.insert(frames, 1.0)
        bag.fcurves.new(f'pose.bones["{bone}"].location', index=1).keyframe_points.insert(0.0, 0.0)
        bag.fcurves.new(f'pose.bones["{bone}"].location', index=2).keyframe_points.insert(0.0, 0.0)


def test_of_an_action_of_several_the_slot_and_frames_of_the_rig_count_under_a_new_name_too():
    rig = walking_rig()
    walk = bpy.data.actions["Walk"]
    rig.animation_data.action = walk
    rig.animation_data.action = None
    longer(walk, 250.0, "Camera")
    rig.name = "Somebody"
    made = make(rig, Recipe("Idle", "Walk", plan=COARSE))
    row = next(row for row in made.space.gaits if row.name == "walk")
    assert (row.stride, row.speed) == pytest.approx((1.0, 1.0), rel=0.05)
    assert_same_poses(made, 0.003)


def test_of_two_files_whose_actions_are_called_alike_each_rig_has_its_own(tmp_path):
    for name, stride in (("a", 1.0), ("b", 0.6)):
        bpy.ops.wm.read_homefile(use_empty=True)
        rig = make_rig("Hero")
        add_gait(rig, "Walk", stride, 24)
        collection = bpy.data.collections.new("Char")
        for obj in (rig, *rig.children):
            collection.objects.link(obj)
        bpy.data.libraries.write(
            str(tmp_path / f"{name}.blend"), {collection, bpy.data.actions["Walk"]}
        )
    bpy.ops.wm.read_homefile(use_empty=True)
    for name, stride in (("a", 1.0), ("b", 0.6)):
        with bpy.data.libraries.load(str(tmp_path / f"{name}.blend"), link=True) as (_, wanted):
            wanted.collections, wanted.actions = ["Char"], ["Walk"]
        found = wanted.collections[0].override_hierarchy_create(
            bpy.context.scene, bpy.context.view_layer, do_fully_editable=True
        )
        rig = next(obj for obj in found.all_objects if obj.type == "ARMATURE")
        made = make(rig, Recipe("", "Walk", plan=COARSE))
        row = next(row for row in made.space.gaits if row.name == "walk")
        assert row.stride == pytest.approx(stride, rel=0.05)
        assert_same_poses(made, 0.003)
        heroes = [obj for obj in bpy.data.objects if hero.MARK in obj]
        assert heroes and all(obj.override_library is None for obj in heroes)


def same_walk(found, expected):
    """Whether two characters walk alike, whatever else they carry."""
    rows = [next(r for r in made.space.gaits if r.name == "walk") for made in (found, expected)]
    assert rows[0].stride == pytest.approx(rows[1].stride, rel=0.01)
    return found.space.positions.shape[1] == expected.space.positions.shape[1]


@pytest.mark.parametrize("kinds", [("COPY_TRANSFORMS",), ("COPY_LOCATION", "COPY_ROTATION")])
def test_an_armature_whose_bones_follow_the_rig_belongs_to_it(kinds):
    deform = make_rig("Deform")
    rig = walking_rig("Control")
    expected = make(rig, Recipe("Idle", "Walk", plan=COARSE))
    for part in list(rig.children):
        bpy.data.objects.remove(part)
    with pytest.raises(CharacterError, match="deforms and carries no mesh"):
        make(rig, Recipe("Idle", "Walk", plan=COARSE))
    for bone in deform.pose.bones:
        for kind in kinds:
            constraint = bone.constraints.new(kind)
            constraint.target, constraint.subtarget = rig, bone.name
    made = make(rig, Recipe("Idle", "Walk", plan=COARSE))
    assert same_walk(made, expected)
    assert_same_poses(made, 0.003)


@pytest.mark.parametrize("kind", ["STRETCH_TO", "DAMPED_TRACK", "COPY_ROTATION", "COPY_SCALE"])
def test_bones_that_follow_bones_of_their_rig_do_so_on_slopes(kind):
    """As in rigs of Rigify, where all that deforms follows controls."""
    rig = walking_rig()
    rig.rotation_euler.z = 0.7
    rig.pose.bones["head"].rotation_quaternion = (0.8, 0.4, 0.2, 0.4)
    constraint = rig.pose.bones["leg.l"].constraints.new(kind)
    constraint.target, constraint.subtarget = rig, "head"
    if kind == "STRETCH_TO":
        constraint.rest_length = 0.8
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def test_bones_that_follow_single_axes_of_the_world_go_on_to_do_so():
    rig = walking_rig()
    rig.rotation_euler.z = 0.7
    constraint = rig.pose.bones["head"].constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget, constraint.use_z = rig, "leg.l", False
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 1.0)
    heroes = [obj for obj in bpy.data.objects if hero.MARK in obj and obj.type == "ARMATURE"]
    held = [copy.pose.bones["head"].constraints[0] for copy in heroes]
    assert [constraint.owner_space for constraint in held] == ["WORLD"]


def test_one_hand_that_holds_a_rig_does_not_make_it_part_of_it():
    other, rig = make_rig("Other"), walking_rig()
    other.pose.bones["head"].constraints.new("COPY_LOCATION").target = rig
    assert {obj.parent for obj in rigs.candidates(rig)} == {rig}


@pytest.mark.parametrize("kind", ["SURFACE_DEFORM", "LATTICE", "hung"])
def test_what_follows_a_part_is_a_part(kind):
    rig = walking_rig()
    shirt, head = box("shirt", (0, 0, 1.3), (0.5, 0.4, 0.5)), bpy.data.objects["head"]
    carrier = bpy.data.objects.new("carrier", bpy.data.lattices.new("carrier"))
    if kind == "hung":
        shirt.parent = carrier
        hang = carrier.constraints.new("CHILD_OF")
        hang.target, hang.subtarget, hang.set_inverse_pending = rig, "head", False
    elif kind == "LATTICE":
        carrier.modifiers.new("Armature", "ARMATURE").object = rig
        shirt.modifiers.new("Lattice", kind).object = carrier
    else:
        shirt.modifiers.new("Surface", kind).target = head
    if kind != "SURFACE_DEFORM":
        bpy.context.scene.collection.objects.link(carrier)
    assert shirt in rigs.candidates(rig)
    assert_same_poses(make(rig, Recipe("Idle", "Walk", plan=COARSE)), 0.003)


def test_what_is_bound_to_a_part_keeps_its_faces():
    rig, shirt = walking_rig(), box("shirt", (0, 0, 1.3), (0.5, 0.4, 0.5))
    modifier = shirt.modifiers.new("Stick", "SURFACE_DEFORM")
    modifier.target = bpy.data.objects["head"]
    bpy.context.view_layer.update()
    with bpy.context.temp_override(object=shirt, active_object=shirt):
        bpy.ops.object.surfacedeform_bind(modifier="Stick")
    assert modifier.is_bound
    before = state(rig)
    with pytest.raises(CharacterError, match=r"'Stick' of 'shirt' is bound.*0\.5 of.*set Faces to"):
        make(rig, Recipe("Idle", "Walk", plan=COARSE, faces=0.5))
    assert state(rig) == before
    make(rig, Recipe("Idle", "Walk", plan=COARSE, faces=0.5, without=("shirt",)))


def winged(drift):
    """A rig high above the ground, whose wings beat and which may go on, to its -X."""
    rig = make_rig("Bird")
    for name in ("leg.l", "leg.r"):
        rig.pose.bones[name].name = name.replace("leg", "wing")
    rig.location.z = 3.0
    for name, frames, way in (("Walk", 24, drift), ("Run", 12, 2.0 * drift)):
        action = bpy.data.actions.new(name)
        rig.animation_data_create().action = action
        for frame in range(frames + 1):
            for number, wing in enumerate(("wing.l", "wing.r")):
                bone = rig.pose.bones[wing]
                bone.rotation_mode = "XYZ"
                beat = 0.7 * np.sin(2.0 * np.pi * frame / frames)
                bone.rotation_euler = (0.0, 0.0, beat * (1 - 2 * number))
                bone.keyframe_insert("rotation_euler", frame=frame)
            root = rig.pose.bones["root"]
            root.location = (-way * frame / frames, 0.0, 0.0)
            root.keyframe_insert("location", frame=frame)
        action.use_fake_user = True
    rig.animation_data.action = None
    bpy.context.view_layer.update()
    return rig


@pytest.mark.parametrize("drift", [0.0, 0.8])
def test_rigs_without_feet_go_as_far_as_their_root_or_the_stride_that_is_given(drift):
    rig = winged(drift)
    if not drift:
        with pytest.raises(CharacterError, match="'Walk': No feet .* type in its Stride"):
            make(rig, Recipe("", "Walk", "Run", plan=COARSE))
    plan = COARSE if drift else replace(COARSE, stride=0.8)
    made = make(rig, Recipe("", "Walk", "Run", plan=plan))
    found = {row.name: row for row in made.space.gaits}
    assert (found["walk"].stride, found["walk"].speed) == pytest.approx((0.8, 0.8), rel=0.01)
    assert found["run"].stride == pytest.approx(1.6 if drift else 0.8, rel=0.01)
    assert found["run"].speed == pytest.approx(3.2 if drift else 1.6, rel=0.01)
    # it goes ahead, along -Y: the wings, left and right before, are ahead and behind
    wide, long = np.ptp(made.space.positions[0], axis=0)[:2]
    assert (wide > long) != bool(drift)
    assert_same_poses(made, 0.003)


def test_an_insect_whose_legs_begin_as_high_as_its_head_stands():
    rig = walking_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name in ("leg.l", "leg.r"):
        bones[name].tail = bones[name].head.copy()
        bones[name].head.z += 1.0
    bones["head"].head.y = -0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    rigs.check_upright("Ant", rig, ())
    rig.rotation_euler.x = 1.57
    bpy.context.view_layer.update()
    with pytest.raises(CharacterError, match="'Ant' lies down: its 'head'.*rotate it"):
        rigs.check_upright("Ant", rig, ())


@pytest.mark.parametrize(
    ("name", "role"), [("Armature|mixamo.com|Layer0", "walk"), ("Idle", "stand"), ("Death", "")]
)
def test_the_only_action_of_a_rig_is_its_walk_unless_its_name_says_otherwise(name, role):
    rig = make_rig()
    add_gait(rig, name, 1.0, 24)
    assert rigs.guess_roles(rig) == ({role: name} if role else {})


def test_a_typed_stride_of_feet_that_stay_is_named():
    rig = walking_rig()
    for side in "lr":
        rig.data.bones[f"leg.{side}"].name = f"foot.{side}"
    for action in bpy.data.actions:
        for curve in curves(action):
            for point in curve.keyframe_points if action.name == "Idle" else ():
                # only its head goes up and down
                point.co.y *= "head" in curve.data_path
            curve.data_path = curve.data_path.replace("leg.", "foot.")
            curve.update()
    plan = replace(COARSE, stride=0.6)
    (told,) = make(rig, Recipe("", "Idle", plan=plan)).left_out
    assert told == (
        "Action 'Idle' seems to be no walk, as one of its feet rises by 0 mm only: choose one in "
        "which each foot steps once, unless it is meant to glide"
    )
    assert make(rig, Recipe("", "Walk", plan=plan)).left_out == ()


@pytest.mark.parametrize(("last", "told"), [(12, 1), (23, 0), (24, 0)])
def test_half_a_cycle_is_named(last, told):
    rig = walking_rig()
    walk = bpy.data.actions["Walk"]
    walk.use_frame_range, walk.frame_start, walk.frame_end = True, 0.0, last
    found = make(rig, Recipe("", "Walk", plan=COARSE)).left_out
    assert len(found) == told
    assert not told or re.match(r"Action 'Walk' jumps by 0\.\d+ m where it begins again", found[0])


@pytest.mark.parametrize("slides", [False, True])
def test_a_walk_whose_foot_stays_down_is_named(slides):
    rig = walking_rig()
    path = rig.pose.bones["leg.l"].path_from_id("location")
    for curve in curves(bpy.data.actions["Walk"]) if slides else ():
        if (curve.data_path, curve.array_index) == (path, 1):
            for point in curve.keyframe_points:
                point.co.y = 0.0
            curve.update()
    told = make(rig, Recipe("", "Walk", plan=COARSE)).left_out
    assert len(told) == slides
    assert not told or told[0].startswith(
        "Action 'Walk' seems to be no walk, as one of its feet rises by 0 mm only: choose one"
    )
