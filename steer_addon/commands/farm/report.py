"""Write the report of a batch: report.html to choose a variation by looking, report.json, .csv."""

from __future__ import annotations

import argparse
import re
import time

from ...core.errors import short
from ...farm import local
from ...farm.report import drawing
from ...farm.report.gather import MOST, outcomes, variations
from ...farm.report.page import write_report
from ...farm.starter import find_starter
from .. import arguments
from ..output import Result

NAME = "report"
IN_BLENDER = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "results", metavar="DIR", type=arguments.path, help="folder of the results of a batch"
    )
    parser.add_argument(
        "--part",
        metavar="K/N",
        type=_part,
        help="draw the pictures of every Nth variation from the Kth on, write no file, and give "
        "them with --json: what a report of many variations calls in processes beside its own",
    )


def _part(text: str) -> tuple[int, int]:
    """Number of a part, from 0, and how many parts there are."""
    match = re.fullmatch(r"(\d{1,5})/(\d{1,5})", text)
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count <= MOST:
        raise argparse.ArgumentTypeError(f"{short(text)} is no part: give K/N, such as 1/2")
    return number - 1, count


def run(options: argparse.Namespace) -> Result:
    """Write it, or draw a part of its pictures."""
    start = time.perf_counter()
    if options.part is not None:
        return _drawn(options)
    drawers = drawing.Drawers(local.worker_count(), find_starter())
    paths = [str(path) for path in write_report(options.results, drawers)]
    data = {
        "command": "report",
        "variations": len(variations(options.results)),
        "seconds": round(time.perf_counter() - start, 3),
        "outputs": paths,
    }
    return Result(data, paths)


def _drawn(options: argparse.Namespace) -> Result:
    """A part of the pictures."""
    shown = [one for one in outcomes(options.results) if one.tracks]
    part = drawing.part_of(shown, *options.part)
    data = {"command": "report", **part._asdict()}
    return Result(data, [f"{len(part.pictures)} of {len(shown)} variations drawn"])
