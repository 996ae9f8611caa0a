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

_PAUSE = 0.01
"""Time between two looks at the processes [s]: a core is idle for half of it after each task."""
_TELL = 0.2
"""Time between two reports of how far tasks are, for which all logs are read [s]."""
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


class Engine:
    """Processes that work on the tasks of a batch: `step` again and again, then `stop`.

    Attributes:
        graph: The tasks.
    """

    def __init__(
        self,
        graph: Graph,
        out: Path,
        starter: Starter,
        workers: int,
        variables: Mapping[str, str],
    ) -> None:
        """Begin; nothing is started before the first step.

        Args:
            graph: The tasks.
            out: Folder of the batch.
            starter: How to start commands.
            workers: How many processes run at once, at most.
            variables: More of the environment of each.
        """
        self.graph = graph
        self._out, self._starter, self._workers = out, starter, workers
        self._variables = variables
        self._running: dict[int, Work] = {}
        self._told = -_TELL

    def adopt(self, work: Work, reporter: Reporter) -> None:
        """Take over a task that is being worked on."""
        slot = next(n for n in range(len(self._running) + 1) if n not in self._running)
        self.graph.start(work.task)
        reporter.started(slot, work.task.name)
        self._running[slot] = work

    def step(self, reporter: Reporter) -> None:
        """See what has ended, and start what may start."""
        for slot, work in list(self._running.items()):
            outcome = work.outcome()
            if outcome is not None:
                del self._running[slot]
                self.graph.end(outcome)
                reporter.ended(slot, outcome)
        for task in self.graph.ready():
            if not self._has_room(task):
                break
            self._start(task, reporter)
        if time.perf_counter() - self._told >= _TELL:
            self._told = time.perf_counter()
            reporter.tick(self.shares())

    def shares(self) -> dict[int | str, tuple[str, float]]:
        """The task of each process that runs, and the share of it that is done, 0 to 1."""
        return {slot: (work.task.name, work.share()) for slot, work in self._running.items()}

    def stop(self) -> None:
        """End all processes; what they did not finish is gone."""
        while self._running:
            self._running.popitem()[1].stop()

    def _has_room(self, task: Task) -> bool:
        used = sum(self._width(work.task) for work in self._running.values())
        return used + self._width(task) <= self._workers

    def _width(self, task: Task) -> int:
        """How many processes a task stands for, since it keeps that many cores busy itself."""
        if task.kind == KERNELS:
            # reading scenes needs no kernels: one is left for that
            return max(1, self._workers - 1)
        return min(self._workers, _RENDER_CORES) if task.kind == "render" else 1

    def _threads(self, task: Task) -> int:
        """How many cores a task may use."""
        if task.kind == KERNELS:
            return cores()
        return max(1, cores() * self._width(task) // self._workers)

    def _start(self, task: Task, reporter: Reporter) -> None:
        slot = next(n for n in range(self._workers) if n not in self._running)
        self.graph.start(task)
        reporter.started(slot, task.name)
        variables = {"STEER_THREADS": str(self._threads(task)), **self._variables}
        try:
            self._running[slot] = Work(task, self._out, self._starter, variables)
        except SteerError as error:
            outcome = Outcome(task.name, 0.0, str(error))
            self.graph.end(outcome)
            reporter.ended(slot, outcome)


def pause() -> None:
    """Let the time between two steps pass."""
    time.sleep(_PAUSE)


def run(engine: Engine, reporter: Reporter) -> None:
    """Run all tasks; whatever ends this ends their processes."""
    try:
        while engine.graph.left:
            engine.step(reporter)
            pause()
    finally:
        engine.stop()
