"""Exports of crowds that show rigs: each agent has a rig of its own, which moves its meshes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.export import keyed  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402
from tests.blender.bake_frames import circling  # noqa: E402
from tests.blender.live_scenes import deps, frame_set  # noqa: E402
from tests.blender.walking_rigs import walking_rig  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
PARTS = 4
"""Meshes of a rig."""


def corners_of(obj):
    shown = obj.evaluated_get(deps())
    return np.array([shown.matrix_world @ vertex.co for vertex in shown.data.vertices])


@pytest.mark.parametrize("ending", ["glb", "fbx"])
def test_each_agent_has_a_rig_that_is_gone_with_it(tmp_path, ending):
    frames = [
        replace(frame, alive=np.array([1, int(frame.number < 4), 1], np.uint8))
        for frame in circling(range(1, 7))
    ]
    path, rig = tmp_path / f"crowd.{ending}", walking_rig()
    keyed.write_keyed(frames, path, Header("Crowd", 24.0, 1, 6), bpy.context.scene, source=rig)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.context.scene.render.fps = 24
    if ending == "glb":
        bpy.ops.import_scene.gltf(filepath=str(path))
    else:
        bpy.ops.import_scene.fbx(filepath=str(path), anim_offset=0.0)
    # the importer of glTF adds a shape of bones
    meshes = [obj for obj in bpy.data.objects if obj.type == "MESH" and obj.parent is not None]
    for frame in (frames[0], frames[4]):
        frame_set(frame.number)
        shown = [
            corners for corners in map(corners_of, meshes) if np.ptp(corners, axis=0).max() > 1e-3
        ]
        middles = np.array([corners.mean(axis=0)[:2] for corners in shown])
        for place, alive in zip(frame.position, frame.alive, strict=True):
            near = np.linalg.norm(middles - place[:2], axis=1) < 1.0
            assert np.count_nonzero(near) == alive * PARTS
