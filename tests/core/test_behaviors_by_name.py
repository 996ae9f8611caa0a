"""Nothing outside of behaviors/ knows a behavior by type or class: it asks what one declares."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from steer_addon.core import behaviors
from steer_addon.core.behaviors import REGISTRY

PACKAGE = Path(behaviors.__file__).resolve().parents[2]
ROOMS = Path(behaviors.__file__).resolve().parent

TYPES = set(REGISTRY)
CLASSES = {cls.__name__ for cls in REGISTRY.values()}

OTHER_WORDS = {"alignment", "hide", "seek"}
"""Types that are also attributes of what is Blender's, and of files."""

ALLOWED = {
    "blender/making/demos": "a scene to learn from says which behaviors are in it, as users do",
    "blender/making/starters.py": "what stands around a new crowd, by what it does",
    "blender/crowd/crowds.py": "what a new crowd does before anybody chose a preset",
    "blender/display/nested_group.py": "Blender's option `hide` of a socket",
}
"""Files and folders that may name behaviors, and why."""


def texts_of_docs(tree: ast.AST) -> set[ast.expr]:
    """Texts that stand alone: docstrings, and those below constants."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def named(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Behaviors that code names, each with its line."""
    docs = texts_of_docs(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in docs and node.value in TYPES:
            yield node.lineno, str(node.value)
        elif isinstance(node, ast.Name) and node.id in CLASSES:
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and node.attr in CLASSES | (TYPES - OTHER_WORDS):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and "behaviors" in (node.module or "").split("."):
            inside = (node.module or "").split("behaviors", 1)[1].strip(".")
            if inside and node.level and "operators" not in (node.module or ""):
                yield node.lineno, inside
            for name in node.names:
                if name.name in CLASSES | TYPES:
                    yield node.lineno, name.name


def is_allowed(path: Path) -> bool:
    """Whether a file may name behaviors."""
    relative = path.relative_to(PACKAGE)
    return any(relative.is_relative_to(place) for place in ALLOWED)


def files() -> list[Path]:
    """All files outside of behaviors/, without the exempt ones."""
    return [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.is_relative_to(ROOMS) and not is_allowed(path)
    ]


def test_files_outside_name_no_behavior():
    found = []
    # to walk through all files takes several times as long
    telling = re.compile("|".join(["behaviors", *CLASSES, *TYPES]))
    for path in files():
        text = path.read_text(encoding="utf-8")
        for line, name in named(ast.parse(text)) if telling.search(text) else ():
            found.append(f"{path.relative_to(PACKAGE)}:{line}: {name}")
    assert not found, found
    assert len(files()) > 150


@pytest.mark.parametrize(
    "code",
    [
        'if entry.type == "wander": pass',
        "isinstance(entry, FollowPath)",
        "follow_path.FollowPath()",
        "from ..behaviors.follow_path import ends_kernel",
        "from ..behaviors import arrive",
        "entry.containment.shape",
        '{"wander": 1}',
    ],
)
def test_a_name_is_found_however_it_is_written(code):
    assert list(named(ast.parse(code)))


def test_behaviors_has_nothing_but_behaviors():
    """Every file registers one; packages hold parts of theirs."""
    modules = {cls.__module__ for cls in REGISTRY.values()}
    for path in sorted(ROOMS.iterdir()):
        if path.suffix == ".py" and path.name != "__init__.py":
            assert f"{behaviors.__name__}.{path.stem}" in modules, path.name
        if path.is_dir() and path.name != "__pycache__":
            inside = f"{behaviors.__name__}.{path.name}."
            assert any(name.startswith(inside) for name in modules), path.name
