"""Arguments of kernels: kernel_arguments.toml has the type and shape of each, by its name.

Kernels carry no annotations: most of them take a dozen arguments of the same few meanings, which
one table says once. This script holds the table against the source: every argument of every kernel
has a row, and every row has an argument. tests/core/test_kernel_arguments.py holds it against what
kernels are really given.

Run as `python scripts/release/kernel_arguments.py`; prints one line per finding and exits with 1
if there is one.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from scripts.release.check_rooms import ROOT, functions, is_kernel

TABLE = Path(__file__).with_name("kernel_arguments.toml")
CORE = ROOT / "steer_addon" / "core"
SCALARS: dict[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "int": (int, np.integer, bool, np.bool_),
    "float": (float, np.floating, int, np.integer, bool, np.bool_),
}
"""Python's and NumPy's types of a number; one that is exact counts as a float too."""
DTYPES = {
    "F32": ("float32",),
    "F64": ("float64",),
    "F": ("float32", "float64"),
    "I32": ("int32",),
    "I64": ("int64",),
    "I": ("int32", "int64"),
    "I8": ("int8",),
    "I16": ("int16",),
    "U8": ("uint8",),
    "U32": ("uint32",),
    "B8": ("bool",),
}
_ARRAY = re.compile(r"([A-Z][0-9]*)\[(.+)\]")

Table = Mapping[str, Mapping[str, str]]


def read_table(path: Path = TABLE) -> Table:
    """The table: what arguments are by their names, of all kernels and of those of one module."""
    table: Table = tomllib.loads(path.read_text(encoding="utf-8"))
    return table


def kernels(core: Path = CORE) -> Iterator[tuple[str, str, list[str]]]:
    """Module ("contacts.near"), name and arguments of every kernel."""
    for path in sorted(core.rglob("*.py")):
        module = ".".join(path.relative_to(core).with_suffix("").parts)
        for node, _ in functions(ast.parse(path.read_text(encoding="utf-8"))):
            if is_kernel(node):
                yield module, node.name, [a.arg for a in node.args.args]


def section_of(table: Table, module: str, kernel: str, argument: str) -> str | None:
    """The section that says what an argument is: the kernel's, its module's or everybody's."""
    for section in (f"{module}:{kernel}", module, "all"):
        if argument in table.get(section, {}):
            return section
    return None


def _parts(kind: str) -> list[str]:
    """The parts between the commas of "(int, (Vec3, F32[n, 3]))"."""
    parts, depth = [""], 0
    for letter in kind[1:-1]:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def fits(kind: str, value: Any) -> bool:
    """Whether a value is what the table says.

    Args:
        kind: As in the table, without the text after its colon.
        value: Argument of a call.
    """
    if " | " in kind:
        return any(fits(one, value) for one in kind.split(" | "))
    if kind == "Vec3":
        kind = "(float, float, float)"
    if kind.startswith("("):
        parts = _parts(kind)
        plain = type(value) is tuple and len(value) == len(parts)
        return plain and all(fits(part, item) for part, item in zip(parts, value, strict=True))
    if kind in SCALARS:
        return isinstance(value, SCALARS[kind])
    array = _ARRAY.fullmatch(kind)
    if array is None:
        return type(value).__name__ == kind or (
            kind == "Parameters" and type(value).__name__.endswith("Params")
        )
    if not isinstance(value, np.ndarray) or value.dtype.name not in DTYPES[array[1]]:
        return False
    sizes = array[2].split(", ")
    return len(sizes) == value.ndim and all(
        not size.isdigit() or int(size) == length
        for size, length in zip(sizes, value.shape, strict=True)
    )


def findings(table: Table, core: Path = CORE) -> Iterator[str]:
    """Faults of the table, a line each."""
    used = set()
    for module, kernel, arguments in kernels(core):
        for argument in arguments:
            section = section_of(table, module, kernel, argument)
            if section is None:
                yield f"{module}: kernel {kernel} takes {argument!r}, which has no row"
            used.add((section, argument))
    for section, rows in table.items():
        for argument in rows:
            if (section, argument) not in used:
                yield f"[{section}] has a row for {argument!r}, which no kernel takes"


def main() -> int:
    """Check the checkout; returns the exit code."""
    table = read_table()
    found = list(findings(table))
    for line in found:
        print(f"{TABLE.name}: {line}")
    print(f"Kernels: {sum(1 for _ in kernels())}, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
