"""Write a batch as a job of a render farm: Open Job Description, or Flamenco.

Bakes that are there are rendered as they are, by Blender alone; what is missing is made by Steer.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ...core.errors import OutputError, printable
from ...core.files.plain import reason
from ...core.files.staging import replace_file
from ...farm import books, flamenco, openjd
from ...farm.farms import as_json, shots_of
from .. import arguments
from ..output import Result
from . import batch

NAME = "submit"
IN_BLENDER = False
_TEMPLATE, _PARAMETERS = "template.json", "parameters.json"
_SUBMISSION = "submission.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    batch.add_job(parser)
    batch.add_results(parser, "--results")
    parser.add_argument(
        "--to",
        choices=("openjd", "flamenco"),
        required=True,
        help="openjd: a template of Open Job Description 2023-09 and its paths; flamenco: a job "
        "type of Flamenco 3 and a submission",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=arguments.path,
        required=True,
        help="folder for the files to submit",
    )
    parser.add_argument(
        "--no-chunking",
        action="store_true",
        help="for farms without the extension TASK_CHUNKING of Open Job Description: frames are "
        "cut into tasks here",
    )


def run(options: argparse.Namespace) -> Result:
    """Plan the batch, and write what a farm takes."""
    plan = batch.Plan(options)
    job_file = Path(os.path.realpath(options.job))
    shots = shots_of(plan.batch, plan.variations, plan.tasks)
    files: dict[str, bytes] = {}
    if options.to == "openjd":
        told = openjd.template_of(plan.batch, job_file, shots, chunks=not options.no_chunking)
        files[_TEMPLATE] = as_json(told)
        files[_PARAMETERS] = as_json(openjd.parameters_of(plan.batch, job_file, shots))
    else:
        files[_SUBMISSION] = as_json(
            flamenco.submission_of(plan.batch, job_file, shots, sys.platform)
        )
        files[flamenco.SCRIPT.name] = flamenco.SCRIPT.read_bytes()
    paths = [options.out / name for name in files]
    with books.held(plan.batch.out):
        # with what is known of the scenes, no worker has to open them to plan
        batch.write_books(plan)
        for path, content in zip(paths, files.values(), strict=True):
            _write(path, content)
    missing = sum(len(shot.tasks) for shot in shots)
    broken = [printable(fault) for fault in plan.looks.faults.values()]
    data = {
        "command": "submit",
        "to": options.to,
        "variations": len(shots),
        "needing_steer": missing,
        "broken": {path.name: fault for path, fault in plan.looks.faults.items()},
        "outputs": [str(path) for path in paths],
    }
    told_missing = f"{missing} tasks need Steer on the workers" if missing else "Blender is enough"
    lines = [*broken, *map(str, paths), f"{len(shots)} variations; {told_missing}"]
    return Result(data, lines, 1 if broken else 0)


def _write(path: Path, data: bytes) -> None:
    """Write a file, in place of one that a submission wrote only."""
    try:
        if os.path.lexists(path) and not _is_ours(path):
            raise OutputError(f"{path} is there and Steer did not write it: choose another folder")
        replace_file(path, [data])
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {reason(error)}; choose another folder with --out"
        ) from None


def _is_ours(path: Path) -> bool:
    data = path.read_bytes()[:4000] if path.is_file() else b""
    return b"Steer" in data or b'"Job": ' in data
