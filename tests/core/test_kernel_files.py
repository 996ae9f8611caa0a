"""Files of compiled kernels: for any machine, any name of the package, whole or not at all."""

from __future__ import annotations

import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from steer_addon.core.compiled import jit, jit_store
from steer_addon.core.files import cache_folder
from tests.often import often

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not jit.status().compiled, reason="needs numba")

CALL = """
import importlib, json, sys
part = lambda name: importlib.import_module(sys.argv[1] + ".core." + name)
jit, vec, store = part("compiled.jit"), part("numeric.vec"), part("compiled.jit_store")
jit.status()
from numba.core import event
compiled = []
class Watch(event.Listener):
    def on_start(self, event): compiled.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event): pass
event.register("numba:compile", Watch())
arguments = ((3.0, 4.0, 0.0),)
answer = vec.length(*arguments)
name = jit.file_name(vec.length, jit.types_of(vec.length, arguments))
print(json.dumps([answer, compiled, name]))
"""
"""Calls a kernel; says which were compiled, and in which file that one is."""


def call(tree: Path, package: str, **environment: str) -> tuple[float, list[str], str]:
    """The answer of a process of its own, with the package found in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", CALL, package],
        cwd=tree,
        env={**os.environ, "STEER_JIT": "1", "PYTHONPATH": str(tree), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer, compiled, name = json.loads(done.stdout.splitlines()[-1])
    return answer, compiled, name


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder for STEER_CACHE_DIR that holds one kernel, and the name of its file."""
    folder = tmp_path_factory.mktemp("of a machine")
    answer, compiled, name = call(ROOT, "steer_addon", STEER_CACHE_DIR=str(folder))
    assert answer == 5.0 and compiled[0] == "length"
    assert (folder / "kernels" / name).is_file()
    return folder, name


@pytest.fixture
def kernels(made: tuple[Path, str]) -> Path:
    """A folder for STEER_CACHE_DIR that holds one kernel."""
    return made[0]


@pytest.mark.slow
def test_a_package_of_another_name_reads_the_same_files(kernels: Path, tmp_path: Path) -> None:
    package = tmp_path / "tree" / "bl_ext" / "somebody" / "steer" / "steer_addon"
    shutil.copytree(ROOT / "steer_addon", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package.parent / "__init__.py").write_text("", encoding="utf-8")
    name = "bl_ext.somebody.steer.steer_addon"
    assert call(tmp_path / "tree", name, STEER_CACHE_DIR=str(kernels))[:2] == (5.0, [])
    # what the package brings along needs no variable
    shutil.copytree(kernels / "kernels", package / "kernels")
    assert call(tmp_path / "tree", name, STEER_CACHE_DIR=str(tmp_path / "new"))[:2] == (5.0, [])
    assert not list((tmp_path / "new").rglob("length*"))


@pytest.mark.slow
@pytest.mark.parametrize("empty", often([False, True], False))
def test_a_file_that_is_cut_off_is_compiled_again(kernels: Path, empty: bool) -> None:
    (file,) = kernels.rglob("length-*")
    whole = file.read_bytes()
    file.write_bytes(b"" if empty else whole[:-1] + bytes([whole[-1] ^ 1]))
    answer, compiled, _ = call(ROOT, "steer_addon", STEER_CACHE_DIR=str(kernels))
    assert (answer, compiled[0]) == (5.0, "length")
    assert call(ROOT, "steer_addon", STEER_CACHE_DIR=str(kernels))[:2] == (5.0, [])


def test_a_shared_folder_need_not_be_writable(monkeypatch, tmp_path: Path) -> None:
    shared, own = tmp_path / "shared", tmp_path / "own"
    monkeypatch.setenv("STEER_CACHE_DIR", str(shared))
    monkeypatch.setattr(cache_folder, "_users", [own])
    found = jit_store.find_places()
    assert (found.read, found.write) == ([jit_store.SHIPPED, shared / "kernels"], found.read[1])
    monkeypatch.setattr(jit_store, "_can_write", lambda folder: folder.parent == own)
    found = jit_store.find_places()
    assert found.read == [jit_store.SHIPPED, shared / "kernels", own / "kernels"]
    assert found.write == own / "kernels"


