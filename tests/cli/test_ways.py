"""`steer ways` tells where walkers can go; `--set ways=AROUND` leads them for one run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.headless import batch  # noqa: E402
from tests.blender import live_scenes as scenes  # noqa: E402
from tests.blender.test_ways_in_blender import GOAL, LAST, make_walled  # noqa: E402


@pytest.fixture(scope="module")
def walled(steer, tmp_path_factory) -> Path:
    """A file with a crowd in a pocket of walls, and with birds."""
    bpy.ops.wm.read_homefile(use_empty=True)
    make_walled("NONE")
    birds = scenes.make_crowd(((0, 0, 9), (1, 0, 9)), name="Birds")
    birds.steer.motion.motion = "FLY"
    scenes.make_target(birds, (0, 30, 9), name="Far")
    path = tmp_path_factory.mktemp("walled") / "walled.blend"
    batch.save_file(path)
    return path


def test_it_tells_size_islands_and_times(run, walled):
    result = run("ways", walled, "--json")
    assert result.code == 0, result.err
    rows = {row["crowd"]: row for row in result.data["crowds"]}
    assert rows["Birds"]["surface"] is None
    row = rows["Crowd"]
    assert (row["agents"], row["ways"], row["motion"]) == (3, "NONE", "GROUND")
    surface = row["surface"]
    assert surface["cell_size"] == row["asked_cell_size"] == 0.25
    # without ground it is one layer, over the walls and 3 m around them
    assert surface["cells"] == surface["columns"] > 1000 and surface["layers"] == 1
    (bodies,) = surface["classes"]
    assert (bodies["radius"], bodies["agents"], bodies["islands"]) == (0.25, 3, 1)
    assert bodies["largest"] == pytest.approx(bodies["cells"] * 0.25**2)
    assert bodies["cells"] < surface["cells"]
    # 6 for the surface and 2 for the room, and what is kept by the block, as islands are
    assert 8 * surface["cells"] < surface["bytes"] < 10 * surface["cells"]
    assert set(surface["seconds"]) == {"surface", "room", "field"}
    assert all(seconds > 0.0 for seconds in surface["seconds"].values())


def test_people_read_it_too(run, walled):
    result = run("ways", walled)
    assert result.code == 0 and result.err == ""
    lines = result.out.splitlines()
    assert "Crowd: 3 agents, ways NONE" in lines and "Birds: 2 agents, ways NONE" in lines
    assert any("it flies" in line for line in lines)
    assert any("ways AROUND would lead them" in line for line in lines)
    assert any("(3): 1 island, the largest" in line and line.endswith("m2") for line in lines)


def test_settings_can_be_changed_for_it(run, walled):
    words = ["ways", walled, "--crowd", "Crowd", "--json"]
    (fine,) = run(*words).data["crowds"]
    coarse = run(*words, "--set", "ways=AROUND", "--set", "ways.cell_size=0.5")
    (row,) = coarse.data["crowds"]
    assert (row["ways"], row["surface"]["cell_size"]) == ("AROUND", 0.5)
    assert row["surface"]["cells"] < 0.3 * fine["surface"]["cells"]
    (wide,) = run(*words, "--set", "agents.radius=9").data["crowds"]
    assert wide["surface"]["classes"][0]["islands"] == 0
    run(*words, "--set", "ways=UP").failed_with("ways.ways is 'UP'", "AROUND")
    run("ways", walled, "--crowd", "Cats").failed_with("no crowd 'Cats'")
    run("ways", walled.with_name("none.blend")).failed_with("There is no file")


@pytest.mark.parametrize(("words", "arrives"), [((), False), (("--set", "ways=AROUND"), True)])
def test_a_run_is_led_by_a_change_of_the_settings(run, walled, tmp_path, words, arrives):
    out = tmp_path / "out"
    told = ("--frames", f"1-{LAST}", "--out", out, "--json")
    result = run("simulate", walled, "--crowd", "Crowd", *told, *words)
    assert result.code == 0, result.err
    last = np.load(out / "positions.npy", allow_pickle=False)[-1]
    assert (np.linalg.norm(last - GOAL, axis=1).max() < 1.5) == arrives
