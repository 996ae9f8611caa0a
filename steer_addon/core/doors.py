"""Modules that wait: they are imported when something of them is first used.

Enabling the extension has to be quick, and most sessions of Blender need few of its modules. So the
`__init__` of a package says which of its modules wait (`load_on_use`), and other modules import
those at their top as they import any other module:

    from ..bake import cached  # nothing is loaded yet

    def begin(obj):
        return cached.begin(obj)  # now it is

Only `from ..bake.cached import begin` loads a module that waits at once.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any


class _Waiting:
    """Stands for a module, which is imported with the first use of one of its names."""

    # no dictionary of its own: even that is the module's
    __slots__ = ("_waiting_for",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_waiting_for", name)

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._waiting_for), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(importlib.import_module(self._waiting_for), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(importlib.import_module(self._waiting_for), name)

    def __repr__(self) -> str:
        return f"<door to {self._waiting_for!r}>"


def load_on_use(package: str, *names: str) -> None:
    """Let modules of a package wait until they are used.

    Args:
        package: The package, whose `__init__` calls this.
        names: Its modules and packages that wait.
    """

    def find(name: str) -> _Waiting:
        if name in names:
            return _Waiting(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    sys.modules[package].__dict__["__getattr__"] = find


def load(*modules: object) -> None:
    """Import modules that wait now, such as in a thread ahead of their use."""
    for module in modules:
        if isinstance(module, _Waiting):
            importlib.import_module(module._waiting_for)


if TYPE_CHECKING:
    import logging as logging
    import socket as socket
    import tomllib as tomllib
    from concurrent import futures as futures
else:
    # the largest modules of Python's own that are needed, though seldom
    logging, futures = _Waiting("logging"), _Waiting("concurrent.futures")
    socket, tomllib = _Waiting("socket"), _Waiting("tomllib")
