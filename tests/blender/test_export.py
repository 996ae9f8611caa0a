"""Exports, each read back by something that is not ours."""

from __future__ import annotations

import resource
import sys
from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.export import formats, usd_instancer  # noqa: E402
from steer_addon.blender.writing import usd_points  # noqa: E402
from steer_addon.blender.writing.files import Header, safe_name  # noqa: E402
from steer_addon.core.errors import AgentError, OutputError, SceneError  # noqa: E402
from tests.blender.live_scenes import (  # noqa: E402
    add_attribute,
    data_counts,
    deps,
    frame_set,
    make_crowd,
    make_runner,
)
from tests.blender.test_playback import bake, simulated  # noqa: E402
from tests.blender.test_render_live import make_glowing  # noqa: E402
from tests.blender.test_same_picture import make_arrow  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")
needs_usd = pytest.mark.skipif(not usd_points.has_usd(), reason="this build of Blender has no USD")
needs_alembic = pytest.mark.skipif(
    not bpy.app.build_options.alembic, reason="this build of Blender has no Alembic"
)

LAST = 8


def export(obj, name, folder, last=LAST, first=1):
    chosen = formats.FORMATS[name]
    path = folder / formats.default_name(obj, chosen)
    scene = bpy.context.scene
    made = formats.export_crowd(obj, scene, chosen, path, numbers=range(first, last + 1))
    assert made.path.is_file() and made.size == path.stat().st_size
    assert not list(folder.glob(".*"))
    return made


def imported(operator, path, **options):
    before = set(bpy.data.objects)
    operator(filepath=str(path), **options)
    return [obj for obj in bpy.data.objects if obj not in before]


def test_every_format_leaves_the_scene_as_it_is(tmp_path):
    obj = make_runner()
    frame_set(3)
    before = data_counts()
    for name in formats.FORMATS:
        try:
            made = export(obj, name, tmp_path, 3)
        except SceneError as error:
            assert "This build of Blender has no" in str(error)
            continue
        assert (made.frames, made.agents) == (3, 3)
    assert data_counts() == before
    assert bpy.context.scene.frame_current == 3
    # the two kinds of USD do not overwrite each other
    assert len(list(tmp_path.iterdir())) == len(formats.FORMATS)


@needs_usd
def test_points_are_read_by_pxr_and_by_blender(tmp_path):
    obj = make_runner()
    frames = simulated(obj, LAST)
    made = export(obj, "usd", tmp_path)
    usd = usd_points.pxr()
    stage = usd.Usd.Stage.Open(str(made.path))
    points = usd.UsdGeom.Points(stage.GetDefaultPrim())
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (1, LAST)
    assert stage.GetTimeCodesPerSecond() == 24.0
    for frame in frames:
        read = np.array(points.GetPointsAttr().Get(frame.number))
        np.testing.assert_array_equal(read, frame.position)
        np.testing.assert_array_equal(points.GetIdsAttr().Get(frame.number), frame.id)
    del stage, points
    (item,) = [o for o in imported(bpy.ops.wm.usd_import, made.path) if o.type == "POINTCLOUD"]
    for frame in frames[::3]:
        frame_set(frame.number)
        geometry = item.evaluated_get(deps()).evaluated_geometry()
        read = np.empty(9, np.float32)
        geometry.pointcloud.attributes["position"].data.foreach_get("vector", read)
        np.testing.assert_array_equal(read.reshape(-1, 3), frame.position)


