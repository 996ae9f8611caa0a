"""Write what crowds read from their scene to a folder, which simulates without Blender."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from pathlib import Path

from ..blender.headless import contents, extracting, unshown
from ..core.diagnoses import add_new
from ..core.step.simulation import with_progress
from ..farm import results
from . import arguments
from .output import Result
from .pipeline import Pipeline

NAME = "extract"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    arguments.add_blend(parser)
    parser.add_argument(
        "--out",
        metavar="WORLD",
        type=arguments.path,
        required=True,
        help="folder to make; an earlier world of that name is replaced, anything else is left "
        "alone",
    )
    parser.add_argument(
        "--about",
        metavar="FILE.json",
        type=arguments.path,
        help="file to write what `steer info --json` says of FILE.blend to, before frames are read",
    )
    arguments.add_crowd(
        parser,
        "name of a crowd object; may be given several times, and the crowds that it meets or "
        "steers by come along (default: all crowds of the file)",
    )
    arguments.add_frames(parser, "frames to read up to (default: each crowd's range)")
    arguments.add_settings(parser)


class _Opened(Pipeline):
    """A .blend file, of which it is said at once what it is: batches wait for that."""

    def _open(self, options: argparse.Namespace) -> None:
        with unshown.crowds_unshown():
            super()._open(options)
            if options.about is not None:
                # as it is in its file: jobs change settings
                told = contents.scene_contents(self.scene, options.file.name)
                results.write_json(options.about, {"format": results.ABOUT_FORMAT, **told})


def run(options: argparse.Namespace) -> Result:
    """Open the file, read all frames and write them; nothing is simulated."""
    work = _Opened(options)
    jobs = list(work.jobs("Extracting"))
    progress = work.progress(f"Extracting {options.file.name}")

    def passed(steps: Generator[int, None, None], total: int) -> None:
        for _ in with_progress(steps, total, progress):
            pass

    wanted = [(job.crowd, job.frames) for job in jobs]
    path: Path = options.out
    found = extracting.extract(work.scene, wanted, path, options.file.name, passed)
    add_new(work.warnings, found)
    size = sum(file.stat().st_size for file in path.iterdir())
    rows = [
        {"crowd": crowd.name, "frame_start": frames[0], "frame_end": frames[-1]}
        for crowd, frames in wanted
    ]
    data = {
        "command": "extract",
        "file": options.file.name,
        "crowds": rows,
        "bytes": size,
        "warnings": work.warnings,
        "outputs": [str(path)],
    }
    names = ", ".join(str(row["crowd"]) for row in rows)
    return Result(data, [*data["warnings"], f"{path}: {names}, {size / 1.0e6:.1f} MB"])
