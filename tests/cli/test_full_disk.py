"""A disk that fills: the earlier result stays whole, or the new one is whole, and a sentence tells.

A small file system in memory, where it may be mounted. STEER_DISKS is how many sizes of the disk
are tried for each command.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cli.trees import tree

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.core.cache import open_cache  # noqa: E402
from steer_addon.core.files.whole import why_not_whole  # noqa: E402
from tests.often import often  # noqa: E402

SIZES = int(os.environ.get("STEER_DISKS", "3"))
FRAMES = "--frames=1-3"

COMMANDS = {
    "simulate": ("simulate", FRAMES, "--out", "{}"),
    "render": ("render", "--size=64x36", "--samples=1", "--frames=1-2", "--out", "{}"),
    "video": ("render", "--size=64x36", "--samples=1", FRAMES, "--video", "--out", "{}"),
    "cache": ("bake", "--to", "cache", FRAMES, "--cache", "{}"),
    "usd": ("bake", "--to", "usd", FRAMES, "--out", "{}/a.usdc"),
    "pointinstancer": ("bake", "--to", "pointinstancer", FRAMES, "--out", "{}/a.usdc"),
    "alembic": ("bake", "--to", "alembic", FRAMES, "--out", "{}/a.abc"),
    "mdd": ("bake", "--to", "mdd", FRAMES, "--out", "{}/a.mdd"),
    "pc2": ("bake", "--to", "pc2", FRAMES, "--out", "{}/a.pc2"),
    "csv": ("bake", "--to", "csv", FRAMES, "--out", "{}/a.csv"),
    "glb": ("bake", "--to", "glb", FRAMES, "--out", "{}/a.glb"),
    "fbx": ("bake", "--to", "fbx", FRAMES, "--out", "{}/a.fbx"),
    "keyframes": ("bake", FRAMES, "--save", "{}/a.blend"),
    "scene": ("scene", "--agents=9", FRAMES, "--save", "{}/a.blend"),
}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    words = [mount, "-t", "tmpfs", "-o", "size=96m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path, room: int) -> Path:
    """Fill a disk but for some bytes."""
    filler = disk / "filler"
    free = shutil.disk_usage(disk).free
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, free - room))
    return filler


def on_disk(files: dict[str, bytes]) -> int:
    """What files take of a disk, in blocks of 4 KB [bytes]."""
    return sum(-(-len(data) // 4096) * 4096 for data in files.values())


def check(name: str, out: Path, before: dict[str, bytes], code: int) -> None:
    """What is there is whole: as it was, or new; no strays."""
    after = tree(out)
    for path in (out / file for file in after):
        if name not in ("cache", "simulate"):
            assert not why_not_whole(path), path
    if name == "cache":
        # another bake may have begun beside the one that was there
        cache = open_cache(out / "Crowd")
        assert cache.complete and len(list(cache.verify()))
        return
    if code == 0:
        assert after.keys() == before.keys()
    elif name == "simulate" and after != before:
        report = json.loads((out / "report.json").read_text())
        assert report["complete"] is False
    elif name in ("render", "video"):
        # pictures that were done are kept
        assert after.keys() == before.keys()
    else:
        assert after == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", often(COMMANDS, "simulate", "render", "cache", "usd", "glb", "csv", "keyframes")
)
def test_a_disk_that_fills(run, small_flock, disk, name):
    command, *words = COMMANDS[name]
    file = [small_flock] if command != "scene" else []
    out = disk / "out"
    out.mkdir()

    def again(seed):
        return run(command, *file, *(w.format(out) for w in words), *seed)

    seeds = [[] if command == "render" else [f"--seed={k}"] for k in range(2)]
    first = again(seeds[0])
    assert first.code == 0, first.err
    before = tree(out)
    size = on_disk(before)
    codes = []
    for room in np.linspace(0, 1.6 * size + 20_000, SIZES).astype(int).tolist():
        filler = fill(disk, room)
        done = again(seeds[1])
        codes.append(done.code)
        filler.unlink()
        check(name, out, before, done.code)
        if done.code:
            done.failed_with("cannot be written")
        else:
            before = tree(out)
    assert codes[0] == 1
    if codes[-1]:
        assert again(seeds[1]).code == 0
    assert len(tree(out)) == len(before)


JOB = """
scenes = ["small.blend"]
seeds = "1-2"
frames = "1-3"
make = ["cache"]
"""


@pytest.mark.slow
@pytest.mark.long
def test_a_disk_that_fills_under_a_batch(run, small_flock, disk, tmp_path):
    """Tasks without room fail and say why, the others are whole, and a later run makes the rest."""
    shutil.copy(small_flock, tmp_path / "small.blend")
    job = tmp_path / "job.toml"
    job.write_text(JOB)
    whole, out = tmp_path / "whole", disk / "out"
    assert run("batch", job, "--out", whole).code == 0
    wanted = tree(whole)
    size = on_disk(wanted)
    codes = []
    for room in np.linspace(0, 1.2 * size, SIZES).astype(int).tolist():
        filler = fill(disk, room)
        done = run("batch", job, "--out", out)
        codes.append(done.code)
        filler.unlink()
        if done.code:
            told = done.out + done.err
            assert "No space left" in told and "Traceback" not in told, told
        made = [name for name in tree(out) if name.endswith("bake/task.json")]
        for name in made:
            cache = open_cache((out / name).parent / "cache" / "Crowd")
            assert cache.complete and len(list(cache.verify()))
        if done.code == 0:
            break
    assert codes[0] == 1
    assert run("batch", job, "--out", out).code == 0
    assert tree(out).keys() == wanted.keys()
