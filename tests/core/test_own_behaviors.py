"""Behaviors of users: loaded from folders that they name, beside those of Steer."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from own_files import BROKEN, ROOT, example, folder_with_example, run, steer

from tests.often import often

STEPS = """
import json
import numpy as np
from steer_addon.core.agents import make_agents
from steer_addon.core.compiled import jit
from steer_addon.core.crowd.settings import CrowdSettings
from steer_addon.core.inputs.world import make_world
from steer_addon.core.step.simulation import Simulation

def settings(**beat):
    # the velocity is the sum of what all behaviors want, at once
    return CrowdSettings.from_dict({
        "solver": {"solver": "VEX", "acc_weight": 1.0, "substeps": SUBSTEPS},
        "behaviors": [{"type": "seek"}, {"type": "follow_beat", **beat}]})

def speeds(frames, **beat):
    points = np.zeros((40, 3))
    points[:, 1] = np.arange(40)
    agents = make_agents(points, radius=0.1, mass=1, max_speed=1.4, max_force=10)
    run = Simulation(settings(**beat), agents, frame=1, fps=24)
    world = make_world(targets=[[1e5, 0, 0]])
    return [np.linalg.norm(run.step(world).velocity, axis=1).tolist() for _ in range(frames)]
"""

BEAT = """
print(json.dumps([jit.status().compiled, speeds(30, tempo=90.0, depth=0.4),
                  speeds(30, tempo=90.0, depth=0.4, spread=1.0)]))
"""


def cosine(substeps: int, phase: float = 0.0) -> np.ndarray:
    """The speeds that a beat of 90 per minute asks for, of each frame the last substep."""
    time = (np.arange(30) * substeps + substeps - 1) / (24.0 * substeps)
    return 1.4 * (1.0 + 0.4 * np.cos(2.0 * np.pi * (1.5 * time + phase)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the example."""
    return folder_with_example(tmp_path / "mine")


def test_the_example_is_about_forty_lines_long():
    assert 35 <= len(example().splitlines()) <= 55


@pytest.mark.slow
@pytest.mark.parametrize(
    ("compiled", "substeps"), often([("0", 1), ("0", 3), ("1", 1)], ("0", 3), ("1", 1))
)
def test_the_example_follows_the_beat(folder, compiled, substeps):
    if compiled == "1":
        pytest.importorskip("numba")
    code = f"SUBSTEPS = {substeps}\n{STEPS}{BEAT}"
    jitted, together, spread = json.loads(run(code, str(folder), STEER_JIT=compiled))
    assert jitted == (compiled == "1")
    expected = cosine(substeps)
    np.testing.assert_allclose(together, np.repeat(expected[:, None], 40, axis=1), rtol=1e-5)
    # each agent keeps a phase of its own
    spread = np.array(spread)
    phases = np.linspace(0.0, 1.0, 2001)
    curves = np.stack([cosine(substeps, phase) for phase in phases])
    errors = np.abs(spread.T[:, None, :] - curves[None]).max(axis=2)
    assert errors.min(axis=1).max() < 0.005
    found = phases[errors.argmin(axis=1)]
    assert found.min() < 0.2 and found.max() > 0.8


MISSING = """
from steer_addon.core.errors import KernelsMissingError
from steer_addon.core.warmup.processes import Compilation, Need
import time
told = settings().to_dict()
work = Compilation(Need(told))
try:
    with jit.deferring():
        speeds(1)
except KernelsMissingError:
    pass
else:
    raise AssertionError("nothing was missing")
work.start(processes=1)
while work.state().running:
    time.sleep(0.05)
assert not work.state().failure, work.state()
work.stop()
with jit.deferring():
    print(len(speeds(2)))
"""


@pytest.mark.slow
def test_other_processes_compile_what_is_loaded_by_name(folder, tmp_path):
    pytest.importorskip("numba")
    # named while it runs, as the preferences do
    begin = "from steer_addon.core import behaviors, own_behaviors\n"
    begin += f"own_behaviors.load([{str(folder)!r}])\nSUBSTEPS = 1\n"
    # all kernels that are there, but for those of the example
    known, own = Path(os.environ["STEER_CACHE_DIR"]) / "kernels", tmp_path / "cache" / "kernels"
    if known.is_dir():
        shutil.copytree(
            known, own, ignore=shutil.ignore_patterns("follow_beat*", ".*", "*.partial")
        )
    cache = {"STEER_CACHE_DIR": str(own.parent), "STEER_THREADS": "1"}
    assert run(begin + STEPS + MISSING, "", **cache).split() == ["2"]


def test_commands_know_it(folder):
    listed, told = steer("behaviors", folders=str(folder))
    (found,) = [entry for entry in listed["behaviors"] if entry["type"] == "follow_beat"]
    assert found["label"] == "Follow Beat"
    assert {"tempo", "depth", "spread", "weight"} <= {p["name"] for p in found["parameters"]}
    assert "warnings" not in listed and not told


def test_no_folder_is_scanned_unless_one_is_named():
    code = """
import os, sys
seen = []
looks = ("os.listdir", "os.scandir")
sys.addaudithook(lambda event, args: seen.append(args[0]) if event in looks else None)
from steer_addon.core import own_behaviors, behaviors
assert own_behaviors.loaded() == {} and own_behaviors.loaded_folders() == []
print(json.dumps([str(path) for path in seen if "own_behaviors" in str(path)]))
"""
    assert json.loads(run("import json" + code, "")) == []


