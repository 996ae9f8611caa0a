"""Baked objects have the size of their agents, in files that users export from them as well."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake.keyframes import bake  # noqa: E402
from steer_addon.blender.characters.keys import curves_of as curves_in  # noqa: E402
from steer_addon.blender.display.look import Look  # noqa: E402
from steer_addon.blender.export import keyed  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402

from . import live_scenes  # noqa: E402
from .bake_frames import circling, curves_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
FRAMES = range(1, 9)
ALIVE = np.array([[1] * 8, [0, 0, 0, 1, 1, 1, 0, 0], [1] * 8])
"""The second agent lives from frame 4 to frame 6."""
RADII = np.full((3, 8), 0.5, np.float32)
RADII[2] = 0.5, 0.5, 0.5, 0.5, 0.25, 0.75, 0.75, 0.75
SIZES = 2.0 * RADII * ALIVE
"""What a look of size 1 at radius 0.5 makes of it."""
LOOK = Look(full_radius=0.5)


def growing():
    found = zip(circling(FRAMES), ALIVE.T, RADII.T, strict=True)
    return [replace(f, alive=alive.astype(np.uint8), radius=radii) for f, alive, radii in found]


def cube():
    obj = live_scenes.make_box("Cube", half=0.5)
    bpy.context.scene.collection.objects.unlink(obj)
    return obj


def import_again(path):
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.render.fps = 24
    bpy.ops.import_scene.gltf(filepath=str(path))


def assert_sizes(numbers=FRAMES):
    """Imported meshes have the sizes of the agents at these frames."""
    meshes = sorted((o for o in bpy.data.objects if o.type == "MESH"), key=lambda o: o.name)
    assert len(meshes) == 3
    for obj, wanted in zip(meshes, SIZES, strict=True):
        data = obj.animation_data
        played = data if data.action is not None else data.nla_tracks[0].strips[0]
        found = curves_in(played.action, played.action_slot)
        curves = (c for c in found if (c.data_path, c.array_index) == ("scale", 2))
        # the importer computes frames from seconds: they are a little beside whole numbers
        keys = [key for curve in curves for key in curve.keyframe_points]
        sizes = {round(key.co[0]): key.co[1] for key in keys} or {numbers[0]: obj.scale[2]}
        found = [sizes[max(n for n in sizes if n <= number)] for number in numbers]
        assert found == pytest.approx(wanted[numbers[0] - 1 :], abs=1e-4)


def test_sizes_are_keyed_where_they_change_and_held_between():
    source = cube()
    source.scale = 2.0, 3.0, 4.0
    parent = bpy.context.scene.collection
    made = bake(growing(), name="C", collection_parent=parent, source=source, look=LOOK)
    first, second, third = made.collection.objects
    keys = {
        o: [tuple(k.co) for k in curves_of(o)["scale", 2].keyframe_points] for o in (second, third)
    }
    assert len(curves_of(first)) == 10
    assert keys == {
        second: [(1.0, 0.0), (4.0, 4.0), (7.0, 0.0)],
        third: [(1.0, 4.0), (5.0, 2.0), (6.0, 6.0)],
    }
    assert ("hide_render", 0) not in curves_of(third)
    for number in FRAMES:
        live_scenes.frame_set(number, 0.5)
        for obj, size in zip((first, second, third), SIZES[:, number - 1], strict=True):
            assert obj.scale[:] == pytest.approx((2.0 * size, 3.0 * size, 4.0 * size))


@pytest.mark.parametrize("first", [1, 7])
def test_a_gltf_file_that_a_user_exports_has_the_sizes_and_no_dead(tmp_path, first):
    """Also where the exported part of the shot begins after some died."""
    scene = bpy.context.scene
    scene.render.fps = 24
    bake(growing(), name="C", collection_parent=scene.collection, source=cube(), look=LOOK)
    scene.frame_start, scene.frame_end = first, 8
    scene.frame_set(5)
    path = tmp_path / "by_hand.glb"
    bpy.ops.export_scene.gltf(filepath=str(path), export_frame_range=True)
    import_again(path)
    assert_sizes(range(first, 9))


def test_our_own_gltf_export_has_the_sizes(tmp_path):
    path, scene = tmp_path / "crowd.glb", bpy.context.scene
    keyed.write_keyed(growing(), path, Header("C", 24.0, 1, 8), scene, source=cube(), look=LOOK)
    import_again(path)
    assert_sizes()
