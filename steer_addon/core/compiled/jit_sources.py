"""Sources that the compiled kernels of a module depend on: its text, and that of its imports."""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
from functools import cache
from pathlib import Path

from ..doors import load

_IMPORT = re.compile(r"^from[ \t]+(\.+)([\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n(]*)", re.M)
"""A relative import: its dots, the module that it names, and all that it takes from there. Imports
inside of functions give a kernel nothing, and whether they were run differs between processes."""
_WORD = re.compile(r"\w+")
_HERE = __name__.rpartition(".")[0] + "."


def digest(module: str, *others: str) -> str:
    """A name that changes with the text of a module, of all that it imports here, and of others.

    The package of the module counts too: it declares the parameters that the kernels read.
    """
    found = hashlib.sha256()
    names = with_imports(module) | set(others)
    if package := module.rpartition(".")[0]:
        names |= with_imports(package)
    for name in sorted(names):
        found.update(source(name).encode())
    return found.hexdigest()[:16]


def with_imports(module: str) -> set[str]:
    """A module of this package and all that it imports from it, directly or not."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name.startswith(_HERE):
            found |= _compilers()
        elif name not in found:
            found.add(name)
            waiting += imports(name)
    return found


@cache
def _compilers() -> set[str]:
    """The modules of this package that decide how code is made; no others change a kernel."""
    names = {_HERE + name for name in ("jit", "jit_parts", "jit_scratch")}
    for name in names:
        importlib.import_module(name)
    return names


@cache
def source(module: str) -> str:
    """Text of a loaded module; empty where it has no file."""
    path = getattr(sys.modules[module], "__file__", None)
    return Path(path).read_text(encoding="utf-8") if path else ""


@cache
def imports(module: str) -> tuple[str, ...]:
    """Modules that the relative imports of a module name; those that wait behind a door are loaded.

    Found in the text: parsing tens of modules takes as long as loading all of their kernels.
    """
    loaded = sys.modules[module]
    package = loaded.__name__ if hasattr(loaded, "__path__") else module.rpartition(".")[0]
    found = []
    for dots, name, named in _IMPORT.findall(source(module)):
        base = package.rsplit(".", len(dots) - 1)[0] if len(dots) > 1 else package
        base = f"{base}.{name}" if name else base
        words = _WORD.findall(named)
        # else a digest would depend on what was used before
        load(*(getattr(sys.modules.get(base), word, None) for word in words))
        found += [base, *(f"{base}.{word}" for word in words)]
    return tuple(name for name in found if name in sys.modules)
