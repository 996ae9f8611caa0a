"""Heroes beside other things: crowds that were renamed and duplicated, and colliders."""

from __future__ import annotations

from unittest.mock import MagicMock

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Quaternion  # noqa: E402

from steer_addon.blender.bake import hero_age, heroes  # noqa: E402
from steer_addon.blender.characters import making  # noqa: E402
from steer_addon.blender.checks import obstructions  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.live import simulate  # noqa: E402
from steer_addon.blender.operators import heroes as operators  # noqa: E402
from steer_addon.blender.ui import drawing  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from tests.blender import test_heroes  # noqa: E402
from tests.blender.crowd_makers import active, make_mesh  # noqa: E402
from tests.blender.made_once import made_once  # noqa: E402
from tests.blender.operator_calls import refusal  # noqa: E402
from tests.blender.walking_rigs import hero_parts, walking_rig  # noqa: E402

pytestmark = [pytest.mark.usefixtures("empty_scene", "few_poses"), pytest.mark.slow]


def people(last=3, count=12):
    return test_heroes.people(last, count)


def promoted(*ids):
    """A crowd with heroes, opened from a file: in that one nothing was changed since."""

    def make():
        heroes.promote(people(), bpy.context.scene, list(ids))

    made_once(("promoted", ids), make)
    return active()


def test_heroes_of_a_crowd_that_was_renamed_before_it_was_duplicated_are_its_own():
    obj = promoted(1)
    obj.name = "Mob"
    other = obj.copy()
    other.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(other)
    assert set(heroes.carriers(obj)) == {1} and not heroes.carriers(other)
    assert heroes.demote(obj).done == [1]
    assert not heroes.carriers(obj) and not heroes.hidden(obj)


def test_heroes_are_no_obstacles():
    obj = people()
    obj.steer.bodies.collide_colliders = True
    heroes.promote(obj, bpy.context.scene, list(range(6)))
    bpy.context.view_layer.update()
    found = obstructions.in_the_way(obj, bpy.context.evaluated_depsgraph_get())
    assert found == []


def said(obj, code="HEROES_LOST"):
    """What the main panel says of heroes."""
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "draw_diagnosis", lambda layout, context, found: drawn.append(found))
        drawing.draw_main(MagicMock(), bpy.context, obj)
    return [found for found in drawn if found.code == code]


def test_agents_whose_rigs_were_deleted_are_told_and_shown_again():
    obj = promoted(1, 2)
    heroes.promote(obj, bpy.context.scene, [5])
    assert said(obj) == []
    carrier = heroes.carriers(obj)[2]
    bpy.data.batch_remove([carrier, *carrier.children_recursive])
    (found,) = said(obj)
    assert (found.code, found.remedy, found.values["count"]) == (
        "HEROES_LOST", "SHOW_LOST_HEROES", 1,
    )  # fmt: skip
    assert bpy.ops.object.steer_demote(which="LOST") == {"FINISHED"}
    assert heroes.hidden(obj) == set(heroes.carriers(obj)) == {1, 5}
    assert said(obj) == []


def test_a_duplicate_tells_of_the_agents_that_it_hides():
    obj = promoted(1, 2)
    other = obj.copy()
    other.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(other)
    assert [found.values["count"] for found in said(other)] == [2] and said(obj) == []
    bpy.context.view_layer.objects.active = other
    assert bpy.ops.object.steer_demote(which="LOST") == {"FINISHED"}
    assert not heroes.hidden(other) and heroes.hidden(obj) == {1, 2}


def test_a_hero_is_demoted_from_itself():
    obj = promoted(1, 2)
    carrier = heroes.carriers(obj)[2]
    (rig,) = [part for part in hero_parts(carrier) if part.type == "ARMATURE"]
    for other in bpy.context.selected_objects:
        other.select_set(False)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    assert bpy.ops.object.steer_demote() == {"FINISHED"}
    assert set(heroes.carriers(obj)) == heroes.hidden(obj) == {1}
    cube = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    bpy.context.scene.collection.objects.link(cube)
    bpy.context.view_layer.objects.active = cube
    assert "Select a crowd, or one of its heroes" in refusal(bpy.ops.object.steer_demote)


