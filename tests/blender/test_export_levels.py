"""USD of characters with levels of detail and optional parts: its prototypes are whole bodies."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Matrix  # noqa: E402

from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.export import usd_poses  # noqa: E402
from steer_addon.blender.writing.usd_points import has_usd  # noqa: E402

from .crowd_views import make_crowd  # noqa: E402
from .test_export_characters import COUNT, LAST, as_shown, frames, posed, written  # noqa: E402
from .test_levels import camera_at, character  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("empty_scene"),
    pytest.mark.skipif(not has_usd(), reason="this Blender has no USD"),
]


def crowd_of(made, moving):
    obj, modifier = make_crowd(moving[0], Matrix())
    display.set_input(modifier, "Object", made.character)
    display.set_input(modifier, "Display", "Character")
    return obj, modifier


def largest(obj, moving):
    """Number of vertices of the largest mesh that is shown."""
    return max(len(points) for points in as_shown(obj, moving[:1])[0])


def mesh_of(usd, stage, target):
    (prim,) = [p for p in usd.Usd.PrimRange(stage.GetPrimAtPath(target)) if p.IsA("Mesh")]
    return usd.UsdGeom.Mesh(prim)


@pytest.mark.parametrize("suffix", ["usdc", "usda"])
@pytest.mark.parametrize("optional", [(), (("hat", 0.5),)])
def test_prototypes_are_whole_bodies(tmp_path, optional, suffix):
    made = character(2, optional)
    moving = frames(character=np.zeros(COUNT), gait=np.arange(COUNT) % 3)
    obj, _ = crowd_of(made, moving)
    mesh = made.character.data
    camera_at(500.0)
    # from there instances have the coarsest level
    assert largest(obj, moving) < 0.3 * len(mesh.vertices)
    usd, stage, instancer = written(obj, moving, tmp_path / f"c.{suffix}")
    assert not stage.GetCompositionErrors()
    targets = instancer.GetPrototypesRel().GetTargets()
    assert len(targets) > LAST
    poses = made.space.positions
    for target in targets:
        found = mesh_of(usd, stage, target)
        points = np.array(found.GetPointsAttr().Get())
        assert np.abs(poses - points).max(axis=(1, 2)).min() == 0.0
        assert len(found.GetFaceVertexCountsAttr().Get()) == len(mesh.polygons)
        assert max(found.GetFaceVertexIndicesAttr().Get()) == len(mesh.vertices) - 1
    # and no level is there beside the body that they inherit
    meshes = [prim for prim in stage.TraverseAll() if prim.IsA("Mesh")]
    assert len(meshes) == len(targets) + 1
    assert {len(usd.UsdGeom.Mesh(p).GetPointsAttr().Get()) for p in meshes} == {len(mesh.vertices)}
    told = [diagnosis.code for diagnosis in usd_poses.parts_at_all(obj)]
    assert told == ["PARTS_AT_ALL"] * len(optional)


def test_places_are_those_that_are_shown_near_by(tmp_path):
    made = character(2)
    moving = frames(character=np.zeros(COUNT), gait=np.arange(COUNT) % 3)
    obj, modifier = crowd_of(made, moving)
    camera_at(500.0)
    usd, stage, instancer = written(obj, moving, tmp_path / "c.usdc")
    # in full, whatever the camera sees
    display.set_input(modifier, "Full Detail", 0.0)
    for number, points in enumerate(as_shown(obj, moving), 1):
        for one, other in zip(posed(usd, stage, instancer, number), points, strict=True):
            np.testing.assert_allclose(one, other, atol=4e-3)
