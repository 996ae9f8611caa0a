"""`steer compile`: all kernels in one folder, or an exit code that says that they are not."""

from __future__ import annotations

import ast
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import steer_addon.core
from steer_addon.core.compiled import jit

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not jit.status().compiled, reason="needs numba"),
]

ONE = """
import sys
from steer_addon import process, run_command
from steer_addon.core.numeric import vec
from steer_addon.core.warmup import everything
everything.run_everything = lambda: vec.length((1.0, 2.0, 3.0))
process.run(run_command)
"""
"""The command with one kernel in place of all."""

CHOSEN = """
import sys
from pathlib import Path
from steer_addon.core.files import cache_folder
cache_folder.choose(Path(sys.argv.pop(1)))
""" + ONE.replace("run_everything = lambda:", "run_for = lambda _:")
"""The same with a folder in place of the user's, as an extension of Blender has one."""

ALONE = ONE.replace(
    "process.run",
    """
from steer_addon.commands import compile
compile._compile = lambda calls, _: [k.target().compile(types) for k, types in calls] and ""
process.run""",
)
"""The same without a process of its own for what is compiled."""

RECORDS = {"steer_addon.core.sensing.path_places:line_of"}
"""Kernels that Python runs uncompiled."""

ALL = """
import json
from functools import cache
from steer_addon.core.compiled import jit
from steer_addon.core.warmup import dry_run, everything
# to make it a thousand times takes as long as all else
dry_run.tiny_world = everything.tiny_world = cache(dry_run.tiny_world)
known, records, made = set(), set(), {}
def note(kernel, *values):
    if kernel not in made:
        made[kernel] = kernel._compile()
    found = made[kernel](*values)
    name = f"{kernel.__module__}:{kernel.__name__}"
    known.add(name)
    held = found if type(found) is tuple else ()
    if any(hasattr(value, "_fields") for value in (found, *held)):
        records.add(name)
    return found
with jit.recording(note):
    everything.run_everything()
print(json.dumps([sorted(known), sorted(records)]))
"""
"""All kernels that Python calls; compiled they take a third of the time."""


def run(
    *words: str, code: str = ONE, before: tuple[str, ...] = (), **environment: str
) -> tuple[int, dict[str, object], str]:
    """Exit code, JSON and stderr of the command."""
    done = subprocess.run(
        [sys.executable, "-c", code, *before, "compile", *words, "--json"],
        cwd=ROOT,
        env={**os.environ, "STEER_JIT": "1", "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout.splitlines()[-1]), done.stderr


def test_a_folder_is_filled_once(tmp_path):
    folder = tmp_path / "farm"
    code, told, _ = run("--into", str(folder))
    assert (code, told["complete"], told["kernels"], told["compiled"]) == (0, True, 1, 1)
    (file,) = told["files"]
    assert (folder / "kernels" / file).is_file() and file.startswith(f"{told['target']}/")
    # one that was cut off would compile in each process of a farm
    os.truncate(folder / "kernels" / file, 1000)
    assert run("--into", str(folder), code=ALONE)[1]["compiled"] == 1
    code, told, _ = run("--into", str(folder))
    assert (code, told["compiled"], told["files"]) == (0, 0, [file])


def test_the_folder_of_an_extension_is_filled_and_looked_into(tmp_path):
    book, chosen = tmp_path / "batch.json", tmp_path / "chosen"
    book.write_text('{"settings": []}', encoding="utf-8")
    users = {"STEER_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path / "users")}
    code, told, _ = run("--for", str(book), code=CHOSEN, before=(str(chosen),), **users)
    assert (code, told.get("compiled"), told.get("error")) == (0, 1, None)
    assert (chosen / "kernels" / told["files"][0]).is_file()
    assert not (tmp_path / "users").exists()


def test_what_cannot_be_filled_is_said(tmp_path):
    (tmp_path / "farm").write_text("a file", encoding="utf-8")
    code, told, _ = run("--into", str(tmp_path / "farm"))
    assert code == 1 and "cannot be written" in told["error"]
    code, told, _ = run("--into", str(tmp_path / "other"), STEER_JIT="0")
    assert code == 1 and "STEER_JIT=0" in told["error"]
    assert not (tmp_path / "other").exists()


def test_another_processor_is_told(tmp_path):
    code, told, _ = run("--into", str(tmp_path), code=ALONE, NUMBA_CPU_NAME="nocona")
    assert code == 0 and "nocona" in told["target"]
    assert [found["code"] for found in told["diagnoses"]] == ["KERNELS_FOR_THIS_PROCESSOR"]


def test_every_kernel_that_python_calls_is_among_them():
    done = subprocess.run(
        [sys.executable, "-c", ALL], cwd=ROOT, capture_output=True, text=True, check=True
    )
    known, records = json.loads(done.stdout.splitlines()[-1])
    assert called_by_python() - {*known} == RECORDS
    # code that makes objects of our own classes would serve one installation only
    assert records == []


def called_by_python() -> set[str]:
    """Kernels whose names stand in functions that are none themselves."""
    found = set()
    for module in pkgutil.walk_packages(steer_addon.core.__path__, "steer_addon.core."):
        names = vars(importlib.import_module(module.name))
        tree = ast.parse(Path(names["__file__"]).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and not is_kernel(names.get(node.name)):
                inner = list(ast.walk(node))
                # of a kernel only its plain function is taken
                plain = {id(one.value) for one in inner if isinstance(one, ast.Attribute)}
                used = [named(names, one) for one in inner if id(one) not in plain]
                found |= {f"{k.__module__}:{k.__name__}" for k in filter(is_kernel, used)}
    return found


def named(names: dict[str, object], node: ast.AST) -> object:
    """The object of a module that `name` or `module.name` stands for; None for any other node."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return getattr(names.get(node.value.id), node.attr, None)
    return names.get(node.id) if isinstance(node, ast.Name) else None


def is_kernel(value: object) -> bool:
    """Whether it is one."""
    return isinstance(value, jit.Kernel)
