"""Benchmarks of drawing panels: what Steer's own code takes, with a layout that draws nothing."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import bench_scenes
import bpy
from bench_table import Row, median, timed

from steer_addon.blender import panels
from steer_addon.blender.properties import add_behavior
from steer_addon.core.behaviors import REGISTRY

BUDGET = 1.0
"""Longest time for one panel [ms]."""


class NoLayout:
    """Takes every call of a layout, and is every layout inside of it."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *args: Any, **options: Any) -> NoLayout:
        """Any call gives the layout again."""
        return self


def drawing() -> Iterator[Row]:
    """Each panel of a crowd that has every behavior."""
    with bench_scenes.fresh_file() as scene:
        crowd = bench_scenes.add_preset_crowd(scene, "pedestrians", 500)
        for name in REGISTRY:
            add_behavior(crowd, name)
        scene.frame_set(1)
        context = SimpleNamespace(object=crowd, region=SimpleNamespace(width=300))
        times = {cls.__name__: _seconds(cls, context) for cls in _panels()}
    slowest = max(times, key=lambda name: times[name])
    note = f"{slowest}, the slowest of {len(times)}; all of them {sum(times.values()) * 1e3:.2f} ms"
    yield timed("draw a panel", times[slowest], "ms", BUDGET, note)


def _panels() -> list[type]:
    return [cls for cls in panels.classes if issubclass(cls, bpy.types.Panel)]


def _seconds(cls: Any, context: Any) -> float:
    # Blender makes no instances of panels without a window
    drawn = type("Drawn", (), {"layout": NoLayout()})()
    if hasattr(cls, "section"):
        type(drawn).section = staticmethod(cls.section)
    return median(lambda: cls.draw(drawn, context), 100)
