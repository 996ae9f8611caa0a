"""`steer extract`, and `steer simulate` of what it wrote, in a process without Blender."""

from __future__ import annotations

import json

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

BLOCKED = """
import sys

class NoBlender:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("bpy", "mathutils", "bmesh"):
            raise ImportError(f"{name} was imported")

sys.meta_path.insert(0, NoBlender())
from steer_addon.cli import main
at = sys.argv.index("then")
codes = main(sys.argv[1:at]), main(sys.argv[at + 1 :])
assert not {"bpy", "mathutils"} & sys.modules.keys()
sys.exit(max(codes))
"""
FILES = ("positions", "velocities", "rotations", "alive", "ids", "frames")
OF_THE_RUN = ("file", "seconds", "seconds_per_step")


def report_of(folder):
    data = json.loads((folder / "report.json").read_text("utf-8"))
    return {key: value for key, value in data.items() if key not in OF_THE_RUN}


@pytest.mark.slow
def test_a_world_simulates_without_blender(run, process, small_scene, tmp_path):
    world, here, there = tmp_path / "world", tmp_path / "here", tmp_path / "there"
    result = run("extract", small_scene, "--out", world, "--json")
    assert result.code == 0, result.err
    assert result.data["outputs"] == [str(world)] and result.data["bytes"] > 1000
    options = ["--json", "--seed", "3", "--set", "agents.max_speed=1.7", "--frames", "2-20"]
    assert run("simulate", small_scene, "--out", here, *options).code == 0
    told = ["then", "info", world, "--json"]
    done = process("-c", BLOCKED, "simulate", world, "--out", there, *options, *told)
    assert done.code == 0, done.err
    for name in FILES:
        one, other = (np.load(folder / f"{name}.npy") for folder in (here, there))
        np.testing.assert_array_equal(one, other)
    assert report_of(here) == report_of(there)
    assert (done.data["file"], done.data["extracted"]["file"]) == ("world", "small.blend")
    assert done.data["crowds"][0]["agents"] == 24
    # what needs Blender says so
    for words in (["bake", "--save", tmp_path / "x.blend"], ["render"], ["ways"]):
        refused = run(words[0], world, *words[1:])
        refused.failed_with("is a world that `steer extract` wrote", "the file that it came from")
    run("simulate", world, "--out", there, "--frames", "1-90").failed_with("holds 1-20")


def test_extract_refuses_what_is_not_its_own(run, small_scene, tmp_path):
    place = tmp_path / "notes"
    place.mkdir()
    (place / "mine.txt").write_text("mine")
    run("extract", small_scene, "--out", place).failed_with("no world that `steer extract` wrote")
    run("extract", small_scene, "--out", tmp_path / "w", "--crowd", "Nobody").failed_with("Nobody")
    (tmp_path / "about.json").write_text("{}")
    words = ["extract", small_scene, "--out", tmp_path / "w", "--about", tmp_path / "about.json"]
    run(*words).failed_with("about.json", "Steer did not write it")
    assert (tmp_path / "about.json").read_text() == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["about.json", "notes"]
