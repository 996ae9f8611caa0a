"""Simulate a crowd of a .blend file and write its frames as arrays."""

from __future__ import annotations

import argparse
from typing import Any

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
    """Declare the arguments."""
    arguments.add_blend(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=arguments.path,
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
    at: list[Any] = []
    frames: Any = simulate.run(job.crowd, work.scene, job.frames, warnings=work.warnings, at=at)
    fps = simulate.fps_of(work.scene)
    metrics: Metrics | None = None
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
                if options.json:
                    dt = job.frames.step / fps
                    metrics = _measured(metrics, dt, at[0].simulation, at[0].world)
        except BaseException as error:
            if recorder.numbers and not recorder.has_complete:
                sentence = str(error) or type(error).__name__
                recorder.keep(_filled(report, recorder, clock, {"error": sentence}))
            raise
        finally:
            frames.close()
        report = _filled(report, recorder, clock, {})
        if metrics is not None:
            report["metrics"] = metrics.figures().as_dict()
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


def _measured(metrics: Metrics | None, dt: float, simulation: Simulation, world: World) -> Metrics:
    """Metrics with the frame that was just simulated; None begins them, with no motion yet."""
    agents, motion = simulation.agents, simulation.settings.motion
    if metrics is None:
        return Metrics(
            agents.position,
            radius=agents.radius,
            wished_speed=agents.max_speed,
            dt=dt,
            colliders=world.colliders,
            eye_height=motion.step_height if motion.motion == "GROUND" else 0.0,
        )
    metrics.add(
        agents.position,
        alive=agents.alive != 0,
        arrived=(agents.arrived != 0) | (agents.alive == 0),
        colliders=world.colliders,
    )
    return metrics
