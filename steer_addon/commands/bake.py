"""Bake crowds of a .blend file to what plays without Steer, or to files of other programs."""

from __future__ import annotations

import argparse
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..blender.bake import keyed_crowds
from ..blender.crowd.bake_settings import KeyframeBakeSettings
from ..blender.export import formats
from ..blender.export.names import FORMATS, Format
from ..blender.headless import batch
from ..blender.writing import files
from ..core.errors import SceneError, UsageError
from ..core.parameters import parameters
from . import arguments
from .caching import bake_to_caches
from .output import Result
from .pipeline import Job, Pipeline, Row, StepClock
from .together import Simulated, simulated_together

if TYPE_CHECKING:
    import bpy

NAME = "bake"
_KEYFRAMES_ONLY = ("step", "tolerance", "actions", "object", "collection", "empties", "rigs")
"""Options that do not go with a cache."""
_KEYFRAME_SETTINGS = ("step", "tolerance", "actions", "bodies")
_OTHER_ENDINGS = (".blend", ".usd", ".usda", ".usdz", ".gltf")
"""Endings of files that no export writes, though one may think so."""
"""What is written by the modules of USD."""
_MOST_STEP = int(parameters(KeyframeBakeSettings)["step"].maximum)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    arguments.add_blend(parser)
    parser.add_argument(
        "--to",
        choices=("keyframes", "cache", *FORMATS),
        default="keyframes",
        help="keyframes: one keyed object per agent; cache: files of frames that can be "
        "continued, and that Blender plays; "
        + "; ".join(f"{entry.name}: {entry.label} ({entry.suffix})" for entry in FORMATS.values()),
    )
    parser.add_argument(
        "--out",
        metavar="PATH",
        type=arguments.path,
        help="file or folder to write to, for files of other programs; in a folder the name is "
        "that of the .blend file and the crowd; an earlier file of that name is replaced",
    )
    parser.add_argument(
        "--save",
        metavar="OUT.blend",
        type=arguments.path,
        help="file to write; the file that is read stays as it is, unless it is named here again; "
        "not needed for --to cache, nor for files of other programs",
    )
    arguments.add_crowd(parser)
    arguments.add_frames(parser, "frames to bake (default: each crowd's range)")
    _add_keyframe_options(parser)
    parser.add_argument(
        "--cache",
        metavar="DIR",
        type=arguments.path,
        help="folder in which each crowd gets a folder of its name, for --to cache "
        "(default: what the file says, else steer_cache/FILE beside it)",
    )
    parser.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="continue a cache that was cut short; the same command may be run again and again",
    )
    parser.add_argument(
        "--simulation",
        metavar="DIR",
        type=arguments.path,
        help="folder for what `steer simulate` writes, of the same run; for --to cache",
    )
    arguments.add_settings(parser)


def _add_keyframe_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--step",
        metavar="N",
        type=arguments.whole_number(_MOST_STEP),
        help="frames from key to key",
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
    parser.set_defaults(bodies=None)
    group.add_argument(
        "--rigs",
        action="store_true",
        help="make a rig of each agent that is shown as a character, with strips of its actions",
    )


def _caches_only(options: argparse.Namespace) -> dict[str, Any]:
    """Options that go with a cache only, by their names."""
    return {
        "--cache": options.cache,
        "--continue": options.go_on,
        "--simulation": options.simulation,
    }


def run(options: argparse.Namespace) -> Result:
    """Check that the options go together, then bake."""
    to = options.to
    if to == "cache":
        given = [name for name in _KEYFRAMES_ONLY if getattr(options, name)]
        if given:
            raise UsageError(f"--{given[0]} does not go with --to cache: leave it out")
        if options.simulation is not None and options.go_on:
            raise UsageError("--simulation needs all frames: leave --continue out")
    elif given := [name for name, value in _caches_only(options).items() if value]:
        raise UsageError(f"{given[0]} does not go with --to {to}: give --to cache")
    if to in FORMATS:
        if options.out is None:
            raise UsageError(f"--to {to} writes a file: give --out FILE or --out FOLDER")
        if options.save is not None:
            raise UsageError(f"--to {to} changes no .blend file: give --out in place of --save")
        _check_ending(options.out, FORMATS[to])
    elif options.out is not None:
        raise UsageError(f"--out does not go with --to {to}: leave it out")
    elif to == "keyframes" and options.save is None:
        raise UsageError("give --save OUT.blend, the file to write")
    work = Pipeline(options)
    if to == "keyframes":
        return _bake_to_keyframes(work)
    return bake_to_caches(work) if to == "cache" else _export(work)


