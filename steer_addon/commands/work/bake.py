"""`steer bake`: to keyframes, to caches, and to files of other programs."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...blender import playback
from ...blender.bake import cached, places
from ...blender.crowd.properties import bake_settings_of
from ...blender.crowd.property_factory import write_settings
from ...blender.export import formats
from ...blender.headless import batch
from ...blender.operators import bake
from ...core.cache import MANIFEST, NEXT, folder_name, open_cache
from ...core.diagnoses import add_new, diagnose
from ...core.errors import OutputError, UsageError
from ..output import Result
from .pipeline import Job, Pipeline, Row, StepClock

Source = bpy.types.Object | bpy.types.Collection | None


def run(options: argparse.Namespace) -> Result:
    """Simulate, bake, hide the live crowds and save; or bake to a cache, or export."""
    work = Pipeline(options)
    if options.to == "keyframes":
        return _bake_to_keyframes(work)
    return _bake_to_cache(work) if options.to == "cache" else _export(work)


def _apply_options(
    crowd: bpy.types.Object, options: argparse.Namespace, source: Source, names: tuple[str, ...]
) -> None:
    """Write bake options to the crowd's properties, as in the panel; None leaves what is there."""
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    write_settings(crowd.steer.bake, replace(bake_settings_of(crowd), **given))
    if source is not None or options.empties:
        steer = crowd.steer
        steer.bake_source_object = source if isinstance(source, bpy.types.Object) else None
        steer.bake_source_collection = source if isinstance(source, bpy.types.Collection) else None


def _bake_to_keyframes(work: Pipeline) -> Result:
    source = batch.find_source(work.options.object, work.options.collection)
    rows = []
    for job in work.jobs("Baking"):
        _apply_options(job.crowd, work.options, source, ("step", "tolerance", "actions"))
        rows.append(_keyframes_row(work, job))
    result = work.report(
        {"command": "bake"},
        rows,
        lambda row: (
            f"{row['crowd']}: {row['agents']} agents, {row['keys']} keys, "
            f"frames {row['frame_start']}-{row['frame_end']}"
        ),
        [],
        totals=("agents", "objects", "keys"),
    )
    result.lines += result.data["outputs"]
    return result


def _keyframes_row(work: Pipeline, job: Job) -> Row:
    crowd, frames, clock = job.crowd, job.frames, StepClock()

    def progress(share: float) -> None:
        # the first half is the simulation, a call per frame
        if len(clock.times) < len(frames):
            clock.tick()
        job.progress.share(share)

    end, crowd.steer.frame_end = crowd.steer.frame_end, frames[-1]
    try:
        made = bake.bake_crowd(crowd, work.scene, progress, work.warnings, frames)
    finally:
        crowd.steer.frame_end = end
    return {
        "crowd": crowd.name,
        "agents": made.agent_count,
        "objects": made.object_count,
        "keys": made.key_count,
        "frames": len(frames),
        "frame_start": frames[0],
        "frame_end": frames[-1],
        "seconds_per_step": clock.seconds_per_step,
        "bake_seconds": round(made.seconds, 4),
        "collection": made.collection.name,
    }


def _bake_to_cache(work: Pipeline) -> Result:
    """Frames baked before a failure are kept, for --continue."""
    options = work.options
    folders = [_cache_folder(crowd, options.cache) for crowd in work.crowds]
    jobs = zip(work.jobs("Baking"), folders, strict=True)
    rows = [_cache_row(work, job, folder) for job, folder in jobs]
    if options.save is not None:
        for crowd, folder in zip(work.crowds, folders, strict=True):
            playback.attach(crowd, folder)
            # relative to the file that was read; saving elsewhere turns it round
            places.set_folder(crowd, folder)
    result = work.report(
        {"command": "bake", "to": "cache"},
        rows,
        lambda row: (
            f"{row['crowd']}: {row['agents']} agents, frames {row['frame_start']}-"
            f"{row['frame_end']} ({row['kept']} were there), {row['bytes'] / 1e6:.1f} MB"
        ),
        list(map(str, folders)),
    )
    result.lines += result.data["outputs"]
    return result


