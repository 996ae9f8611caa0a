"""Optional parts of characters: a hat that some agents have, by chance, in every pose."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import heroes, keyed_crowds  # noqa: E402
from steer_addon.blender.characters import making, optional_parts, sources  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.export import usd_poses  # noqa: E402
from steer_addon.core.characters.recipe import Recipe, from_text, optional_part  # noqa: E402
from steer_addon.core.characters.rows import Plan  # noqa: E402
from steer_addon.core.errors import CharacterError  # noqa: E402
from tests.blender.crowd_views import instances, make_crowd  # noqa: E402
from tests.blender.test_characters_shown import level_frame  # noqa: E402
from tests.blender.test_heroes import people, play  # noqa: E402
from tests.blender.walking_rigs import (  # noqa: E402
    box,
    hero_parts,
    state,
    take_coarse_plans,
    walking_rig,
)
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")

PLAN = Plan(tolerance=0.15, steps=24, ratio=2.0)
BOX = 8
"""Vertices of each part."""


def rig_with_bag():
    rig = walking_rig()
    bag = box("bag", (0, 0.3, 0.1), (0.2, 0.1, 0.3), rig)
    bag.parent_type, bag.parent_bone = "BONE", "head"
    return rig


def character(*optional, rig=None):
    recipe = Recipe("Idle", "Walk", plan=PLAN, optional=optional)
    return making.make_character(bpy.context.scene, rig or rig_with_bag(), recipe)


def shown(count, *characters, seed=0, **attributes):
    """For each agent the points of what is shown at it, one array for each of its instances."""
    obj, modifier = make_crowd(level_frame(count, **attributes))
    display.set_input(modifier, "Object", characters[0])
    display.set_input(modifier, "Collection", characters[0].users_collection[0])
    display.set_input(modifier, "Display", "Character" if len(characters) == 1 else "Characters")
    display.set_input(modifier, "Seed", seed)
    bpy.context.view_layer.update()
    found = [[] for _ in range(count)]
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        if instance.is_instance and instance.parent.original == obj:
            data = instance.object.data.attributes["position"].data
            points = np.empty(3 * len(data), np.float32)
            data.foreach_get("vector", points)
            found[round(instance.matrix_world.translation.x / 2)].append(points.reshape(-1, 3))
    return found


def parts_of(mesh):
    data = mesh.attributes["part_number"].data
    numbers = np.empty(len(data), np.int32)
    data.foreach_get("value", numbers)
    return numbers


def test_some_agents_have_a_part_and_all_have_the_body():
    made = character(("hat", 0.3), ("bag", 0.6))
    found = shown(200, made.character)
    drawn = optional_parts.carried((("hat", 0.3), ("bag", 0.6)), np.arange(200), 0)
    assert [len(parts) for parts in found] == (1 + drawn.sum(axis=1)).tolist()
    # within three standard deviations of what the chances say, and independent of each other
    assert 40 <= drawn[:, 0].sum() <= 80 and 99 <= drawn[:, 1].sum() <= 141
    assert 20 <= (drawn[:, 0] & drawn[:, 1]).sum() <= 52


@pytest.mark.parametrize("gait, phase", often([(0, 0.0), (1, 0.4), (2, 7.3)], (1, 0.4)))
def test_a_part_shows_the_pose_of_its_body(gait, phase):
    made = character(("hat", 0.5))
    part, space = parts_of(made.character.data), made.space
    row = space.gaits[gait]
    pose = space.positions[row.first + int((phase % 1.0) * row.count + 0.5) % row.count]
    found = shown(40, made.character, gait=[gait] * 40, phase=[phase] * 40)
    assert {len(parts) for parts in found} == {1, 2}
    for body, *others in found:
        np.testing.assert_array_equal(body, pose[part == 0])
        for other in others:
            np.testing.assert_array_equal(other, pose[part == 1])


def test_nobody_changes_parts_when_there_are_more_agents_and_the_seed_changes_them():
    made = character(("hat", 0.5))
    few, many = ([len(p) for p in shown(n, made.character)] for n in (30, 90))
    assert many[:30] == few
    assert [len(p) for p in shown(30, made.character, seed=5)] != few
    drawn = optional_parts.carried((("hat", 0.5),), np.arange(30), 5)
    assert [len(p) - 1 for p in shown(30, made.character, seed=5)] == drawn[:, 0].tolist()


def test_chances_of_nobody_and_everybody():
    made = character(("hat", 0.0), ("bag", 1.0))
    part = parts_of(made.character.data)
    assert (part == 0).sum() == 3 * BOX and (part == 1).sum() == (part == 2).sum() == BOX
    bag = made.space.positions[0][part == 2]
    for body, *others in shown(50, made.character, gait=[0] * 50, phase=[0.0] * 50):
        assert len(body) == 3 * BOX and len(others) == 1
        np.testing.assert_array_equal(others[0], bag)


@pytest.mark.slow
def test_characters_with_and_without_parts_stand_side_by_side():
    plain = character(rig=walking_rig("Plain")).character
    # objects of a name that is taken are numbered
    dressed = character(("hat.001", 1.0), rig=walking_rig("Zoe")).character
    # "Plain Character" comes before "Zoe Character"
    found = shown(6, plain, dressed, character=[0, 1, 0, 1, 1, 0])
    assert [len(parts) for parts in found] == [1, 2, 1, 2, 2, 1]
    assert [len(parts[0]) // BOX for parts in found] == [4, 3, 4, 3, 3, 4]


@pytest.mark.slow
def test_more_agents_than_poses_show_the_same():
    made = character(("hat", 0.5))
    poses = 2 * made.space.pose_count
    few, many = (shown(count, made.character) for count in (20, poses + 20))
    for some, others in zip(few, many[:20], strict=True):
        for one, other in zip(some, others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_materials_draw_parts_by_the_id_of_their_agent():
    made = character(("hat", 0.5), ("bag", 1.0))
    frame = level_frame(6, parts=[3] * 6)
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Object", made.character)
    display.set_input(modifier, "Display", "Character")
    bpy.context.view_layer.update()
    drawn = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).evaluated_geometry()
    ids = [item.value for item in drawn.instances_pointcloud().attributes["id"].data]
    assert ids == sorted(frame.id.tolist() * 3)


def test_the_dead_have_no_hats():
    made = character(("hat", 1.0))
    frame = level_frame(4)
    frame.alive[1] = 0
    obj, modifier = make_crowd(frame)
    display.set_input(modifier, "Object", made.character)
    display.set_input(modifier, "Display", "Character")
    bpy.context.view_layer.update()
    assert len(instances()) == 6


def test_an_attribute_of_the_points_overrides_chance():
    made = character(("hat", 0.0), ("bag", 0.5))
    found = shown(4, made.character, parts=[0, 1, 2, 3])
    part = parts_of(made.character.data)
    sizes = [[len(points) for points in parts] for parts in found]
    assert sizes == [[3 * BOX], [3 * BOX, BOX], [3 * BOX, BOX], [3 * BOX, BOX, BOX]]
    hat, bag = (made.space.positions[0][part == number] for number in (1, 2))
    heights = [[points[:, 2].mean() > 1.5 for points in parts[1:]] for parts in found]
    is_high = [hat[:, 2].mean() > 1.5, bag[:, 2].mean() > 1.5]
    assert heights == [[], is_high[:1], is_high[1:], is_high]
    given = np.float32([0, 1, 2, 3])
    drawn = optional_parts.carried((("hat", 0.0), ("bag", 0.5)), range(4), 0, given)
    assert drawn.tolist() == [[False, False], [True, False], [False, True], [True, True]]


@pytest.mark.slow
@pytest.mark.parametrize("given", often([False, True], True))
def test_heroes_have_the_parts_that_their_agents_have(given):
    made = character(("hat", 0.5))
    obj = people(4, 12)
    wanted = np.arange(12) % 3 == 0
    if given:
        obj.data.attributes.new("parts", "INT", "POINT").data.foreach_set("value", wanted * 1)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", made.character)
    display.set_input(modifier, "Display", "Character")
    display.set_input(modifier, "Seed", 3)
    play(4)
    drawn = optional_parts.carried((("hat", 0.5),), range(12), 3)[:, 0]
    drawn = wanted if given else drawn
    assert 0 < drawn.sum() < 12
    assert len(instances()) == 12 + drawn.sum()
    heroes.promote(obj, bpy.context.scene, range(12))
    carriers = {int(o[heroes.AGENT]): o for o in bpy.data.objects if heroes.AGENT in o}
    hats = {
        agent: any(part.name.endswith("hat") for part in hero_parts(carrier))
        for agent, carrier in carriers.items()
    }
    assert hats == dict(enumerate(drawn.tolist()))


@pytest.mark.slow
def test_exports_of_whole_bodies_say_so():
    obj, modifier = make_crowd(level_frame(3))
    display.set_input(modifier, "Display", "Character")
    for made, told in ((character(), []), (character(("hat.001", 0.5)), ["PARTS_AT_ALL"])):
        display.set_input(modifier, "Object", made.character)
        assert [found.code for found in usd_poses.parts_at_all(obj)] == told
        stands = [found.code for found in keyed_crowds.standing_characters(obj)]
        assert stands == ["CHARACTERS_STAND", *told]


def test_bakes_to_objects_need_nothing_of_what_a_character_was_made_of():
    obj, modifier = make_crowd(level_frame(3))
    display.set_input(modifier, "Display", "Character")
    made = character(("hat", 0.5)).character
    made[sources.KEY] = "{"
    display.set_input(modifier, "Object", made)
    told = [found.code for found in keyed_crowds.standing_characters(obj)]
    assert told == ["CHARACTERS_STAND", "PARTS_AT_ALL"]


@pytest.mark.slow
def test_chances_are_kept_for_making_anew():
    made = character(("hat", 0.25))
    recipe = from_text(sources.source_of(made.character).recipe)
    assert recipe.optional == (("hat", 0.25),)
    assert bpy.ops.object.steer_make_anew(name=made.character.name) == {"FINISHED"}
    assert set(parts_of(made.character.data)) == {0, 1}


@pytest.mark.slow
def test_the_operator_takes_names_with_chances(monkeypatch):
    take_coarse_plans(monkeypatch)
    rig = rig_with_bag()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.object.steer_make_character(optional="hat=0.3, bag=1", way_per_pose=0.2) == {
        "FINISHED"
    }
    made = bpy.data.objects["Walker Character"]
    assert np.bincount(parts_of(made.data)).tolist() == [3 * BOX, BOX, BOX]


@pytest.mark.parametrize(
    "optional, words",
    [
        ((("cap", 0.5),), "There is no part 'cap' to be optional: the parts are 'bag', 'hat', "),
        (tuple((n, 0.5) for n in ("bag", "hat", "head", "leg.l", "leg.r")), "All parts are opt"),
    ],
)
def test_bad_parts_are_one_sentence_and_leave_nothing(optional, words):
    rig = rig_with_bag()
    before = state(rig)
    with pytest.raises(CharacterError, match=words):
        character(*optional, rig=rig)
    assert state(rig) == before


def test_bad_chances_are_told():
    with pytest.raises(CharacterError, match="chance of part 'hat' is 130%"):
        Recipe(walk="Walk", optional=(("hat", 1.3),))
    for text in ("hat", "=0.3", "hat=often"):
        with pytest.raises(CharacterError, match="is no optional part: give NAME=SHARE"):
            optional_part(text)
    assert optional_part("a=b=0.5") == ("a=b", 0.5)
    bpy.context.view_layer.objects.active = walking_rig()
    with pytest.raises(RuntimeError, match="no optional part"):
        bpy.ops.object.steer_make_character(optional="hat")