def _bake_to_keyframes(work: Pipeline) -> Result:
    jobs = work.jobs("Baking")
    for crowd in work.crowds:
        _set_keyframes(crowd, work.scene, work.options)
    with closing(simulated_together(work, list(jobs))) as ready:
        rows = {job.crowd.name: _keyframes_row(work, job, done) for job, done in ready}
    result = work.report(
        {"command": "bake"},
        [rows[crowd.name] for crowd in work.crowds],
        lambda row: (
            f"{row['crowd']}: {row['agents']} agents, {row['keys']} keys, "
            f"frames {row['frame_start']}-{row['frame_end']}"
        ),
        [],
        totals=("agents", "objects", "keys"),
    )
    result.lines += result.data["outputs"]
    return result


def _set_keyframes(
    crowd: bpy.types.Object, scene: bpy.types.Scene, options: argparse.Namespace
) -> None:
    """Write the options of a bake to keyframes to a crowd.

    Raises:
        SceneError: The file has no such object or collection, or the crowd has no rigs.
    """
    if options.rigs:
        options.bodies = "RIGS"
        crowd.steer.bake_source_object = crowd.steer.bake_source_collection = None
    batch.set_bake(crowd, scene, options, _KEYFRAME_SETTINGS)
    if options.rigs and not keyed_crowds.makes_rigs(crowd):
        raise SceneError(
            f"Crowd {crowd.name!r} shows no characters, and only these have rigs: leave --rigs out"
        )


def _keyframes_row(work: Pipeline, job: Job, done: Simulated | None) -> Row:
    crowd, frames = job.crowd, job.frames
    clock = StepClock() if done is None else done.clock

    def progress(share: float) -> None:
        # the first half is the simulation, a call per frame
        if done is None and len(clock.times) < len(frames):
            clock.tick()
        job.progress.share(share)

    end, crowd.steer.frame_end = crowd.steer.frame_end, frames[-1]
    try:
        made = keyed_crowds.bake_crowd(
            crowd,
            work.scene,
            progress,
            work.warnings,
            frames,
            empties=work.options.empties,
            frames=done and done.frames,
        )
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


def _export(work: Pipeline) -> Result:
    options = work.options
    chosen = formats.FORMATS[options.to]
    paths = _export_paths(options.out, work.crowds, chosen)
    jobs = list(work.jobs("Exporting"))
    for crowd, path in zip(work.crowds, paths, strict=True):
        batch.set_bake(crowd, work.scene, options, ("step", "tolerance"))
        batch.check_new_file(path, chosen.suffix, files.files_read())
    # a bake knows nothing of settings that are only for this run
    ignore_bake = bool(options.set or options.preset) or options.seed is not None
    played = [job for job in jobs if not ignore_bake and formats.plays(job.crowd, job.frames)]
    path_of, rows = dict(zip(work.crowds, paths, strict=True)), dict[str, Row]()
    with closing(simulated_together(work, [job for job in jobs if job not in played])) as ready:
        for job, done in chain(((job, None) for job in played), ready):
            made = formats.export_crowd(
                job.crowd,
                work.scene,
                chosen,
                path_of[job.crowd],
                numbers=job.frames,
                progress=job.progress.share,
                warnings=work.warnings,
                ignore_bake=ignore_bake,
                simulated=done and done.frames,
            )
            rows[job.crowd.name] = _export_row(job, made)
    return work.report(
        {"command": "bake", "to": options.to},
        [rows[crowd.name] for crowd in work.crowds],
        lambda row: (
            f"{row['file']}: {row['agents']} agents, frames {row['frame_start']}-"
            f"{row['frame_end']}, {row['bytes'] / 1e6:.1f} MB"
        ),
        list(map(str, paths)),
    )


def _export_row(job: Job, made: formats.Result) -> Row:
    return {
        "crowd": job.crowd.name,
        "agents": made.agents,
        "frames": made.frames,
        "frame_start": job.frames[0],
        "frame_end": job.frames[-1],
        "seconds": round(made.seconds, 3),
        "bytes": made.size,
        "file": str(made.path),
    }


def _check_ending(out: Path, chosen: Format) -> None:
    """Refuse the name of another kind of file, which would become a folder of that name."""
    others = {*_OTHER_ENDINGS, *(entry.suffix for entry in FORMATS.values())} - {chosen.suffix}
    if out.suffix.lower() in others and not out.is_dir():
        raise UsageError(
            f"{out} ends in {out.suffix}, and --to {chosen.name} writes {chosen.suffix}: give a "
            f"name that ends in {chosen.suffix}, or a folder that is there"
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
