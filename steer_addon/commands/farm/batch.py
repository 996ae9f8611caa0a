"""Make variations of crowds from a job file: simulations, bakes, exports and pictures.

Run again, it makes only what is missing or out of date.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

from ...core.compiled.presence import can_compile
from ...core.errors import OutputError, SteerError, UsageError, short
from ...farm import books, dask_engine, local
from ...farm.errors import JobError
from ...farm.graph import Graph
from ...farm.job import read_job
from ...farm.progress import reporter_for
from ...farm.report import page, plots
from ...farm.results import is_done
from ...farm.starter import find_starter
from ...farm.tasks import EXTRACT, first_tasks, tasks_of
from ...farm.variations import check_scene, variations_of
from ...farm.work import Work, tail_of
from ...process import tell
from .. import arguments
from ..output import Result
from . import looking

NAME = "batch"
IN_BLENDER = False
_MOST_WORKERS = 1024
_TAIL = 8
"""Lines of the log of a failed task that the summary shows."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_job(parser)
    add_results(parser, "--out")
    parser.add_argument(
        "--dry-run", action="store_true", help="list the tasks with their commands, and run none"
    )
    parser.add_argument(
        "--only",
        metavar="TASK",
        action="append",
        default=[],
        help="run only this task, by its name in --dry-run, once what it needs is done: for farms "
        "that see to the order themselves; may be given several times",
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=arguments.whole_number(_MOST_WORKERS),
        help="processes at once (default: as many as cores and free memory allow)",
    )
    parser.add_argument(
        "--engine",
        choices=("local", "dask"),
        default="local",
        help="local: processes on this machine; dask: workers of dask.distributed (extra farm)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a running Dask scheduler, such as tcp://10.0.0.5:8786, whose workers see all folders "
        "under the same paths (default: a cluster on this machine)",
    )
    parser.add_argument(
        "--kernels",
        metavar="DIR",
        type=arguments.path,
        help="folder of compiled kernels that all tasks share, filled by `steer compile --into` or "
        "by the batch (default: the user's own)",
    )


def add_job(parser: argparse.ArgumentParser) -> None:
    """Take a job file."""
    parser.add_argument("job", metavar="JOB.toml", type=arguments.path, help="job file")


def add_results(parser: argparse.ArgumentParser, name: str) -> None:
    """Take a folder for the results of a batch, by an option of this name."""
    parser.add_argument(
        name,
        dest="results",
        metavar="DIR",
        type=arguments.path,
        help="folder for the results, in place of the one that the job file names",
    )