def _cache_folder(crowd: bpy.types.Object, chosen: Path | None) -> Path:
    if chosen is not None:
        return chosen.resolve() / folder_name(crowd.name)
    return places.own_folder(crowd) or places.new_folder(crowd)


def _cache_row(work: Pipeline, job: Job, folder: Path) -> Row:
    options, crowd, frames, clock = work.options, job.crowd, job.frames, StepClock()
    if options.go_on and any((folder / name).exists() for name in (MANIFEST, NEXT)):
        last = None if options.frames is None else frames[-1]
        making = cached.resume(crowd, work.scene, folder, last)
    else:
        making = cached.begin(crowd, work.scene, folder, frames)
    try:
        for step in clock.timed(making.steps):
            job.progress(step)
    except OutputError as error:
        found = error.diagnosis
        if found.code != "CACHE_NOT_WRITTEN":
            raise
        raise OutputError(
            diagnose("COMMAND_CACHE_NOT_WRITTEN", found.subject, **found.values)
        ) from None
    finally:
        making.close()
    add_new(work.warnings, making.warnings)
    cache = open_cache(folder)
    return {
        "crowd": crowd.name,
        "agents": cache.header.agent_count,
        "frames": len(cache.frames),
        "frame_start": cache.frames[0],
        "frame_end": cache.frames[-1],
        "kept": making.kept,
        "complete": cache.complete,
        "folder": str(folder),
        "bytes": sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()),
        "settings_hash": cache.header.settings_hash,
        "seconds_per_step": clock.seconds_per_step,
        "bake_seconds": round(clock.seconds, 4),
    }


def _export(work: Pipeline) -> Result:
    options = work.options
    chosen = formats.FORMATS[options.to]
    paths = _export_paths(options.out, work.crowds, chosen)
    source = batch.find_source(options.object, options.collection)
    rows = []
    for job, path in zip(work.jobs("Exporting"), paths, strict=True):
        batch.check_new_file(path, chosen.suffix)
        _apply_options(job.crowd, options, source, ("step", "tolerance"))
        made = formats.export_crowd(
            job.crowd,
            work.scene,
            chosen,
            path,
            numbers=job.frames,
            progress=job.progress.share,
            warnings=work.warnings,
            # a bake knows nothing of settings that are only for this run
            ignore_bake=bool(options.set) or options.seed is not None,
        )
        rows.append(
            {
                "crowd": job.crowd.name,
                "agents": made.agents,
                "frames": made.frames,
                "frame_start": job.frames[0],
                "frame_end": job.frames[-1],
                "seconds": round(made.seconds, 3),
                "bytes": made.size,
                "file": str(made.path),
            }
        )
    return work.report(
        {"command": "bake", "to": options.to},
        rows,
        lambda row: (
            f"{row['file']}: {row['agents']} agents, frames {row['frame_start']}-"
            f"{row['frame_end']}, {row['bytes'] / 1e6:.1f} MB"
        ),
        list(map(str, paths)),
    )


def _export_paths(out: Path, crowds: list[bpy.types.Object], chosen: Any) -> list[Path]:
    """A file for every crowd."""
    if out.suffix.lower() == chosen.suffix and not out.is_dir():
        if len(crowds) == 1:
            return [out]
        raise UsageError(
            f"The file has {len(crowds)} crowds: give a folder with --out, or one with --crowd"
        )
    paths: list[Path] = []
    for crowd in crowds:
        first = path = out / formats.default_name(crowd, chosen)
        # names that differ only in what a file's name cannot hold
        for number in range(2, len(crowds) + 1):
            if path not in paths:
                break
            path = first.with_stem(f"{first.stem}_{number}")
        paths.append(path)
    return paths
