"""Without numba, or with one that fails to load, crowds run the same, only slower."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.often import often

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

BLOCKED = """
import sys
sys.modules["numba"] = None
"""

IMPORT_ALL = """
import importlib, pkgutil
import steer_addon.core
for info in pkgutil.walk_packages(steer_addon.core.__path__, "steer_addon.core."):
    importlib.import_module(info.name)
"""

RUN = """
import logging

records = []

class Keep(logging.Handler):
    def emit(self, record):
        records.append(record)

logging.getLogger("steer_addon").addHandler(Keep(logging.WARNING))

import sys
import numpy as np
from steer_addon.core.compiled import jit
from steer_addon.core.agents import make_agents
from steer_addon.core.geometry.meshes import Mesh
from steer_addon.core.crowd.presets import load_preset
from steer_addon.core.step.simulation import Simulation
from steer_addon.core.inputs.world import make_world

def quad(a, b, c, d):
    return [[a, b, c], [a, c, d]]

def block(x, y, size):
    low, high = -1.0, 2.0
    ring = [(x, y), (x + size, y), (x + size, y + size), (x, y + size)]
    sides = [((*ring[i], low), (*ring[i - 3], low), (*ring[i - 3], high), (*ring[i], high))
             for i in range(4)]
    caps = [[(*p, z) for p in ring[::turn]] for z, turn in ((low, -1), (high, 1))]
    return Mesh("block", np.array(sum((quad(*q) for q in (*sides, *caps)), []), np.float32))

hill = Mesh("hill", np.array(
    quad((-9, -9, 0), (9, -9, 1.5), (9, 9, 2), (-9, 9, 0.5)), np.float32))

def positions(preset):
    settings = load_preset(preset).settings
    body = settings.agents
    # close together, so that neighbors count, and some of them before the wall
    n = np.arange(30)
    start = np.stack([n % 6 * 0.45 - 1.5, n // 6 * 0.4 - 1.0, n % 4 * 0.2 + 0.5], axis=1)
    agents = make_agents(
        start, radius=body.radius, mass=body.mass, max_speed=body.max_speed,
        max_force=body.max_force, velocity=np.tile([1.0, 0.3, 0.0], (30, 1)))
    world = make_world(
        targets=[[8, 1, 1], [-8, 2, 1]], colliders=[block(1.6, -2.0, 2.0)], ground=hill)
    simulation = Simulation(settings, agents, frame=1, fps=24.0, world=world)
    spoken = set()
    for _ in range(3):
        simulation.step(world)
        spoken |= {p.key for p in simulation.proposals if p.active.any()}
    # agents that nothing pushed would agree in any case
    assert spoken == {b.key for b in settings.behaviors if b.enabled}, spoken
    assert simulation.off_ground == 0
    return simulation.agents.position

np.save(sys.argv[1], [positions(preset) for preset in ("houdini_vex", "pedestrians")])
status = jit.status()
assert jit.status() is status and jit.known_status() is status
found = status.diagnosis
print(int(status.compiled), len(records), "" if found is None else f"{found.code} {found}")
assert all(record.getMessage() == str(found) for record in records), records
"""


def python(code: str, *arguments: str, path: str = "", **environment: str) -> str:
    """Run code in a process of its own; returns what it wrote to stdout."""
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "STEER_JIT": "1", "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def compiled_positions(tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """Where the agents of the run come to with compiled kernels."""
    pytest.importorskip("numba", reason="numba is not installed: there is nothing to compare with")
    file = tmp_path_factory.mktemp("compiled") / "positions.npy"
    assert python(RUN, str(file)).split() == ["1", "0"]
    return np.load(file)


def check_run(out: str, file: Path, compiled_positions: np.ndarray) -> str:
    """The run was uncompiled, said so once, and came to the same; returns its message."""
    compiled, warnings, message = out.strip().split(" ", 2)
    assert (compiled, warnings) == ("0", "1")
    np.testing.assert_allclose(np.load(file), compiled_positions, rtol=0, atol=1e-5)
    # one sentence
    assert "\n" not in message
    assert ". " not in message
    return message


def test_the_core_imports_without_numba():
    python(BLOCKED + IMPORT_ALL)


def test_missing_numba_is_told_once_and_changes_nothing(tmp_path, compiled_positions):
    file = tmp_path / "positions.npy"
    message = check_run(python(BLOCKED + RUN, str(file)), file, compiled_positions)
    assert message.startswith("NUMBA_MISSING ")
    assert "ModuleNotFoundError" in message


FAILURES = (
    ('raise ImportError("Numba needs NumPy 2.4 or less. Got NumPy 9.0.")', "Got NumPy 9.0"),
    ('raise OSError("libllvmlite.so: cannot open shared object file")', "libllvmlite.so"),
    ("import nothing_of_this_name", "nothing_of_this_name"),
    ("1 / 0", "ZeroDivisionError"),
)


@pytest.mark.parametrize(("failure", "reason"), often(FAILURES, FAILURES[1]))
def test_broken_numba_is_told_once_and_changes_nothing(
    tmp_path, compiled_positions, failure, reason
):
    package = tmp_path / "numba"
    package.mkdir()
    (package / "__init__.py").write_text(failure, encoding="utf-8")
    file = tmp_path / "positions.npy"
    out = python(RUN, str(file), path=str(tmp_path))
    compiled, warnings, message = out.strip().split(" ", 2)
    assert (compiled, warnings) == ("0", "1")
    np.testing.assert_allclose(np.load(file), compiled_positions, rtol=0, atol=1e-5)
    assert reason in message
    assert "\n" not in message


def test_compiling_can_be_switched_off(tmp_path, compiled_positions):
    file = tmp_path / "positions.npy"
    out = python(RUN, str(file), STEER_JIT="0")
    message = check_run(out, file, compiled_positions)
    assert message.startswith("UNCOMPILED ")


def test_a_number_of_threads_that_is_none_is_told_in_one_line():
    code = (
        "import sys; sys.stderr = sys.stdout\n"
        "from steer_addon.core.compiled import jit; print(jit.threads())"
    )
    usual = python(code, STEER_THREADS="").split()
    for text in ("abc", "-3", "1.5"):
        told, count = python(code, STEER_THREADS=text).splitlines()
        assert f"STEER_THREADS is '{text}'" in told
        assert [count] == usual
    for text in ("9" * 5000, "100000"):
        told, count = python(code, STEER_THREADS=text).splitlines()
        assert told.startswith(f"STEER_THREADS is '{text[:30]}") and len(told) < 200
        assert [count] == usual
    assert python(code, STEER_THREADS="3").split() == ["3"]


def test_a_user_without_a_home_compiles_each_time():
    code = (
        "import sys, pathlib; sys.stderr = sys.stdout\n"
        "def home(): raise RuntimeError('Could not determine home directory.')\n"
        "pathlib.Path.home = home\n"
        "from steer_addon.core.compiled import jit; print(jit.status().compiled, jit.cache_root())"
    )
    names = ("STEER_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA")
    told, found = python(code, **dict.fromkeys(names, "")).splitlines()
    assert told == "No folder for kernels can be written to: new ones compile again each time"
    assert found == "True None"
