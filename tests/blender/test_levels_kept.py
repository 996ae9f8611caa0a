"""Levels of detail where scenes change: cameras, deleted objects, other files, heroes, undo."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import heroes  # noqa: E402
from steer_addon.blender.characters import library_group, making  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.characters.recipe import Recipe  # noqa: E402
from tests.blender.crowd_views import make_crowd  # noqa: E402
from tests.blender.operator_calls import undone  # noqa: E402
from tests.blender.test_characters_shown import level_frame  # noqa: E402
from tests.blender.test_heroes import people, play  # noqa: E402
from tests.blender.test_levels import (  # noqa: E402
    PLAN,
    camera_at,
    character,
    crowd_of,
    faces_of,
    round_rig,
    shown,
)
from tests.blender.walking_rigs import hero_parts, take_coarse_plans  # noqa: E402
from tests.often import often  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")

FAR = 5000.0


def sizes():
    return [len(points) for points in shown()]


@pytest.mark.slow
@pytest.mark.parametrize(("level", "left"), often([(1, 0), (2, 1)], (2, 1)))
def test_a_level_that_was_deleted_is_passed_over(level, left):
    made = character(2)
    whole = faces_of(made)
    crowd_of(made)
    camera_at(FAR)
    assert sizes() == whole[2:]
    bpy.data.objects.remove(bpy.data.objects[f"Walker Character Level {level}"])
    assert sizes() == [whole[left]]


def removed(camera):
    bpy.data.objects.remove(camera)


def squashed(camera):
    camera.scale = (0.0, 0.0, 0.0)


def replaced_by_an_empty(camera):
    empty = bpy.data.objects.new("Empty", None)
    empty.location = camera.location
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.scene.camera = empty


@pytest.mark.skipif(bpy.app.version < (5, 0), reason="no node reads a camera before Blender 5.0")
@pytest.mark.parametrize("change", often([removed, squashed, replaced_by_an_empty], removed))
def test_without_a_camera_that_sees_all_is_shown_in_full(change):
    made = character(1)
    crowd_of(made)
    camera = camera_at(FAR)
    assert sizes() == faces_of(made)[1:]
    change(camera)
    assert sizes() == faces_of(made)[:1]


def test_a_camera_of_no_collection_counts_too():
    made = character(1)
    crowd_of(made)
    camera = camera_at(FAR)
    bpy.context.scene.collection.objects.unlink(camera)
    assert sizes() == faces_of(made)[1:]


def test_a_crowd_that_is_mirrored_and_large_has_the_levels_of_its_agents():
    made = character(1)
    crowd, _modifier = crowd_of(made)
    crowd.scale, crowd.location = (-3.0, 1.0, 1.0), (2.0, 0.0, 0.0)
    camera_at(1.0)
    assert sizes() == faces_of(made)[:1]
    bpy.context.scene.camera.location.x = -FAR
    assert sizes() == faces_of(made)[1:]


@pytest.mark.slow
def test_of_several_characters_one_has_levels():
    made = character(1)
    rig = round_rig("Other")
    other = making.make_character(bpy.context.scene, rig, Recipe("Idle", "Walk", "Run", plan=PLAN))
    both = bpy.data.collections.new("Both")
    for found in (made, other):
        both.objects.link(found.character)
    # "Other Character" comes before "Walker Character"
    _crowd, modifier = make_crowd(level_frame(4, character=[0, 1, 1, 0]))
    display.set_input(modifier, "Collection", both)
    display.set_input(modifier, "Display", "Characters")
    whole, level = faces_of(made)
    assert sizes() == [whole] * 4
    camera_at(FAR)
    assert sizes() == [whole, level, level, whole]


def test_the_viewport_limit_counts_bodies_with_their_parts():
    made = character(1, optional=(("hat", 1.0),))
    _crowd, modifier = crowd_of(made, 12)
    camera_at(FAR)
    display.set_input(modifier, "Viewport Limit", 4)
    assert len(sizes()) == 8


@pytest.mark.slow
@pytest.mark.parametrize("link", often([False, True], True))
def test_levels_come_along_into_another_file(tmp_path, link):
    whole = faces_of(character(2))
    path = str(tmp_path / "people.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=link) as (_, wanted):
        wanted.objects = ["Walker Character"]
    _crowd, modifier = make_crowd(level_frame(1))
    display.set_input(modifier, "Object", wanted.objects[0])
    display.set_input(modifier, "Display", "Character")
    assert sizes() == whole[:1]
    camera_at(FAR)
    assert sizes() == whole[2:]


@pytest.mark.slow
def test_a_copy_of_a_character_keeps_the_levels_when_it_is_made_again():
    rig = round_rig()
    made = character(2, rig=rig)
    copy = made.character.copy()
    recipe = Recipe("Idle", "Walk", "Run", plan=PLAN)
    for _step in making.making(bpy.context.scene, rig, recipe, made.character):
        pass
    assert len(faces_of(made)) == 1
    modifier = library_group.modifier_of(copy)
    assert all(display.get_input(modifier, name) for name in library_group.LEVELS)


@pytest.mark.slow
def test_undo_leaves_no_levels(monkeypatch):
    take_coarse_plans(monkeypatch)
    rig = round_rig()
    # of fewer gaits
    bpy.data.actions.remove(bpy.data.actions["Run"])
    bpy.context.view_layer.objects.active = rig
    names = {obj.name for obj in bpy.data.objects}
    undone(bpy.ops.object.steer_make_character, way_per_pose=0.2, levels=2)
    assert {obj.name for obj in bpy.data.objects} == names
    assert not [mesh.name for mesh in bpy.data.meshes if "Level" in mesh.name]


@pytest.mark.slow
def test_heroes_have_all_faces():
    made = character(2)
    obj = people(4, 3)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", made.character)
    display.set_input(modifier, "Display", "Character")
    camera_at(FAR)
    play(4)
    heroes.promote(obj, bpy.context.scene, [1])
    parts = [p for p in hero_parts(heroes.carriers(obj)[1]) if p.type == "MESH"]
    whole, *_, last = faces_of(made)
    assert sum(len(part.data.vertices) for part in parts) == whole
    assert sizes() == [last] * 2
