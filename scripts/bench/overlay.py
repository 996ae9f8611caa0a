"""Benchmarks of the debug overlay: time of a frame without drawing the lines."""

from __future__ import annotations

import time
from collections.abc import Iterator

import bpy
import numpy as np

from scripts.bench.scenes import add_preset_crowd, fresh_file
from scripts.bench.table import Row, median, timed
from steer_addon.blender.live import live
from steer_addon.blender.overlay import answers, strokes
from steer_addon.blender.overlay.settings import PARTS
from steer_addon.core.results.frames import Frame
from steer_addon.core.results.memories import keep

AGENTS = 1000
MATRIX = np.diag([1e-3, 1e-3, -1e-3, 1.0])
"""A view that shows everything."""


def overlay() -> Iterator[Row]:
    """Arrows of 1,000 agents at a stored frame, and the perception of one agent."""
    with fresh_file() as scene:
        crowd = add_preset_crowd(scene, "pedestrians", AGENTS)
        for number in range(1, 12):
            scene.frame_set(number)
        depsgraph = scene.view_layers[0].depsgraph
        answers.forget()
        scene.steer_overlay.crowd = crowd
        answers.refresh(scene, depsgraph)
        found = answers.get(crowd)

        def draw() -> None:
            rows = strokes.in_view(found.answer.agents.position, MATRIX, AGENTS)
            strokes.crowd_arrows(found.answer, rows, 1.0)

        def explain() -> None:
            found.key = None
            answers.refresh(scene, depsgraph)

        def look() -> None:
            found.agents.clear()
            strokes.looks(answers.agent(found, 500, looks=True), {part[0] for part in PARTS})

        arrows = len(strokes.crowd_arrows(found.answer, np.arange(AGENTS), 1.0).heads.points) // 3
        text = f"{arrows:,} arrows; only where the frame, the settings or the view change"
        taken = median(draw, 30, clock=time.thread_time)
        yield timed("overlay of 1,000 agents: lines for a draw", taken, "ms", 4.0, text)
        note = "the scene is read, and the solver takes one step"
        yield timed("… explaining a stored frame", median(explain, 20), "ms", note=note)
        yield timed("… all that one agent looks at", median(look, 20), "ms")
        yield timed("… keeping what a frame is explained by", median(_keeper(crowd), 30), "ms")


def _keeper(crowd: bpy.types.Object) -> object:
    frame: Frame = live.get_frame(crowd, 10)
    before, now = live.get_kept(crowd, 9), live.get_kept(crowd, 10)
    session = live.runs.get(crowd)._session
    return lambda: keep(now.agents, session.world, frame, before)
