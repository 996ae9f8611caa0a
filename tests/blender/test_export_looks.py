"""Exports and keyframe bakes show bodies where, how large, how turned and which as viewports do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import keyed_crowds, keyframes  # noqa: E402
from steer_addon.blender.crowd import state  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.export import formats, usd_instancer  # noqa: E402
from steer_addon.blender.writing.files import Header  # noqa: E402
from steer_addon.blender.writing.usd_points import has_usd, pxr  # noqa: E402
from steer_addon.core.results.frames import rotations  # noqa: E402

from .crowd_views import MATRICES, make_crowd, make_frame  # noqa: E402
from .toy_characters import make_toy, vectors  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
needs_usd = pytest.mark.skipif(not has_usd(), reason="this build of Blender has no USD")

IDS = np.array([4, 0, 7, 3, 11, 9, 5])
BODIES = ([2, 1, 0, 5, -1, 2, 1], [0, 1, 1, 2, 4, -3, 2])
COLLECTION = {"Display": "Collection"}
UNALIGNED = {"Align to Heading": False}
CASES = {
    "cones": {},
    "cones, unaligned": UNALIGNED,
    "discs": {"Display": "Discs"},
    "discs, scaled, unaligned": {"Display": "Discs", "Scale": 1.5, **UNALIGNED},
    "object": {"Display": "Object", "Scale": 0.7},
    "object, sized": {"Display": "Object", "sized": True},
    "object, sized, scaled": {"Display": "Object", "Scale": 1.5, "sized": True},
    "object, unaligned": {"Display": "Object", **UNALIGNED},
    "object, unaligned, sized": {"Display": "Object", "sized": True, **UNALIGNED},
    "random": {**COLLECTION, "Seed": 3},
    "index": {**COLLECTION, "Choose By": "Index"},
    "index, sized": {**COLLECTION, "Choose By": "Index", "sized": True},
    "attribute": {**COLLECTION, "Choose By": "Attribute"},
    "attribute of its own": {**COLLECTION, "Choose By": "Attribute", "Attribute": "speed"},
    "attribute that is missing": {**COLLECTION, "Choose By": "Attribute", "Attribute": "kind"},
    "random, unaligned": {**COLLECTION, "Seed": 5, **UNALIGNED},
}
AXES = ("NEG_Y", "POS_X", "POS_Y")
TO_X = np.tile(np.float32([1, 0, 0]), (len(IDS), 1))


def make_body(name, height, collection=None):
    """A body like no other that is turned, scaled and away from its origin."""
    corners = [(-0.3, 0.2, 0), (0.3, 0.4, 0), (0, -0.9, 0.1), (0.1, 0.1, height)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], [(0, 1, 2), (0, 1, 3), (1, 2, 3)])
    obj = bpy.data.objects.new(name, mesh)
    obj.location, obj.rotation_euler, obj.scale = (9, 8, 7), (0.2, 0.1, height), (1, height, 1)
    (collection or bpy.context.scene.collection).objects.link(obj)
    return obj


def make_bodies():
    bodies = bpy.data.collections.new("Bodies")
    for height, name in enumerate("ABC", 1):
        make_body(name, height, bodies)
    return bodies


def moving(axis="NEG_Y"):
    """Two frames of agents of various sizes that turn, and change their number."""
    made = []
    for number, bodies in enumerate(BODIES, 1):
        frame = make_frame(len(IDS), axis, seed=number)
        frame.attributes["body"] = np.float32(bodies)
        made.append(replace(frame, number=number, id=IDS, radius=make_frame(len(IDS)).radius))
    return made


def make_shown(frames, inputs, axis="NEG_Y"):
    obj, modifier = make_crowd(frames[0], MATRICES["turned"])
    obj.steer.motion.forward_axis = axis
    obj.steer.agents.radius = 0.4
    obj.steer.agents.size_spread = 0.3 if inputs.get("sized") else 0.0
    display.set_input(modifier, "Object", make_body("One", 1.5))
    display.set_input(modifier, "Collection", make_bodies())
    for name, value in inputs.items():
        if name != "sized":
            display.set_input(modifier, name, value)
    return obj


def placed(instance):
    matrix, points = np.array(instance.matrix_world), vectors(instance.object.data)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def shown_bodies():
    """Vertices of the body of each agent in the world, by id, as the viewport shows them."""
    return {
        [n for n in instance.persistent_id if n != 2**31 - 1][-1]: placed(instance)
        for instance in bpy.context.evaluated_depsgraph_get().object_instances
        if instance.is_instance and instance.object.type == "MESH"
    }


def in_viewport(obj, frames):
    """What the viewport shows at each frame."""
    made = []
    for frame in frames:
        state.write_state(state.ensure_state(obj), frame)
        bpy.context.view_layer.update()
        made.append(shown_bodies())
    return made


def in_usd(path, numbers):
    """The same, of a file with a point instancer."""
    usd = pxr()
    stage = usd.Usd.Stage.Open(str(path))
    instancer = usd.UsdGeom.PointInstancer(stage.GetDefaultPrim())
    meshes = []
    for target in instancer.GetPrototypesRel().GetTargets():
        prims = usd.Usd.PrimRange(stage.GetPrimAtPath(target))
        points = [usd.UsdGeom.Mesh(p).GetPointsAttr().Get() for p in prims if p.IsA("Mesh")]
        meshes.append(np.array(points[0]) if points else None)
    made = []
    for number in numbers:
        dead = set(instancer.GetInvisibleIdsAttr().Get(number) or ())
        ids, chosen = (
            instancer.GetIdsAttr().Get(number),
            instancer.GetProtoIndicesAttr().Get(number),
        )
        living = [(i, own) for i, own in zip(ids, chosen, strict=True) if i not in dead]
        matrices = map(np.array, instancer.ComputeInstanceTransformsAtTime(number, number))
        made.append(
            {
                int(i): meshes[own] @ matrix[:3, :3] + matrix[3, :3]
                for (i, own), matrix in zip(living, matrices, strict=True)
                if meshes[own] is not None
            }
        )
    return made


def written(obj, frames, path):
    head = Header("Crowd", 24.0, 1, len(frames))
    usd_instancer.write_instancer(frames, path, head, obj, bpy.context.scene, frames[0].id)
    return in_usd(path, [frame.number for frame in frames])


def assert_same(found, wanted, tolerance):
    for one, other in zip(found, wanted, strict=True):
        assert one.keys() == other.keys()
        for number, points in other.items():
            np.testing.assert_allclose(one[number], points, atol=tolerance, err_msg=str(number))


@needs_usd
@pytest.mark.parametrize("case", CASES)
def test_instances_of_usd_are_those_of_the_viewport(tmp_path, case):
    frames = moving()
    obj = make_shown(frames, CASES[case])
    wanted = in_viewport(obj, frames)
    assert [*map(len, wanted)] == [len(IDS)] * 2
    # rotations of instancers have half precision
    assert_same(written(obj, frames, tmp_path / "i.usdc"), wanted, 8e-3)


@needs_usd
@pytest.mark.parametrize("case", ["cones", "cones, unaligned", "object", "object, unaligned"])
def test_instances_of_usd_face_ahead_whatever_is_the_forward_axis(tmp_path, case):
    frames = moving("POS_X")
    obj = make_shown(frames, CASES[case], "POS_X")
    wanted = in_viewport(obj, frames)
    assert_same(written(obj, frames, tmp_path / "i.usdc"), wanted, 8e-3)


@needs_usd
@pytest.mark.parametrize("choice", ["Random", "Index"])
def test_agents_of_a_body_without_faces_are_not_seen(tmp_path, choice):
    frames = moving()
    obj = make_shown(frames, {**COLLECTION, "Choose By": choice})
    bodies = display.get_input(display.find_modifier(obj), "Collection")
    bodies.objects.link(bpy.data.objects.new("Aim", None))
    for seed in range(20):
        display.set_input(display.find_modifier(obj), "Seed", seed)
        wanted = in_viewport(obj, frames)
        # Blender draws otherwise from version to version, and may give the empty to nobody
        if len(wanted[0]) < len(IDS):
            break
    assert 0 < len(wanted[0]) < len(IDS)
    assert_same(written(obj, frames, tmp_path / "i.usdc"), wanted, 8e-3)


def keyed(obj, frames):
    """Vertices of the objects of a keyframe bake in the world, by id, at each frame."""
    scene = bpy.context.scene
    numbers = range(1, len(frames) + 1)
    obj.steer.is_crowd = True  # not before, as it would be simulated
    keyed_crowds.bake_crowd(obj, scene, lambda share: None, [], numbers, frames=frames)
    made = []
    for frame in frames:
        scene.frame_set(frame.number)
        made.append(
            {
                item["id"]: vectors(item.data) @ np.array(item.matrix_world)[:3, :3].T
                + np.array(item.matrix_world)[:3, 3]
                for item in obj.steer.bake_collection.objects
            }
        )
    return made


@pytest.mark.parametrize("case", [name for name in CASES if name.startswith("object")])
def test_keyed_objects_are_those_of_the_viewport(case):
    frames = moving()
    obj = make_shown(frames, CASES[case])
    wanted = in_viewport(obj, frames)
    assert_same(keyed(obj, frames), wanted, 1e-5)


@pytest.mark.parametrize("name", ["glb", "fbx"])
@pytest.mark.parametrize("case", ["object, sized, scaled", "object, unaligned, sized"])
def test_other_formats_have_the_bodies_of_the_viewport(tmp_path, name, case):
    frames = moving()
    obj = make_shown(frames, CASES[case])
    wanted = in_viewport(obj, frames)
    obj.steer.is_crowd = True  # not before, as it would be simulated
    path, scene, before = tmp_path / f"c.{name}", bpy.context.scene, set(bpy.data.objects)
    chosen = formats.FORMATS[name]
    formats.export_crowd(obj, scene, chosen, path, numbers=range(1, 3), simulated=frames)
    if name == "glb":
        bpy.ops.import_scene.gltf(filepath=str(path))
    else:
        # Blender's importer of FBX adds a frame by default
        bpy.ops.import_scene.fbx(filepath=str(path), anim_offset=0.0)
    items = [o for o in bpy.data.objects if o not in before and o.type == "MESH"]
    assert len(items) == len(IDS)
    for frame, bodies in zip(frames, wanted, strict=True):
        scene.frame_set(frame.number)
        for item in items:
            matrix, points = np.array(item.matrix_world), vectors(item.data)
            found = points @ matrix[:3, :3].T + matrix[:3, 3]
            body = bodies[int(item.name.split(".")[1])]
            # importers give each face vertices of its own
            apart = np.linalg.norm(found[:, None] - body[None], axis=2)
            assert apart.min(axis=0).max() < 1e-3 and apart.min(axis=1).max() < 1e-3


def standing(frames, inputs, axis="NEG_Y"):
    """A crowd of characters that stand."""
    for frame in frames:
        # of a pose that differs from the body, which stands
        frame.attributes.update(
            {name: np.zeros(len(IDS), np.float32) for name in ("phase", "gait", "character")}
        )
    obj = make_shown(frames, inputs, axis)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Object", make_toy())
    display.set_input(modifier, "Display", "Character")
    return obj


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("inputs", [{}, UNALIGNED], ids=["aligned", "unaligned"])
def test_keyed_characters_stand_as_those_of_the_viewport(axis, inputs):
    frames = moving(axis)
    obj = standing(frames, inputs, axis)
    wanted = in_viewport(obj, frames)
    assert_same(keyed(obj, frames), wanted, 1e-4)


@pytest.mark.parametrize("inputs", [{}, {"Scale": 1.5, "sized": True}], ids=["usual", "sized"])
def test_keyed_characters_rise_on_stairs_as_those_of_the_viewport(inputs):
    # agents stand level there: only so far are bodies above and below them
    frames = [replace(frame, rotation=rotations(TO_X, "NEG_Y")) for frame in moving()]
    obj = standing(frames, inputs)
    for number, frame in enumerate(frames):
        frame.attributes["lift"] = np.linspace(-0.15, 0.2, len(IDS), dtype=np.float32) * number
    wanted = in_viewport(obj, frames)
    assert_same(keyed(obj, frames), wanted, 1e-5)


def test_objects_in_place_of_characters_rise_as_these_and_empties_stay_with_agents():
    frames = [replace(frame, rotation=rotations(TO_X, "NEG_Y")) for frame in moving()]
    for frame in frames:
        frame.attributes["lift"] = np.full(len(IDS), 0.25, np.float32)
    parent = bpy.context.scene.collection
    for source, rise in ((make_body("A", 1), 0.25), (None, 0.0)):
        made = keyframes.bake(
            frames, name="Keys", collection_parent=parent, source=source, replace=True
        )
        bpy.context.scene.frame_set(2)
        heights = {item["id"]: item.location.z for item in made.collection.objects}
        agents = zip(IDS.tolist(), frames[1].position[:, 2].tolist(), strict=True)
        assert heights == pytest.approx({agent: z + rise for agent, z in agents}, abs=1e-6)
