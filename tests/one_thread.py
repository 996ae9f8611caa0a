"""Blender with one thread of its own, which it takes when it is imported.

Tests show small scenes. Over many small meshes Blender's threads mostly wait for one another, in
loops that keep a core busy, and workers of the tests take all cores already.
"""

from __future__ import annotations

import importlib
import os
from contextlib import suppress


def import_blender() -> None:
    """Import bpy where it is installed, while this process may use one core only."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        with suppress(ImportError):
            importlib.import_module("bpy")
    finally:
        os.sched_setaffinity(0, cores)
