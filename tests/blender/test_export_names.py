"""Names in exported files: those of crowds, though these have them in the open file already."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from tests.blender.live_scenes import make_runner  # noqa: E402
from tests.blender.test_export import export, imported, needs_alembic  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


@needs_alembic
def test_points_of_alembic_have_the_name_of_their_crowd(tmp_path):
    crowds = [make_runner(), make_runner()]
    for obj, name in zip(crowds, ("Crowd", "Crowd.001"), strict=True):
        obj.name = obj.data.name = name
    named = [(obj.name, obj.data.name) for obj in crowds]
    paths = [export(obj, "alembic", tmp_path, 2).path for obj in crowds]
    assert [(obj.name, obj.data.name) for obj in crowds] == named
    bpy.ops.wm.read_homefile(use_empty=True)
    for path, name in zip(paths, ("Crowd", "Crowd_001"), strict=True):
        (item,) = imported(bpy.ops.wm.alembic_import, path, as_background_job=False)
        # the data of it is called so, too, but in Blender 5.2, where it is always "Mesh"
        assert item.modifiers[0].object_path in (f"/{name}/{name}", f"/{name}/Mesh")


@pytest.mark.parametrize("name", ["glb", "fbx"])
@pytest.mark.parametrize("baked", [False, True])
def test_keyed_agents_are_called_by_their_ids(tmp_path, name, baked):
    """A hero, or the keyed objects of the crowd, are called so in the file."""
    obj = make_runner()
    obj.name = "Crowd"
    wanted = [f"Crowd.{number:04d}" for number in range(3)]
    if baked:
        bpy.context.view_layer.objects.active = obj
        assert bpy.ops.object.steer_bake_keyframes() == {"FINISHED"}
    else:
        bpy.data.objects.new(wanted[1], None)
    before = sorted(bpy.data.objects.keys())
    path = export(obj, name, tmp_path, 2).path
    assert sorted(bpy.data.objects.keys()) == before
    bpy.ops.wm.read_homefile(use_empty=True)
    operator = bpy.ops.import_scene.gltf if name == "glb" else bpy.ops.import_scene.fbx
    assert sorted(item.name for item in imported(operator, path)) == wanted