def test_a_broken_file_is_a_sentence_with_its_line_and_the_others_load(folder):
    for name, (text, _, _) in BROKEN.items():
        (folder / name).write_text(text, encoding="utf-8")
    listed, told = steer("behaviors", folders=str(folder))
    assert len(listed["warnings"]) == len(BROKEN) and "Traceback" not in told
    for name, (_, line, word) in BROKEN.items():
        place = f"{folder / name}, line {line}: " if line else f"{folder / name}: "
        (warning,) = (one for one in listed["warnings"] if one.startswith(place))
        assert word in warning and warning in told
    types = [entry["type"] for entry in listed["behaviors"]]
    assert "follow_beat" in types and not any(kind.startswith("wrong") for kind in types)
    assert types.count("seek") == 1


def test_folders_share_names_only_once(folder, tmp_path):
    other = folder_with_example(tmp_path / "other")
    listed, _ = steer("behaviors", folders=f"{folder}{os.pathsep}{other}")
    (warning,) = listed["warnings"]
    assert warning.startswith(str(other)) and str(folder) in warning
    assert [e["type"] for e in listed["behaviors"]].count("follow_beat") == 1


def test_folders_that_are_not_the_users_are_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(ROOT / "docs", target_is_directory=True)
    refused = {
        "//behaviors": "absolute",
        "behaviors": "absolute",
        "/no/such/folder": "no such folder",
        str(ROOT / "docs"): "inside of Steer",
        str(ROOT / "steer_addon" / "core" / "behaviors"): "inside of Steer",
        str(link): "inside of Steer",
    }
    listed, told = steer("behaviors", folders=os.pathsep.join(refused))
    assert len(listed["warnings"]) == len(refused)
    for warning, word in zip(listed["warnings"], refused.values(), strict=True):
        assert word in warning and warning in told


AGAIN = """
import pathlib
from steer_addon.core import behaviors, own_behaviors
from steer_addon.core.compiled import jit_sources
from steer_addon.core.sensing.declare import REGISTRY
folder = pathlib.Path(FOLDER)
first = REGISTRY["follow_beat"]
digest = jit_sources.digest(first.__module__)
text = (folder / "follow_beat.py").read_text(encoding="utf-8")
(folder / "follow_beat.py").write_text(text.replace("0.3, min", "0.25, min"), encoding="utf-8")
(folder / "_helper.py").write_text("VALUE = 7", encoding="utf-8")
(folder / "uses_helper.py").write_text("from ._helper import VALUE\\nassert VALUE == 7\\n")
own_behaviors.load(own_behaviors.loaded_folders())
assert own_behaviors.faults() == []
assert (first().depth, REGISTRY["follow_beat"]().depth) == (0.3, 0.25)
assert jit_sources.digest(first.__module__) != digest
own_behaviors.load([])
assert own_behaviors.loaded() == {} and "follow_beat" not in REGISTRY and "seek" in REGISTRY
print("done")
"""


def test_loading_again_takes_what_the_files_are_now(folder):
    assert run(f"FOLDER = {str(folder)!r}\n{AGAIN}", str(folder)).split() == ["done"]


FAILS = """
from steer_addon.core.errors import BehaviorFileError
try:
    speeds(1)
except BehaviorFileError as error:
    print(json.dumps([str(error.path), error.line, str(error)]))
"""


@pytest.mark.parametrize("compiled", ["0", "1"])
def test_a_kernel_that_fails_names_its_file(folder, compiled):
    if compiled == "1":
        pytest.importorskip("numba")
    path = folder / "follow_beat.py"
    text = path.read_text(encoding="utf-8")
    wrong = text.replace("scale(load(agents.desired, i), gain)", "agents.nothing")
    path.write_text(wrong, encoding="utf-8")
    code = f"SUBSTEPS = 1\n{STEPS}{FAILS}"
    where, line, sentence = json.loads(run(code, str(folder), STEER_JIT=compiled))
    assert where == str(path)
    assert "agents.nothing" in wrong.splitlines()[line - 1]
    assert sentence.startswith(f"{path}, line {line}: ") and "nothing" in sentence


def test_a_preset_with_a_behavior_that_is_not_there_says_so(folder):
    code = f"SUBSTEPS = 1\n{STEPS}" + (
        "from steer_addon.core.errors import ParameterError\n"
        "try:\n    settings()\nexcept ParameterError as error:\n    print(error)\n"
    )
    shutil.rmtree(folder)
    assert "behavior type 'follow_beat' is unknown" in run(code, "", STEER_JIT="0")


def test_a_kernel_of_steer_serves_a_behavior_of_a_user(tmp_path):
    (tmp_path / "gentle.py").write_text(
        "from ..api import PUSH, behavior\n"
        "from ..behaviors.avoid_neighbors import AvoidNeighbors\n"
        "@behavior(label='Gentle', output=PUSH, kernel=AvoidNeighbors.definition.kernel)\n"
        "class GentleAvoidance(AvoidNeighbors):\n    'Avoid neighbors from farther away'\n",
        encoding="utf-8",
    )
    code = (
        "from steer_addon.core import own_behaviors\n"
        "from steer_addon.core.behaviors import REGISTRY\n"
        "print(own_behaviors.faults(), REGISTRY['gentle_avoidance']().kernel.__name__)"
    )
    assert run(code, str(tmp_path)).split() == ["[]", "avoid_neighbors_kernel"]
