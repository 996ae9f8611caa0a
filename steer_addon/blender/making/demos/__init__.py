"""Scenes to learn from, one module each: `steer demo NAME` makes a .blend of it.

A module has a docstring (its first line is what lists show) and `build(stage)`; putting the file
here is enough. Presets of the same name hold the settings of the scene's crowd.
"""

from __future__ import annotations

import importlib
import pkgutil

import bpy

from ....core.errors import UsageError
from .stage import Stage

_PARTS = ("stage", "shapes", "ways")
"""Modules of this folder that are no scenes."""


def demo_names() -> list[str]:
    """Names of all scenes, sorted."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if info.name not in _PARTS)


def summary(name: str) -> str:
    """What a scene shows, in a sentence."""
    doc = importlib.import_module(f"{__name__}.{name}").__doc__ or ""
    return " ".join(doc.partition("\n\n")[0].split())


def make_demo(name: str, frames: range | None = None) -> list[bpy.types.Object]:
    """Fill a new file with a scene; returns its crowds.

    Args:
        name: One of `demo_names`.
        frames: Frame range; None takes the scene's own.

    Raises:
        UsageError: There is no such scene.
        SteerError: Its preset cannot be used.
    """
    if name not in demo_names():
        raise UsageError(f"There is no demo {name!r}: known are {', '.join(demo_names())}")
    bpy.ops.wm.read_homefile(use_empty=True)
    stage = Stage(bpy.context.scene, frames)
    importlib.import_module(f"{__name__}.{name}").build(stage)
    return stage.finish()