@pytest.mark.parametrize(
    ("bodies", "reason"),
    [
        ("RIGS", "are rigs of a keyframe bake already: edit those, or use Delete Keyframe Bake"),
        (
            "OBJECTS",
            "is baked to objects: use Delete Keyframe Bake first, or bake with Bodies set to",
        ),
    ],
)
def test_a_keyframe_bake_has_no_agents_to_promote(bodies, reason):
    obj = people(2, count=2)
    obj.steer.bake.bodies = bodies
    assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    assert reason in refusal(bpy.ops.object.steer_promote)
    assert bpy.ops.object.steer_delete_bake() == {"FINISHED"}
    assert bpy.ops.object.steer_promote.poll()


@pytest.mark.parametrize("bodies", ["RIGS", "OBJECTS"])
def test_a_crowd_with_heroes_is_not_keyed_beside_them(bodies):
    obj = people(2, count=2)
    obj.steer.bake.bodies = bodies
    heroes.promote(obj, bpy.context.scene, [1])
    with pytest.raises(RuntimeError, match=r"1 agent of 'Crowd' would be there twice.*Demote"):
        bpy.ops.object.steer_bake_keyframes()
    assert obj.steer.bake_collection is None and not obj.hide_render
    assert bpy.ops.object.steer_demote() == bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}


def test_demoting_says_plainly_why_nothing_was_done(capfd):
    obj = promoted(1)
    with pytest.raises(RuntimeError, match=r"No hero of 'Crowd' is selected or picked: select one"):
        bpy.ops.object.steer_demote(which="PICKED")
    with pytest.raises(RuntimeError, match=r"No hero of 'Crowd' lacks its rig: choose All"):
        bpy.ops.object.steer_demote(which="LOST")
    heroes.carriers(obj)[1].location.x += 1.0
    heroes.carriers(obj)[1].keyframe_insert("location", frame=2)
    capfd.readouterr()
    bpy.ops.object.steer_demote()
    told = capfd.readouterr().out
    assert "Hero 1 was changed by hand and stays: choose Edited Too in Adjust Last Opera" in told
    assert "0 agents" not in told and set(heroes.carriers(obj)) == {1}


@pytest.mark.parametrize("which", ["ALL", "LOST"])
def test_a_hero_without_its_rig_is_told_and_goes(which):
    obj = promoted(1, 2)
    armatures = [p for p in hero_parts(heroes.carriers(obj)[2]) if p.type == "ARMATURE"]
    bpy.data.batch_remove(armatures)
    (found,) = said(obj)
    assert found.values["count"] == 1 and heroes.lost(obj) == {2}
    assert bpy.ops.object.steer_demote(which=which) == {"FINISHED"}
    assert heroes.hidden(obj) == set(heroes.carriers(obj)) == ({1} if which == "LOST" else set())
    assert not [o for o in bpy.data.objects if heroes.MARK in o and o.get("id") == 2]
    assert said(obj) == []


def test_a_hero_without_its_rig_gets_a_new_one_when_it_is_promoted():
    obj = promoted(1, 2)
    count = len(bpy.data.objects)
    for number, kind in ((1, "ARMATURE"), (2, "EMPTY")):
        parts = hero_parts(heroes.carriers(obj)[number])
        bpy.data.batch_remove([part for part in parts if part.type == kind])
    assert heroes.lost(obj) == {1, 2}
    assert heroes.promote(obj, bpy.context.scene, [1, 2]).done == [1, 2]
    assert not heroes.lost(obj) and len(bpy.data.objects) == count


def test_a_rig_in_another_collection_is_not_lost():
    obj = promoted(1)
    (rig,) = [p for p in hero_parts(heroes.carriers(obj)[1]) if p.type == "ARMATURE"]
    bpy.context.scene.collection.objects.link(rig)
    next(c for c in bpy.data.collections if c.name == "Heroes of Crowd").objects.unlink(rig)
    assert not heroes.lost(obj) and said(obj) == []


