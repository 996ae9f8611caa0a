"""Measure delays that users feel, and print one table.

    python scripts/bench/bench.py [--only NAME]… [--list] [--json | --markdown]

Every figure is a ratio of two times of one run, or has a budget. Times are medians;
compared things take turns. A busy machine makes absolute times longer, so the
table shows the load of the machine. `--markdown` prints docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

# Before anything of Blender is imported: nothing of the user's own Blender is read or written.
_resources = tempfile.mkdtemp(prefix="steer-bench-")
atexit.register(shutil.rmtree, _resources, ignore_errors=True)
os.environ["BLENDER_USER_RESOURCES"] = _resources
os.environ.setdefault("STEER_CACHE_DIR", str(ROOT / "build" / "kernels"))

from scripts.bench import (  # noqa: E402
    batches,
    behaviors,
    blender,
    bodies,
    cache,
    characters,
    core,
    overlay,
    panels,
    start,
    ways,
)
from scripts.bench.table import SHORT, Row, as_markdown, as_text  # noqa: E402
from steer_addon.core.errors import SteerError  # noqa: E402

BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    "boids": blender.boids,
    "flock": core.flocks,
    "presets": core.presets,
    "meeting": core.meeting,
    "behaviors": behaviors.behaviors,
    "bodies": bodies.bodies,
    "live": blender.live,
    "playback": blender.playback,
    "characters": characters.characters,
    "ways": ways.ways,
    "batches": batches.batches,
    "overlay": overlay.overlay,
    "bake": blender.keys,
    "cache": cache.caches,
    "register": start.registering,
    "panels": panels.drawing,
    "first": start.first_simulation,
    "memory": core.memory,
    "search": core.searches,
    "scene": blender.reading,
    "commands": start.commands,
}
"""Groups of rows, in the order of the table."""

PAGE = """# Benchmarks

Made by `python scripts/bench/bench.py --markdown > docs/benchmarks.md`, on a machine with
{machine}; `make bench` prints the same table for yours. Times are medians. Where two things are
compared they run in one process and take turns; crowds take five steps per turn, as simulations
do, and people play for some frames. *Ratio* is how many times better than wanted a figure is: 1
just meets the budget.

{table}

{summary}

A behavior that casts rays may cost 0.3 µs per ray in addition to the budget of all behaviors,
three times seek. *Flow field*, *follow wall* and *hide* search for the nearest point of a mesh, for
which these budgets leave no room: no preset has many agents that do so. Budgets in ms and µs depend
on the machine; in ratios both sides were measured on it.
"""


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def busy() -> float:
    """Processes that ran or waited over the last minute, per core; 0 if unknown."""
    return os.getloadavg()[0] / cores() if hasattr(os, "getloadavg") else 0.0


def measure(names: Sequence[str]) -> list[Row]:
    """Run groups of benchmarks, and report the progress on stderr."""
    rows: list[Row] = []
    for name in names:
        start = time.perf_counter()
        print(f"{name} …", end=" ", file=sys.stderr, flush=True)
        try:
            rows += BENCHMARKS[name]()
        except (RuntimeError, AssertionError, SteerError) as error:
            # the other figures are still worth having
            rows.append(Row(name, None, "", note=str(error), failed=True))
        print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return rows


def summary(rows: Sequence[Row]) -> str:
    """One sentence about all budgets."""
    judged = [row for row in rows if row.ratio is not None]
    short = [row.operation for row in judged if row.outcome == SHORT]
    text = f"{len(judged) - len(short)} of {len(judged)} budgets are met"
    return f"{text}; short: {'; '.join(short)}." if short else f"{text}."


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure what a user would feel.")
    parser.add_argument(
        "--only", action="append", choices=list(BENCHMARKS), metavar="NAME", help="one group only"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the groups")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the rows as JSON")
    form.add_argument("--markdown", action="store_true", help="print docs/benchmarks.md")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code: 1 when something failed, not for missed budgets."""
    options = _options(argv)
    if options.list:
        print("\n".join(BENCHMARKS))
        return 0
    load = busy()
    rows = measure(options.only or list(BENCHMARKS))
    if options.json:
        found = [asdict(row) | {"ratio": row.ratio, "outcome": row.outcome} for row in rows]
        print(json.dumps({"cores": cores(), "load": load, "rows": found}, ensure_ascii=False))
    elif options.markdown:
        machine = f"{cores()} cores"
        print(PAGE.format(machine=machine, table=as_markdown(rows), summary=summary(rows)), end="")
    else:
        print(as_text(rows))
        print(f"\n{summary(rows)}")
        if load > 0.3:
            print(f"The machine was busy with {load:.1f} other tasks per core: times are too long.")
    return 1 if any(row.failed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
