"""Make Character: rigs and whatever else moves become poses, and stay as they are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Euler  # noqa: E402

from steer_addon.blender.characters import library, making  # noqa: E402
from steer_addon.blender.operators import characters  # noqa: E402
from steer_addon.core.characters.pose_space import split_clips  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.operator_calls import undone  # noqa: E402
from tests.blender.walking_rigs import (  # noqa: E402
    add_gait,
    box,
    make_rig,
    state,
    take_coarse_plans,
    walking_rig,
)
from tests.often import often  # noqa: E402

COARSE = Plan(tolerance=0.04, steps=48, ratio=2.0)
RECIPE = Recipe("Idle", "Walk", "Run", plan=COARSE)
ROUGH = Recipe("Idle", "Walk", "Run", plan=Plan(tolerance=0.1, steps=24, ratio=2.5))
"""For all but how feet go: it takes a third of the time."""


def make(rig, recipe=RECIPE):
    return making.make_character(bpy.context.scene, rig, recipe)


@pytest.fixture(scope="module")
def space(steer):
    """The poses of the rig as it stands at the origin."""
    bpy.ops.wm.read_homefile(use_empty=True)
    return make(walking_rig()).space


@pytest.fixture(scope="module")
def rough_space(steer):
    """The same with fewer poses."""
    bpy.ops.wm.read_homefile(use_empty=True)
    return make(walking_rig(), ROUGH).space


def slips(space, row, shift=1):
    """How far the vertices on the ground move against it between poses [m]."""
    poses = space.positions[row.first : row.first + row.count].astype(float)
    moved = np.roll(poses, -shift, axis=0) - poses
    ground = (poses[..., 2] < 0.01) & (np.roll(poses, -shift, axis=0)[..., 2] < 0.01)
    moved[..., 1] -= shift * row.stride / row.count
    return np.hypot(moved[..., 0], moved[..., 1])[ground]


def test_walks_and_runs_have_their_strides(space):
    walk = next(row for row in space.gaits if row.name == "walk")
    assert walk.stride == pytest.approx(1.0, rel=0.05)
    assert walk.speed == pytest.approx(1.0, rel=0.05)
    assert space.gaits[-1].stride == pytest.approx(2.0, rel=0.05)
    assert space.gaits[-1].speed == pytest.approx(3.0, rel=0.05)
    assert space.gaits[0].stride == 0.0
    for row in space.gaits[1:]:
        # at plant and lift a linear key lies between two poses; poses are 4 cm of way apart here,
        # and the feet of first steps go back at more than one speed, as they come from standing
        assert np.median(slips(space, row)) < (0.02 if row.from_stand else 0.002)


def test_first_steps_join_standing_and_the_slowest_walk(space):
    stand, first, walk = space.gaits[:3]
    assert [row.from_stand for row in (stand, first, walk)] == [False, True, False]
    poses = space.positions
    height = np.ptp(poses[0, :, 2])
    assert np.abs(poses[first.first] - poses[stand.first]).max() < 0.02 * height
    middle = poses[first.first + first.count // 2] - poses[walk.first + walk.count // 2]
    assert np.abs(middle).max() < 0.02 * height


def test_mesh_has_all_parts(empty_scene):
    rig = walking_rig()
    made = make(rig, ROUGH)
    mesh = made.character.data
    assert len(mesh.vertices) == 4 * 8 and len(mesh.polygons) == 4 * 6
    assert {material.name for material in mesh.materials} == {"leg.l", "leg.r", "head", "hat"}
    assert mesh.uv_layers.keys() == ["UVMap"]
    assert library.is_character(made.character)
    # each pose keeps the faces of boxes together: edges as long as in the rig, but for legs that
    # are twisted where the body turns on the spot
    edges = np.array([edge.vertices for edge in mesh.edges])
    poses = made.space.positions[: split_clips(made.space.clips)[1][0].first]
    lengths = np.linalg.norm(np.diff(poses[:, edges], axis=2)[:, :, 0], axis=2)
    assert np.abs(lengths - lengths[0]).max() < 1.0e-4


def test_rig_stays_as_it_is(empty_scene):
    rig = walking_rig()
    rig.animation_data.action = bpy.data.actions["Run"]
    bpy.context.scene.frame_set(5)
    before = state(rig)
    made = make(rig, ROUGH)
    after = state(rig)
    assert after[1:] == before[1:]
    new = {kind: set(after[0][kind]) - set(before[0][kind]) for kind in before[0]}
    assert {kind for kind, names in new.items() if names} == {
        "objects", "meshes", "collections", "node_groups",
    }  # fmt: skip
    name = made.character.name
    assert set(new["objects"]) == set(new["meshes"]) == {name, f".{name} Poses"}


@pytest.mark.parametrize(
    "change",
    [
        lambda rig: setattr(rig, "rotation_euler", Euler((0.0, 0.0, 1.2))),
        lambda rig: setattr(rig, "location", (5.0, -3.0, 2.0)),
        pytest.param(
            lambda rig: setattr(rig, "rotation_euler", Euler((0.0, 0.0, 3.1))),
            marks=pytest.mark.long,
        ),
        lambda rig: setattr(rig, "parent", bpy.data.objects.new("Parent", None)),
    ],
)
def test_place_and_turn_of_the_rig_do_not_matter(rough_space, empty_scene, change):
    expected, rig = rough_space, walking_rig()
    change(rig)
    found = make(rig, ROUGH).space
    assert [row.name for row in found.rows] == [row.name for row in expected.rows]
    walk = next(row for row in expected.gaits if row.name == "walk")
    a, b = (s.positions[walk.first : walk.first + walk.count] for s in (expected, found))
    assert np.abs(a - b).max() < 0.02
    assert abs(a[..., 2].min()) < 0.01


def test_bones_turn_by_eulers_though_others_turn_by_quaternions(empty_scene):
    heads = []
    turn = Euler((0.0, 0.8, 0.0))
    for mode, path, value in (
        ("QUATERNION", "rotation_quaternion", turn.to_quaternion()),
        ("XYZ", "rotation_euler", turn),
    ):
        rig = walking_rig(f"Walker {mode}")
        bone = rig.pose.bones["head"]
        bone.rotation_mode = mode
        rig.animation_data.action = bpy.data.actions["Idle"]
        rig.animation_data.action_slot = rig.animation_data.action.slots[0]
        setattr(bone, path, value)
        bone.keyframe_insert(path, frame=0)
        rig.animation_data.action = None
        space = make(rig, ROUGH).space
        heads.append(space.positions[0])
        for action in list(bpy.data.actions):
            bpy.data.actions.remove(action)
    np.testing.assert_allclose(heads[1], heads[0], atol=1.0e-4)
    assert np.ptp(heads[1][:, 0]) > 0.45


def test_scale_scales(empty_scene):
    rig = walking_rig()
    rig.scale = (2.0, 2.0, 2.0)
    walk = next(row for row in make(rig).space.gaits if row.name == "walk")
    assert walk.stride == pytest.approx(2.0, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    "scale", often([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [-1.0, -2.0, 1.5]], [-1.0, -2.0, 1.5])
)
def test_mirrored_rig_keeps_its_faces_outward(empty_scene, scale):
    rig = walking_rig()
    rig.scale = scale
    mesh = make(rig, ROUGH).character.data
    centers = np.array([face.center for face in mesh.polygons][:6])
    normals = np.array([face.normal for face in mesh.polygons][:6])
    outward = ((centers - centers.mean(axis=0)) * normals).sum(axis=1)
    assert (outward > 0.0).all()


def test_root_motion_becomes_speed(empty_scene):
    rig = make_rig()
    add_gait(rig, "Idle", 0.0, 24)
    add_gait(rig, "Walk", 1.0, 24, bob=0.02, drift=1.0)
    space = make(rig, Recipe("Idle", "Walk", plan=COARSE)).space
    walk = space.gaits[-1]
    assert walk.stride == pytest.approx(1.0, rel=0.05)
    poses = space.positions[walk.first : walk.first + walk.count]
    assert np.ptp(poses[..., 1].mean(axis=1)) < 0.2


def test_other_frame_rates_change_the_speed_alone(empty_scene):
    rig = walking_rig()
    bpy.context.scene.render.fps = 48
    walk = next(row for row in make(rig).space.gaits if row.name == "walk")
    assert walk.speed == pytest.approx(2.0, rel=0.05)
    assert walk.stride == pytest.approx(1.0, rel=0.05)


def test_what_moves_without_a_rig(empty_scene):
    body = box("body", (0.0, 0.0, 1.0), (0.3, 0.3, 0.5))
    wing = box("wing", (0.3, 0.0, 1.0), (0.6, 0.2, 0.02), body)
    for frame, angle in ((1, 0.0), (13, 0.8), (25, 0.0)):
        wing.rotation_euler = (0.0, angle, 0.0)
        wing.keyframe_insert("rotation_euler", frame=frame)
    recipe = Recipe(plan=Plan(tolerance=0.04, steps=24), frames=(1, 25))
    with pytest.raises(CharacterError, match="type in its Stride"):
        make(body, recipe)
    plan = Plan(tolerance=0.04, steps=24, stride=2.0)
    space = make(body, Recipe(plan=plan, frames=(1, 25))).space
    assert space.gaits[-1].stride == 2.0
    assert space.gaits[-1].speed == pytest.approx(2.0, rel=0.01)


def test_clips_grow_out_of_standing_and_those_that_end_as_they_begin_go_round(empty_scene):
    rig = walking_rig()
    # what walks on the spot ends as it begins, what drifts does not
    fall = add_gait(rig, "Fall", 0.0, 12, drift=3.0)
    recipe = Recipe("Idle", "Walk", clips=(("march", "Walk"), ("fall", fall.name)), plan=COARSE)
    space = make(rig, recipe).space
    clips, *_ = split_clips(space.clips)
    march, fell = clips
    assert [(clip.name, clip.loops, clip.goes_round) for clip in clips] == [
        ("march", False, True), ("fall", False, False)
    ]  # fmt: skip
    for clip in clips:
        ends = space.positions[[clip.first, clip.first + clip.count - 1]]
        np.testing.assert_allclose(ends, space.positions[[0, 0]], atol=1e-4)
    # ways in and out of 0.4 s each are added to what goes round
    length = march.duration - 0.8
    assert march.round_from == pytest.approx(0.4 / march.duration)
    assert march.round_to == pytest.approx((0.4 + length) / march.duration)
    round_poses = [
        space.positions[march.first + round(at * (march.count - 1))]
        for at in (march.round_from, march.round_to)
    ]
    assert np.abs(round_poses[0] - round_poses[1]).max() < 0.15
    assert np.abs(round_poses[0] - space.positions[0]).max() > 0.01
    assert fell.duration == pytest.approx(0.5, abs=0.05)


@pytest.mark.slow
def test_operator_is_one_undo(empty_scene, monkeypatch):
    take_coarse_plans(monkeypatch)
    rig = walking_rig()
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    names = {obj.name for obj in bpy.data.objects}
    undone(bpy.ops.object.steer_make_character, way_per_pose=0.2)
    assert {obj.name for obj in bpy.data.objects} == names


@pytest.mark.parametrize(("given", "found"), [("Guard", "Guard"), ("", "Bird Character")])
def test_a_character_has_the_name_that_is_given_or_that_of_its_rig(empty_scene, given, found):
    bird = box("Bird", (0.0, 0.0, 1.0), (0.3, 0.3, 0.5))
    wing = box("wing", (0.3, 0.0, 1.0), (0.6, 0.2, 0.02), bird)
    for frame, angle in ((1, 0.0), (3, 0.8), (4, 0.0)):
        wing.rotation_euler = (0.0, angle, 0.0)
        wing.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.objects.active = bird
    words = {"stride": 1.0, "way_per_pose": 0.5, "frame_end": 4}
    assert bpy.ops.object.steer_make_character(name=given, **words) == {"FINISHED"}
    assert [obj.name for obj in bpy.data.collections["Characters"].objects] == [found]


def test_the_dialog_begins_with_the_name_of_the_rig(empty_scene, monkeypatch):
    rig = walking_rig()
    asked = []
    monkeypatch.setattr(characters.rigs, "counts", lambda *_: {})
    dialog = SimpleNamespace(name="", actions=[], _guess=asked.append, _fill_lists=asked.append)
    manager = SimpleNamespace(invoke_props_dialog=lambda *_, **__: {"RUNNING_MODAL"})
    context = SimpleNamespace(
        object=rig, window_manager=manager, evaluated_depsgraph_get=lambda: None
    )
    invoke = characters.OBJECT_OT_steer_make_character.invoke
    assert invoke(dialog, context, None) == {"RUNNING_MODAL"}
    assert dialog.name == "Walker Character" and len(asked) == 2
    dialog.name = "Guard"
    invoke(dialog, context, None)
    assert dialog.name == "Guard"


def one_frame(rig):
    add_gait(rig, "Pose", 0.0, 24)
    action = bpy.data.actions.new("Still")
    rig.animation_data.action = action
    rig.pose.bones["root"].keyframe_insert("location", frame=1)
    rig.animation_data.action = None
    return Recipe("Idle", "Still", plan=COARSE)


def renamed(rig):
    for name in ("leg.l", "leg.r", "head"):
        rig.pose.bones[name].name = f"other {name}"
    # Blender renames within the action that is played only
    return Recipe("Idle", "Walk", plan=COARSE)


def hidden(rig):
    for obj in rig.children:
        obj.hide_render = True
    return RECIPE


def changing(rig):
    part = next(obj for obj in rig.children if obj.name == "head")
    modifier = part.modifiers.new("Build", "BUILD")
    modifier.frame_start, modifier.frame_duration = 1, 24
    return RECIPE


def large(rig):
    part = next(obj for obj in rig.children if obj.name == "head")
    part.modifiers.new("Subdivision", "SUBSURF").levels = 6
    return Recipe("Idle", "Walk", "Run", plan=Plan(tolerance=0.0002, steps=48))


def unlinked(rig):
    return Recipe("Idle", "Sneak", plan=COARSE)


def frozen(rig):
    rig.animation_data.action = bpy.data.actions.new("Frozen")
    for frame in (1, 24):
        rig.pose.bones["head"].keyframe_insert("location", frame=frame)
    rig.animation_data.action = None
    return Recipe("Idle", "Frozen", plan=COARSE)


def still(rig):
    return Recipe("", "Idle", plan=COARSE)


def flat(rig):
    rig.scale = (1.0, 0.0, 1.0)
    return RECIPE


def below_nothing(rig):
    rig.parent = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(rig.parent)
    rig.parent.scale = (0.0, 0.0, 0.0)
    return RECIPE


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (flat, "'Walker' has scale 0 along Y: set its Scale, and that of its parents, to 1"),
        (below_nothing, "has scale 0 along X"),
        (lambda rig: Recipe(plan=COARSE), "no action for Walk: .*: 'Idle', 'Run', 'Walk'"),
        (one_frame, "lasts one frame"),
        (frozen, "Walk 'Frozen': The action moves no vertex: choose an action"),
        (lambda rig: Recipe("Walk", "Walk", plan=COARSE), "is chosen for Stand and for Walk"),
        (still, "type in its Stride"),
        (renamed, "is not made for rig 'Walker', which lacks bone"),
        (hidden, "deforms and carries no mesh that is shown"),
        (changing, "turn off the modifiers"),
        (large, "to decimate it"),
        (unlinked, "There is no action 'Sneak'"),
        (lambda rig: Recipe("Idle", "Walk", without=("bag",)), "carries no object 'bag'"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(empty_scene, spoil, words):
    rig = walking_rig()
    recipe = spoil(rig)
    before = state(rig)
    with pytest.raises(CharacterError, match=words):
        make(rig, recipe)
    assert state(rig) == before
