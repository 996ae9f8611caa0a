"""Batches without Blender: commands are those of a stand-in that leaves small files at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from steer_addon.core.crowd.presets import load_preset
from steer_addon.farm.job import Batch, read_job
from steer_addon.farm.starter import Starter
from steer_addon.farm.tasks import Task, tasks_of
from steer_addon.farm.variations import Crowd, Scene, Variation, variations_of

STAND_IN = """
import json, os, pathlib, struct, sys, time, zlib
command, *words = sys.argv[1:]
given = dict(w[2:].split("=", 1) for w in words if w.startswith("--") and "=" in w)
place = pathlib.Path(__file__).parent
with (place / "calls.txt").open("a") as file:
    file.write(" ".join([command, *words]) + "\\n")
for text in (place / "fails.txt").read_text().split() if (place / "fails.txt").exists() else ():
    if text in words:
        sys.exit(print(f"steer: {text} cannot be done", file=sys.stderr) or 1)
if command == "bake" and (place / "full.txt").exists():
    (place / "full.txt").unlink()
    sys.exit(print("steer: x cannot be written: No space left on device", file=sys.stderr) or 1)
if (place / "sleeps.txt").exists():
    time.sleep(float((place / "sleeps.txt").read_text()))
print("Baking Crowd: 5/10 (50%), 1 s left", file=sys.stderr)
content = " ".join(w for w in words if not str(pathlib.Path(w.partition("=")[2])).startswith("/"))
def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
if command == "render":
    first, last = map(int, given["frames"].split("-"))
    for n in range(first, last + 1):
        body = chunk(b"tEXt", b"Software\\0Steer") + chunk(b"IEND", b"")
        target = pathlib.Path(given["out"], f"frame_{n:04d}.png")
        target.write_bytes(b"\\x89PNG\\r\\n\\x1a\\n" + body)
elif command == "simulate":
    pathlib.Path(given["out"], "positions.npy").write_text(content)
elif command == "bake":
    pathlib.Path(given.get("save") or given["out"] + "/crowd.usdc").write_text(content)
    if "cache" in given:
        pathlib.Path(given["cache"], "Crowd").mkdir(parents=True)
        pathlib.Path(given["cache"], "Crowd", "1.npy").write_text(content)
print(json.dumps({"command": command, "threads": os.environ.get("STEER_THREADS")}))
"""


class Bench:
    """A folder with a job, and the stand-in for Steer's commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script = folder / "bin" / "stand_in.py"
        self.script.parent.mkdir()
        self.script.write_text(STAND_IN)
        self.starter = Starter((sys.executable, str(self.script)), {}, "5.0.1", anywhere=True)
        self.blender = "5.0.1"

    def batch(self, text: str) -> Batch:
        """The job of a text."""
        path = self.folder / "job.toml"
        path.write_text(text)
        return read_job(path)

    def scene(self, batch: Batch, digest: str = "0123") -> list[Scene]:
        """What is known of its scenes: a crowd, frames 1 to 20."""
        settings = load_preset("pedestrians").settings.to_dict()
        crowd = Crowd("Crowd", range(1, 21), settings)
        return [Scene(path, digest, (crowd,), camera=True) for path in batch.scenes]

    def variations(self, batch: Batch, digest: str = "0123") -> list[Variation]:
        """Its variations."""
        return variations_of(batch, self.scene(batch, digest))

    def tasks(self, text: str, digest: str = "0123") -> tuple[Batch, list[Task]]:
        """The tasks of a job."""
        batch = self.batch(text)
        return batch, tasks_of(batch, self.variations(batch, digest), self.blender)

    def calls(self) -> list[str]:
        """The commands that ran since the last time that this was called."""
        file = self.script.parent / "calls.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def fail(self, *words: str) -> None:
        """Let commands with one of these words fail."""
        (self.script.parent / "fails.txt").write_text("\n".join(words))

    def sleep(self, seconds: float) -> None:
        """Let commands take their time."""
        (self.script.parent / "sleeps.txt").write_text(str(seconds))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A folder with nothing in it yet."""
    return Bench(tmp_path)


@pytest.fixture
def tree() -> Callable[[Path], dict[str, bytes]]:
    """Files below a folder with their contents, but for what holds times."""

    def read(folder: Path) -> dict[str, bytes]:
        found = sorted(path for path in folder.rglob("*") if path.is_file())
        kept = (path for path in found if path.suffix not in (".json", ".log", ".lock"))
        return {str(path.relative_to(folder)): path.read_bytes() for path in kept}

    return read
