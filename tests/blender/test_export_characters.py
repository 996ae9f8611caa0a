"""USD point instancers of characters: read by pxr, and played in Blender."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from mathutils import Matrix  # noqa: E402

from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.export import usd_poses  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402
from steer_addon.blender.writing.usd_points import has_usd, pxr  # noqa: E402
from steer_addon.core.results.frames import Frame, rotations  # noqa: E402

from .crowd_views import make_crowd  # noqa: E402
from .toy_characters import SOLES, make_toy, shown_points, space, vectors  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("empty_scene"),
    pytest.mark.skipif(not has_usd(), reason="this Blender has no USD"),
]
LAST = 5
COUNT = 6


def frames(**columns):
    """Agents that walk in different directions at different phases, and change their gait."""
    made = []
    for number in range(1, LAST + 1):
        turn = np.arange(COUNT) * 1.1 + 0.2 * number
        ahead = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1).astype(np.float32)
        level = {
            "phase": 0.13 * np.arange(COUNT) + 0.21 * number,
            "gait": (np.arange(COUNT) + number // 3) % 4,
            "character": np.arange(COUNT) % 2,
            "slope_ahead": np.zeros(COUNT),
            **columns,
        }
        made.append(
            Frame(
                number=number,
                id=np.arange(COUNT),
                position=np.float32([[2 * n, 0.1 * number, 0.5] for n in range(COUNT)]),
                velocity=ahead,
                rotation=rotations(ahead, "NEG_Y"),
                radius=np.full(COUNT, 0.25, np.float32),
                alive=np.ones(COUNT, np.uint8),
                attributes={name: np.float32(values) for name, values in level.items()},
            )
        )
    return made


def crowd(shown_frames):
    materials = [bpy.data.materials.new(name) for name in ("Shoes", "Coat")]
    first = make_toy("A", space(run=12), materials)
    make_toy("B", space(run=0, jump=0, width=1.6), materials)
    obj, modifier = make_crowd(shown_frames[0], Matrix())
    display.set_input(modifier, "Collection", first.users_collection[0])
    display.set_input(modifier, "Display", "Characters")
    display.set_input(modifier, "Scale", 1.2)
    return obj, modifier


def as_shown(obj, shown_frames):
    """Places of the vertices of all agents at each frame, as Steer shows them."""
    found = []
    for frame in shown_frames:
        state.write_state(display.get_input(display.find_modifier(obj), "State"), frame)
        bpy.context.view_layer.update()
        found.append(shown_points())
    return found


def written(obj, shown_frames, path):
    head = Header("Crowd", 24.0, 1, LAST)
    shown = usd_poses.shown_by(obj)
    assert usd_poses.write_poses(shown_frames, path, head, shown, bpy.context.scene) == LAST
    usd = pxr()
    stage = usd.Usd.Stage.Open(str(path))
    return usd, stage, usd.UsdGeom.PointInstancer(stage.GetDefaultPrim())


def posed(usd, stage, instancer, frame):
    """Places of the vertices of all agents at a frame, as the file has them."""
    targets = instancer.GetPrototypesRel().GetTargets()
    meshes = []
    for target in targets:
        (mesh,) = [p for p in usd.Usd.PrimRange(stage.GetPrimAtPath(target)) if p.IsA("Mesh")]
        meshes.append(np.array(usd.UsdGeom.Mesh(mesh).GetPointsAttr().Get()))
    matrices = instancer.ComputeInstanceTransformsAtTime(frame, frame)
    choice = instancer.GetProtoIndicesAttr().Get(frame)
    return [
        meshes[number] @ np.array(matrix)[:3, :3] + np.array(matrix)[3, :3]
        for number, matrix in zip(choice, matrices, strict=True)
    ]


def test_poses_and_places_are_those_that_are_shown(tmp_path):
    moving = frames()
    obj, _ = crowd(moving)
    expected = as_shown(obj, moving)
    usd, stage, instancer = written(obj, moving, tmp_path / "c.usdc")
    for number, points in enumerate(expected, 1):
        found = posed(usd, stage, instancer, number)
        for one, other in zip(found, points, strict=True):
            # rotations of instancers have half precision
            np.testing.assert_allclose(one, other, atol=4e-3)
        # a box around all, and not a much larger one
        low, high = np.array(instancer.GetExtentAttr().Get(number))
        whole = np.concatenate(points)
        assert (low <= whole.min(axis=0) + 4e-3).all() and (whole.max(axis=0) - 4e-3 <= high).all()
        assert (high - low <= np.ptp(whole, axis=0) + 2 * 1.2 * 3.0).all()


def test_prototypes_are_poses_that_are_used_and_share_their_faces(tmp_path):
    moving = frames()
    obj, _ = crowd(moving)
    usd, stage, instancer = written(obj, moving, tmp_path / "c.usdc")
    targets = instancer.GetPrototypesRel().GetTargets()
    used = {int(i) for n in range(1, LAST + 1) for i in instancer.GetProtoIndicesAttr().Get(n)}
    assert used == set(range(len(targets))) and len(targets) <= COUNT * LAST
    layer = stage.GetRootLayer()
    for target in targets:
        (mesh,) = layer.GetPrimAtPath(target).nameChildren
        assert set(mesh.properties.keys()) == {"points", "velocities", "extent"}
        (prim,) = [p for p in usd.Usd.PrimRange(stage.GetPrimAtPath(target)) if p.IsA("Mesh")]
        assert len(usd.UsdGeom.Mesh(prim).GetFaceVertexCountsAttr().Get()) == 18
        subsets = [child for child in prim.GetChildren() if child.IsA(usd.UsdGeom.Subset)]
        bound = [t for s in subsets for r in s.GetRelationships() for t in r.GetTargets()]
        assert len(bound) == 2 and all(stage.GetPrimAtPath(path) for path in bound)
    # bodies are no prims of their own
    assert not [p for p in stage.Traverse() if p.GetPath().pathString.startswith("/Crowd/Bodies/B")]


def test_bodies_keep_one_pose_while_a_shutter_is_open(tmp_path):
    """Cycles blurs no instance that is another one when the shutter opens."""
    moving = frames()
    obj, _ = crowd(moving)
    _, _, instancer = written(obj, moving, tmp_path / "c.usdc")
    choice = instancer.GetProtoIndicesAttr()
    for number in range(1, LAST + 1):
        for moment in (number - 0.4, number + 0.4):
            assert list(choice.Get(moment)) == list(choice.Get(number))


def test_velocities_are_those_of_the_nodes(tmp_path):
    moving = frames(gait=np.ones(COUNT), character=np.zeros(COUNT))
    obj, _ = crowd(moving)
    usd, stage, instancer = written(obj, moving, tmp_path / "c.usdc")
    as_shown(obj, moving[:1])
    expected = [
        vectors(instance.object.data, "velocity")
        for instance in bpy.context.evaluated_depsgraph_get().object_instances
        if instance.is_instance
    ]
    targets = instancer.GetPrototypesRel().GetTargets()
    choice = instancer.GetProtoIndicesAttr().Get(1)
    for number, velocity in zip(choice, expected, strict=True):
        (mesh,) = stage.GetPrimAtPath(targets[number]).GetChildren()
        found = np.array(usd.UsdGeom.Mesh(mesh).GetVelocitiesAttr().Get())
        np.testing.assert_allclose(found, velocity, atol=1e-4)


@pytest.mark.parametrize(
    ("sheared", "part", "share"),
    [
        ({"lean_ahead": 0.15, "lean_side": -0.1}, slice(0, 24), 0.5),
        # half of the way that feet are up or down on a slope
        ({"slope_ahead": 0.2, "slope_side": -0.15}, SOLES, 0.6),
    ],
)
def test_bodies_lean_and_tilt_where_instances_are_sheared(tmp_path, sheared, part, share):
    columns = {name: np.full(COUNT, value) for name, value in sheared.items()}
    moving = frames(gait=np.ones(COUNT), **columns)
    obj, _ = crowd(moving)
    expected = as_shown(obj, moving)

    def apart(shown, name):
        usd, stage, instancer = written(obj, shown, tmp_path / name)
        return np.mean(
            [
                np.abs(one - other)[part].mean()
                for number, points in enumerate(expected, 1)
                for one, other in zip(posed(usd, stage, instancer, number), points, strict=True)
            ]
        )

    turned, level = apart(moving, "a.usdc"), apart(frames(gait=np.ones(COUNT)), "b.usdc")
    assert turned < share * level


@pytest.mark.parametrize("aligned", [True, False])
def test_bodies_are_turned_and_shifted_on_curves_and_stairs_as_they_are_shown(tmp_path, aligned):
    columns = {
        "twist": np.linspace(-0.2, 0.2, COUNT),
        "shift_ahead": np.linspace(0.06, -0.03, COUNT),
        "shift_side": np.full(COUNT, 0.05),
        "lift": np.linspace(-0.15, 0.2, COUNT),
    }
    moving = frames(**columns)
    obj, modifier = crowd(moving)
    display.set_input(modifier, "Align to Heading", aligned)
    expected = as_shown(obj, moving)
    usd, stage, instancer = written(obj, moving, tmp_path / "c.usdc")
    for number, points in enumerate(expected, 1):
        for one, other in zip(posed(usd, stage, instancer, number), points, strict=True):
            np.testing.assert_allclose(one, other, atol=4e-3)


def test_blender_plays_the_poses(tmp_path):
    moving = frames()
    obj, _ = crowd(moving)
    expected = as_shown(obj, moving)
    path = tmp_path / "c.usdc"
    written(obj, moving, path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.usd_import(filepath=str(path))
    for number in (1, LAST, 3):
        bpy.context.scene.frame_set(number)
        found = shown_points()
        assert len(found) == COUNT
        for one, other in zip(found, expected[number - 1], strict=True):
            np.testing.assert_allclose(one, other, atol=4e-3)
