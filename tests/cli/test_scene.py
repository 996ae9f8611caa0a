"""`steer scene` makes files that show a crowd that can get where it wants to."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.headless.batch import open_file  # noqa: E402
from steer_addon.core.crowd.presets import load_preset  # noqa: E402

PLANE = "o plane\nv 0 0 0\nv 20 0 0\nv 20 0 -20\nv 0 0 -20\nf 1 2 3 4\n"
"""20 m square, y up: Blender's importer turns -z to +y."""


@pytest.fixture
def plane(tmp_path):
    path = tmp_path / "plane.obj"
    path.write_text(PLANE)
    return path


def points_of(obj):
    points = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.attributes["position"].data.foreach_get("vector", points)
    return points.reshape(-1, 3)


def opened(path):
    scene = open_file(path)
    return scene, scene.objects["Crowd"]


def test_all_defaults_give_something_to_look_at(run, tmp_path):
    path = tmp_path / "made" / "plaza.blend"
    result = run("scene", "--save", path, "--json")
    assert result.code == 0, result.err
    assert result.data["agents"] == 300
    assert result.data["outputs"] == [str(path)]
    scene, crowd = opened(path)
    assert (scene.frame_start, scene.frame_end, scene.render.fps) == (1, 250, 24)
    assert (crowd.steer.frame_start, crowd.steer.frame_end) == (1, 250)
    assert scene.camera is not None and scene.world is not None
    assert any(obj.type == "LIGHT" for obj in scene.objects)
    assert len(crowd.steer.colliders.objects) > 5
    assert crowd.steer.ground is not None
    assert crowd.steer.target_object is not None
    assert display.shown_body(display.find_modifier(crowd)) is not None
    expected = load_preset("pedestrians").settings
    assert [item.type for item in crowd.steer.behaviors] == [
        behavior.definition.type for behavior in expected.behaviors
    ]


def test_the_camera_shows_most_of_the_crowd(run, tmp_path):
    run("scene", "--agents=80", "--save", tmp_path / "x.blend")
    scene, crowd = opened(tmp_path / "x.blend")
    from bpy_extras.object_utils import world_to_camera_view
    from mathutils import Vector

    bpy.context.view_layer.update()
    seen = [world_to_camera_view(scene, scene.camera, Vector(p)) for p in points_of(crowd)]
    inside = [0 <= v.x <= 1 and 0 <= v.y <= 1 and v.z > 0 for v in seen]
    assert np.mean(inside) > 0.9
    # and fills a good part of the picture
    assert np.ptp([v.x for v in seen]) > 0.5


@pytest.mark.slow
def test_the_same_seed_gives_the_same_scene(run, tmp_path):
    places = []
    for seed in (1, 1, 2):
        run("scene", "--agents=20", f"--seed={seed}", "--save", tmp_path / "x.blend")
        places.append(points_of(opened(tmp_path / "x.blend")[1]))
    assert (places[0] == places[1]).all()
    assert (places[0] != places[2]).any()


@pytest.mark.parametrize("words", [["scene", "--agents=1"], ["demo", "lateral_spheres"]])
def test_frames_that_no_scene_can_begin_with_are_refused(run, tmp_path, words):
    path = tmp_path / "x.blend"
    result = run(*words, "--frames=-10-20", "--save", path, "--json")
    assert result.code == 2
    assert "a scene of Blender begins at frame 0 or later" in result.data["error"]
    assert not path.exists()


def test_ground_target_spawn_radius_and_frames(run, tmp_path, plane):
    words = ["--ground", plane, "--agents=12", "--target", "18,10,0", "--spawn", "4,10,0,3"]
    path = tmp_path / "x.blend"
    result = run("scene", *words, "--radius=0.3", "--frames=5-60", "--save", path, "--json")
    assert result.code == 0, result.err
    scene, crowd = opened(path)
    assert np.linalg.norm(points_of(crowd)[:, :2] - [4, 10], axis=1).max() < 3.3
    assert tuple(crowd.steer.target_object.location) == (18.0, 10.0, 0.0)
    assert crowd.steer.agents.radius == pytest.approx(0.3)
    assert (scene.frame_start, scene.frame_end) == (5, 60)
    assert (crowd.steer.frame_start, crowd.steer.frame_end) == (5, 60)


def test_several_targets_are_shared_out(run, tmp_path, plane):
    path = tmp_path / "x.blend"
    words = ["--ground", plane, "--agents=10", "--target", "18,10,0", "--target", "2,10,0"]
    run("scene", *words, "--save", path)
    _, crowd = opened(path)
    assert crowd.steer.target_kind == "COLLECTION"
    assert len(crowd.steer.target_collection.objects) == 2
    assert crowd.steer.behaviors["arrive"].arrive.target_choice == "BY_ID"


