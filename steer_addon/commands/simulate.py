"""Simulate crowds of a .blend file, or of an extracted world, and write their frames as arrays."""

from __future__ import annotations

import argparse
from contextlib import ExitStack, closing

from ..core.cache import folder_name
from ..core.crowd.birth_memory import Tally, remembered
from ..core.runs.session import Session
from ..core.step.simulation import with_progress
from . import arguments
from .output import Result
from .pipeline import Job, Pipeline, Row, StepClock
from .simulating.encounters import Watch
from .simulating.measuring import Measuring
from .simulating.recording import Recorder, Summary
from .simulating.world_pipeline import WorldPipeline, in_blender

NAME = "simulate"
IN_BLENDER = in_blender


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    arguments.add_blend_or_world(parser)
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=arguments.path,
        required=True,
        help="folder for positions.npy, velocities.npy, rotations.npy (frames, agents, 3 or 4), "
        "alive.npy (frames, agents), ids.npy (agents, or frames by agents where rows go on as "
        "others), frames.npy and report.json; of several crowds each "
        "gets such a folder in it, named by the crowd, beside a report.json of them all",
    )
    arguments.add_crowd(parser)
    arguments.add_frames(
        parser, "frames to write; those before are simulated too (default: each crowd's range)"
    )
    arguments.add_settings(parser)


class _Track:
    """What is written of one crowd.

    Attributes:
        job: The crowd, and which frames.
        recorder: Writes them.
    """

    def __init__(self, job: Job, recorder: Recorder) -> None:
        self.job, self.recorder = job, recorder
        self._measuring = Measuring()
        self._tally: Tally | None = None

    def measure(self, session: Session) -> None:
        """Measure the frame that was just simulated."""
        dt = self.job.frames.step / session.fps
        self._measuring.add(session.simulation, session.world, dt)

    def count(self, session: Session) -> None:
        """Count the agents of the frame that was just simulated, where some are born."""
        simulation = session.simulation
        self._tally = simulation.tally if remembered(simulation.agents) is not None else None

    @property
    def complete(self) -> bool:
        """Whether all frames are there."""
        return len(self.recorder.numbers) == len(self.job.frames)

    def row(self, watch: Watch) -> Row:
        """Report of the crowd, with what it did to other crowds of its run."""
        numbers = self.recorder.numbers
        row: Row = {
            "crowd": self.job.crowd.name,
            "seed": self.job.settings.seed,
            "agents": self.recorder.agent_count,
            "frames": len(numbers),
            "frame_start": numbers[0],
            "frame_end": numbers[-1],
            "complete": self.complete,
        }
        if self._tally is not None:
            row["births"] = self._tally._asdict()
        if self.complete and self._measuring.metrics is not None:
            crowd = self.job.crowd
            row["metrics"] = self._measuring.metrics.figures(watch.touched(crowd)).as_dict()
            row["metrics"]["touches"] = watch.rows(crowd)
            row["metrics"]["arrivals"] = self._measuring.arrivals
        return row