@pytest.mark.slow
def test_another_processor_has_files_of_its_own(made: tuple[Path, str]) -> None:
    kernels, usual = made
    surroundings = {"STEER_CACHE_DIR": str(kernels), "NUMBA_CPU_NAME": "nocona"}
    answer, compiled, name = call(ROOT, "steer_addon", **surroundings)
    assert (answer, compiled[0]) == (5.0, "length")
    assert name.partition("/")[0] != usual.partition("/")[0] and "nocona" in name


def test_numba_compiles_for_others_as_it_does() -> None:
    numba = pytest.importorskip("numba")
    from numba.core.registry import cpu_target

    from steer_addon.core.compiled import jit_target
    from steer_addon.core.numeric import vec

    vec.length((1.0, 2.0, 3.0))

    @numba.njit
    def twice(x):
        return 2.0 * x

    assert twice(3.0) == 6.0
    own = twice.targetctx.codegen()
    assert own is cpu_target.target_context.codegen()
    assert own.magic_tuple()[1] == own._get_host_cpu_name()
    if jit_target.level():
        ours = vec.length.target().targetctx.codegen()
        assert ours is not own and ours.magic_tuple()[1] == jit_target.level()


def test_settings_of_numba_have_files_of_their_own() -> None:
    code = "from steer_addon.core.compiled import jit_target; print(jit_target.name())"
    settings: tuple[dict[str, str], ...] = (
        {},
        {"NUMBA_CPU_FEATURES": "-avx2"},
        {"NUMBA_ENABLE_AVX": "0"},
        {"NUMBA_OPT": "0"},
        {"NUMBA_BOUNDSCHECK": "1"},
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more in settings
    ]
    assert told[0] not in told[1:]


READS = """
import sys
from crowdtools import crowd, simulation
from steer_addon.core.compiled import jit_store
from steer_addon.core.inputs.world import make_world
from toy_behaviors import Circling
asked, load = [], jit_store.Store.load_overload
def counted(self, *rest):
    asked.append(self.function.__name__)
    return load(self, *rest)
jit_store.Store.load_overload = counted
simulated = simulation(crowd(Circling(rate=1.0), motion="FLY"), [[0, 0, 0]], [[1, 0, 0]])
for _ in range(5):
    simulated.step(make_world())
print(asked.count("circling_kernel"))
"""
"""Counts how often a kernel of a behavior that is not registered is looked for on the disk."""


@pytest.mark.slow
def test_a_kernel_of_a_behavior_that_is_not_registered_is_read_once() -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "core")])
    # the first process may have to compile it
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", READS],
            env={**os.environ, "STEER_JIT": "1", "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert int(done.stdout.splitlines()[-1]) == 1


def test_a_file_for_another_class_of_the_same_name_is_not_taken(tmp_path: Path) -> None:
    numba = pytest.importorskip("numba")
    one, other = (collections.namedtuple("Params", "x") for _ in range(2))

    def kernel(p):
        return p.x

    compiled = numba.njit(kernel)
    assert compiled(one(3.0)) == 3.0
    (types,) = compiled.overloads
    store = jit_store.Store(kernel, jit_store.place(tmp_path))
    store.save_overload(types, compiled.overloads[types])
    target = compiled.targetctx
    assert store.load_overload(types, target).signature.args == types
    assert store.load_overload((numba.typeof(other(3.0)),), target) is None


def test_named_tuples_are_records() -> None:
    numba = pytest.importorskip("numba")
    same = collections.namedtuple("same", "x y")
    mixed = collections.namedtuple("mixed", "x y")
    makes = [same(1.0, 2.0), mixed(1, 2.0), (1.0, same(1.0, 2.0))]
    assert [jit_store.makes_records(numba.typeof(value)) for value in makes] == [True] * 3
    plain = [1.0, (1.0, 2.0), (1, 2.0), np.zeros(3)]
    assert not any(jit_store.makes_records(numba.typeof(value)) for value in plain)