@pytest.mark.parametrize("which", ["ALL", "LOST"])
def test_what_is_left_of_a_hero_goes_with_it(which):
    obj = promoted(1, 2)
    bpy.data.objects.remove(heroes.carriers(obj)[2])
    assert bpy.ops.object.steer_demote(which=which) == {"FINISHED"}
    left = {1} if which == "LOST" else set()
    assert heroes.hidden(obj) == set(heroes.carriers(obj)) == left
    parts = [o for o in bpy.data.objects if heroes.MARK in o and heroes.AGENT not in o]
    assert {part["id"] for part in parts} == left


def test_the_rig_of_a_character_is_no_obstacle():
    obj = people()
    rig = walking_rig()
    head = bpy.data.objects["head"]
    rig.location = head.location = obj.matrix_world.translation
    obj.steer.bodies.collide_colliders = True
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    before = obstructions.in_the_way(obj, depsgraph)
    recipe = Recipe("Idle", "Walk", plan=Plan(tolerance=0.2, steps=24))
    making.make_character(bpy.context.scene, rig, recipe)
    found = obstructions.in_the_way(obj, bpy.context.evaluated_depsgraph_get())
    assert {part.parent for part in before} == {rig} and found == []


def test_a_key_by_hand_comes_on_top_of_the_motion():
    obj = people(last=30, count=4)
    scene = bpy.context.scene
    heroes.promote(obj, scene, [1])
    (rig,) = [p for p in hero_parts(heroes.carriers(obj)[1]) if p.type == "ARMATURE"]
    bone = rig.pose.bones["upper_arm_l"]

    def turns():
        found = []
        for frame in range(1, 31):
            scene.frame_set(frame)
            found.append(bone.matrix_basis.to_quaternion())
        return found

    before = turns()
    scene.frame_set(12)
    wanted = Quaternion((1.0, 0.0, 0.0), 0.6) @ before[11]
    bone.rotation_quaternion = wanted
    bone.keyframe_insert("rotation_quaternion", frame=12)
    after = turns()
    assert after[11].rotation_difference(wanted).angle < 1.0e-3
    # it swings as before, turned by as much as it was turned there
    turned = before[11].inverted() @ wanted
    for one, other in zip(before, after, strict=True):
        assert (one @ turned).rotation_difference(other).angle < 1.0e-3
    assert max(one.rotation_difference(after[0]).angle for one in after) > 0.1


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((1, 0, 0), "Promoted 1 agent"),
        ((2, 0, 18), "Promoted 2 agents. Limit left out 18: raise it to promote more"),
        ((0, 3, 0), "All 3 agents were heroes before"),
        ((0, 1, 0), "The agent was a hero before"),
        ((4, 1, 0), "Promoted 4 agents. 1 was a hero before"),
    ],
)
def test_promoting_tells_plainly_what_was_done(counts, told):
    assert operators._promoted(*counts) == told


def outdated(obj):
    """Ids of heroes of an earlier simulation, and what the panel says of them."""
    bpy.context.view_layer.update()
    hero_age.refresh(obj)
    return heroes.outdated(obj, bpy.context.scene), said(obj, "HEROES_OUTDATED")


def slower(obj):
    obj.steer.agents.max_speed = 0.7


def fewer(obj):
    obj.steer.agent_count = 5


def elsewhere(obj):
    obj.steer.target_object.location.x += 5.0


def rekeyed(obj):
    target = obj.steer.target_object
    target.keyframe_insert("location", frame=1)


def longer(obj):
    obj.steer.frame_end = 5


def walled(obj):
    """Give a crowd a wall that is far away."""
    wall = make_mesh("Wall", [(90, 0, 0), (90, 1, 0), (90, 0, 1)], [(0, 1, 2)])
    obj.steer.colliders = bpy.data.collections.new("Walls")
    bpy.context.scene.collection.children.link(obj.steer.colliders)
    obj.steer.colliders.objects.link(wall)
    bpy.context.view_layer.objects.active = obj


