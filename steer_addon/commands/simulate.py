"""Simulate a crowd of a .blend file and write its frames as arrays."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.inputs.world import World
from ..core.results.frames import Frame
from ..core.results.metrics import Metrics
from ..core.step.simulation import Simulation, with_progress
from . import arguments
from .output import ProgressLine, Result
from .recording import Recorder

NAME = "simulate"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    arguments.add_blend(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        required=True,
        help="folder for positions.npy, velocities.npy, rotations.npy (frames, agents, 3 or 4), "
        "alive.npy (frames, agents), ids.npy, frames.npy and report.json",
    )
    arguments.add_crowd(parser, "needed when the file has several")
    arguments.add_frames(
        parser, "frames to write; those before are simulated too (default: the crowd's range)"
    )
    arguments.add_settings(parser)


def run(options: argparse.Namespace) -> Result:
    """Simulate and write; what was simulated before a failure is kept."""
    from ..blender.headless import batch
    from ..blender.live import simulate

    scene = batch.open_file(options.file)
    crowd = batch.find_crowd(scene, options.crowd)
    settings = batch.override(crowd, options.set, options.seed)
    numbers = batch.frames_of(crowd, options.frames)
    batch.check_folder(options.out)
    warnings: list[str] = []
    at: list[Any] = []
    frames: Any = simulate.run(crowd, scene, numbers, warnings=warnings, at=at)
    watcher = Watcher(numbers.step / simulate.fps_of(scene)) if options.json else None
    clock = StepClock()
    progress = ProgressLine(f"Simulating {crowd.name}", options.quiet)
    report: dict[str, Any] = {
        "command": NAME,
        "file": options.file.name,
        "crowd": crowd.name,
        "fps": simulate.fps_of(scene),
        "seed": settings.seed,
        "warnings": warnings,
        "settings": settings.to_dict(),
    }
    with Recorder(options.out) as recorder:
        try:
            for frame in with_progress(clock.timed(frames), len(numbers), progress):
                recorder.add(frame)
                if watcher is not None:
                    watcher.add(at[0].simulation, at[0].world)
        except BaseException as error:
            if recorder.numbers:
                sentence = str(error) or type(error).__name__
                recorder.keep(_filled(report, recorder, clock, {"error": sentence}))
            raise
        finally:
            frames.close()
        report = _filled(report, recorder, clock, {})
        if watcher is not None:
            report["metrics"] = watcher.figures()
        outputs = recorder.keep(report)
    data = {key: value for key, value in report.items() if key != "settings"}
    return Result(
        {**data, "outputs": [str(path) for path in outputs]},
        [
            *warnings,
            f"{options.out}: {recorder.agent_count} agents, {len(recorder.numbers)} frames, "
            f"{1000.0 * clock.seconds_per_step:.2f} ms a step",
        ],
    )


def _filled(
    report: dict[str, Any], recorder: Recorder, clock: StepClock, more: dict[str, Any]
) -> dict[str, Any]:
    return {
        **report,
        "agents": recorder.agent_count,
        "frames": len(recorder.numbers),
        "frame_start": recorder.numbers[0],
        "frame_end": recorder.numbers[-1],
        "seconds": round(clock.seconds, 4),
        "seconds_per_step": clock.seconds_per_step,
        "complete": not more,
        **more,
    }


class Watcher:
    """Measures what a crowd does from the first frame that is written to the last."""

    def __init__(self, dt: float) -> None:
        """Start.

        Args:
            dt: Time between the frames that are written [s].
        """
        self._dt = dt
        self._metrics: Metrics | None = None

    def add(self, simulation: Simulation, world: World) -> None:
        """Look at a frame that was just simulated."""
        agents = simulation.agents
        if self._metrics is None:
            motion = simulation.settings.motion
            self._metrics = Metrics(
                agents.position,
                radius=agents.radius,
                wished_speed=agents.max_speed,
                dt=self._dt,
                colliders=world.colliders,
                eye_height=motion.step_height if motion.motion == "GROUND" else 0.0,
            )
            return
        self._metrics.add(
            agents.position,
            alive=agents.alive != 0,
            arrived=(agents.arrived != 0) | (agents.alive == 0),
            colliders=world.colliders,
        )

    def figures(self) -> dict[str, Any]:
        """What `core.results.metrics` counts; nothing for less than two frames."""
        return {} if self._metrics is None else self._metrics.figures().as_dict()


class StepClock:
    """Measures how long frames take to come, without what is done with them."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def timed(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        """Pass frames on."""
        while True:
            start = time.perf_counter()
            frame = next(frames, None)
            if frame is None:
                return
            self.times.append(time.perf_counter() - start)
            yield frame

    @property
    def seconds(self) -> float:
        """Time of all steps [s], reading the scene and compiling included."""
        return sum(self.times)

    @property
    def seconds_per_step(self) -> float:
        """Median time of a step [s]: compiling in the first one does not count."""
        return round(statistics.median(self.times[1:] or self.times or [0.0]), 9)
