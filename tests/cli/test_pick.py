"""A batch, its report, and the scene of one variation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.commands.farm import batch

JOB = """
scenes = ["good.blend"]
presets = ["panic"]
seeds = "1-2"
frames = "3-6"
[set]
"agents.max_speed" = 1.1
"""


@pytest.fixture
def job(small_flock: Path, tmp_path: Path) -> Path:
    (tmp_path / "good.blend").write_bytes(small_flock.read_bytes())
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    return path


@pytest.mark.slow
def test_a_variation_that_is_picked_is_simulated_to_the_same_bits(run, job, tmp_path, monkeypatch):
    # to look after all kernels takes a process of its own
    monkeypatch.setattr(batch, "can_compile", lambda: False)
    out, shot = tmp_path / "batch", tmp_path / "shot.blend"
    done = run("batch", job, "--json")
    assert done.code == 0, done.err
    if "report" in done.data:
        assert Path(done.data["report"]).read_text("utf-8").count("<img") > 8
    else:
        assert "matplotlib" in done.data["no_report"]
    picked = run("pick", out, "2", "--save", shot, "--json")
    assert picked.code == 0, picked.err
    (crowd,) = run("info", shot, "--json").data["crowds"]
    assert crowd["settings"]["seed"] == 2 and crowd["settings"]["agents"]["max_speed"] == 1.1
    assert run("simulate", shot, "--frames=3-6", "--out", tmp_path / "again").code == 0
    name = json.loads((out / "batch.json").read_text())["variations"][1]["name"]
    found, expected = (
        np.load(folder / "positions.npy")
        for folder in (tmp_path / "again", out / name / "simulation")
    )
    assert np.array_equal(found, expected)
    # the scene may have moved since
    job.with_name("good.blend").rename(tmp_path / "moved.blend")
    run("pick", out, "1", "--save", shot).failed_with("good.blend")
    assert run("pick", out, "1", "--scene", tmp_path / "moved.blend", "--save", shot).code == 0


def test_bad_input(run, tmp_path):
    shot = tmp_path / "shot.blend"
    run("pick", tmp_path, "1", "--save", shot).failed_with("holds no batch.json")
    row = {"number": 1, "name": "one", "differs": {}}
    book = {"format": "steer-batch", "variations": [row]}
    (tmp_path / "batch.json").write_text(json.dumps(book))
    run("pick", tmp_path, "4", "--save", shot).failed_with("has no variation 4")
    (tmp_path / "one").mkdir()
    told = {"format": "steer-variation", **row, "scene": "a.blend", "crowds": "Crowd"}
    (tmp_path / "one" / "variation.json").write_text(json.dumps(told))
    run("pick", tmp_path, "1", "--save", shot).failed_with("says nothing of crowds")
    run("pick", tmp_path, "one", "--save", shot).failed_with(code=2)
    run("report", tmp_path / "nowhere").failed_with("holds no batch.json")
    assert not shot.exists()
