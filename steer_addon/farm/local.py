"""The engine of one machine: as many processes at once as its cores and its memory allow."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..core.errors import SteerError
from .graph import Graph
from .progress import Reporter
from .starter import Starter
from .tasks import KERNELS, Task
from .work import Outcome, Work

_PAUSE = 0.05
"""Time between two looks at the processes [s]."""
_RENDER_CORES = 4
"""Cores that a renderer puts to use well beside others: more pictures at once need more memory."""
_MEMORY = 1 << 30
"""Memory that a process with Blender and a crowd may need [bytes]."""
_MEMINFO = Path("/proc/meminfo")


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def worker_count() -> int:
    """As many processes as cores and free memory allow; at least one."""
    return max(1, min(cores(), _free_memory() // _MEMORY))


def _free_memory() -> int:
    """Memory that processes may take now [bytes]; that of any number where it cannot be known."""
    with suppress(OSError, ValueError, IndexError):
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return _MEMORY * cores()


def run(
    graph: Graph,
    out: Path,
    starter: Starter,
    reporter: Reporter,
    workers: int,
    variables: Mapping[str, str],
) -> None:
    """Run the tasks of a batch; whatever ends this ends their processes.

    Args:
        graph: The tasks.
        out: Folder of the batch.
        starter: How to start commands.
        reporter: Where to report.
        workers: How many processes run at once, at most.
        variables: More of the environment of each.
    """
    running: dict[int, Work] = {}
    try:
        while graph.left:
            for task in graph.ready():
                if not _has_room(task, running, workers):
                    break
                slot = next(n for n in range(workers) if n not in running)
                _start(task, slot, running, graph, out, starter, reporter, variables, workers)
            _look(running, graph, reporter)
            reporter.tick({slot: (work.task.name, work.share()) for slot, work in running.items()})
            time.sleep(_PAUSE)
    finally:
        for work in running.values():
            work.stop()


def _has_room(task: Task, running: Mapping[int, Work], workers: int) -> bool:
    used = sum(_width(work.task, workers) for work in running.values())
    return used + _width(task, workers) <= workers


def _width(task: Task, workers: int) -> int:
    """How many of the processes a task stands for, since it keeps that many cores busy itself."""
    if task.kind == KERNELS:
        return workers
    return min(workers, _RENDER_CORES) if task.kind == "render" else 1


def _start(
    task: Task,
    slot: int,
    running: dict[int, Work],
    graph: Graph,
    out: Path,
    starter: Starter,
    reporter: Reporter,
    variables: Mapping[str, str],
    workers: int,
) -> None:
    graph.start(task)
    reporter.started(slot, task.name)
    threads = max(1, cores() * _width(task, workers) // workers)
    try:
        running[slot] = Work(task, out, starter, {"STEER_THREADS": str(threads), **variables})
    except SteerError as error:
        outcome = Outcome(task.name, 0.0, str(error))
        graph.end(outcome)
        reporter.ended(slot, outcome)


def _look(running: dict[int, Work], graph: Graph, reporter: Reporter) -> None:
    for slot, work in list(running.items()):
        outcome = work.outcome()
        if outcome is not None:
            del running[slot]
            graph.end(outcome)
            reporter.ended(slot, outcome)
