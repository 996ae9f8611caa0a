"""Run scenarios with published numbers and print one table.

    python scripts/validation/validate.py [FILE]… [--rvo2] [--rimea] [--flows 100,500]
        [--circle 2-40] [--density] [--converging N] [--ways NONE] [--only TEXT]
        [--json OUT [--resume]] [--plot DIR] [--markdown OUT] [--jobs 2]

All scenarios use the unchanged preset `pedestrians`; a scenario gives start places, sizes and
speeds of agents, their goals and the time step. Exits with 1 when a figure fails,
with 2 when a scenario cannot be run.

With --resume the results in OUT are kept: requested scenarios that were run with the same code
are not run again, and the page includes results that were not requested.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("STEER_CACHE_DIR", str(ROOT / "build" / "kernels"))

from scripts.validation import (  # noqa: E402
    converging,
    density,
    flows,
    page,
    plots,
    rimea,
    rvo2,
    steerbench,
    stored,
)
from scripts.validation.runner import PRESET, run  # noqa: E402
from scripts.validation.scenario import Scenario  # noqa: E402
from scripts.validation.table import as_text  # noqa: E402
from steer_addon.core.errors import SteerError, UsageError  # noqa: E402

Result = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A scenario to make and run, cheap to hand to another process."""

    name: str
    make: Callable[..., Scenario]
    given: tuple[Any, ...]
    preset: str
    plot: Path | None


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
    if not found or min(found) < 1 or max(found) > 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} names no numbers: give 100,500 or 2-250")
    return found


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="SteerBench XML files")
    parser.add_argument("--rvo2", action="store_true", help="RVO2's Circle, Blocks and Sphere")
    parser.add_argument("--rimea", action="store_true", help="RiMEA's rows, the fourth too")
    parser.add_argument("--flows", metavar="N,…", type=numbers, help="flow scenes of N agents")
    parser.add_argument("--circle", metavar="A-B", type=numbers, help="antipodal circles")
    parser.add_argument("--density", action="store_true", help="speed against density, RiMEA 4")
    parser.add_argument(
        "--converging", metavar="N", type=numbers, help="crowds that want one point"
    )
    parser.add_argument("--only", metavar="TEXT", help="only scenarios whose name has this in it")
    parser.add_argument("--preset", default=PRESET, help="name of a preset, or a .json file")
    parser.add_argument("--seed", type=int, default=0, help="random places are drawn from it")
    parser.add_argument(
        "--ways", default=steerbench.WAYS, help="how agents of the files find their ways, or NONE"
    )
    parser.add_argument("--json", metavar="OUT", type=Path, help="write one object per scenario")
    parser.add_argument("--resume", action="store_true", help="keep what the file of --json has")
    parser.add_argument("--markdown", metavar="OUT", type=Path, help="write docs/validation.md")
    parser.add_argument("--plot", metavar="DIR", type=Path, help="draw all trajectories")
    parser.add_argument("--jobs", type=int, default=1, help="number of runs at a time")
    return parser.parse_args(arguments)


def names_of(files: Sequence[Path]) -> list[str]:
    """Names of scenarios that are files; those of one name have their folders before it."""
    stems = [path.stem for path in files]
    return [
        path.stem if stems.count(path.stem) == 1 else path.with_suffix("").as_posix()
        for path in files
    ]


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """The scenarios to run.

    Raises:
        UsageError: No scenario was requested.
    """
    makers: list[tuple[str, Callable[..., Scenario], tuple[Any, ...]]] = []
    files = dict.fromkeys(options.files)
    makers += [
        (
            name if options.ways == steerbench.WAYS else f"{name} {options.ways}",
            steerbench.load,
            (path, options.seed, options.ways),
        )
        for name, path in zip(names_of(list(files)), files, strict=True)
    ]
    makers += [(f"antipodal {n}", rvo2.antipodal, (n,)) for n in options.circle or ()]
    if options.rvo2:
        makers += [(f"rvo2 {m.__name__}", m, ()) for m in (rvo2.circle, rvo2.blocks, rvo2.sphere)]
    if options.rimea:
        makers += rimea.ROWS
    if options.rimea or options.density:
        for value in density.DENSITIES:
            makers.append((f"rimea 4 density {value:g}", density.corridor, (value, options.seed)))
    makers += [
        (f"converging {n}", converging.converging, (n, options.seed))
        for n in options.converging or ()
    ]
    for n in options.flows or ():
        makers += [(f"{name} {n}", flows.flow, (name, n, options.seed)) for name in flows.SCENES]
    chosen = [maker for maker in makers if not options.only or options.only in maker[0]]
    if not chosen:
        raise UsageError("There is nothing to run: name files, or give --circle 2-40 or --rimea")
    once = {maker[0]: maker for maker in chosen}
    return [Job(*maker, options.preset, options.plot) for maker in once.values()]


