"""Make Character in steps: progress, an end at any time, corrections, and making it again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import library, making, rigs, sources  # noqa: E402
from steer_addon.blender.checks import character_checks  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.ui import display_fields  # noqa: E402
from steer_addon.core.characters.pose_space import split_clips  # noqa: E402
from steer_addon.core.characters.recipe import Recipe, from_text  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.crowd_makers import make_crowd  # noqa: E402
from tests.blender.drawn import context  # noqa: E402
from tests.blender.fake_layout import FakeLayout  # noqa: E402
from tests.blender.made_once import made_once  # noqa: E402
from tests.blender.operator_calls import refusal, undone  # noqa: E402
from tests.blender.walking_rigs import COARSE, RECIPE, add_gait, box, make, state, walking_rig  # noqa: E402


def test_progress_rises_to_the_end(empty_scene):
    shares = list(making.making(bpy.context.scene, walking_rig(), RECIPE))
    assert len(shares) > 50
    assert all(a <= b for a, b in zip(shares, shares[1:], strict=False))
    assert shares[0] < 0.1 and 0.6 < shares[-1] < 1.0


@pytest.mark.parametrize("after", [1, 30, 100])
def test_what_is_stopped_leaves_nothing(empty_scene, after):
    rig = walking_rig()
    before = state(rig)
    steps = making.making(bpy.context.scene, rig, RECIPE)
    for _ in range(after):
        next(steps)
    assert "Steer Sampling" in bpy.data.scenes
    steps.close()
    assert state(rig) == before


def test_loops_are_guessed_from_motion_and_can_be_corrected(empty_scene):
    rig = walking_rig()
    fall = add_gait(rig, "Fall", 0.0, 12, drift=3.0)
    idle = bpy.data.actions["Idle"]
    assert (rigs.loops(rig, idle), rigs.loops(rig, fall)) == (True, False)
    clips = (("wait", "Idle"), ("fall", "Fall"))
    recipe = Recipe("Idle", "Walk", clips=clips, once=("wait",), loops=("fall",), plan=COARSE)
    clips, *_ = split_clips(make(rig, recipe).space.clips)
    assert [clip.goes_round for clip in clips] == [False, True]


def test_turns_of_bones_count_for_loops(empty_scene):
    rig = walking_rig()
    turn = bpy.data.actions.new("Turn")
    rig.animation_data.action = turn
    bone = rig.pose.bones["head"]
    for frame, angle in ((1, 0.0), (10, 0.4)):
        bone.rotation_quaternion = (np.cos(angle), np.sin(angle), 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action = None
    assert not rigs.loops(rig, turn)
    for curve in rigs.curves(turn):
        # the negative quaternion is the same rotation
        first, last = curve.keyframe_points[0], curve.keyframe_points[-1]
        last.co[1] = -first.co[1]
    assert rigs.loops(rig, turn)


def test_feet_are_found_and_can_be_corrected(empty_scene):
    rig = walking_rig()
    assert set(make(rig).feet) == {"leg.l", "leg.r"}
    # a train that drags along the ground, as feet do not
    box("train", (0.0, 0.6, 0.05), (0.3, 0.5, 0.1), rig)
    found = make(rig, Recipe("Idle", "Walk", plan=COARSE, feet=("leg.l", "leg.r")))
    assert set(found.feet) == {"leg.l", "leg.r"}
    assert found.space.gaits[-1].stride == pytest.approx(1.0, rel=0.1)
    with pytest.raises(CharacterError, match="No vertex belongs to 'paw'.*'leg.l'"):
        make(rig, Recipe("Idle", "Walk", plan=COARSE, feet=("paw",)))


def test_feet_are_guessed_by_names(empty_scene):
    rig = walking_rig()
    rig.data.bones["leg.l"].name = "Foot.L"  # renames the groups of its meshes too
    rig.data.bones["leg.r"].name = "Foot.R"
    assert rigs.guess_feet(rig) == ("Foot.L", "Foot.R")


def test_recipes_are_kept_as_text():
    recipe = Recipe("A", "B", "C", (("x", "D"),), COARSE, 0.5, ("hat",), (2, 9), ("x",))
    assert from_text(recipe.to_text()) == recipe
    for text in ("", "{}", "[1]", '{"plan": {"tolerance": 99}}', '{"plan": {}, "faces": "x"}'):
        with pytest.raises(CharacterError, match="use Make Character again"):
            from_text(text)


def test_clips_that_are_not_there_cannot_end():
    with pytest.raises(CharacterError, match="no clip 'jump': the clips are 'wave'"):
        Recipe("A", "B", clips=(("wave", "C"),), once=("jump",))


def moved_vertex(rig):
    mesh = next(obj for obj in rig.children if obj.name == "head").data
    mesh.vertices[0].co.z += 0.1


def moved_key(rig):
    curve = next(iter(rigs.curves(bpy.data.actions["Walk"])))
    curve.keyframe_points[3].co[1] += 0.1


def moved_bone(rig):
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["head"].tail.z += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")


def painted_weight(rig):
    part = next(obj for obj in rig.children if obj.name == "head")
    part.vertex_groups["head"].add([0], 0.5, "REPLACE")


def new_modifier(rig):
    part = next(obj for obj in rig.children if obj.name == "head")
    part.modifiers.new("Bevel", "BEVEL").width = 0.02


def removed_action(rig):
    bpy.data.actions.remove(bpy.data.actions["Walk"])


def switch(rig, name):
    """A custom property that a driver of a rig reads."""
    root, constraint = rig.pose.bones["root"], rig.pose.bones["head"].constraints.new("COPY_SCALE")
    root[name] = 0.0
    driver = constraint.driver_add("influence").driver
    target = driver.variables.new().targets[0]
    target.id, target.data_path = rig, f'{root.path_from_id()}["{name}"]'
    driver.expression = driver.variables[0].name


def turned_switch(rig):
    rig.pose.bones["root"]["IK_FK"] = 1.0


def switched():
    """A rig with a switch, and the character of it."""

    def make_both():
        rig = walking_rig()
        switch(rig, "IK_FK")
        make(rig)

    made_once("switched", make_both)
    return bpy.data.objects["Walker"], bpy.data.objects[character_name()]


@pytest.mark.parametrize(
    "change",
    [
        turned_switch,
        moved_vertex,
        moved_key,
        moved_bone,
        painted_weight,
        new_modifier,
        removed_action,
    ],
)
def test_a_rig_that_changed_says_so(empty_scene, change):
    rig, character = switched()
    assert not character_checks.check(character)
    bpy.context.view_layer.objects.active = rig
    change(rig)
    assert character_checks.check(character)


def test_what_does_not_matter_is_no_change(empty_scene, tmp_path):
    rig = walking_rig()
    switch(rig, "Keyed")
    rig.pose.bones["root"].keyframe_insert('["Keyed"]', frame=7)
    rig.animation_data.action.use_fake_user = True
    rig.pose.bones["root"]["Keyed"] = 1.0
    make(rig)
    rig.location, rig.rotation_euler = (3.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    rig.animation_data.action = bpy.data.actions["Run"]
    bpy.context.scene.frame_set(7)
    rig.pose.bones["root"]["Keyed"], rig.pose.bones["root"]["Read By None"] = 0.0, 1.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert not character_checks.check(bpy.data.objects[character_name()])


def character_name():
    return next(obj.name for obj in bpy.data.objects if library.is_character(obj))


@pytest.mark.slow
def test_made_anew_by_one_click(empty_scene):
    rig = walking_rig()
    character = make(rig).character
    before = library.rows_of(character)
    head = next(obj for obj in rig.children if obj.name == "head")
    head.data.vertices[0].co.z += 0.25
    objects = {obj.name for obj in bpy.data.objects}
    undone(bpy.ops.object.steer_make_anew, name=character.name)
    assert character_checks.check(bpy.data.objects[character_name()])
    bpy.ops.object.steer_make_anew(name=character_name())
    assert {obj.name for obj in bpy.data.objects} == objects
    again = bpy.data.objects[character_name()]
    assert not character_checks.check(again)
    gaits = library.rows_of(again)[0]
    # how a body leans as gaits change, and what that hides, hangs on its head
    none = dict.fromkeys(("leaving", "landing", "parting", "leaning"), ())
    rows, held = ([replace(row, **none) for row in some] for some in (gaits, before[0]))
    assert rows == held
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    assert gaits == library.rows_of(make(rig).character)[0]


def test_a_rig_that_is_gone_is_one_sentence(empty_scene):
    rig = walking_rig()
    character = make(rig).character
    for obj in [*rig.children, rig]:
        bpy.data.objects.remove(obj)
    assert not sources.is_changed(character)
    shown_by_a_crowd(character)
    with pytest.raises(RuntimeError, match="was made of 'Walker', which is not in this file"):
        bpy.ops.object.steer_make_anew()


def shown_by_a_crowd(character):
    obj = make_crowd()
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Character")
    display.set_input(modifier, "Object", character)
    bpy.context.view_layer.objects.active = obj
    return obj


def activated(what):
    """Make a rig, the character of it or the crowd that shows that the active object."""

    def make_all():
        shown_by_a_crowd(make(walking_rig()).character)

    made_once("walker, character and crowd", make_all)
    rig, crowd = (bpy.data.objects[name] for name in ("Walker", "Crowd"))
    character = bpy.data.objects[character_name()]
    layer = bpy.context.view_layer
    for child in layer.layer_collection.children:
        child.exclude = False
    layer.objects.active = {"rig": rig, "character": character, "crowd": crowd}[what]
    bpy.data.objects["head"].data.vertices[0].co.z += 0.25
    assert character_checks.check(character)
    return character


@pytest.mark.parametrize("what", ["rig", "character", "crowd"])
def test_made_anew_from_what_is_selected(empty_scene, what):
    character = activated(what)
    assert bpy.ops.object.steer_make_anew() == {"FINISHED"}
    assert not character_checks.check(character)


def test_made_anew_from_the_display_section(empty_scene):
    character = activated("crowd")
    drawn = FakeLayout()
    display_fields.draw_display(drawn, context(), bpy.context.object)
    assert drawn.press("object.steer_make_anew") == {"FINISHED"}
    assert not character_checks.check(character)
    del character[sources.KEY]
    drawn = FakeLayout()
    display_fields.draw_display(drawn, context(), bpy.context.object)
    assert "object.steer_make_anew" not in drawn.of("operator")


def test_making_anew_says_what_to_select(empty_scene):
    character = activated("character")
    del character[sources.KEY]
    assert refusal(bpy.ops.object.steer_make_anew) == (
        "'Walker Character' was not made of a rig: select a character that was"
    )
    reason = "Select a character, the rig that it was made of, or a crowd that shows it"
    for other in ("Crowd", "Walker", "head"):
        bpy.context.view_layer.objects.active = bpy.data.objects[other]
        assert refusal(bpy.ops.object.steer_make_anew) == reason
    bpy.context.view_layer.objects.active = None
    assert refusal(bpy.ops.object.steer_make_anew) == reason
