"""Bake crowds of a .blend file to what plays without Steer, or to files of other programs."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from ..core.errors import UsageError
from . import arguments, bake_cache, exporting
from .output import ProgressLine, Result

NAME = "bake"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    arguments.add_blend(parser)
    parser.add_argument(
        "--to",
        choices=("keyframes", "cache", *exporting.FORMATS),
        default="keyframes",
        help="keyframes: one keyed object per agent; cache: files of frames that can be gone on "
        "with, and that Blender plays; "
        + "; ".join(f"{name}: {text}" for name, text in exporting.FORMATS.items()),
    )
    parser.add_argument(
        "--out",
        metavar="PATH",
        type=Path,
        help="file or folder to write to, for files of other programs; in a folder the name is "
        "that of the .blend file and the crowd",
    )
    parser.add_argument(
        "--save",
        metavar="OUT.blend",
        type=Path,
        help="file to write; the file that is read stays as it is, unless it is named here again; "
        "not needed for --to cache, nor for files of other programs",
    )
    arguments.add_crowd(parser, "without it all of them are baked")
    arguments.add_frames(parser, "frames to bake (default: the crowd's range)")
    parser.add_argument(
        "--step", metavar="N", type=arguments.positive_int, help="frames from key to key"
    )
    parser.add_argument(
        "--tolerance",
        metavar="M",
        type=arguments.non_negative_float,
        help="leave keys out while positions stay this near to the simulated ones, in meters",
    )
    parser.add_argument(
        "--actions",
        choices=("PER_AGENT", "SHARED"),
        type=str.upper,
        help="an action for each agent, or one for all with a slot for each",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--object", metavar="NAME", help="make a linked copy of it per agent")
    group.add_argument("--collection", metavar="NAME", help="make an instance of it per agent")
    group.add_argument(
        "--empties", action="store_true", help="make empties, whatever the file says"
    )
    bake_cache.add_arguments(parser)
    arguments.add_settings(parser)


def run(options: argparse.Namespace) -> Result:
    """Simulate, bake, hide the live crowds and save; or bake to a cache, or export."""
    bake_cache.check(options)
    if options.to in exporting.FORMATS:
        return exporting.run(options)
    if options.out is not None:
        raise UsageError(f"--out does not go with --to {options.to}: leave it out")
    if options.to == "cache":
        return bake_cache.run(options)
    if options.save is None:
        raise UsageError("give --save OUT.blend, the file to write")
    from ..blender.headless import batch

    start = time.perf_counter()
    batch.check_new_file(options.save, ".blend")
    scene = batch.open_file(options.file)
    found = batch.find_crowds(scene, options.crowd)
    bake = batch.BakeOptions(
        frames=options.frames,
        step=options.step,
        tolerance=options.tolerance,
        actions=options.actions,
        source=batch.find_source(options.object, options.collection),
        empties=options.empties,
    )
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for crowd in found:
        batch.override(crowd, options.set, options.seed)
        progress = ProgressLine(f"Baking {crowd.name}", options.quiet)
        rows.append(batch.bake_crowd(crowd, scene, bake, progress.share, warnings))
    batch.save_file(options.save)
    total = {key: sum(row[key] for row in rows) for key in ("agents", "objects", "keys")}
    return Result(
        {
            "command": NAME,
            **total,
            "frames": rows[0]["frames"],
            "frame_start": rows[0]["frame_start"],
            "frame_end": rows[0]["frame_end"],
            "seconds": round(time.perf_counter() - start, 3),
            "seconds_per_step": rows[0]["seconds_per_step"],
            "crowds": rows,
            "warnings": warnings,
            "outputs": [str(options.save)],
        },
        [
            *warnings,
            *(
                f"{row['crowd']}: {row['agents']} agents, {row['keys']} keys, "
                f"frames {row['frame_start']}-{row['frame_end']}"
                for row in rows
            ),
            str(options.save),
        ],
    )
