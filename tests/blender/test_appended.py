"""A crowd that is appended to another file brings what it shows, and nothing else is seen."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import heroes  # noqa: E402
from steer_addon.blender.characters import library  # noqa: E402
from tests.blender.crowd_makers import active  # noqa: E402
from tests.blender.test_characters_shown import crowd_of, level_frame  # noqa: E402
from tests.blender.toy_characters import make_toy  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene", "few_poses")


def instances():
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return sum(instance.is_instance for instance in depsgraph.object_instances)


@pytest.mark.parametrize("promoted", [[], [2]])
def test_append_shows_the_agents_and_no_heap_of_poses(tmp_path, promoted):
    assert bpy.ops.object.steer_start(preset="pedestrians", count=10) == {"FINISHED"}
    for frame in (1, 2, 3):
        bpy.context.scene.frame_set(frame)
    if promoted:
        heroes.promote(active(), bpy.context.scene, promoted)
    expected = 10 - len(promoted)
    assert instances() == expected
    path = tmp_path / "crowd.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(directory=f"{path}/Object/", filename="Crowd")
    scene = bpy.context.scene
    for frame in (1, 2, 3):
        scene.frame_set(frame)
    assert instances() == expected
    unseen = [obj for obj in bpy.data.objects if not obj.users_collection]
    assert {"Crowd State", "Poses of People"} <= {obj.name for obj in unseen}
    # people are put away
    layers = bpy.context.view_layer.layer_collection.children
    assert layers["People"].exclude
    # also without Steer no render has them
    assert all(obj.hide_render for obj in unseen if "Poses" in obj.name)


@pytest.mark.parametrize("wanted", ["Toy", "Crowd"])
def test_an_appended_character_is_no_heap_of_poses_either(tmp_path, wanted):
    toy = make_toy()
    crowd, _modifier = crowd_of(level_frame(3), toy)
    assert instances() == 3
    path, name = tmp_path / "toy.blend", crowd.name if wanted == "Crowd" else toy.name
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(directory=f"{path}/Object/", filename=name)
    toy = bpy.data.objects["Toy"]
    assert toy.hide_viewport and toy.hide_render
    # it is out of the way
    (home,) = toy.users_collection
    assert home.name == ("Characters" if wanted == "Crowd" else "Appended Characters")
    assert bpy.context.view_layer.layer_collection.children[home.name].exclude
    assert instances() == (3 if wanted == "Crowd" else 0)


def test_a_character_that_is_appended_joins_no_crowd(tmp_path):
    make_toy("New")
    path = tmp_path / "toy.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    make_toy()
    for _ in range(2):
        bpy.ops.wm.append(directory=f"{path}/Object/", filename="New")
    assert [obj.name for obj in library.ensure_collection(bpy.context.scene).objects] == ["Toy"]
    (home,) = bpy.data.objects["New"].users_collection
    assert {"New", "New.001"} == set(home.objects.keys()) and home.name == "Appended Characters"


def test_a_collection_of_characters_that_is_appended_keeps_them(tmp_path):
    toy = make_toy()
    named = toy.users_collection[0].name
    path = tmp_path / "toy.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.append(directory=f"{path}/Collection/", filename=named)
    (home,) = bpy.data.objects["Toy"].users_collection
    assert home.name == named and len(bpy.data.collections) == 1
    assert bpy.context.view_layer.layer_collection.children[home.name].exclude
    assert instances() == 0
