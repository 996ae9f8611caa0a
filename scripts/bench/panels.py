"""Benchmarks of panels: time of Steer's own code, with a layout that draws nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import bpy

from scripts.bench import scenes
from scripts.bench.table import Row, median, timed
from steer_addon.blender.crowd.properties import add_behavior
from steer_addon.blender.overlay import answers
from steer_addon.blender.ui import panels
from steer_addon.core.behaviors import REGISTRY

BUDGET = 1.0
"""Longest time for one panel [ms]."""


class NoLayout:
    """Accepts every call of a layout, and serves as every layout inside of it."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *args: Any, **options: Any) -> NoLayout:
        """Any call returns the layout itself."""
        return self


def drawing() -> Iterator[Row]:
    """Each panel of a crowd that has every behavior, lacks all inputs, and is explained."""
    with scenes.fresh_file() as scene:
        crowd = scenes.add_preset_crowd(scene, "pedestrians", 500)
        for name in REGISTRY:
            add_behavior(crowd, name)
        scene.frame_set(1)
        scene.steer_overlay.show, scene.steer_overlay.agents = True, "3"
        answers.refresh(scene, scene.view_layers[0].depsgraph)
        context = SimpleNamespace(
            object=crowd, scene=scene, region=SimpleNamespace(width=300), mode="OBJECT"
        )
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
    # the processor's time: nothing here waits, and a busy machine would be measured instead
    return median(lambda: cls.draw(drawn, context), 100, clock=time.thread_time)
