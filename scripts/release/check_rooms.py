"""Checks beyond ruff and mypy: sizes of files and functions, and types outside kernels.

A file has at most 400 lines and a function 60, its docstring not counted. In `steer_addon/core` and
`steer_addon/farm` every function is annotated in full, except kernels and what is inside them:
mypy cannot make that exception, so it is made here.

Run as `python scripts/release/check_rooms.py`; prints one line per finding and exits with 1 if
there is one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts.release import borrowed  # noqa: E402

FOLDERS = ("steer_addon", "scripts", "tests")
TYPED = ("steer_addon/core", "steer_addon/farm")
FILE_LINES = 400
FUNCTION_LINES = 60
KERNELS = ("kernel", "allocating_kernel", "inlined_kernel", "record_kernel")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_kernel(node: Function) -> bool:
    """Whether a function is decorated as one of KERNELS."""
    names = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(getattr(d, "id", getattr(d, "attr", "")) in KERNELS for d in names)


def functions(node: ast.AST, in_kernel: bool = False) -> Iterator[tuple[Function, bool]]:
    """Every function below a node, with whether it is a kernel or inside one."""
    for child in ast.iter_child_nodes(node):
        inside = in_kernel
        if isinstance(child, Function):
            inside = in_kernel or is_kernel(child)
            yield child, inside
        yield from functions(child, inside)


def untyped(node: Function) -> list[str]:
    """Names of the arguments, and "return", that lack an annotation."""
    spec = node.args
    arguments = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    arguments += [a for a in (spec.vararg, spec.kwarg) if a is not None]
    missing = [a.arg for a in arguments if a.annotation is None and a.arg not in ("self", "cls")]
    return missing + (["return"] if node.returns is None else [])


def length(node: Function) -> int:
    """Lines of a function from `def` on, without its docstring."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def findings(path: Path, root: Path = ROOT) -> Iterator[str]:
    """Findings in one file, a line each."""
    name = path.relative_to(root).as_posix()
    text = path.read_text(encoding="utf-8")
    count = len(text.splitlines())
    if count > FILE_LINES:
        yield f"{name}:1: {count} lines: split the file, {FILE_LINES} are the most"
    typed = name.startswith(TYPED)
    tree = ast.parse(text, name)
    if name.startswith("tests/"):
        yield from borrowed.findings(tree, name, ROOT)
    for node, in_kernel in functions(tree):
        lines = length(node)
        if lines > FUNCTION_LINES:
            yield (
                f"{name}:{node.lineno}: {node.name} has {lines} lines: "
                f"split it, {FUNCTION_LINES} are the most"
            )
        if typed and not in_kernel and (missing := untyped(node)):
            yield f"{name}:{node.lineno}: {node.name} lacks types for {', '.join(missing)}"


def main() -> int:
    """Check the checkout; returns the exit code."""
    paths = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))
    found = [line for path in paths for line in findings(path)]
    for line in found:
        print(line)
    print(f"Rooms: {len(paths)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
