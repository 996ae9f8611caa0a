"""Find tests that take a number from the program and check it with itself.

A test that expects `BANKING_TIME` passes with any value of it. So tests write their numbers down:
no test uses a constant of the program that is a number with a fraction, and none compares with a
whole number of the program in an `assert`. Whole numbers that size or choose the input are allowed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PROGRAM = ("steer_addon", "scripts")


def findings(tree: ast.Module, name: str, root: Path) -> Iterator[str]:
    """Borrowed numbers in a test file, a line each.

    Args:
        tree: The file.
        name: Its name in findings.
        root: The checkout.
    """
    modules, numbers = _imported(tree, root)
    asserts = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    asserted = {part for node in asserts for part in _compared(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr):
            continue
        value, text = None, ""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            value, text = numbers.get(node.id), node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            file, text = modules.get(node.value.id), f"{node.value.id}.{node.attr}"
            value = _number(file, node.attr) if file and node.attr.isupper() else None
        if isinstance(value, float) or (value is not None and node in asserted):
            yield f"{name}:{node.lineno}: {text} checks itself: write {value:g} into the test"


def _compared(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of an assertion, without arguments of function calls."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) == "pytest.approx":
            yield from _compared(child)


def _imported(
    tree: ast.Module, root: Path
) -> tuple[dict[str, Path], dict[str, int | float | None]]:
    """Modules and numbers of the program that a file imports, by their names in the file."""
    modules: dict[str, Path] = {}
    numbers: dict[str, int | float | None] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] not in PROGRAM:
            continue
        folder = root.joinpath(*(node.module or "").split("."))
        for alias in node.names:
            called = alias.asname or alias.name
            if (file := _file(folder / alias.name)) is not None:
                modules[called] = file
            elif alias.name.isupper() and (file := _file(folder)) is not None:
                numbers[called] = _number(file, alias.name)
    return modules, numbers


def _file(path: Path) -> Path | None:
    """The file of a module or package."""
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def _number(file: Path, name: str) -> int | float | None:
    """The value of a constant that is a number, else None."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return _value(getattr(node, "value", None))
    return None


def _value(node: ast.AST | None) -> int | float | None:
    """Value of arithmetic with numbers only; None for all other expressions."""
    if isinstance(node, ast.Constant):
        value = node.value
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Pow):
            return float(left**right)
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
    return None