class _Run:
    """A run of the command.

    Attributes:
        tracks: What is written of each crowd.
        clock: The time of the steps.
    """

    def __init__(self, work: Pipeline, tracks: list[_Track]) -> None:
        self._work, self.tracks, self.clock = work, tracks, StepClock()
        self._watch = Watch(work, [track.job for track in tracks])

    def simulate(self) -> None:
        """Simulate all crowds, those that meet in one go, and write their frames.

        Raises:
            SteerError: A crowd cannot be simulated, or the files cannot be written.
        """
        jobs, warnings = [track.job for track in self.tracks], self._work.warnings
        tracks = {track.job.crowd.session_uid: track for track in self.tracks}
        what = jobs[0].crowd.name if len(jobs) == 1 else f"{len(jobs)} crowds"
        progress = self._work.progress(f"Simulating {what}")
        total = sum(len(job.frames) for job in jobs)
        wanted = [(job.crowd, job.frames) for job in jobs]
        more = {"watch": self._watch.add} if self._work.options.json else {}
        run = self._work.run_together(wanted, warnings=warnings, **more)
        with closing(run) as steps:
            rows = (row for moment in self.clock.timed(steps) for row in moment)
            for crowd, session, frame in with_progress(rows, total, progress):
                track = tracks[crowd.session_uid]
                track.recorder.add(frame)
                track.count(session)
                if self._work.options.json:
                    track.measure(session)

    def head(self) -> Row:
        """What all reports begin with."""
        return {
            "command": "simulate",
            "file": self._work.options.file.name,
            "fps": self._work.fps,
            "warnings": self._work.warnings,
            "seconds": round(self.clock.seconds, 4),
            "seconds_per_step": self.clock.seconds_per_step,
        }

    def keep(self, track: _Track, error: Row) -> tuple[Row, list[str]]:
        """Keep the frames of a crowd; returns the report without settings, and the files."""
        report = {**self.head(), **track.row(self._watch)}
        more = {} if report["complete"] else error
        settings = {"settings": track.job.settings.to_dict()}
        paths = track.recorder.keep({**report, **settings, **more})
        return report, [str(path) for path in paths]

    def keep_all(self, tracks: list[_Track], summary: Summary, error: Row) -> Result:
        """Keep the frames of several crowds, and a report of them all."""
        summary.begin()
        outputs = [path for track in tracks for path in self.keep(track, error)[1]]
        rows = [
            {**track.row(self._watch), "folder": track.recorder.folder.name} for track in tracks
        ]
        report = {
            **self.head(),
            "agents": sum(row["agents"] for row in rows),
            "frames": len({n for track in tracks for n in track.recorder.numbers}),
            "frame_start": min(row["frame_start"] for row in rows),
            "frame_end": max(row["frame_end"] for row in rows),
            "complete": not error,
            "crowds": rows,
            **error,
        }
        outputs.append(str(summary.keep(report)))
        return Result({**report, "outputs": outputs}, [*self._work.warnings, *self.lines(tracks)])

    def lines(self, tracks: list[_Track]) -> list[str]:
        """What people are told."""
        pace = f"{1000.0 * self.clock.seconds_per_step:.2f} ms a step"
        rows = [(track.recorder.folder, track.row(self._watch)) for track in tracks]
        told = [f"{path}: {row['agents']} agents, {row['frames']} frames" for path, row in rows]
        return [f"{told[0]}, {pace}"] if len(told) == 1 else [*told, pace]


def run(options: argparse.Namespace) -> Result:
    """Simulate and write; what was simulated before a failure is kept."""
    work = Pipeline(options) if in_blender(options) else WorldPipeline(options)
    jobs = list(work.jobs("Simulating"))
    return _run_one(work, jobs[0]) if len(jobs) == 1 else _run_several(work, jobs)


def _run_one(work: Pipeline, job: Job) -> Result:
    with Recorder(work.options.out) as recorder:
        track = _Track(job, recorder)
        this = _Run(work, [track])
        try:
            this.simulate()
        except BaseException as error:
            if recorder.numbers and not recorder.has_complete:
                this.keep(track, _told(error))
            raise
        report, outputs = this.keep(track, {})
    return Result({**report, "outputs": outputs}, [*work.warnings, *this.lines([track])])


def _run_several(work: Pipeline, jobs: list[Job]) -> Result:
    folders = [work.options.out / folder_name(job.crowd.name) for job in jobs]
    with ExitStack() as stack:
        summary = stack.enter_context(Summary(work.options.out))
        written = [stack.enter_context(Recorder(folder)) for folder in folders]
        this = _Run(work, [_Track(*pair) for pair in zip(jobs, written, strict=True)])
        try:
            this.simulate()
        except BaseException as error:
            begun = [track for track in this.tracks if track.recorder.numbers]
            # a crowd that is there as a whole is worth more than a part of it
            kept = [t for t in begun if t.complete or not t.recorder.has_complete]
            if kept and not summary.has_complete:
                this.keep_all(kept, summary, _told(error))
            raise
        return this.keep_all(this.tracks, summary, {})


def _told(error: BaseException) -> Row:
    return {"error": str(error) or type(error).__name__}
