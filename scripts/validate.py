"""Run scenarios with published numbers and print one table.

    python scripts/validate.py [FILE]… [--rvo2] [--rimea] [--flows 100,500] [--circle 2-40]
        [--density] [--only TEXT] [--json OUT] [--plot DIR] [--jobs 2]

All scenarios use one preset, `pedestrians`, as it is; a scenario says who starts where, how large
and how fast they are, where they go and what the time step is. Exits with 1 when a figure is short.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("STEER_CACHE_DIR", str(ROOT / ".pytest_cache" / "steer"))

from validation import flows, rvo2, steerbench  # noqa: E402
from validation.runner import PRESET, run  # noqa: E402
from validation.scenario import Scenario  # noqa: E402
from validation.table import as_text  # noqa: E402

from steer_addon.core.errors import SteerError, UsageError  # noqa: E402

Job = tuple[Callable[..., Scenario], tuple[Any, ...]]
"""What makes a scenario, and of what: cheap to hand to another process."""


def numbers(text: str) -> list[int]:
    """Whole numbers: `4,8`, `2-40`, and `2-250`, where all up to 40 count and then every tenth.

    Raises:
        argparse.ArgumentTypeError: It is something else.
    """
    found: list[int] = []
    try:
        for part in text.split(","):
            first, _dash, last = part.partition("-")
            low, high = int(first), int(last or first)
            found += [n for n in range(low, high + 1) if n <= 40 or n % 10 == 0 or low == high]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} names no numbers: give 100,500 or 2-250")
    return found


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="SteerBench XML files")
    parser.add_argument("--rvo2", action="store_true", help="RVO2's Circle, Blocks and Sphere")
    parser.add_argument("--flows", metavar="N,…", type=numbers, help="six flow scenes, so many")
    parser.add_argument("--circle", metavar="A-B", type=numbers, help="antipodal circle, so many")
    parser.add_argument("--only", metavar="TEXT", help="only scenarios whose name has this in it")
    parser.add_argument("--preset", default=PRESET, help="name of a preset, or a .json file")
    parser.add_argument("--seed", type=int, default=0, help="random places are drawn from it")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write one object per scenario")
    parser.add_argument("--jobs", type=int, default=1, help="so many runs at a time")
    return parser.parse_args(arguments)


def jobs_of(options: argparse.Namespace) -> list[tuple[str, Job]]:
    """What to run, with names.

    Raises:
        UsageError: Nothing was asked for.
    """
    jobs: list[tuple[str, Job]] = []
    jobs += [(path.stem, (steerbench.load, (path, options.seed))) for path in options.files]
    jobs += [(f"antipodal {n}", (rvo2.antipodal, (n,))) for n in options.circle or ()]
    if options.rvo2:
        for make in (rvo2.circle, rvo2.blocks, rvo2.sphere):
            jobs.append((f"rvo2 {make.__name__}", (make, ())))
    for n in options.flows or ():
        jobs += [(f"{name} {n}", (flows.flow, (name, n, options.seed))) for name in flows.SCENES]
    if options.only:
        jobs = [job for job in jobs if options.only in job[0]]
    if not jobs:
        raise UsageError(
            "There is nothing to run: name files, or give --circle 2-40 or --flows 100"
        )
    return jobs


def perform(job: Job, preset: str) -> dict[str, Any]:
    """Make a scenario and run it."""
    make, given = job
    return run(make(*given), preset).result


def results_of(
    jobs: list[tuple[str, Job]], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Run everything, in order; in processes of their own where several run at a time."""
    if options.jobs < 2:
        for _name, job in jobs:
            yield perform(job, options.preset)
        return
    os.environ.setdefault("STEER_THREADS", "1")
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(perform, job, options.preset) for _name, job in jobs]
        for future in waiting:
            yield future.result()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; returns the exit code."""
    options = parse(arguments)
    results = []
    try:
        for result in results_of(jobs_of(options), options):
            results.append(result)
            state = "short" if result["short"] else "ok"
            print(f"{result['name']}: {state}", file=sys.stderr, flush=True)
    except SteerError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    print(as_text(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 1 if any(result["short"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