def test_agents_keep_out_of_colliders(run, tmp_path, plane):
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.mesh.primitive_cube_add(size=8.0, location=(10, 10, 3))
    wall = tmp_path / "wall.ply"
    bpy.ops.wm.ply_export(filepath=str(wall))
    path = tmp_path / "x.blend"
    result = run(
        "scene", "--ground", plane, "--colliders", wall, "--agents=60", "--save", path, "--json"
    )
    assert result.code == 0, result.err
    _, crowd = opened(path)
    points = points_of(crowd)[:, :2]
    assert not ((points > 5.9) & (points < 14.1)).all(axis=1).any()
    assert len(crowd.steer.colliders.objects) == 1


@pytest.mark.parametrize("preset", ["birds", "fish"])
def test_flyers(run, tmp_path, preset):
    path = tmp_path / "x.blend"
    result = run("scene", "--preset", preset, "--agents=50", "--save", path, "--json")
    assert result.code == 0, result.err
    _, crowd = opened(path)
    assert crowd.steer.motion.motion == "FLY"
    assert points_of(crowd)[:, 2].min() > 0.0
    assert crowd.steer.ground is None


def _export(path):
    import addon_utils

    name = str(path)
    if path.suffix == ".glb":
        addon_utils.enable("io_scene_gltf2", default_set=False)
        bpy.ops.export_scene.gltf(filepath=name)
    elif path.suffix == ".fbx":
        addon_utils.enable("io_scene_fbx", default_set=False)
        bpy.ops.export_scene.fbx(filepath=name)
    elif path.suffix == ".abc":
        bpy.ops.wm.alembic_export(filepath=name, as_background_job=False)
    elif path.suffix.startswith(".usd"):
        bpy.ops.wm.usd_export(filepath=name)
    else:
        getattr(bpy.ops.wm, f"{path.suffix[1:]}_export")(filepath=name)


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".stl", ".usdc", ".glb", ".fbx", ".abc"])
def test_every_kind_of_file_comes_in_upright(empty_scene, tmp_path, suffix):
    from steer_addon.blender.making.importers import import_meshes, join_meshes

    bpy.ops.mesh.primitive_cube_add(size=2.0, location=(1, 2, 3))
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=(9, 2, 3))
    path = tmp_path / f"file{suffix}"
    _export(path)
    bpy.ops.wm.read_homefile(use_empty=True)
    made = import_meshes(path, bpy.context.scene.collection)
    joined = join_meshes(made, "Ground")
    points = points_of(joined)
    assert points.min(axis=0) == pytest.approx([0, 1, 2], abs=1e-4)
    assert points.max(axis=0) == pytest.approx([10, 3, 4], abs=1e-4)
    assert [obj.name for obj in bpy.data.objects] == ["Ground"]
    assert not bpy.data.collections


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--ground", "nowhere.obj"], ["nowhere.obj", "no file"]),
        (["--ground", "notes.txt"], ["'.txt'", ".obj"]),
        (["--ground", "points.obj"], ["points.obj", "no faces"]),
        (["--ground", "wall.obj"], ["no place to stand"]),
        (["--colliders", "nowhere.stl"], ["nowhere.stl"]),
        (["--preset", "martians"], ["'martians'"]),
        (["--preset", "odd.json"], ["odd.json", "agents.radius"]),
        (["--ground", "plane.obj", "--agents", "90000"], ["of 90000 agents only", "--agents"]),
        (["--ground", "plane.obj", "--spawn", "500,0,0,1"], ["no walkable ground", "500"]),
        (["--save", "x.obj"], ["x.obj", ".blend"]),
        (["--save", "notes.txt/x.blend"], ["notes.txt", "cannot be written"]),
    ],
)
def test_bad_input(run, tmp_path, monkeypatch, plane, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "points.obj").write_text("v 0 0 0\nv 1 0 0\n")
    (tmp_path / "wall.obj").write_text("v 0 0 0\nv 5 0 0\nv 5 5 0\nv 0 5 0\nf 1 2 3 4\n")
    (tmp_path / "odd.json").write_text(
        '{"format": "steer-preset", "version": 1, "settings": {"agents": {"radius": -1}}}'
    )
    save = [] if "--save" in words else ["--save", "x.blend"]
    run("scene", *words, *save).failed_with(*told)
    assert not (tmp_path / "x.blend").exists()
