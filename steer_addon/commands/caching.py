"""Baking crowds to caches: those that are simulated together are baked in one run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from ..blender import playback
from ..blender.bake import cached, places
from ..blender.live import shared_run, simulate
from ..core.cache import MANIFEST, NEXT, folder_name, open_cache
from ..core.diagnoses import add_new, diagnose
from ..core.errors import OutputError
from ..core.step.simulation import Progress
from .output import Result
from .pipeline import Job, Pipeline, Row, StepClock


class _Task(NamedTuple):
    """A crowd, and the folder of its cache."""

    job: Job
    folder: Path


def bake_to_caches(work: Pipeline) -> Result:
    """Bake each crowd to a cache; frames baked before a failure are kept, for --continue."""
    options = work.options
    jobs = list(work.jobs("Baking"))
    tasks = [_Task(job, _folder(job, options.cache, options.go_on)) for job in jobs]
    rows: dict[str, Row] = {}
    for batch in _batches(tasks, options.go_on):
        rows |= _bake(work, batch)
    if options.save is not None:
        for job, folder in tasks:
            playback.attach(job.crowd, folder)
            # relative to the file that was read; saving elsewhere turns it round
            places.set_folder(job.crowd, folder)
    result = work.report(
        {"command": "bake", "to": "cache"},
        [rows[crowd.name] for crowd in work.crowds],
        lambda row: (
            f"{row['crowd']}: {row['agents']} agents, frames {row['frame_start']}-"
            f"{row['frame_end']} ({row['kept']} were there), {row['bytes'] / 1e6:.1f} MB"
        ),
        [str(task.folder) for task in tasks],
    )
    result.lines += result.data["outputs"]
    return result


def _folder(job: Job, chosen: Path | None, go_on: bool) -> Path:
    crowd = job.crowd
    if chosen is not None:
        return chosen.resolve() / folder_name(crowd.name)
    own = places.own_folder(crowd) if go_on else places.folder_to_replace(crowd)
    return own or places.new_folder(crowd)


def _batches(tasks: list[_Task], go_on: bool) -> Iterator[list[_Task]]:
    """The crowds that are baked in one run; one whose bake goes on has a run of its own."""
    resumed = [task for task in tasks if go_on and _is_begun(task.folder)]
    fresh = {task.job.crowd: task for task in tasks if task not in resumed}
    for _, given in simulate.runs_for(fresh):
        yield [fresh[crowd] for crowd in given]
    for task in resumed:
        yield [task]


def _is_begun(folder: Path) -> bool:
    return any((folder / name).exists() for name in (MANIFEST, NEXT))


def _bake(work: Pipeline, batch: list[_Task]) -> dict[str, Row]:
    """Bake the crowds of a batch in one run; returns their rows, by name."""
    name = batch[0].job.crowd.name if len(batch) == 1 else f"{len(batch)} crowds"
    progress, clock = work.progress(f"Baking {name}"), StepClock()
    with ExitStack() as stack:
        bakes = _begin(work, batch, stack)
        last = max(bakes, key=lambda bake: bake.frames[-1])
        for steps in clock.timed(_steps(bakes)):
            if last.folder in steps:
                progress(steps[last.folder])
    rows = {}
    for task, bake in zip(batch, bakes, strict=True):
        add_new(work.warnings, bake.warnings)
        rows[task.job.crowd.name] = _row(task, bake.kept, clock)
    return rows


def _begin(work: Pipeline, batch: list[_Task], stack: ExitStack) -> list[cached.CacheBake]:
    """Begin the bakes of a batch; the stack ends them."""
    options, scene, bakes = work.options, work.scene, []
    # the file that is saved knows of the bake, the one that was read does not
    file = None if options.save is None else options.save.resolve()
    shared = None
    if len(batch) > 1:
        ((root, _),) = simulate.runs_for(task.job.crowd for task in batch)
        last = max(task.job.frames[-1] for task in batch)
        read = [task.job.crowd for task in batch]
        shared = shared_run.SharedRun(root, scene, last, read)
        stack.callback(shared.close)
    for (crowd, _, frames, _), folder in batch:
        if options.go_on and _is_begun(folder):
            end = None if options.frames is None else frames[-1]
            bake = cached.resume(crowd, scene, folder, end, file)
        else:
            bake = cached.begin(crowd, scene, folder, frames, file, shared)
        stack.callback(bake.close)
        bakes.append(bake)
    return bakes


def _steps(bakes: list[cached.CacheBake]) -> Iterator[dict[Path, Progress]]:
    """Go on with all bakes step by step; gives their progress, by folder."""
    left = list(bakes)
    while left:
        found = {bake.folder: _next(bake) for bake in left}
        left = [bake for bake in left if found[bake.folder] is not None]
        if left:
            yield {folder: step for folder, step in found.items() if step is not None}


def _next(bake: cached.CacheBake) -> Progress | None:
    try:
        return next(bake.steps, None)
    except OutputError as error:
        found = error.diagnosis
        if found.code != "CACHE_NOT_WRITTEN":
            raise
        raise OutputError(
            diagnose("COMMAND_CACHE_NOT_WRITTEN", found.subject, **found.values)
        ) from None


def _row(task: _Task, kept: int, clock: StepClock) -> Row:
    cache, folder = open_cache(task.folder), task.folder
    return {
        "crowd": task.job.crowd.name,
        "agents": cache.header.agent_count,
        "frames": len(cache.frames),
        "frame_start": cache.frames[0],
        "frame_end": cache.frames[-1],
        "kept": kept,
        "complete": cache.complete,
        "folder": str(folder),
        "bytes": sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()),
        "settings_hash": cache.header.settings_hash,
        "seconds_per_step": clock.seconds_per_step,
        "bake_seconds": round(clock.seconds, 4),
    }