class Plan:
    """A batch with its tasks.

    Attributes:
        batch: The batch.
        starter: How commands are started.
        looks: The look at the scenes: what they are, and the tasks that read them meanwhile.
        variations: The variations of all other scenes.
        tasks: Their tasks.
    """

    def __init__(
        self, options: argparse.Namespace, kernels: Path | None = None, *, reads: bool = False
    ) -> None:
        """Read the job, look at its scenes, and find its tasks.

        Args:
            options: As `add_arguments` declares them.
            kernels: Folder of kernels that all share; None for the user's own.
            reads: Whether tasks that read scenes may begin; nothing is written otherwise.

        Raises:
            JobError: The job cannot be run as it is.
        """
        self.batch = read_job(options.job, options.results)
        self.starter = find_starter()
        known = books.known_scenes(self.batch, self.starter.blender)
        self.looks = looking.Look(self.batch.scenes, known)
        try:
            self._find_tasks(kernels, _at_once(options), self._reader(kernels) if reads else None)
        except BaseException:
            self.looks.close()
            raise

    def _find_tasks(
        self, kernels: Path | None, at_once: int, read: Callable[[Path], Work | None] | None
    ) -> None:
        meanwhile = None if read is None else _load_plots
        scenes = self.looks.run(self.starter, at_once, read, meanwhile)
        for scene in scenes:
            check_scene(self.batch, scene)
        self.variations = variations_of(self.batch, scenes)
        compiles = _can_compile(kernels)
        found = tasks_of(
            self.batch,
            self.variations,
            self.starter.blender,
            kernels,
            compiles=compiles,
            extracts=True,
        )
        self.tasks = found if self.variations else []

    def _reader(self, kernels: Path | None) -> Callable[[Path], Work | None]:
        """Begins with the task that reads a scene, where that has to be done."""
        out = self.batch.out
        tasks = first_tasks(self.batch, self.looks.unknown, self.starter.blender)

        def read(path: Path) -> Work | None:
            task = tasks.get(path)
            if task is None or is_done(task, out):
                return None
            variables = {"STEER_THREADS": "1", **_variables(kernels)}
            try:
                return Work(task, out, self.starter, variables)
            except SteerError:
                # the batch tells of it, where the task is due
                return None

        return read

    def keep(self, names: Sequence[str]) -> None:
        """Leave all tasks out but these; what they need has to be done.

        Raises:
            JobError: There is no such task, or one that it needs is not done.
        """
        known, chosen = {task.name: task for task in self.tasks}, set(names)
        for name in names:
            if name not in known:
                why = "".join(f"; {fault}" for fault in self.looks.faults.values())
                raise JobError(f"there is no task {short(name)}: --dry-run lists their names{why}")
            for need in known[name].needs:
                done = need in names or is_done(known[need], self.batch.out)
                if not done and known[need].kind == EXTRACT:
                    chosen.add(need)
                elif not done:
                    raise JobError(f"{name} needs {need}, which is not done: run that before")
        self.tasks = [task for task in self.tasks if task.name in chosen]
        self.looks.faults = {}


def _load_plots() -> None:
    """Load what draws the report while other processes read scenes; the report says if it fails."""
    with suppress(OutputError):
        plots.load()


def _at_once(options: argparse.Namespace) -> int:
    """How many processes this machine may start beside those of an engine."""
    here = local.worker_count()
    return min(getattr(options, "workers", None) or here, here)


def _variables(kernels: Path | None) -> dict[str, str]:
    """More of the environment of all tasks."""
    return {} if kernels is None else {"STEER_CACHE_DIR": str(kernels)}


def _can_compile(kernels: Path | None) -> bool:
    """Whether kernels can be compiled ahead: there is numba, and a folder that may be written."""
    if kernels is not None and kernels.is_dir() and not os.access(kernels, os.W_OK):
        return False
    return can_compile()


def run(options: argparse.Namespace) -> Result:
    """Plan, and run what is missing."""
    start = time.perf_counter()
    if options.scheduler is not None and options.engine != "dask":
        raise UsageError("--scheduler does not go with --engine local: give --engine dask")
    kernels = None if options.kernels is None else options.kernels.resolve()
    # tasks of other engines run where these say
    reads = options.engine == "local" and not (options.dry_run or options.only)
    plan = Plan(options, kernels, reads=reads)
    if options.dry_run:
        return _shown(plan)
    with closing(plan.looks):
        if options.only:
            plan.keep(options.only)
        # tasks that a farm runs alone are kept apart by their own folders
        with nullcontext() if options.only else books.held(plan.batch.out):
            # those of a batch that runs there stay
            write_books(plan)
            graph = Graph(plan.tasks, {t.name for t in plan.tasks if is_done(t, plan.batch.out)})
            _run_tasks(plan, graph, options, kernels)
            told = {} if options.only or not plan.variations else _report_on(plan, graph, options)
    return _summary(plan, graph, told, time.perf_counter() - start)


def _report_on(plan: Plan, graph: Graph, options: argparse.Namespace) -> dict[str, str]:
    """Write the report where anything is new: its page, or why there is none."""
    out = plan.batch.out
    if graph.kept == graph.total and (out / page.HTML).is_file():
        return {"report": str(out / page.HTML)}
    try:
        return {"report": str(page.write_report(out, _at_once(options))[0])}
    except OutputError as error:
        return {"no_report": str(error)}


