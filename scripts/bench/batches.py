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
VARIATIONS, SINGLES = 16, 4
"""Variations of a batch, and those that are made by a command each."""
TURNS = 2
"""How often batches are made by turns; the fastest of each counts."""


def _steer(here: Path, *words: str) -> None:
    """Run a command, which keeps Python's bytecode as an installed extension does."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(here / "pyc")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "steer_addon", *words, "--quiet"]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"steer {' '.join(words)} failed:\n{done.stderr}")


def _same_bits(here: Path) -> bool:
    """Whether the last variation that a command made is the same in the batch."""
    one = np.load(here / str(SINGLES) / "positions.npy")
    (found,) = here.glob(f"together0/*seed{SINGLES}/**/positions.npy")
    return one.shape[0] == FRAMES and np.array_equal(one, np.load(found))


def batches() -> Iterator[Row]:
    """A batch, with one worker too, and some of its variations by a command each."""
    with folder() as path:
        here = Path(path)
        _steer(here, "scene", "--agents", str(AGENTS), "--save", "plaza.blend")
        frames = f"1-{FRAMES}"

        def simulate(seed: int) -> None:
            options = "--frames", frames, "--seed", str(seed)
            _steer(here, "simulate", "plaza.blend", "--out", str(seed), *options)

        def batch(out: str, seeds: int, *options: str) -> float:
            job = f'scenes = ["plaza.blend"]\nseeds = "1-{seeds}"\nframes = "{frames}"\n'
            (here / f"{out}.toml").write_text(f'{job}out = "{out}"\n', "utf-8")
            return seconds_of(lambda: _steer(here, "batch", f"{out}.toml", *options))

        # kernels are compiled, and Python's bytecode is there, that of reports too
        simulate(0)
        batch("first", 1)
        single = seconds_of(lambda: [simulate(seed + 1) for seed in range(SINGLES)]) / SINGLES
        turns = [
            (batch(f"together{k}", VARIATIONS), batch(f"alone{k}", VARIATIONS, "--workers", "1"))
            for k in range(TURNS)
        ]
        together, alone = map(min, zip(*turns, strict=True))
        if not _same_bits(here):
            raise RuntimeError("the batch gives other bits than the command")
        again = batch("together0", VARIATIONS)
    name = f"{VARIATIONS} variations of {AGENTS:,} agents and {FRAMES} frames: steer batch"
    yield timed(name, together, "s", note="with the report")
    told, note = "… a batch with one worker, in that time", f"{alone:.0f} s"
    yield Row(told, alone / together, "×", 1.7, at_least=True, note=note)
    told, note = "… one steer simulate after another, in that time", f"{single:.1f} s each"
    yield Row(told, VARIATIONS * single / together, "×", note=note)
    yield timed("… the batch again, with nothing to do", again, "s")
