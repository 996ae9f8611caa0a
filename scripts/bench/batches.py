"""Benchmarks of batches: variations at once against one command after another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from scripts.bench.start import ROOT, folder
from scripts.bench.table import Row, seconds_of, timed

AGENTS, FRAMES = 1_000, 250
VARIATIONS = 8
"""Variations that are made; more tell the same."""
JOB = f"""scenes = ["plaza.blend"]
seeds = "1-{VARIATIONS}"
frames = "1-{FRAMES}"
out = "together"
"""


def _steer(here: Path, *words: str) -> None:
    """Run a command, which keeps Python's bytecode as an installed extension does."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(here / "pyc")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "steer_addon", *words, "--quiet"]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"steer {' '.join(words)} failed:\n{done.stderr}")


def _same_bits(here: Path) -> bool:
    """Whether the last variation is the same in both."""
    one = np.load(here / str(VARIATIONS) / "positions.npy")
    (found,) = here.glob(f"together/*seed{VARIATIONS}/**/positions.npy")
    return one.shape[0] == FRAMES and np.array_equal(one, np.load(found))


def batches() -> Iterator[Row]:
    """A batch, and the same variations by a command each."""
    with folder() as path:
        here = Path(path)
        _steer(here, "scene", "--agents", str(AGENTS), "--save", "plaza.blend")
        (here / "job.toml").write_text(JOB, "utf-8")
        frames = f"1-{FRAMES}"

        def simulate(seed: int) -> None:
            options = "--frames", frames, "--seed", str(seed)
            _steer(here, "simulate", "plaza.blend", "--out", str(seed), *options)

        def all_at_once() -> None:
            _steer(here, "batch", "job.toml")

        # kernels are compiled, and Python's bytecode is there
        simulate(0)
        one_by_one = seconds_of(lambda: [simulate(seed + 1) for seed in range(VARIATIONS)])
        together = seconds_of(all_at_once)
        if not _same_bits(here):
            raise RuntimeError("the batch gives other bits than the command")
        again = seconds_of(all_at_once)
    name = f"{VARIATIONS} variations of {AGENTS:,} agents and {FRAMES} frames: steer batch"
    yield timed(name, together, "s", note="with the report")
    yield Row(
        "… one steer simulate after another, in that time",
        one_by_one / together,
        "×",
        1.7,
        at_least=True,
        note=f"{one_by_one:.0f} s",
    )
    yield timed("… the batch again, with nothing to do", again, "s")
