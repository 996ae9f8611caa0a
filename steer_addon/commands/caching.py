"""Baking crowds to caches: those that are simulated together are baked in one run."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from ..blender import playback
from ..blender.bake import heroes, places, together
from ..blender.crowd import baked_file
from ..core.cache import folder_name, open_cache
from ..core.diagnoses import add_new, diagnose
from ..core.errors import OutputError
from ..core.files.plain import is_same
from .output import Result
from .pipeline import Job, Pipeline, Row, StepClock
from .simulating.tracks import writing

if TYPE_CHECKING:
    from ..blender.bake.cached import CacheBake
    from ..blender.bake.together import BakeGroup, Task


def bake_to_caches(work: Pipeline) -> Result:
    """Bake each crowd to a cache; frames baked before a failure are kept, for --continue."""
    options = work.options
    # the file that is saved knows of the bake, the one that was read does not
    file = None if options.save is None else options.save.resolve()
    jobs = list(work.jobs("Baking"))
    tasks = [_task(job, options) for job in jobs]
    rows: dict[str, Row] = {}
    with ExitStack() as stack:
        tracks = None
        if options.simulation is not None:
            tracks = stack.enter_context(writing(work, jobs, options.simulation))
        bakes = together.open_bakes(tasks, work.scene, file)
        for bake in bakes:
            stack.callback(bake.close)
        for group in together.groups_of(bakes, work.scene):
            if tracks is not None:
                group.watch(tracks.see)
            rows |= _bake(work, group)
        arrays = [] if tracks is None else tracks.keep_whole().data["outputs"]
    if options.save is not None:
        for task in tasks:
            playback.attach(task.crowd, task.folder)
            heroes.follow_bake(task.crowd, work.scene)
            # relative to the file that was read; saving elsewhere turns it round
            places.set_folder(task.crowd, task.folder)
    elif not all(_is_played(task, rows[task.crowd.name]) for task in tasks):
        work.warnings.append(diagnose("COMMAND_BAKE_NOT_SAVED", options.file.name))
    result = work.report(
        {"command": "bake", "to": "cache"},
        [rows[crowd.name] for crowd in work.crowds],
        lambda row: (
            f"{row['crowd']}: {row['agents']} agents, frames {row['frame_start']}-"
            f"{row['frame_end']} ({row['kept']} were there), {row['bytes'] / 1e6:.1f} MB"
        ),
        [*(str(task.folder) for task in tasks), *arrays],
    )
    result.lines += result.data["outputs"]
    return result


def _task(job: Job, options: Namespace) -> Task:
    crowd, go_on = job.crowd, options.go_on
    if options.cache is not None:
        folder = options.cache.resolve() / folder_name(crowd.name)
    else:
        own = places.own_folder(crowd) if go_on else places.folder_to_replace(crowd)
        folder = own or places.new_folder(crowd)
    task = together.Task(crowd, folder, job.frames, go_on)
    if task.continues and options.frames is None:
        return task._replace(frames=None)
    return task


def _is_played(task: Task, row: Row) -> bool:
    """Whether the crowd of the file that was read plays all frames of its cache."""
    path = baked_file.file_of(task.crowd)
    there = path is not None and is_same(path.parent, task.folder)
    return there and row["kept"] == row["frames"]


def _bake(work: Pipeline, group: BakeGroup) -> dict[str, Row]:
    """Bake the crowds of a group; returns their rows, by name."""
    bakes = group.bakes
    name = bakes[0].crowd.name if len(bakes) == 1 else f"{len(bakes)} crowds"
    progress, clock = work.progress(f"Baking {name}"), StepClock()
    try:
        with closing(group):
            for step in clock.timed(group.steps):
                progress(step)
    except OutputError as error:
        found = error.diagnosis
        if found.code != "CACHE_NOT_WRITTEN":
            raise
        raise OutputError(
            diagnose("COMMAND_CACHE_NOT_WRITTEN", found.subject, **found.values)
        ) from None
    for bake in bakes:
        add_new(work.warnings, bake.warnings)
    return {bake.crowd.name: _row(bake, clock) for bake in bakes}


def _row(bake: CacheBake, clock: StepClock) -> Row:
    cache, folder = open_cache(bake.folder), bake.folder
    return {
        "crowd": bake.crowd.name,
        "agents": cache.header.agent_count,
        "frames": len(cache.frames),
        "frame_start": cache.frames[0],
        "frame_end": cache.frames[-1],
        "kept": bake.kept,
        "complete": cache.complete,
        "folder": str(folder),
        "bytes": sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()),
        "settings_hash": cache.header.settings_hash,
        "seconds_per_step": clock.seconds_per_step,
        "bake_seconds": round(clock.seconds, 4),
    }