def reshaped(obj):
    wall = bpy.data.objects["Wall"].data
    wall.vertices[0].co.z += 0.5
    wall.update()


@pytest.mark.parametrize("change", [slower, fewer, elsewhere, rekeyed, longer, reshaped])
def test_heroes_of_an_earlier_simulation_are_told_and_promoted_again(change):
    obj = people()
    walled(obj)
    heroes.promote(obj, bpy.context.scene, [1, 11])
    heroes.promote(obj, bpy.context.scene, [2])
    obj.name = "Mob"
    assert outdated(obj) == (set(), [])
    objects = len(bpy.data.objects)
    change(obj)
    ids, (found,) = outdated(obj)
    assert ids == {1, 2, 11} and found.values["count"] == 3 and found.remedy == "RENEW_HEROES"
    assert bpy.ops.object.steer_promote_again() == {"FINISHED"}
    left = {1, 2} if change is fewer else {1, 2, 11}
    assert set(heroes.carriers(obj)) == heroes.hidden(obj) == left
    assert outdated(obj) == (set(), []) and not heroes.lost(obj)
    assert change is fewer or len(bpy.data.objects) == objects
    (frame,) = simulate.run(obj, bpy.context.scene, range(3, 4))
    bpy.context.scene.frame_set(3)
    place = frame.position[list(frame.id).index(2)]
    assert np.allclose(heroes.carriers(obj)[2].location, place, atol=1.0e-4)


def test_heroes_that_were_edited_stay_when_they_are_promoted_again():
    obj = promoted(1, 2)
    heroes.carriers(obj)[1].keyframe_insert("location", frame=2)
    slower(obj)
    assert outdated(obj)[0] == {1, 2}
    bpy.ops.object.steer_promote_again()
    assert outdated(obj)[0] == {1} and set(heroes.carriers(obj)) == {1, 2}


def test_heroes_of_a_bake_are_not_told_to_be_old(tmp_path):
    obj = people()
    obj.steer.cache_directory = str(tmp_path)
    heroes.promote(obj, bpy.context.scene, [1])
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    heroes.promote(obj, bpy.context.scene, [2])
    slower(obj)
    assert outdated(obj) == (set(), [])


def test_heroes_of_a_bake_are_told_to_be_old_once_another_one_plays(tmp_path):
    obj = people()
    obj.steer.cache_directory = str(tmp_path)
    assert bpy.ops.object.steer_cache_bake() == {"FINISHED"}
    heroes.promote(obj, bpy.context.scene, [1])
    assert bpy.ops.object.steer_cache_anew() == {"FINISHED"}
    assert outdated(obj) == (set(), [])
    slower(obj)
    assert bpy.ops.object.steer_cache_anew() == {"FINISHED"}
    ids, (found,) = outdated(obj)
    assert ids == {1} and found.remedy == "RENEW_HEROES"
    assert bpy.ops.object.steer_promote_again() == {"FINISHED"}
    assert outdated(obj) == (set(), [])


def test_a_path_that_is_reshaped_makes_heroes_old():
    obj = people()
    path = bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE"))
    spline = path.data.splines.new("BEZIER")
    spline.bezier_points.add(1)
    bpy.context.scene.collection.objects.link(path)
    obj.steer.ground = path
    before = hero_age.digest(obj, bpy.context.scene)
    assert hero_age.digest(obj, bpy.context.scene) == before
    spline.bezier_points[1].handle_left = (0.0, 1.0, 0.0)
    assert hero_age.digest(obj, bpy.context.scene) != before


def test_the_look_of_a_crowd_makes_no_hero_old():
    obj = promoted(1)
    bpy.context.scene.frame_set(2)
    display.set_input(display.find_modifier(obj), "Viewport Limit", 5)
    obj.steer.bake.bodies = "RIGS"
    assert outdated(obj) == (set(), [])


def test_heroes_are_as_old_in_a_file_that_was_opened(tmp_path):
    obj = promoted(1)
    path = str(tmp_path / "crowd.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Crowd"]
    assert outdated(obj) == (set(), [])
    slower(obj)
    assert outdated(obj)[0] == {1}