def perform(job: Job) -> Result:
    """Make a scenario, run it and draw it; a failure becomes a result with an error."""
    try:
        scenario = replace(job.make(*job.given), name=job.name)
        outcome = run(scenario, job.preset, tracks=job.plot is not None)
        if job.plot is not None:
            plots.trajectories(outcome, job.plot)
    except SteerError as error:
        return {"name": job.name, "error": str(error), "wanted": [], "short": ["error"]}
    return outcome.result


def results_of(jobs: list[Job], processes: int, cost: Callable[[Job], float]) -> Iterator[Result]:
    """Run all jobs, in separate processes if several run at a time.

    Args:
        jobs: The jobs.
        processes: Number that run at a time: the longest jobs first, so that none is left
            running alone at the end.
        cost: Duration of a job, in any unit.
    """
    first = sorted(jobs, key=cost, reverse=True) if processes > 1 else jobs
    if processes < 2:
        yield from map(perform, first)
        return
    # one thread each: small crowds gain nothing from more
    os.environ.setdefault("STEER_THREADS", "1")
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(perform, job) for job in first]):
            yield future.result()


def cost_of(job: Job, known: Mapping[str, float]) -> float:
    """Duration of a job [s]: that of the last run, or a guess from its size."""
    if job.name in known:
        return known[job.name]
    size = [float(value) for value in job.given if isinstance(value, (int, float))]
    if job.make is flows.flow:
        return float(0.003 * size[0] ** 1.5)
    return (0.03 if job.make is rvo2.antipodal else 0.01) * size[0] if size else 30.0


def _told(result: Result) -> Result:
    if "error" in result:
        state = f"error: {result['error']}"
    else:
        state = f"{'short' if result['short'] else 'ok'}, {result['seconds']:.1f} s"
    print(f"{result['name']}: {state}", file=sys.stderr, flush=True)
    return result


def validate(options: argparse.Namespace) -> list[Result]:
    """Run the requested scenarios and write the requested files.

    Raises:
        SteerError: No scenario was requested, or a file cannot be read or written.
    """
    if options.plot:
        plots.check()
    if options.resume and not options.json:
        raise UsageError("--resume continues the file of --json: name one")
    jobs = jobs_of(options)
    old = stored.load(options.json) if options.resume else []
    made = stored.origin(options.preset, options.seed)
    done = {one["name"] for one in old if stored.same(one, made) and "error" not in one}
    known = {one["name"]: float(one.get("seconds") or 0.0) for one in old}
    left = [job for job in jobs if job.name not in done]
    found = {one["name"]: one for one in old}
    for result in results_of(left, options.jobs, lambda job: cost_of(job, known)):
        found[result["name"]] = _told({**result, **made})
        if options.json:
            stored.save(options.json, as_json(found.values()))
    order = [job.name for job in jobs]
    names = [*order, *(name for name in found if name not in order)]
    results = [found[name] for name in names if not found[name].get("compared")]
    results += rimea.comparisons(results)
    if options.json:
        stored.save(options.json, as_json(results))
    if options.markdown:
        stored.save(options.markdown, page.as_page(results, everything()))
    if options.plot:
        plots.speed_density(results, options.plot)
    return results


def everything() -> list[str]:
    """Names of all scenarios of `make validate`, without SteerBench's files."""
    options = ["--rvo2", "--rimea", "--density", "--converging", "10000"]
    options += ["--circle", "2-250", "--flows", ",".join(map(str, flows.COUNTS))]
    return [job.name for job in jobs_of(parse(options))]


def as_json(results: Iterable[Result]) -> str:
    """The text of a file of results."""
    return json.dumps(list(results), indent=1) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; returns the exit code."""
    options = parse(arguments)
    try:
        results = validate(options)
    except SteerError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    print(as_text(results))
    if any("error" in result for result in results):
        return 2
    return 1 if any(result["short"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
