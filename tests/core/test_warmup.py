"""Kernels that other processes compile, while they are missing in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from steer_addon.core.compiled import jit
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.errors import KernelsMissingError
from steer_addon.core.warmup import processes as warmup
from steer_addon.core.warmup.processes import Compilation, Need

ROOT = Path(__file__).resolve().parents[2]

MISSING = """
import json, time
from steer_addon.core.compiled import jit
from steer_addon.core.warmup import processes as warmup
from steer_addon.core.errors import KernelsMissingError
from steer_addon.core.numeric.vec import dot

def ask():
    with jit.deferring():
        return dot((1.0, 2.0, 3.0), (1.0, 1.0, 1.0))

try:
    ask()
except KernelsMissingError as error:
    missing = error
compilation = warmup.Compilation(warmup.Need(None, missing=(missing,)))
compilation.start(processes=2)
while compilation.state().running:
    time.sleep(0.05)
state = compilation.state()
compilation.stop()
print(json.dumps({"kernel": missing.kernel, "state": vars(state), "answer": ask()}))
"""

DRY_RUN = """
import json, sys
from steer_addon.core.compiled import jit
from steer_addon.core.warmup import processes as warmup
from steer_addon.core.crowd.presets import load_preset
jit.status()
told = load_preset(sys.argv[1]).settings.to_dict()
job = {"missing": [], "told": told, "colliders": True, "ground": True, "looks": False}
print(json.dumps([kernel.__name__ for kernel, _ in warmup.needed(job)]))
"""

# A dry run lets kernels write few rows, so the rest of an array may hold any numbers.
UNWRITTEN = """
import json, sys
import numpy as np
number, quick = float(sys.argv[1]), sys.argv[2] == "births"

def filled(make):
    def made(*arguments, **named):
        array = make(*arguments, **named)
        if array.dtype.kind == "f":
            array.fill(number)
        elif array.dtype.kind in "iu":
            array.fill(77)
        return array
    return made

np.empty, np.empty_like = filled(np.empty), filled(np.empty_like)
from steer_addon.core.warmup import everything, processes
if quick:
    from steer_addon.core.crowd.settings import CrowdSettings
    known = list(everything.all_settings())
    of_births = [told for told in known if CrowdSettings.from_dict(told).births.emits]
    everything.all_settings = lambda: of_births[:1]
print(json.dumps(len(processes.noted(everything.run_everything))))
"""


def run(code, cache, *arguments):
    """Last output of a process with its own kernels."""
    environment = {**os.environ, "STEER_CACHE_DIR": str(cache), "STEER_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_missing_kernel_raises_and_a_process_compiles_it(tmp_path):
    pytest.importorskip("numba")
    found = run(MISSING, tmp_path)
    assert found["kernel"] == ["steer_addon.core.numeric.vec", "dot"]
    assert found["state"] == {"done": 1, "total": 1, "running": False, "failure": ""}
    assert found["answer"] == 6.0


@pytest.mark.parametrize(
    ("preset", "kernels"),
    [
        ("pedestrians", {"avoid_neighbors_kernel", "arrive_kernel", "pass_kernel", "free_kernel",
                         # with several colliders, and with more agents than are few
                         "depth_of", "_known_kernel"}),
        ("panic", {"corridor_kernel", "containment_constraint", "evade_kernel"}),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_a_dry_run_finds_what_a_crowd_calls(tmp_path, preset, kernels):
    pytest.importorskip("numba")
    found = run(DRY_RUN, tmp_path, preset)
    assert kernels | {"move_kernel", "grow"} <= set(found)
    # what kernels call themselves is compiled with them
    assert "dot" not in found and len(found) < 40


NUMBERS = ("nan", "1e38", "-5")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "settings"),
    [
        pytest.param("nan", "births"),
        *[pytest.param(number, "births", marks=pytest.mark.long) for number in NUMBERS[1:]],
        *[pytest.param(number, "all", marks=pytest.mark.long) for number in NUMBERS],
    ],
)
def test_a_dry_run_reads_nothing_that_kernels_should_have_written(tmp_path, number, settings):
    pytest.importorskip("numba")
    assert run(UNWRITTEN, tmp_path, number, settings) > 50


def test_nothing_is_compiled_outside_of_the_need(tmp_path):
    told = load_preset("pedestrians").settings.to_dict()
    assert json.loads(json.dumps(Need(told).to_job()))["told"] == told


def test_a_process_that_fails_says_so(tmp_path):
    compilation = Compilation(Need(None))
    compilation.start([sys.executable, "-c", "raise SystemExit(7)"], processes=1)
    compilation._processes[0].wait()
    assert compilation.state() == warmup.State(0, 0, False, "a process ended with 7")
    compilation.stop()


def test_a_python_that_is_not_there_is_an_os_error(tmp_path):
    compilation = Compilation(Need(None))
    with pytest.raises(OSError, match="nowhere"):
        compilation.start([str(tmp_path / "nowhere")], processes=1)
    compilation.stop()
    assert not compilation._outputs


def test_stopping_ends_the_processes_and_leaves_no_file():
    compilation = Compilation(Need(None))
    compilation.start([sys.executable, "-c", "import time; time.sleep(60)"], processes=2)
    processes, outputs = list(compilation._processes), list(compilation._outputs)
    assert compilation.state().running
    compilation.stop()
    compilation.stop()
    assert all(process.poll() is not None for process in processes)
    assert not any(path.exists() for path in outputs)


def test_half_a_line_is_left_for_later(tmp_path):
    path = tmp_path / "out"
    path.write_text('{"share": 2}\nBlender 5\n{"kernel": "a"}\n{"ker', encoding="utf-8")
    assert warmup._lines(path) == [{"share": 2}, {"kernel": "a"}]
    assert warmup._lines(tmp_path / "none") == []


def test_deferring_ends_with_its_block():
    with pytest.raises(KernelsMissingError), jit.deferring():
        assert jit._state.deferring
        raise KernelsMissingError("module", "name", ())
    assert not jit._state.deferring
