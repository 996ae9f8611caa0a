"""One module or package per behavior; each registers itself when it is imported here."""

from __future__ import annotations

import importlib
import pkgutil

from ..sensing.declare import REGISTRY, Behavior, own_parameters

_names = sorted(module.name for module in pkgutil.iter_modules(__path__))
# the order of menus is that of imports: neighbors first
for _found in ("flock", *_names):
    importlib.import_module(f"{__name__}.{_found}")

__all__ = ["REGISTRY", "Behavior", "own_parameters"]
