"""Compiled kernels on disk: a changed source file recompiles exactly its users."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest
from toy_package import copy_with_toy, run_in

import steer_addon.core
from steer_addon.core.behaviors import REGISTRY
from steer_addon.core.compiled import jit, jit_sources
from steer_addon.core.compiled.jit_sources import source
from steer_addon.core.numeric import vec

pytestmark = pytest.mark.slow

MODULES = (
    "behaviors.seek",
    "behaviors.flock",
    "behaviors.toy",
    "step.integrate",
    "geometry.neighbors",
)

FILES = f"""
import json
import steer_addon.core.behaviors, steer_addon.core.step.solver
from steer_addon.core.compiled import jit_store
found = {{}}
for name in {MODULES!r}:
    def kernel(): pass
    kernel.__module__ = "steer_addon.core." + name
    found[name] = jit_store.file_name(kernel, ())
print(json.dumps(found))
"""


ALL_LOADED = """
import importlib
import pkgutil
import steer_addon.core
for found in pkgutil.walk_packages(steer_addon.core.__path__, "steer_addon.core."):
    importlib.import_module(found.name)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package whose files may be changed."""
    return copy_with_toy(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def before(copy: Path) -> dict[str, str]:
    """The file of each module's kernels at the start."""
    return files(copy)


def files(copy: Path, first: str = "") -> dict[str, str]:
    """The file of each module's kernels as a new process names it, which does something first."""
    found: dict[str, str] = json.loads(run_in(copy, "-c", first + FILES))
    return found


def test_each_module_has_files_that_stay(copy, before):
    assert len(set(before.values())) == len(MODULES)
    assert files(copy) == before


def test_modules_that_were_used_before_do_not_rename_the_files(copy, before):
    assert files(copy, ALL_LOADED) == before


@pytest.mark.parametrize("name", REGISTRY)
def test_the_parameters_that_a_kernel_reads_count_as_its_source(name):
    cls = REGISTRY[name]
    found = cls.definition.kernel
    loops = found.values() if isinstance(found, Mapping) else [cls().kernel]
    for module in {loop.__module__ for loop in loops}:
        before = jit_sources.digest(module)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                jit_sources, "source", lambda of: "other" if of == cls.__module__ else source(of)
            )
            assert jit_sources.digest(module) != before


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("behaviors/toy.py", {"behaviors.toy"}),
        ("sensing/targeting.py", {"behaviors.seek", "behaviors.flock", "behaviors.toy"}),
        pytest.param("numeric/rng.py", {"behaviors.flock"}, marks=pytest.mark.long),
        pytest.param("geometry/ground.py", {"step.integrate"}, marks=pytest.mark.long),
        pytest.param("numeric/vec.py", set(MODULES), marks=pytest.mark.long),
        # what kernels are called with counts even for modules that do not import it
        ("views.py", set(MODULES)),
        ("crowd/presets.py", set()),
    ],
)
def test_a_changed_file_renames_the_files_of_what_uses_it(copy, before, file, changed):
    path = copy / "steer_addon" / "core" / file
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}\n# another text\n", encoding="utf-8")
    try:
        after = files(copy)
    finally:
        path.write_text(text, encoding="utf-8")
    assert {name for name in MODULES if after[name] != before[name]} == changed


def test_imports_are_found_as_python_reads_them():
    root = steer_addon.core
    for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
        importlib.import_module(found.name)
    names = [name for name in sys.modules if name.startswith(f"{root.__name__}.")]
    assert len(names) > 80
    for name in names:
        # not what was found before more was loaded
        assert set(jit_sources.imports.__wrapped__(name)) == parsed(name), name


def parsed(module: str) -> set[str]:
    """Loaded modules that relative imports of a module name, as its syntax tree tells."""
    loaded = sys.modules[module]
    package = loaded.__name__ if hasattr(loaded, "__path__") else module.rpartition(".")[0]
    found = set()
    for node in ast.parse(jit_sources.source(module)).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
            base = f"{base}.{node.module}" if node.module else base
            found |= {base, *(f"{base}.{name.name}" for name in node.names)}
    return found & sys.modules.keys()


def test_numba_keeps_the_folder_that_others_have_chosen(monkeypatch):
    if not jit.status().compiled:
        pytest.skip(jit.status().message)
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "of another add-on")
    made = jit.Kernel(vec.length.function).target()
    assert made((3.0, 4.0, 0.0)) == 5.0
    assert numba.config.CACHE_DIR == "of another add-on"
    assert str(jit.cache_root()) in made.stats.cache_path


def test_a_kernel_of_a_script_has_a_folder_too(monkeypatch, tmp_path):
    file = tmp_path / "a_script.py"
    file.write_text("x = 1\n", encoding="utf-8")
    script = ModuleType("a_script")
    script.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "a_script", script)
    assert len(jit_sources.digest("a_script")) == 16