def make_people():
    """A crowd of twelve, each shown as one of two objects; number 3 is dead from frame 3 on."""
    obj = make_crowd([(i, 0, 0) for i in range(12)])
    make_glowing()
    people = bpy.data.collections.new("People")
    other = bpy.data.objects.new("Box", bpy.data.meshes.new("Box"))
    other.data.from_pydata([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [], [(0, 1, 2, 3)])
    people.objects.link(make_arrow())
    people.objects.link(other)
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Collection")
    display.set_input(modifier, "Collection", people)
    display.set_input(modifier, "Scale", 0.5)
    frames = [
        replace(f, alive=(f.id != 3).astype(np.uint8)) if f.number > 2 else f
        for f in simulated(obj, 4)
    ]
    return obj, frames


def faces_shown():
    """How many faces the instance of each agent has."""
    found = {}
    for instance in deps().object_instances:
        if instance.is_instance:
            number = [n for n in instance.persistent_id if n != 2**31 - 1][-1]
            found[number] = len(instance.object.data.polygons)
    return found


def faces_of_prototypes(usd, stage, instancer):
    faces = []
    for target in instancer.GetPrototypesRel().GetTargets():
        prims = usd.Usd.PrimRange(stage.GetPrimAtPath(target))
        (mesh,) = [usd.UsdGeom.Mesh(p) for p in prims if p.IsA("Mesh")]
        faces.append(len(mesh.GetFaceVertexCountsAttr().Get()))
    return faces


@needs_usd
def test_instances_of_the_character(tmp_path):
    obj, frames = make_people()
    bake(obj, tmp_path, frames)
    frame_set(1)
    wanted = faces_shown()
    path = tmp_path / "i.usdc"
    head = Header("Crowd", 24.0, 1, 4)
    usd_instancer.write_instancer(frames, path, head, obj, bpy.context.scene, frames[0].id)
    usd = usd_points.pxr()
    stage = usd.Usd.Stage.Open(str(path))
    instancer = usd.UsdGeom.PointInstancer(stage.GetDefaultPrim())
    faces = faces_of_prototypes(usd, stage, instancer)
    assert len(set(faces)) == 2
    choice = instancer.GetProtoIndicesAttr().Get(1)
    assert {int(i): faces[c] for i, c in zip(frames[0].id, choice, strict=True)} == wanted
    bound = [
        target
        for prim in stage.Traverse()
        for relationship in prim.GetRelationships()
        if "material" in relationship.GetName()
        for target in relationship.GetTargets()
    ]
    assert bound and all(stage.GetPrimAtPath(target) for target in bound)
    for frame in frames:
        living = frame.alive != 0
        matrices = instancer.ComputeInstanceTransformsAtTime(frame.number, frame.number)
        places = np.array([matrix.ExtractTranslation() for matrix in matrices])
        np.testing.assert_allclose(places, frame.position[living], atol=1e-6)
        w, _, _, z = frame.rotation[living].astype(float).T
        ahead = np.stack([-2 * w * z, w * w - z * z, np.zeros(len(w))], axis=1)
        np.testing.assert_allclose(np.array(matrices)[:, 1, :3], 0.5 * ahead, atol=2e-3)
        bounds = usd.UsdGeom.BBoxCache(frame.number, ["default"], useExtentsHint=False)
        low, high = np.array(instancer.GetExtentAttr().Get(frame.number))
        real = bounds.ComputePointInstanceUntransformedBounds(instancer, list(range(len(matrices))))
        for box in (bound.ComputeAlignedRange() for bound in real):
            assert (low <= np.array(box.GetMin()) + 1e-4).all()
            assert (np.array(box.GetMax()) - 1e-4 <= high).all()


@needs_usd
def test_blender_reads_instances_without_the_dead(tmp_path):
    obj, frames = make_people()
    path = tmp_path / "i.usdc"
    head = Header("Crowd", 24.0, 1, 4)
    usd_instancer.write_instancer(frames, path, head, obj, bpy.context.scene, frames[0].id)
    (crowd,) = [o for o in imported(bpy.ops.wm.usd_import, path) if o.type == "POINTCLOUD"]
    # the importer looks for no invisible ones: their scale is 0
    for number, count in ((2, 12), (4, 11)):
        frame_set(number)
        sizes = [
            instance.matrix_world.median_scale
            for instance in deps().object_instances
            if instance.is_instance and instance.parent.original == crowd
        ]
        assert sizes == pytest.approx([0.5] * count, abs=1e-6)


@needs_alembic
def test_alembic_is_read_by_blender(tmp_path):
    obj = make_runner()
    frames = simulated(obj, LAST)
    made = export(obj, "alembic", tmp_path)
    (item,) = imported(bpy.ops.wm.alembic_import, made.path, as_background_job=False)
    for frame in frames[::3]:
        frame_set(frame.number)
        mesh = item.evaluated_get(deps()).data
        read = np.array([item.matrix_world @ v.co for v in mesh.vertices])
        np.testing.assert_allclose(read, frame.position, atol=1e-5)


@pytest.mark.parametrize("kind", ["MDD", "PC2"])
@pytest.mark.parametrize("fps", [(24, 1.0), (30, 1.001)])
def test_point_caches_play_in_blender(tmp_path, kind, fps):
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = fps
    obj = make_runner()
    obj.steer.frame_start = -3
    frames = simulated(obj, 4)
    made = export(obj, kind.lower(), tmp_path, 4, -3)
    mesh = bpy.data.meshes.new("Reader")
    mesh.vertices.add(3)
    reader = bpy.data.objects.new("Reader", mesh)
    scene.collection.objects.link(reader)
    modifier = reader.modifiers.new("Cache", "MESH_CACHE")
    modifier.cache_format, modifier.filepath = kind, str(made.path)
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.frame_start = -3

    def read():
        return np.array([v.co for v in reader.evaluated_get(deps()).data.vertices])

    for frame in frames:
        frame_set(frame.number)
        np.testing.assert_allclose(read(), frame.position, atol=1e-6)
    if kind == "PC2":
        return
    # by its times, at twice the frame rate it plays as fast as it was simulated
    modifier.time_mode, modifier.frame_start = "TIME", 0
    scene.render.fps *= 2
    for place, frame in enumerate(frames):
        frame_set(2 * place)
        np.testing.assert_allclose(read(), frame.position, atol=2e-4)


@needs_usd
def test_point_caches_of_agents_that_appear(tmp_path):
    from steer_addon.blender.writing.mesh_cache import positions, read_point_count, write_pc2

    obj = make_runner()
    first, second = simulated(obj, 2)
    fewer = replace(
        first,
        **{
            name: getattr(first, name)[:2]
            for name in ("id", "position", "velocity", "rotation", "radius", "alive")
        },
    )
    path = tmp_path / "x.pc2"
    head = Header("Crowd", 24.0, 1, 2)
    with pytest.raises(SceneError, match="3 points instead of 2"):
        write_pc2(positions([fewer, second]), path, head)
    with pytest.raises(AgentError, match="bake the crowd first"):
        write_pc2(positions([fewer, second], fewer.id), path, head)
    assert not list(tmp_path.iterdir())
    write_pc2(positions([fewer, second], first.id), path, head)
    assert read_point_count(path) == 3


def test_trajectories_are_plain_text(tmp_path):
    obj = make_runner()
    made = export(obj, "csv", tmp_path)
    lines = made.path.read_text().splitlines()
    assert "# framerate: 24" in lines
    rows = np.array([line.split("\t") for line in lines if line[0] != "#"], float)
    frames = simulated(obj, LAST)
    wanted = np.concatenate([f.position for f in frames])
    np.testing.assert_allclose(rows[:, 2:], wanted, atol=1e-5)
    np.testing.assert_array_equal(rows[:, 0], np.tile(frames[0].id, LAST))
    np.testing.assert_array_equal(rows[:, 1], np.repeat(np.arange(1, LAST + 1), 3))


def test_trajectories_are_read_by_pedpy(tmp_path):
    pedpy = pytest.importorskip("pedpy", reason="pedpy is not installed (extra `peers`)")
    obj = make_runner()
    obj.name = "5 framerates x/cm"
    made = export(obj, "csv", tmp_path)
    found = pedpy.load_trajectory(trajectory_file=made.path)
    assert found.frame_rate == 24.0
    frames = simulated(obj, LAST)
    for frame in frames:
        rows = found.data[found.data.frame == frame.number].sort_values("id")
        np.testing.assert_allclose(rows[["x", "y"]], frame.position[:, :2], atol=1e-5)
    speed = pedpy.compute_individual_speed(traj_data=found, frame_step=1)
    assert 0.0 < speed.speed.max() < 1.5


@pytest.mark.parametrize("name", ["glb", "fbx"])
def test_keyed_objects_are_read_by_blender(tmp_path, name):
    obj = make_runner()
    make_glowing()
    arrow = make_arrow()
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", arrow)
    frames = simulated(obj, LAST)
    made = export(obj, name, tmp_path)
    reader = bpy.ops.import_scene.gltf if name == "glb" else bpy.ops.import_scene.fbx
    # Blender's importer of FBX adds a frame by default
    options = {"anim_offset": 0.0} if name == "fbx" else {}
    items = [item for item in imported(reader, made.path, **options) if item.type == "MESH"]
    assert len(items) == 3
    for frame in frames[::3]:
        frame_set(frame.number)
        found = sorted(tuple(item.matrix_world.translation) for item in items)
        wanted = sorted(map(tuple, frame.position.tolist()))
        np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("name", ["glb", "fbx"])
def test_keyed_objects_are_there_from_birth_to_death(tmp_path, name):
    obj = make_runner()
    make_glowing()
    add_attribute(obj, "birth", "INT", [1, 4, 1])
    add_attribute(obj, "death", "INT", [100, 100, 6])
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", make_arrow())
    alive = [int(np.count_nonzero(frame.alive)) for frame in simulated(obj, LAST)]
    assert (alive[0], max(alive), alive[-1]) == (2, 3, 2)
    made = export(obj, name, tmp_path)
    reader = bpy.ops.import_scene.gltf if name == "glb" else bpy.ops.import_scene.fbx
    options = {"anim_offset": 0.0} if name == "fbx" else {}
    items = [item for item in imported(reader, made.path, **options) if item.type == "MESH"]
    shown = []
    for number in range(1, LAST + 1):
        frame_set(number)
        shown.append(sum(min(item.matrix_world.to_scale()) > 0.5 for item in items))
    assert shown == alive


def test_keyed_objects_begin_at_frame_0(tmp_path):
    obj = make_runner()
    obj.steer.frame_start = -3
    assert export(obj, "glb", tmp_path, 4, -3).frames == 5
    with pytest.raises(SceneError, match="no frames from 0 on"):
        export(obj, "glb", tmp_path, -1, -3)


def test_exported_copies_are_as_large_as_their_bodies(tmp_path):
    obj = make_runner()
    make_glowing()
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    display.set_input(modifier, "Object", make_arrow())
    obj.steer.agents.size_spread = 0.3
    shares = simulated(obj, 2)[0].radius / obj.steer.agents.radius
    made = export(obj, "glb", tmp_path, 2)
    items = [i for i in imported(bpy.ops.import_scene.gltf, made.path) if i.type == "MESH"]
    frame_set(1)
    sizes = sorted(item.matrix_world.to_scale().x for item in items)
    assert np.ptp(shares) > 0.01
    np.testing.assert_allclose(sizes, sorted(shares.tolist()), rtol=1e-4)


def test_names_of_files(tmp_path):
    for bad in ("a/b\\c", "..", "", "con", "Zoë é", "x" * 500, "a\x00b", " . "):
        name = safe_name(bad)
        (tmp_path / f"{name}.txt").write_text("x")
        assert (tmp_path / f"{name}.txt").parent == tmp_path
    assert safe_name("Zoë é") == "Zoë é"
    obj = make_runner()
    obj.name = "a/b"
    assert formats.default_name(obj, formats.FORMATS["usd"]) == "a_b.usdc"


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_full_disk_leaves_the_earlier_file(tmp_path, monkeypatch, name):
    # else Python keeps what it compiles in files that are cut off, too
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    obj = make_crowd([(i % 50, i // 50, 0) for i in range(400)])
    chosen = formats.FORMATS[name]
    path = tmp_path / f"x{chosen.suffix}"
    path.write_bytes(b"earlier")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, limits[1]))
    try:
        with pytest.raises((OutputError, SceneError)) as caught:
            formats.export_crowd(obj, bpy.context.scene, chosen, path, numbers=range(1, 6))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    text = str(caught.value)
    assert "File too large" in text
    assert "\n" not in text and "Traceback" not in text and len(text) < 400
    assert path.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_that_cannot_be_written(tmp_path):
    obj = make_runner()
    (tmp_path / "file").write_text("x")
    for chosen in formats.FORMATS.values():
        path = tmp_path / "file" / f"x{chosen.suffix}"
        with pytest.raises((OutputError, SceneError)):
            formats.export_crowd(obj, bpy.context.scene, chosen, path, numbers=range(1, 3))
