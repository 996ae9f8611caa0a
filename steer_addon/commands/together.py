"""Crowds that meet, for commands that write one crowd after the other: they are simulated once."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from ..blender.live import simulate
from ..core.cache import CacheHeader, CacheWriter, open_cache
from ..core.errors import OutputError
from ..core.files.staging import cannot_write, scratch
from ..core.results.frames import Frame
from ..core.step.simulation import with_progress
from .pipeline import Job, Pipeline, StepClock


class Simulated(NamedTuple):
    """A crowd that was simulated with others.

    Attributes:
        frames: Its frames.
        clock: The time of the steps of all of them.
    """

    frames: Iterable[Frame]
    clock: StepClock


def simulated_together(
    work: Pipeline, jobs: Sequence[Job]
) -> Generator[tuple[Job, Simulated | None], None, None]:
    """Simulate crowds, those that are linked in one run, and pass them on one by one.

    The frames of a run wait in a temporary folder, since memory may not hold those of all crowds.
    Close the iterator to remove it.

    Yields:
        Each crowd with its frames; None for one that no other is linked to, and that is simulated
        where it is written.

    Raises:
        SteerError: A crowd cannot be simulated, or the folder cannot be written.
    """
    by_crowd = {job.crowd: job for job in jobs}
    for _, given in simulate.runs_for(by_crowd):
        group = [by_crowd[crowd] for crowd in given]
        if len(group) == 1:
            group[0].progress.begin()
            yield group[0], None
            continue
        with scratch() as folder:
            places = {job.crowd.session_uid: folder / str(k) for k, job in enumerate(group)}
            try:
                clock = _simulate(work, group, places)
            except OutputError as error:
                # nobody asked for these caches, and nothing of them is kept
                raise cannot_write(folder / "0", error.diagnosis.values["reason"]) from None
            for job in group:
                job.progress.begin()
                cache = open_cache(places[job.crowd.session_uid])
                yield job, Simulated(map(cache.frame, job.frames), clock)


def _simulate(work: Pipeline, group: Sequence[Job], places: dict[int, Path]) -> StepClock:
    """Simulate the crowds of a run, and write their frames to a folder for each."""
    clock, fps = StepClock(), simulate.fps_of(work.scene)
    progress = work.progress(f"Simulating {len(group)} crowds")
    total = sum(len(job.frames) for job in group)
    wanted = [(job.crowd, job.frames) for job in group]
    with ExitStack() as stack:
        writers = {}
        for crowd, frames in wanted:
            header = CacheHeader(crowd.name_full, fps, frames[0], frames[-1])
            writer = CacheWriter(places[crowd.session_uid], header)
            writers[crowd.session_uid] = stack.enter_context(writer)
        run = simulate.run_together(wanted, work.scene, warnings=work.warnings)
        steps = stack.enter_context(closing(run))
        rows = (row for moment in clock.timed(steps) for row in moment)
        for crowd, _, frame in with_progress(rows, total, progress):
            writers[crowd.session_uid].add(frame)
        for writer in writers.values():
            writer.finish()
    return clock
