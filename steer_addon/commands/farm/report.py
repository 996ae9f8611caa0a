"""Write the report of a batch: report.html to choose a variation by looking, report.json, .csv."""

from __future__ import annotations

import argparse
import time

from ...farm import local
from ...farm.report.gather import variations
from ...farm.report.page import write_report
from .. import arguments
from ..output import Result

NAME = "report"
IN_BLENDER = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "results", metavar="DIR", type=arguments.path, help="folder of the results of a batch"
    )


def run(options: argparse.Namespace) -> Result:
    """Write it."""
    start = time.perf_counter()
    paths = [str(path) for path in write_report(options.results, local.worker_count())]
    data = {
        "command": "report",
        "variations": len(variations(options.results)),
        "seconds": round(time.perf_counter() - start, 3),
        "outputs": paths,
    }
    return Result(data, paths)
