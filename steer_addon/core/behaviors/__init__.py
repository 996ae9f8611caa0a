"""One module or package per behavior; each registers itself when it is imported here.

Behaviors of users follow, see `core.own_behaviors`.
"""

from __future__ import annotations

import importlib
import pkgutil

from .. import own_behaviors
from ..sensing.declare import REGISTRY, Behavior, own_parameters

_FIRST = ("flock", "arrive", "flee", "pursue")
"""Menus begin with these; the others follow by name."""

for _found in (*_FIRST, *sorted(module.name for module in pkgutil.iter_modules(__path__))):
    importlib.import_module(f"{__name__}.{_found}")

if own_behaviors.named_folders():
    own_behaviors.load(own_behaviors.named_folders())

__all__ = ["REGISTRY", "Behavior", "own_parameters"]
