"""`steer bake --to cache`: bake crowds to caches, and go on with ones that were cut short."""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from ..core.errors import OutputError, UsageError
from .output import ProgressLine, Result

_OTHERS = ("step", "tolerance", "actions", "object", "collection", "empties")
"""Options that only keyframes have."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what only caches have."""
    parser.add_argument(
        "--cache",
        metavar="DIR",
        type=Path,
        help="folder in which each crowd gets a folder of its name, for --to cache "
        "(default: what the file says, else steer_cache beside it)",
    )
    parser.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="go on with a cache that was cut short; the same command may be run again and again",
    )


def check(options: argparse.Namespace) -> None:
    """Refuse options that go with another kind of bake.

    Raises:
        UsageError: There are some.
    """
    if options.to == "cache":
        given = [name for name in _OTHERS if getattr(options, name)]
        if given:
            raise UsageError(f"--{given[0]} does not go with --to cache: leave it out")
    elif options.cache is not None or options.go_on:
        name = "--cache" if options.cache is not None else "--continue"
        raise UsageError(f"{name} does not go with --to {options.to}: give --to cache")


def run(options: argparse.Namespace) -> Result:
    """Bake; what is done before a failure is kept, for --continue."""
    from ..blender import playback
    from ..blender.bake import places
    from ..blender.headless import batch

    start = time.perf_counter()
    if options.save is not None:
        batch.check_new_file(options.save, ".blend")
    scene = batch.open_file(options.file)
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    found = batch.find_crowds(scene, options.crowd)
    folders = [_folder(crowd, options.cache) for crowd in found]
    for crowd, folder in zip(found, folders, strict=True):
        batch.override(crowd, options.set, options.seed)
        rows.append(_bake(crowd, scene, folder, options, warnings))
    for crowd, folder in zip(found, folders, strict=True):
        if options.save is not None:
            playback.attach(crowd, folder)
            # relative to the file that was read; saving elsewhere turns it round
            places.set_folder(crowd, folder)
    if options.save is not None:
        batch.save_file(options.save)
    return _result(rows, warnings, options.save, time.perf_counter() - start)


def _folder(crowd: Any, chosen: Path | None) -> Path:
    from ..blender.bake import places
    from ..core.cache import folder_name

    if chosen is not None:
        return chosen.resolve() / folder_name(crowd.name)
    return places.own_folder(crowd) or places.new_folder(crowd)


def _bake(
    crowd: Any,
    scene: Any,
    folder: Path,
    options: argparse.Namespace,
    warnings: list[str],
) -> dict[str, Any]:
    from ..blender.bake import cached
    from ..blender.headless import batch
    from ..core.cache import MANIFEST, NEXT, open_cache

    frames = batch.frames_of(crowd, options.frames)
    is_there = (folder / MANIFEST).exists() or (folder / NEXT).exists()
    if options.go_on and is_there:
        last = None if options.frames is None else frames[-1]
        bake = cached.resume(crowd, scene, folder, last)
    else:
        bake = cached.begin(crowd, scene, folder, frames)
    progress = ProgressLine(f"Baking {crowd.name}", options.quiet)
    times: list[float] = []
    begin = last_time = time.perf_counter()
    try:
        for step in bake.steps:
            now = time.perf_counter()
            times.append(now - last_time)
            last_time = now
            progress(step)
    except OutputError as error:
        text = str(error).replace("Continue Bake goes on from there", "--continue goes on there")
        raise OutputError(text) from None
    finally:
        bake.close()
    warnings += [text for text in bake.warnings if text not in warnings]
    cache = open_cache(folder)
    return {
        "crowd": crowd.name,
        "agents": cache.header.agent_count,
        "frames": len(cache.frames),
        "frame_start": cache.frames[0],
        "frame_end": cache.frames[-1],
        "kept": bake.kept,
        "complete": cache.complete,
        "folder": str(folder),
        "bytes": sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()),
        "settings_hash": cache.header.settings_hash,
        "seconds_per_step": round(statistics.median(times or [0.0]), 9),
        "bake_seconds": round(time.perf_counter() - begin, 4),
    }


def _result(
    rows: list[dict[str, Any]], warnings: list[str], saved: Path | None, seconds: float
) -> Result:
    outputs = [row["folder"] for row in rows] + ([] if saved is None else [str(saved)])
    return Result(
        {
            "command": "bake",
            "to": "cache",
            "agents": sum(row["agents"] for row in rows),
            "frames": rows[0]["frames"],
            "frame_start": rows[0]["frame_start"],
            "frame_end": rows[0]["frame_end"],
            "seconds": round(seconds, 3),
            "seconds_per_step": rows[0]["seconds_per_step"],
            "crowds": rows,
            "warnings": warnings,
            "outputs": outputs,
        },
        [
            *warnings,
            *(
                f"{row['crowd']}: {row['agents']} agents, frames {row['frame_start']}-"
                f"{row['frame_end']} ({row['kept']} were there), {row['bytes'] / 1e6:.1f} MB"
                for row in rows
            ),
            *outputs,
        ],
    )
