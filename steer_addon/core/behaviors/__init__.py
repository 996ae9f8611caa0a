"""One module or package per behavior; each registers itself when it is imported here.

Behaviors of users follow, see `core.own_behaviors`.
"""

from __future__ import annotations

import importlib
import os

from .. import own_behaviors
from ..sensing.declare import REGISTRY, Behavior, own_parameters

_FIRST = ("flock", "arrive", "flee", "pursue")
"""Menus begin with these; the others follow by name."""

# not pkgutil: what it imports takes a tenth of the time in which the extension is enabled
_found = (name.removesuffix(".py") for name in os.listdir(os.path.dirname(__file__)))
for _name in (*_FIRST, *sorted(name for name in _found if name.isidentifier())):
    if not _name.startswith("__"):
        importlib.import_module(f"{__name__}.{_name}")

if own_behaviors.named_folders():
    own_behaviors.load(own_behaviors.named_folders())

__all__ = ["REGISTRY", "Behavior", "own_parameters"]
