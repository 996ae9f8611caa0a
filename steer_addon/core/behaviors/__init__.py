"""One module per behavior; each registers itself when it is imported, and all are imported here."""

from __future__ import annotations

import importlib
import pkgutil

from .base import REGISTRY, Behavior, own_parameters

for _module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")

__all__ = ["REGISTRY", "Behavior", "own_parameters"]
