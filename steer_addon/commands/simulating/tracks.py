"""What is written of crowds while they are simulated: frames as arrays, and reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from ...core.cache import folder_name
from ...core.crowd.birth_memory import Tally, remembered
from ...core.results.frames import Frame
from ...core.runs.linking import Crowd
from ...core.runs.session import Session
from ...core.step.simulation import with_progress
from ..output import Result
from ..pipeline import Job, Pipeline, Row, StepClock
from .encounters import Moment, Watch
from .measuring import Measuring
from .recording import Recorder, Summary


class Track:
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

    def has(self, number: int) -> bool:
        """Whether a frame is written."""
        numbers = self.recorder.numbers
        return bool(numbers) and numbers[-1] >= number

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


class Tracks:
    """What is written of the crowds of a command.

    Attributes:
        tracks: One for each crowd.
        clock: The time of the steps.
    """

    def __init__(self, work: Pipeline, tracks: list[Track], summary: Summary | None) -> None:
        """Begin; the summary is a report of them all, where there are several."""
        self._work, self.tracks, self.clock = work, tracks, StepClock()
        self._summary = summary
        self._watch = Watch(work, [track.job for track in tracks])
        self._by_uid = {track.job.crowd.session_uid: track for track in tracks}

    def simulate(self) -> None:
        """Simulate all crowds, those that meet in one go, and write their frames.

        Raises:
            SteerError: A crowd cannot be simulated, or the files cannot be written.
        """
        jobs, warnings = [track.job for track in self.tracks], self._work.warnings
        what = jobs[0].crowd.name if len(jobs) == 1 else f"{len(jobs)} crowds"
        progress = self._work.progress(f"Simulating {what}")
        total = sum(len(job.frames) for job in jobs)
        wanted = [(job.crowd, job.frames) for job in jobs]
        more = {"watch": self._watch.add} if self._work.options.json else {}
        run = self._work.run_together(wanted, warnings=warnings, **more)
        with closing(run) as steps:
            rows = (row for moment in self.clock.timed(steps) for row in moment)
            for row in with_progress(rows, total, progress):
                self._take(row)

    def see(self, root: Crowd, moment: Moment) -> None:
        """Write what is wanted of a moment of somebody else's run.

        Args:
            root: The crowd that the run was made for.
            moment: Its crowds.
        """
        self.clock.tick()
        if self._work.options.json:
            self._watch.add(root, moment)
        for row in moment:
            track, number = self._by_uid.get(row[0].session_uid), row[2].number
            # after its end a crowd stands still
            if track is not None and number in track.job.frames and not track.has(number):
                self._take(row)

    def _take(self, row: tuple[Crowd, Session, Frame]) -> None:
        crowd, session, frame = row
        track = self._by_uid[crowd.session_uid]
        track.recorder.add(frame)
        track.count(session)
        if self._work.options.json:
            track.measure(session)

    def _head(self) -> Row:
        """What all reports begin with."""
        return {
            "command": "simulate",
            "file": self._work.options.file.name,
            "fps": self._work.fps,
            "warnings": self._work.warnings,
            "seconds": round(self.clock.seconds, 4),
            "seconds_per_step": self.clock.seconds_per_step,
        }

    def keep_whole(self) -> Result:
        """Keep all frames."""
        if self._summary is not None:
            return self._keep_all(self.tracks, self._summary, {})
        report, outputs = self._keep(self.tracks[0], {})
        lines = [*self._work.warnings, *self._lines(self.tracks)]
        return Result({**report, "outputs": outputs}, lines)

    def keep_part(self, error: Row) -> None:
        """Keep the frames before a failure, unless they would replace a complete run."""
        begun = [track for track in self.tracks if track.recorder.numbers]
        # a crowd that is there as a whole is worth more than a part of it
        kept = [t for t in begun if t.complete or not t.recorder.has_complete]
        if self._summary is None:
            if begun and not begun[0].recorder.has_complete:
                self._keep(begun[0], error)
        elif kept and not self._summary.has_complete:
            self._keep_all(kept, self._summary, error)

    def _keep(self, track: Track, error: Row) -> tuple[Row, list[str]]:
        """Keep the frames of a crowd; returns the report without settings, and the files."""
        report = {**self._head(), **track.row(self._watch)}
        more = {} if report["complete"] else error
        settings = {"settings": track.job.settings.to_dict()}
        paths = track.recorder.keep({**report, **settings, **more})
        return report, [str(path) for path in paths]

    def _keep_all(self, tracks: list[Track], summary: Summary, error: Row) -> Result:
        """Keep the frames of several crowds, and a report of them all."""
        summary.begin()
        outputs = [path for track in tracks for path in self._keep(track, error)[1]]
        rows = [
            {**track.row(self._watch), "folder": track.recorder.folder.name} for track in tracks
        ]
        report = {
            **self._head(),
            "agents": sum(row["agents"] for row in rows),
            "frames": len({n for track in tracks for n in track.recorder.numbers}),
            "frame_start": min(row["frame_start"] for row in rows),
            "frame_end": max(row["frame_end"] for row in rows),
            "complete": not error,
            "crowds": rows,
            **error,
        }
        outputs.append(str(summary.keep(report)))
        return Result({**report, "outputs": outputs}, [*self._work.warnings, *self._lines(tracks)])

    def _lines(self, tracks: list[Track]) -> list[str]:
        """What people are told."""
        pace = f"{1000.0 * self.clock.seconds_per_step:.2f} ms a step"
        rows = [(track.recorder.folder, track.row(self._watch)) for track in tracks]
        told = [f"{path}: {row['agents']} agents, {row['frames']} frames" for path, row in rows]
        return [f"{told[0]}, {pace}"] if len(told) == 1 else [*told, pace]


@contextmanager
def writing(work: Pipeline, jobs: list[Job], out: Path) -> Iterator[Tracks]:
    """Write crowds into a folder: one directly, of several each into a folder of its name.

    Args:
        work: The command.
        jobs: Its crowds.
        out: The folder.

    Yields:
        What is written of them.
    """
    with ExitStack() as stack:
        one = len(jobs) == 1
        summary = None if one else stack.enter_context(Summary(out))
        folders = [out if one else out / folder_name(job.crowd.name) for job in jobs]
        written = [stack.enter_context(Recorder(folder)) for folder in folders]
        pairs = zip(jobs, written, strict=True)
        yield Tracks(work, [Track(*pair) for pair in pairs], summary)
