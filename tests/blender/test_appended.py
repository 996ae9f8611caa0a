"""A crowd that is appended to another file brings what it shows, and nothing else is seen."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import heroes  # noqa: E402
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
    assert instances() == (3 if wanted == "Crowd" else 0)