def write_books(plan: Plan) -> None:
    """Write down what the batch is, in the folder of its results.

    Raises:
        OutputError: It cannot be written there.
    """
    books.make_folder(plan.batch.out)
    books.write(plan.batch, plan.variations, plan.looks.said, plan.starter.blender)


def _run_tasks(plan: Plan, graph: Graph, options: argparse.Namespace, kernels: Path | None) -> None:
    workers = min(options.workers or local.worker_count(), max(1, graph.left))
    variables = _variables(kernels)
    terminal = sys.stderr is not None and sys.stderr.isatty()
    reporter = reporter_for(
        graph,
        tell,
        terminal=terminal,
        quiet=options.quiet,
        events=options.json and not options.quiet,
    )
    with closing(reporter):
        out, starter = plan.batch.out, plan.starter
        if options.engine == "dask":
            given = (graph, out, starter, reporter, workers, variables)
            dask_engine.run(*given, options.scheduler)
        else:
            engine = local.Engine(graph, out, starter, workers, variables)
            for work in plan.looks.given(graph.open):
                engine.adopt(work, reporter)
            local.run(engine, reporter)


def _rows(plan: Plan) -> list[dict[str, Any]]:
    out = plan.batch.out
    return [
        {
            "number": number,
            "task": task.name,
            "needs": list(task.needs),
            "done": is_done(task, out),
            "argv": [*plan.starter.prefix, *task.command(out)],
        }
        for number, task in enumerate(plan.tasks, 1)
    ]


def _shown(plan: Plan) -> Result:
    """The tasks, for --dry-run."""
    rows, out = _rows(plan), plan.batch.out
    lines = [
        f"{row['number']} {row['task']}{' (done)' if row['done'] else ''}: "
        f"{shlex.join(['steer', *task.command(out)])}"
        for row, task in zip(rows, plan.tasks, strict=True)
    ]
    done = sum(row["done"] for row in rows)
    total = f"{len(plan.variations)} variations, {len(rows)} tasks, {done} of them done, in {out}"
    data = {
        "command": "batch",
        "dry_run": True,
        "variations": len(plan.variations),
        "tasks": rows,
        "broken": _broken(plan),
        "out": str(out),
    }
    broken = [f"broken scene: {fault}" for fault in plan.looks.faults.values()]
    return Result(data, [*broken, *lines, total], 1 if broken else 0)


def _broken(plan: Plan) -> dict[str, str]:
    return {path.name: fault for path, fault in plan.looks.faults.items()}


def _summary(plan: Plan, graph: Graph, told: dict[str, str], seconds: float) -> Result:
    """What became of the batch."""
    failed = [
        {"task": one.task, "fault": one.fault, "log": one.log, "tail": tail_of(one.log, _TAIL)}
        for one in graph.failed
    ]
    complete = not (failed or plan.looks.faults or graph.left)
    data = {
        "command": "batch",
        "complete": complete,
        "variations": len(plan.variations),
        "tasks": graph.total,
        "done": len(graph.done),
        "kept": graph.kept,
        "failed": failed,
        "skipped": graph.skipped,
        "broken": _broken(plan),
        "seconds": round(seconds, 3),
        "outputs": [str(plan.batch.out)],
        **told,
    }
    lines = [f"broken scene: {fault}" for fault in plan.looks.faults.values()]
    for row in failed:
        lines += [f"{row['task']} failed: {row['fault']}", *(f"  | {t}" for t in row["tail"])]
        lines += [f"  its log: {row['log']}"] if row["log"] else []
    if graph.skipped:
        lines.append(f"{len(graph.skipped)} tasks were skipped, since they need those that failed")
    lines.append(
        f"{plan.batch.out}: {len(plan.variations)} variations, {len(graph.done)} of {graph.total} "
        f"tasks done, {graph.kept} of them before, {seconds:.1f} s"
    )
    lines += [told["report"]] if "report" in told else []
    lines += [f"There is no report: {told['no_report']}"] if "no_report" in told else []
    return Result(data, lines, 0 if complete else 1)
