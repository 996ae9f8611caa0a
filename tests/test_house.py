"""The plan of the house: which floor may import which, drawn from the source text.

`lint-imports` holds the layers of pyproject.toml against the same files; what it does not see is
tested here: circles within a floor, imports inside of functions, names of modules in strings.
"""

from __future__ import annotations

import ast
import gc
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "steer_addon"
MOST_FILES = 20
LARGE = {"steer_addon/core/behaviors"}
"""Folders that grow with what Steer can do: a file for each behavior."""
DOORS = {
    # Blender imports this package to ask what it is; `register` is when it is to be enabled
    "steer_addon/__init__.py",
    # some builds of Blender have no USD
    "steer_addon/blender/writing/usd_points.py",
}
"""The only files that import inside of functions."""


def name_of(path: Path) -> str:
    """Name of the module in a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def trees() -> dict[str, tuple[Path, ast.Module]]:
    """File and syntax tree of every module."""
    paths = sorted(PACKAGE.rglob("*.py"))
    # trees hold a million objects, and Python would look for circles among them again and again
    gc.disable()
    try:
        return {name_of(p): (p, ast.parse(p.read_text(encoding="utf-8"))) for p in paths}
    finally:
        gc.enable()


def package_of(module: str) -> str:
    """The package that a module lies in, or is."""
    path, _ = trees()[module]
    return module if path.name == "__init__.py" else module.rpartition(".")[0]


def targets(module: str, node: ast.AST) -> Iterator[str]:
    """Modules of this package that a statement imports, or lets wait behind a door."""
    if isinstance(node, ast.ImportFrom):
        package = package_of(module)
        base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
        base = ".".join(filter(None, (base if node.level else "", node.module)))
        for alias in node.names:
            full = f"{base}.{alias.name}"
            yield full if full in trees() else base
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load_on_use":
        for name in node.args[1:]:
            assert isinstance(name, ast.Constant)
            yield f"{package_of(module)}.{name.value}"


@cache
def graph() -> dict[str, set[str]]:
    """Imports of each module, anywhere in its text and for any purpose."""
    found = {}
    for module, (_, tree) in trees().items():
        named = {name for node in ast.walk(tree) for name in targets(module, node)}
        found[module] = {name for name in named if name.startswith("steer_addon")} - {module}
    return found


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules each of which imports itself through the others."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for name in arrows.get(waiting.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return seen

    reached = {name: reach(name) for name in arrows}
    rings = {
        tuple(sorted({name, *(o for o in reached[name] if name in reached.get(o, ()))}))
        for name in arrows
        if name in reached[name]
    }
    return [list(ring) for ring in sorted(rings)]


def layers(container: str) -> list[str]:
    """Rooms of a package from the ground up, as its contract in pyproject.toml has them."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        c
        for c in data["tool"]["importlinter"]["contracts"]
        if c["type"] == "layers" and c["containers"] == [container]
    )
    return list(reversed(contract["layers"]))


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert circles({"a": {"b"}, "b": set()}) == []


def test_the_graph_is_drawn():
    arrows = graph()
    assert len(arrows) > 200 and sum(map(len, arrows.values())) > 1000
    assert "steer_addon.core.compiled.jit" in arrows["steer_addon.core.behaviors.seek"]
    # through a door, and in a function
    assert "steer_addon.blender.bake.cached" in arrows["steer_addon.blender.bake"]
    assert "steer_addon.blender.registration" in arrows["steer_addon"]
    for module, named in arrows.items():
        assert named <= arrows.keys(), module


def test_no_modules_import_each_other():
    assert circles(graph()) == []


@pytest.mark.parametrize("container", ["steer_addon.core", "steer_addon.blender"])
def test_no_floor_imports_a_higher_one(container):
    order = layers(container)
    inside = f"{container}."
    rooms = {name.removeprefix(inside).split(".")[0] for name in graph() if name.startswith(inside)}
    assert set(order) == rooms and len(order) == len(rooms)

    def floor(name: str) -> int:
        return order.index(name.removeprefix(inside).split(".")[0])

    up = [
        f"{name} -> {other}"
        for name, named in graph().items()
        for other in named
        if name.startswith(inside) and other.startswith(inside) and floor(name) < floor(other)
    ]
    assert up == []


def test_no_folder_is_crowded():
    count = Counter(path.parent.relative_to(ROOT).as_posix() for path, _ in trees().values())
    assert [name for name, files in count.items() if files > MOST_FILES and name not in LARGE] == []


def inner_imports(tree: ast.Module) -> set[int]:
    """Lines of imports inside of functions."""
    functions = [
        n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    inside = (node for function in functions for node in ast.walk(function))
    return {node.lineno for node in inside if isinstance(node, (ast.Import, ast.ImportFrom))}


def test_imports_stand_at_the_top_of_files():
    found = {
        path.relative_to(ROOT).as_posix() for path, tree in trees().values() if inner_imports(tree)
    }
    assert found == DOORS


def test_only_one_folder_knows_numba():
    """Also as a string: what is imported by name is imported all the same."""
    said = re.compile(r"(numba|llvmlite)(\.|$)")
    found = set()
    for path, tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                named = isinstance(node.value, str) and said.match(node.value)
            elif isinstance(node, ast.Import):
                named = any(said.match(alias.name) for alias in node.names)
            else:
                named = isinstance(node, ast.ImportFrom) and said.match(node.module or "")
            if named:
                found.add(path.parent.relative_to(PACKAGE).as_posix())
    assert found == {"core/compiled"}
