"""What a character was made of: changes of it are noticed, and only these."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.characters import making, origins, rigs, sources  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.made_once import made_once  # noqa: E402
from tests.blender.walking_rigs import add_gait, make_rig, walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")

RECIPE = Recipe("Idle", "Walk", plan=Plan(tolerance=0.1, steps=24, ratio=2.5))


def made_of(rig, recipe=RECIPE):
    return making.make_character(bpy.context.scene, rig, recipe).character


def curve():
    return next(rigs.curves(bpy.data.actions["Walk"]))


def painted():
    return bpy.data.meshes["head"].color_attributes["Paint"]


def shape():
    return bpy.data.meshes["head"].shape_keys.key_blocks["Wide"]


EDITS = {
    "part moved": lambda: setattr(bpy.data.objects["hat"], "location", (0.0, 0.0, 0.4)),
    "part scaled": lambda: setattr(bpy.data.objects["hat"], "scale", (2.0, 2.0, 2.0)),
    "smooth": lambda: bpy.data.meshes["head"].polygons[0].__setattr__("use_smooth", False),
    "noise": lambda: curve().modifiers.new("NOISE"),
    "mute": lambda: setattr(curve(), "mute", True),
    "extrapolation": lambda: setattr(curve(), "extrapolation", "LINEAR"),
    "handle": lambda: setattr(curve().keyframe_points[3], "handle_left", (1.0, 5.0)),
    "frame rate": lambda: setattr(bpy.context.scene.render, "fps", 30),
    "rest": lambda: setattr(bpy.data.armatures["Walker"], "pose_position", "REST"),
    "modifier": lambda: bpy.data.objects["head"].modifiers.new("Subdivision", "SUBSURF"),
    "color": lambda: painted().data.foreach_set("color", [0.5] * 32),
    "sharp": lambda: setattr(bpy.data.meshes["head"].edges[0], "use_edge_sharp", True),
    "normals": lambda: bpy.data.meshes["head"].normals_split_custom_set([(0.0, 0.0, 1.0)] * 24),
    "shape": lambda: setattr(shape(), "value", 0.5),
    "part hidden": lambda: setattr(bpy.data.objects["hat"], "hide_render", True),
}


def make_painted():
    """A character of a rig whose head has colors and a shape key."""
    rig = walking_rig()
    bpy.data.meshes["head"].color_attributes.new("Paint", "FLOAT_COLOR", "POINT")
    for key in ("Basis", "Wide"):
        bpy.data.objects["head"].shape_key_add(name=key)
    shape().value = 0.0
    for part in rig.children:
        part.data.polygons.foreach_set("use_smooth", [True] * len(part.data.polygons))
    assert made_of(rig).name == "Walker Character"


@pytest.mark.parametrize("name", EDITS)
def test_edits_that_are_seen_are_noticed(name):
    made_once("painted walker", make_painted)
    character = bpy.data.objects["Walker Character"]
    assert not sources.is_changed(character)
    EDITS[name]()
    bpy.context.view_layer.update()
    assert sources.is_changed(character)


def test_a_rig_that_is_put_aside_is_not_changed_and_made_anew_as_before():
    rig = walking_rig()
    bpy.data.objects["hat"].hide_render = True
    character = made_of(rig)
    vertices = len(character.data.vertices)
    for obj in (rig, *rig.children):
        obj.hide_viewport = obj.hide_render = True
    bpy.context.scene.frame_set(12)
    assert not sources.is_changed(character)
    assert bpy.ops.object.steer_make_anew(name=character.name) == {"FINISHED"}
    assert len(character.data.vertices) == vertices and not sources.is_changed(character)


def test_the_digest_is_the_same_in_every_blender():
    rig = walking_rig()
    wrap = bpy.data.objects["head"].modifiers.new("Wrap", "SHRINKWRAP")
    wrap.target, wrap.offset = bpy.data.objects["hat"], 0.25
    rig.pose.bones["head"].constraints.new("LIMIT_ROTATION").use_limit_x = True
    assert sources.digest(rig, RECIPE) == "b2f8b6f3cdebf4f58fdfccf2800c89f2"


def test_of_rigs_with_the_same_bones_each_gets_its_own_actions():
    first = walking_rig()
    second = make_rig("Second")
    for name in ("Idle.001", "Walk.001", "Run.001"):
        add_gait(second, name, 1.0, 24)
    tracks = second.animation_data_create().nla_tracks
    for name in ("Idle.001", "Walk.001"):
        tracks.new().strips.new(name, 1, bpy.data.actions[name])
    second.animation_data.action = bpy.data.actions["Run.001"]
    assert rigs.guess_roles(first) == {"stand": "Idle", "walk": "Walk", "run": "Run"}
    assert rigs.guess_roles(second) == {"stand": "Idle.001", "walk": "Walk.001", "run": "Run.001"}
    names = [action.name for action in rigs.actions_of(second)]
    assert names[:3] == ["Idle.001", "Run.001", "Walk.001"] and set(names[3:]) == {
        "Idle", "Walk", "Run",
    }  # fmt: skip


@pytest.mark.parametrize("action", ["Walk", "Wave"])
def test_making_anew_without_its_action_says_where_to_choose_another_one(action):
    rig = walking_rig()
    add_gait(rig, "Wave", 0.3, 20, bob=0.2)
    recipe = Recipe("Idle", "Walk", clips=(("wave", "Wave"),), plan=RECIPE.plan)
    character = made_of(rig, recipe)
    bpy.data.actions[action].name = "Other"
    with pytest.raises(RuntimeError, match=f"no action '{action}'.*select 'Walker' and use Object"):
        bpy.ops.object.steer_make_anew(name=character.name)


def test_a_rig_with_a_new_name_is_still_the_rig():
    rig = walking_rig()
    character = made_of(rig)
    rig.name = "Hiker"
    # another rig that took its name is none of it
    other = bpy.data.objects.new("Walker", bpy.data.armatures.new("Other"))
    bpy.context.scene.collection.objects.link(other)
    assert origins.read(character).rig == rig
    assert not sources.is_changed(character)
    assert sources.require_source(character)[0] == rig
    bpy.data.objects["hat"].location.z += 0.4
    assert sources.is_changed(character)
    assert bpy.ops.object.steer_make_anew(name=character.name) == {"FINISHED"}
    assert not sources.is_changed(character)
    bpy.data.objects.remove(rig)
    with pytest.raises(CharacterError, match="made of 'Hiker', which is not in this file"):
        sources.require_source(character)
