"""Simulate a crowd of a .blend file and write its frames as arrays."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..blender.headless import batch
from ..blender.live import simulate
from ..core.inputs.world import World
from ..core.results.metrics import Metrics
from ..core.step.simulation import Simulation, with_progress
from . import arguments
from .output import Result
from .pipeline import Pipeline, Row, StepClock
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
    work = Pipeline(options, single=True)
    (job,) = work.jobs("Simulating")
    batch.check_folder(options.out)
    at: list[Any] = []
    frames: Any = simulate.run(job.crowd, work.scene, job.frames, warnings=work.warnings, at=at)
    fps = simulate.fps_of(work.scene)
    watcher = Watcher(job.frames.step / fps) if options.json else None
    clock = StepClock()
    report: Row = {
        "command": "simulate",
        "file": options.file.name,
        "crowd": job.crowd.name,
        "fps": fps,
        "seed": job.settings.seed,
        "warnings": work.warnings,
        "settings": job.settings.to_dict(),
    }
    with Recorder(options.out) as recorder:
        try:
            for frame in with_progress(clock.timed(frames), len(job.frames), job.progress):
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
            *work.warnings,
            f"{options.out}: {recorder.agent_count} agents, {len(recorder.numbers)} frames, "
            f"{1000.0 * clock.seconds_per_step:.2f} ms a step",
        ],
    )


def _filled(report: Row, recorder: Recorder, clock: StepClock, more: Row) -> Row:
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
        """Figures of `core.results.metrics`; none for fewer than two frames."""
        return {} if self._metrics is None else self._metrics.figures().as_dict()
