"""Batches that really run: processes with Blender, small scenes, few frames."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.commands.farm import looking
from steer_addon.core.files import lock
from tests.cli.conftest import look_here
from tests.cli.trees import tree

ROOT = Path(__file__).resolve().parents[2]
JOB = """
scenes = ["good.blend", "broken.blend"]
seeds = "1-2"
frames = "1-4"
make = ["cache", "csv"]
[set]
"agents.max_speed" = 1.1
"""


@pytest.fixture
def job(small_flock: Path, tmp_path: Path) -> Path:
    """A job file with a good scene and a broken one beside it."""
    (tmp_path / "good.blend").write_bytes(small_flock.read_bytes())
    (tmp_path / "broken.blend").write_bytes(b"BLENDER" + bytes(200))
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    return path


@pytest.mark.usefixtures("looks_here")
def test_a_dry_run_lists_commands_and_writes_nothing(run, job):
    job.write_text(JOB.replace('"cache", ', ""))
    before = tree(job.parent)
    told = run("batch", job, "--dry-run", "--json")
    # the tasks of the scene that is broken are not there
    assert told.code == 1, told.err
    names = [row["task"] for row in told.data["tasks"]]
    # the scene is read once for both seeds, and their simulations need no Blender
    assert names == ["kernels", "extract/world-good"] + [
        f"good-seed{seed}/{kind}" for seed in (1, 2) for kind in ("simulate", "csv")
    ]
    assert list(told.data["broken"]) == ["broken.blend"]
    out = job.parent / "batch"
    assert told.data["tasks"][1]["argv"][-7:] == [
        "extract",
        str(job.parent / "good.blend"),
        f"--out={out / 'shared' / 'world-good' / 'world'}",
        f"--about={out / 'shared' / 'world-good' / 'scene.json'}",
        "--frames=1-4",
        "--set=agents.max_speed=1.1",
        "--json",
    ]
    assert told.data["tasks"][2]["argv"][-6:] == [
        "simulate",
        str(out / "shared" / "world-good" / "world"),
        f"--out={out / 'good-seed1' / 'simulation'}",
        "--frames=1-4",
        "--seed=1",
        "--json",
    ]
    assert tree(job.parent) == before


@pytest.mark.usefixtures("looks_here")
@pytest.mark.slow
def test_a_batch_with_a_broken_scene(run, job, small_flock, tmp_path):
    job.write_text(JOB.replace("1-2", "2"))
    done = run("batch", job, "--json")
    assert done.code == 1
    assert (done.data["failed"], done.data["done"], done.data["kept"]) == ([], 3, 0)
    assert "broken.blend" in done.data["broken"]["broken.blend"]
    # what a command makes by itself
    words = [small_flock, "--frames=1-4", "--seed=2", "--set=agents.max_speed=1.1"]
    alone = run("simulate", *words, "--out", tmp_path / "alone", "--json")
    out = tmp_path / "batch" / "good-seed2"
    for name in ("positions", "velocities", "rotations"):
        expected = np.load(tmp_path / "alone" / f"{name}.npy")
        assert np.array_equal(np.load(out / "bake" / "simulation" / f"{name}.npy"), expected)
    told = json.loads((out / "bake" / "simulation" / "report.json").read_text())
    assert told["seed"] == 2 and told["metrics"] == alone.data["metrics"]
    told = json.loads((out / "variation.json").read_text())
    assert (told["seed"], told["set"]) == (2, ["agents.max_speed=1.1"])
    assert told["settings"]["Crowd"]["agents"]["max_speed"] == 1.1
    lines = (out / "csv" / "baked_Crowd.csv").read_text().splitlines()
    assert len(lines) > 4 * 24
    played = run("info", out / "bake" / "baked.blend", "--json").data["crowds"][0]
    assert (played["bake"]["frame_start"], played["bake"]["frame_end"]) == (1, 4)
    assert played["settings"]["agents"]["max_speed"] == 1.1
    assert Path(played["bake"]["folder"]) == out / "bake" / "cache" / "Crowd"
    # again: nothing but the broken scene, which is looked at again
    again = run("batch", job, "--json")
    assert (again.code, again.data["kept"], again.data["done"]) == (1, 3, 3)


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """Names of the scenes that a batch only looked at."""
    names, start = [], looking._start

    def noted(path, starter):
        names.append(path.name)
        # once in a process of its own
        return (start if len(names) == 1 else look_here)(path, starter)

    monkeypatch.setattr(looking, "_start", noted)
    return names


@pytest.mark.slow
@pytest.mark.usefixtures("tasks_alone")
def test_a_scene_is_opened_once_to_look_at_it_and_to_read_it(run, job, looked_at, small_flock):
    job.write_text(JOB.replace('["cache", "csv"]', "[]"))
    done = run("batch", job, "--json")
    assert (done.data["failed"], done.data["done"], done.data["kept"]) == ([], 3, 0)
    # by a task that says more than others where it fails
    assert looked_at == ["broken.blend"] and list(done.data["broken"]) == looked_at
    book = json.loads((job.parent / "batch" / "batch.json").read_text())
    (told,) = book["scenes"].values()
    assert told.pop("format") == "steer-scene"
    expected = run("info", job.parent / "good.blend", "--json").data
    del expected["command"]
    assert told == expected and told["crowds"][0]["settings"]["agents"]["max_speed"] != 1.1
    words = [small_flock, "--frames=1-4", "--seed=2", "--set=agents.max_speed=1.1"]
    run("simulate", *words, "--out", job.parent / "alone")
    found, alone = (
        np.load(folder / "positions.npy")
        for folder in (job.parent / "batch" / "good-seed2" / "simulation", job.parent / "alone")
    )
    assert np.array_equal(found, alone)
    again = run("batch", job, "--json")
    assert (again.data["kept"], looked_at) == (3, ["broken.blend"] * 2)


@pytest.mark.usefixtures("looks_here")
@pytest.mark.slow
@pytest.mark.parametrize("make", ['["cache", "csv"]', "[]"])
def test_settings_that_no_crowd_has_stop_all(run, job, make):
    text = JOB.replace('["cache", "csv"]', make)
    job.write_text(text.replace('"agents.max_speed" = 1.1', "seperation.weight = 2"))
    failed = run("batch", job)
    failed.failed_with("seperation", "separation", "good.blend")
    assert not (job.parent / "batch").exists()


@pytest.mark.usefixtures("looks_here")
def test_a_batch_that_is_refused_leaves_the_books_of_the_one_that_runs(run, job):
    text = JOB.replace('"csv"', '"render"').replace('"broken.blend"', "")
    job.write_text(text)
    out = job.parent / "batch"
    assert run("submit", job, "--to", "flamenco", "--out", job.parent / "farm").code == 0
    before = tree(out)
    job.write_text(text.replace('"1-2"', '"7"'))
    held = lock.FolderLock(out)
    try:
        run("batch", job).failed_with("is writing to")
        words = ("submit", job, "--to", "openjd", "--out", job.parent / "other")
        run(*words).failed_with("is writing to")
    finally:
        held.release(remove=True)
    assert tree(out) == before and not (job.parent / "other").exists()
    assert run(*words).code == 0
    # and leaves no lock
    assert tree(out).keys() - before.keys() == {"good-seed7/variation.json"}


@pytest.mark.usefixtures("looks_here")
@pytest.mark.slow
def test_only_one_task_and_what_it_needs(run, job):
    run("batch", job, "--only", "good-seed1/film").failed_with("good-seed1/film", "--dry-run")
    run("batch", job, "--only", "good-seed1/csv").failed_with("needs good-seed1/bake")


@pytest.mark.slow
def test_the_script_reaches_the_same_command(process, job):
    words = ["batch", job, "--dry-run", "--json", "--workers=1"]
    told = process(ROOT / "scripts" / "batch_render.py", "--", *words)
    assert told.code == 1, told.err
    assert len(told.data["tasks"]) == 5


def test_a_preset_for_one_run(run, small_flock, tmp_path):
    words = [small_flock, "--frames=1-2", "--json", "--preset=pedestrians", "--seed=5"]
    done = run("simulate", *words, "--out", tmp_path / "others")
    assert done.code == 0, done.err
    told = json.loads((tmp_path / "others" / "report.json").read_text())
    assert told["settings"]["motion"]["motion"] == "GROUND" and told["seed"] == 5
    run("simulate", *words[:-2], "--preset=nobody", "--out", tmp_path).failed_with("nobody")


@pytest.mark.usefixtures("looks_here")
@pytest.mark.slow
def test_jobs_of_farms(run, job):
    job.write_text(JOB.replace('"csv"', '"render"').replace('"broken.blend"', ""))
    for to, names in (
        ("openjd", ["parameters.json", "template.json"]),
        ("flamenco", ["steer-crowd.js", "submission.json"]),
    ):
        out = job.parent / to
        told = run("submit", job, "--to", to, "--out", out, "--json")
        assert told.code == 0, told.err
        assert told.data["needing_steer"] == 2
        assert sorted(path.name for path in out.iterdir()) == names
        (out / names[1]).write_text("mine")
        run("submit", job, "--to", to, "--out", out).failed_with("did not write", names[1])


@pytest.mark.skipif(sys.platform == "win32", reason="no such links there")
def test_usage(run, job):
    run("batch", job, "--scheduler=tcp://x:1").failed_with("--engine dask", code=2)
    run("batch", job.parent / "none.toml").failed_with("none.toml")
