"""The main job on real input: scene, simulate, bake, render, reopen; and the scripts around it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.live.simulate import run as run_crowd  # noqa: E402
from tests.cli.conftest import quick_pictures  # noqa: E402
from tests.often import often  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]

PLAY = """
import json, sys
import bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert not hasattr(bpy.types.Object, "steer")
scene = bpy.context.scene
made = sorted((o for o in scene.objects if o.get("steer_bake") == "Crowd"), key=lambda o: o.name)
rows = []
for frame in json.loads(sys.argv[2]):
    scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    rows.append([list(o.evaluated_get(graph).matrix_world.translation) for o in made])
print(json.dumps(rows))
"""
"""Plays a file in a Blender that has never heard of Steer."""
WALK = """
import json, sys
import bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert not hasattr(bpy.types.Object, "steer")
scene, rows = bpy.context.scene, []
for frame in json.loads(sys.argv[2]):
    scene.frame_set(frame)
    shown = [
        (i.matrix_world.translation[:], max(v.co.y for v in i.object.data.vertices))
        for i in bpy.context.evaluated_depsgraph_get().object_instances
        if i.is_instance and i.parent.name == "Crowd"
    ]
    rows.append([[*place, reach] for place, reach in shown])
print(json.dumps(rows))
"""
"""The same for bodies of a baked crowd: their places, and how far their legs reach back."""


@pytest.mark.slow
@pytest.mark.parametrize("name", often(["nav_test", "dungeon"], "nav_test"))
def test_real_ground_from_scene_to_picture(run, process, shared, tmp_path, name):
    ground = shared / "meshes" / f"{name}.obj"
    scene, baked = tmp_path / "scene.blend", tmp_path / "baked.blend"
    words = ["--ground", ground, "--agents=30", "--frames=1-40", "--save", scene]
    made = run("scene", *words, "--json")
    assert made.code == 0, made.err
    quick_pictures(bpy.context.scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    simulated = run("simulate", scene, "--out", tmp_path / "sim", "--json")
    assert simulated.code == 0, simulated.err
    assert (simulated.data["agents"], simulated.data["frames"]) == (30, 40)
    assert simulated.data["warnings"] == []
    positions = np.load(tmp_path / "sim" / "positions.npy", allow_pickle=False)
    way = np.linalg.norm(positions[-1] - positions[0], axis=1)
    assert np.median(way) > 0.5
    result = run("bake", scene, "--to", "keyframes", "--save", baked, "--json")
    assert result.data["objects"] == 30
    words = ["--frames=40", "--out", tmp_path / "frames", "--size=96x54", "--samples=1"]
    rendered = run("render", baked, *words, "--json")
    assert rendered.code == 0, rendered.err
    assert all(Path(path).stat().st_size > 500 for path in rendered.data["outputs"])
    played = process("-c", PLAY, baked, json.dumps([1, 17, 40]))
    assert played.code == 0, played.err
    rows = np.array(json.loads(played.out.splitlines()[-1]))
    # bodies rise evenly over steps, of which the dungeon has some
    bpy.ops.wm.open_mainfile(filepath=str(scene))
    frames = list(run_crowd(bpy.data.objects["Crowd"], bpy.context.scene, range(1, 41)))
    lifts = np.array([frames[k].attributes["lift"] for k in (0, 16, 39)])
    assert lifts.any() == (name == "dungeon")
    rows[..., 2] -= lifts
    assert rows == pytest.approx(positions[[0, 16, 39]], abs=1e-4)


@pytest.mark.slow
def test_a_process_of_its_own(process, tmp_path):
    path = tmp_path / "x.blend"
    words = ["-m", "steer_addon", "scene", "--agents=5", "--preset=birds", "--frames=1-4"]
    made = process(*words, "--save", path, "--json")
    assert made.code == 0, made.err
    # Blender tells on stdout that it has saved; nothing of that may come through
    assert len(made.out.splitlines()) == 1
    assert made.data["agents"] == 5
    bpy.ops.wm.open_mainfile(filepath=str(path))
    quick_pictures(bpy.context.scene)
    bpy.ops.wm.save_mainfile()
    shown = process("-m", "steer_addon", "render", path, "--frames=2", "--size=32x18", "--json",
                    "--samples=1", "--out", tmp_path, "--quiet")  # fmt: skip
    assert shown.code == 0, shown.err
    assert len(shown.out.splitlines()) == 1
    assert shown.data["outputs"] == [str(tmp_path / "frame_0002.png")]
    assert "Rendering" not in shown.err


def test_exit_codes_of_a_process(process, tmp_path):
    failed = process("-m", "steer_addon", "simulate", tmp_path / "x.blend", "--out", tmp_path)
    failed.failed_with("x.blend")
    assert failed.out == ""
    wrong = process("-m", "steer_addon", "simulate", "--frames", "3-1")
    wrong.failed_with("A <= B", code=2)


@pytest.mark.slow
def test_batch_render(process, small_flock, tmp_path):
    script = ROOT / "scripts" / "batch_render.py"
    words = ["--out", tmp_path, "--frames=1-2", "--size=32x18", "--samples=1", "--seed=4"]
    done = process(script, "--", small_flock, *words, "--json")
    assert done.code == 0, done.err
    assert done.data["agents"] == 24
    assert done.data["simulate"]["seed"] == 4
    assert (tmp_path / "simulation" / "positions.npy").is_file()
    assert (tmp_path / "baked.blend").is_file()
    names = [path.name for path in sorted((tmp_path / "frames").iterdir())]
    assert names == ["frame_0001.png", "frame_0002.png"]


@pytest.mark.slow
def test_batch_render_with_the_file_that_is_open(process, small_flock, tmp_path):
    # what `blender -b FILE -P scripts/batch_render.py -- …` does
    code = (
        "import bpy, runpy, sys; bpy.ops.wm.open_mainfile(filepath=sys.argv[1]); "
        "sys.argv = ['blender', '-b', sys.argv[1], '-P', sys.argv[2], '--', *sys.argv[3:]]; "
        "runpy.run_path(sys.argv[4], run_name='__main__')"
    )
    script = ROOT / "scripts" / "batch_render.py"
    words = ["--out", tmp_path, "--frames=1-1", "--size=32x18", "--samples=1", "--quiet"]
    done = process("-c", code, small_flock, script, *words, "--json")
    assert done.code == 0, done.err
    assert done.data["render"]["frames"] == 1


def test_batch_render_with_wrong_words(process, tmp_path):
    script = ROOT / "scripts" / "batch_render.py"
    process(script, "--", "--out", tmp_path).failed_with("no file is given", code=2)
    process(script, "--", "x.blend").failed_with("--out", code=2)
    result = process(script, "--", tmp_path / "x.blend", "--out", tmp_path)
    result.failed_with("x.blend")


@pytest.mark.slow
def test_the_demo_in_small(process, tmp_path):
    # the same as `make demo`, with few people and tiny pictures
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); import bpy, demo, pytest; "
        "from steer_addon.blender.headless import batch; "
        "from tests.cli.conftest import quick_pictures; save = batch.save_file; "
        "batch.save_file = lambda path: quick_pictures(bpy.context.scene) or save(path); "
        "from tests.few_poses import take_few_poses; take_few_poses(pytest.MonkeyPatch()); "
        "demo.AGENTS, demo.FRAMES, demo.PICTURE, demo.VIDEO_START = 60, '1-8', 6, 2; "
        "demo.SHORTEST = demo.LONGEST = 2; demo.STILL = demo.MOVING = "
        "('--samples', '1', '--size', '64x36'); code = demo.main(); "
        "demo.process.leave(code); sys.exit(code)"
    )
    done = process("-c", code, ROOT / "scripts", tmp_path)
    assert done.code == 0, done.err
    names = {path.name for path in tmp_path.iterdir()}
    assert {"demo.blend", "demo.png", "report.json"} <= names
    assert all(str(tmp_path / name) in done.out for name in names)
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert (report["agents"], report["frames"]) == (60, 8)
    played = process("-c", WALK, tmp_path / "demo.blend", json.dumps([1, 5, 8]))
    rows = np.array(json.loads(played.out.splitlines()[-1]))
    assert rows.shape == (3, 60, 4)
    # everybody goes, and nearly everybody takes a first step
    assert np.all(np.abs(rows[2] - rows[0])[:, :2].max(axis=1) > 0.01)
    assert np.mean(np.abs(rows[1] - rows[0])[:, 3] > 0.01) > 0.8
