"""Benchmarks of start times, each in its own process.

Run as a script this file is that process: `start.py register` and `start.py first
PRESET` measure themselves and print one JSON object.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from scripts.bench.table import Row, timed

ROOT = Path(__file__).resolve().parents[2]
AGENTS = 500
STARTS = 5


def _run(command: list[str], bytecode: str, cache: str | None = None) -> str:
    """Run a process in the checkout, which keeps Python's bytecode as an installed extension does.

    Args:
        command: Arguments for Python.
        bytecode: Folder for the bytecode.
        cache: Folder for compiled kernels; None takes that of this process.

    Returns:
        The standard output of the process.
    """
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": bytecode}
    if cache is not None:
        environment["STEER_CACHE_DIR"] = cache
    done = subprocess.run(
        [sys.executable, *command], env=environment, cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def measured(
    *words: str, bytecode: str, cache: str | None = None, script: str = __file__
) -> dict[str, Any]:
    """What a script measures of itself in a process of its own, see `_run` for the folders."""
    out = _run([script, *words], bytecode, cache)
    result: dict[str, Any] = json.loads(out.splitlines()[-1])
    return result


@contextmanager
def folder() -> Iterator[str]:
    """A folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="steer-bench-") as path:
        yield path


def registering() -> Iterator[Row]:
    """Enabling the extension."""
    with folder() as bytecode:
        first, *starts = [measured("register", bytecode=bytecode) for _ in range(1 + STARTS)]
    modules = {name for start in starts for name in start["heavy"]}
    if modules:
        raise RuntimeError(f"registering imports {', '.join(sorted(modules))}")
    whole = statistics.median(start["import"] + start["register"] for start in starts)
    parts = {
        k: statistics.median(start[k] for start in starts) * 1e3 for k in ("import", "register")
    }
    # Blender itself loads NumPy with the first extension that needs it
    note = f"imports {parts['import']:.0f} ms without NumPy, register() {parts['register']:.0f} ms"
    yield timed("enable the extension", whole, "ms", 50.0, note)


def first_simulation() -> Iterator[Row]:
    """The first frames of a crowd with a target, colliders and, for walkers, a ground."""
    for preset in ("pedestrians", "houdini_vex"):
        with folder() as cache:
            run = partial(measured, "first", preset, bytecode=cache, cache=cache)
            times = [run()["seconds"] for _ in range(4)]
        note = "two frames of 500 agents, played live; loading numba included"
        cold, warm = times[0], statistics.median(times[1:])
        yield timed(f"first simulation, nothing compiled: {preset}", cold, "s", 30.0, note)
        yield timed(f"first simulation afterwards: {preset}", warm, "s", 2.0, "a new process")


def commands() -> Iterator[Row]:
    """Whole commands, from the prompt and back to it."""
    with folder() as path:
        file = str(Path(path) / "crowd.blend")
        steer = ["-m", "steer_addon"]
        for what, words in (
            ("steer presets", ["presets"]),
            ("steer scene --agents 500", ["scene", "--agents", "500", "--save", file]),
            (
                "steer simulate, 500 agents, 100 frames",
                ["simulate", file, "--frames", "1-100", "--out", path],
            ),
        ):
            start = time.perf_counter()
            _run([*steer, *words, "--quiet"], path)
            note = "with starting Python" + ("" if "presets" in what else " and Blender")
            yield timed(what, time.perf_counter() - start, "s", note=note)


def _register() -> dict[str, Any]:
    import bpy

    before = set(sys.modules)
    start = time.perf_counter()
    import steer_addon
    from steer_addon.blender import registration

    imported = time.perf_counter()
    registration.register()
    done = time.perf_counter()
    heavy = [m for m in set(sys.modules) - before if m.split(".")[0] in ("numba", "llvmlite")]
    assert bpy and steer_addon
    return {"import": imported - start, "register": done - imported, "heavy": heavy}


def _first(preset: str) -> dict[str, Any]:
    from scripts.bench import scenes
    from steer_addon.blender.live import live

    with scenes.fresh_file() as scene:
        crowd = scenes.add_preset_crowd(scene, preset, AGENTS)
        start = time.perf_counter()
        for number in (1, 2):
            scene.frame_set(number)
        seconds = time.perf_counter() - start
        if live.get_frame(crowd, 2) is None:
            raise RuntimeError(f"nothing was simulated: {live.status(crowd).diagnosis}")
    return {"seconds": seconds}


if __name__ == "__main__":
    task, *words = sys.argv[1:]
    print(json.dumps(_register() if task == "register" else _first(*words)))
