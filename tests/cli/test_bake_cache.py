"""`steer bake --to cache`: output, continuing, refusals, and a killed process."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.bake import places  # noqa: E402
from steer_addon.blender.display import display  # noqa: E402
from steer_addon.blender.headless import batch  # noqa: E402
from steer_addon.core.cache import CacheWriter, open_cache  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("STEER_KILLS", "3"))
"""How often a bake is killed; 20 for the whole proof."""


def bits(folder):
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name not in (".steer.lock", "crowd.usdc", "crowd.pc2")
    }


@pytest.mark.slow
def test_a_cache_is_written_beside_the_file_and_is_what_simulate_gives(run, small_flock, tmp_path):
    blend = Path(shutil.copy(small_flock, tmp_path))
    result = run("bake", blend, "--to", "cache", "--json")
    assert result.code == 0, result.err
    (row,) = result.data["crowds"]
    folder = tmp_path / "steer_cache" / "small" / "Crowd"
    assert (row["folder"], row["frames"], row["kept"], row["complete"]) == (
        str(folder), 20, 0, True,
    )  # fmt: skip
    run("simulate", blend, "--out", tmp_path / "plain")
    place = folder / "bake_1" / "frames_1_20"
    for ours, plain in (("position", "positions"), ("rotation", "rotations")):
        stored = np.load(place / f"{ours}.npy", allow_pickle=False)
        assert stored.dtype == np.float32 and stored.shape[:2] == (20, 24)
        assert stored.tobytes() == np.load(tmp_path / "plain" / f"{plain}.npy").tobytes()


@pytest.mark.slow
def test_a_farm_may_run_the_same_command_again(run, small_flock, tmp_path):
    words = ["bake", small_flock, "--to", "cache", "--cache", tmp_path, "--continue", "--json"]
    first = run(*words, "--frames=1-12")
    assert first.code == 0, first.err
    then = run(*words)
    assert (then.data["crowds"][0]["kept"], then.data["frames"]) == (12, 20)
    again = run(*words)
    assert again.data["crowds"][0]["kept"] == 20
    whole = tmp_path / "whole"
    run("bake", small_flock, "--to", "cache", "--cache", whole)
    for frame in open_cache(whole / "Crowd"):
        stored = open_cache(tmp_path / "Crowd").frame(frame.number)
        assert stored.position.tobytes() == frame.position.tobytes()
    run(*words[:-1], "--set", "cohesion.weight=0.5").failed_with("cohesion.weight was 1, is 0.5")


@pytest.mark.slow
def test_a_saved_file_knows_its_cache(run, small_flock, tmp_path):
    blend = tmp_path / "baked.blend"
    words = ["--to", "cache", "--cache", tmp_path]
    result = run("bake", small_flock, *words, "--save", blend)
    assert result.code == 0, result.err
    scene = batch.open_file(blend)
    crowd = scene.objects["Crowd"]
    assert crowd.steer.cache_folder == "//Crowd"
    # the file that is saved knows of the bake, and has it
    assert places.own_folder(crowd) == tmp_path / "Crowd"
    run("bake", small_flock, *words).failed_with("holds the bake of", str(blend))
    again = run("bake", small_flock, *words, "--save", blend)
    assert again.code == 0, again.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--to", "cache", "--step", "2"], ["--step", "--to cache"]),
        (["--to", "keyframes", "--cache", "x", "--save", "o.blend"], ["--cache"]),
        (["--to", "keyframes", "--continue", "--save", "o.blend"], ["--continue"]),
    ],
)
def test_options_that_do_not_go_together(run, small_flock, words, told):
    run("bake", small_flock, *words).failed_with(*told, code=2)


def test_a_folder_that_another_process_bakes_into(run, small_flock, tmp_path):
    words = ["bake", small_flock, "--to", "cache", "--cache", tmp_path]
    assert run(*words).code == 0
    writer = CacheWriter.resume(tmp_path / "Crowd")
    try:
        run(*words).failed_with("Another Blender", f"process {os.getpid()}")
    finally:
        writer.close()


def _start(blend, folder):
    words = [sys.executable, "-m", "steer_addon", "bake", blend, "--to", "cache", "--continue"]
    return subprocess.Popen(
        [*map(str, words), "--cache", str(folder), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


def chunks(folder):
    """How many chunks are there, or are being made."""
    return len(list((folder / "Crowd" / "bake_1").glob("frames_*")))


@pytest.mark.slow
def test_kill_9_at_any_moment_costs_a_chunk_at_most(run, tmp_path):
    """Killed at random moments and gone on with, a bake comes out the same to the bit."""
    blend = tmp_path / "crowd.blend"
    # as many frames as it takes to be killed that often
    frames = f"--frames=1-{100 + 50 * KILLS}"
    assert run("scene", "--preset=birds", "--agents=300", frames, "--save", blend).code == 0
    uncut = tmp_path / "uncut"
    assert run("bake", blend, "--to", "cache", "--cache", uncut).code == 0
    folder, wait = tmp_path / "killed", random.Random(os.environ.get("STEER_SEED", "5"))
    kept = cut = 0
    found = []
    for _ in range(KILLS):
        process = _start(blend, folder)
        # Blender takes seconds to start: be killed once this run has made a chunk or two
        wanted = chunks(folder) + wait.choice((0, 1, 1, 2))
        while process.poll() is None and chunks(folder) < wanted:
            time.sleep(0.002)
        time.sleep(wait.uniform(0.0, 0.1))
        cut += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if (folder / "Crowd" / "manifest.json").exists():
            cache = open_cache(folder / "Crowd")
            assert len(list(cache.verify())) == len(cache.manifest.chunks)
            assert len(cache.frames) >= kept
            kept = len(cache.frames)
        found.append((kept, len(list(folder.rglob("*.partial")))))
    assert cut == KILLS and kept, f"the bake was over before it could be killed: {found}"
    out, _ = (last := _start(blend, folder)).communicate()
    assert last.returncode == 0
    assert json.loads(out.splitlines()[-1])["crowds"][0]["kept"] == kept
    assert bits(folder / "Crowd") == bits(uncut / "Crowd")


@pytest.mark.slow
def test_a_bake_without_a_file_that_plays_it_says_so(run, small_flock, tmp_path):
    blend = Path(shutil.copy(small_flock, tmp_path))
    told = "small.blend was not saved, so it plays none of these frames: give --save OUT.blend"

    def baked(*words):
        found = run("bake", blend, "--to", "cache", *words, "--json")
        assert found.code == 0, found.err
        codes = [row["code"] for row in found.data["diagnoses"]]
        assert codes.count("COMMAND_BAKE_NOT_SAVED") == sum(
            sentence.startswith(told) for sentence in found.data["warnings"]
        )
        return "COMMAND_BAKE_NOT_SAVED" in codes

    assert baked("--frames=1-2")
    assert not baked("--frames=1-2", "--save", blend)
    # the file plays all that is there
    assert not baked("--frames=1-2", "--continue")
    # and now there is more, and other frames
    assert baked("--frames=1-4", "--continue") and baked("--frames=1-2")
    assert baked("--frames=1-2", "--cache", tmp_path / "other")


@pytest.mark.slow
def test_pictures_tell_what_the_bake_lacks(run, small_scene, tmp_path):
    """Frames outside of it, characters that were deleted, and settings of another crowd."""
    baked = tmp_path / "baked.blend"
    words = ["--to", "cache", "--cache", tmp_path / "own", "--frames=1-4", "--save", baked]
    assert run("bake", small_scene, *words).code == 0
    picture = ["--size=32x18", "--samples=1", "--engine=CYCLES", "--json"]

    def told(file, frames):
        out = tmp_path / f"{file.stem}{frames}"
        result = run("render", file, f"--frames={frames}", "--out", out, *picture)
        assert result.code == 0, result.err
        return {row["code"]: row for row in result.data["diagnoses"]}

    assert told(baked, "4") == {}
    (found,) = told(baked, "4-6").values()
    assert found["code"] == "FRAMES_OUTSIDE" and found["values"]["count"] == 2
    scene = batch.open_file(baked)
    for body in display.shown_body(display.find_modifier(scene.objects["Crowd"])).objects[:]:
        bpy.data.objects.remove(body)
    bare = tmp_path / "bare.blend"
    batch.save_file(bare)
    found = told(bare, "4")
    assert {"NO_CHARACTER", "PICTURES_OUT_OF_DATE"} <= found.keys(), found
    assert "the cast of characters is gone" in found["PICTURES_OUT_OF_DATE"]["sentence"]
