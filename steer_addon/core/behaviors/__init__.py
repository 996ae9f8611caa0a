"""One module per behavior; each registers itself when it is imported, and all are imported here."""

from __future__ import annotations

import importlib
import os

from .base import REGISTRY, Behavior, own_parameters

for _file in sorted(os.listdir(os.path.dirname(__file__))):
    if _file.endswith(".py") and not _file.startswith("__"):
        importlib.import_module(f"{__name__}.{_file[:-3]}")

__all__ = ["REGISTRY", "Behavior", "own_parameters"]
