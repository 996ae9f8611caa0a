"""Progress of a batch: a live line per worker on a terminal, plain lines in a log, or JSON events.

The live display is rich's, where it is there (extra `farm`).
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..core.step.simulation import Progress
from .graph import Graph
from .work import Outcome

_INTERVAL = 5.0
"""Time between two lines of a log that say nothing new [s]."""


class Reporter:
    """Reports in plain lines: each task that ends, and now and then how far all are.

    Attributes:
        graph: The tasks.
    """

    def __init__(self, graph: Graph, write: Callable[[str], None], quiet: bool = False) -> None:
        self.graph, self._write, self._quiet = graph, write, quiet
        self._start = self._last = time.perf_counter()

    def line(self, text: str) -> None:
        """Write a line, unless nobody wants any."""
        if not self._quiet:
            self._write(text)

    def started(self, worker: int | str, task: str) -> None:
        """A worker begins with a task."""

    def ended(self, worker: int | str, outcome: Outcome) -> None:
        """A task is done, or failed."""
        how = f"failed: {outcome.fault}" if outcome.fault else f"{outcome.seconds:.1f} s"
        self.line(f"{outcome.task}: {how}")
        self._last = time.perf_counter()

    def tick(self, running: Mapping[int | str, tuple[str, float]]) -> None:
        """Called again and again with the task of each worker, and the share of it that is done."""
        if time.perf_counter() - self._last > _INTERVAL:
            self._last = time.perf_counter()
            self.line(self.total(running))

    def total(self, running: Mapping[int | str, tuple[str, float]]) -> str:
        """How far all tasks are, and the time that is left."""
        graph = self.graph
        gone, lost = graph.total - graph.left, len(graph.failed) + len(graph.skipped)
        tasks = f"{gone}/{graph.total} tasks{f', {lost} lost' if lost else ''}"
        return f"{tasks}{self.time_left(running)}"

    def time_left(self, running: Mapping[int | str, tuple[str, float]]) -> str:
        """The time that is left, behind a comma; an empty text while it is not known."""
        graph, spent = self.graph, time.perf_counter() - self._start
        gone = graph.total - graph.left
        begun = gone - graph.kept + sum(share for _, share in running.values())
        if begun <= 0.0:
            return ""
        left = spent / begun * (graph.total - graph.kept - begun)
        return f", {Progress(gone, graph.total, spent, left).time_left} left"

    def close(self) -> None:
        """End the display."""


class Events(Reporter):
    """Reports as JSON, one object per line."""

    def _event(self, name: str, **values: Any) -> None:
        self._write(json.dumps({"event": name, **values}, ensure_ascii=False))

    def started(self, worker: int | str, task: str) -> None:
        """A worker begins with a task."""
        self._event("started", task=task, worker=worker)

    def ended(self, worker: int | str, outcome: Outcome) -> None:
        """A task is done, or failed."""
        graph = self.graph
        counts = {"gone": graph.total - graph.left, "total": graph.total}
        told = {"task": outcome.task, "worker": worker, "seconds": round(outcome.seconds, 3)}
        fault = {"fault": outcome.fault, "log": outcome.log} if outcome.fault else {}
        self._event("failed" if outcome.fault else "done", **told, **fault, **counts)

    def tick(self, running: Mapping[int | str, tuple[str, float]]) -> None:
        """Nothing: events are for programs."""


class Live(Reporter):
    """A live line per worker, and a total with the time left."""

    def __init__(self, graph: Graph, write: Callable[[str], None], rich: Any) -> None:
        super().__init__(graph, write)
        self._rich, self._rows = rich, dict[int | str, tuple[str, float]]()
        console = rich["console"].Console(stderr=True)
        self._live = rich["live"].Live(console=console, refresh_per_second=5, transient=True)
        self._live.start()

    def line(self, text: str) -> None:
        """Write a line above the live ones."""
        # a text, since names may look like rich's marks
        self._live.console.print(self._rich["text"].Text(text))

    def tick(self, running: Mapping[int | str, tuple[str, float]]) -> None:
        """Show the task of each worker."""
        table = self._rich["table"].Table.grid(padding=(0, 2))
        for worker, (task, share) in sorted(running.items(), key=lambda row: str(row[0])):
            bar = self._rich["progress_bar"].ProgressBar(total=1.0, completed=share, width=24)
            table.add_row(self._rich["text"].Text(f"{worker}  {task}"), bar, f"{share:.0%}")
        table.add_row(self.total(running))
        self._live.update(table)

    def close(self) -> None:
        """Take the lines away."""
        self._live.stop()


def reporter_for(
    graph: Graph,
    write: Callable[[str], None],
    *,
    terminal: bool,
    quiet: bool,
    events: bool,
) -> Reporter:
    """The right way to report.

    Args:
        graph: The tasks.
        write: Writes a line.
        terminal: Whether somebody watches a terminal.
        quiet: Whether nothing is wanted but events.
        events: Whether programs read events.
    """
    if events:
        return Events(graph, write)
    if terminal and not quiet:
        names = ("console", "live", "progress_bar", "table", "text")
        try:
            rich = {name: importlib.import_module(f"rich.{name}") for name in names}
        except ImportError:
            return Reporter(graph, write)
        return Live(graph, write, rich)
    return Reporter(graph, write, quiet=quiet or not terminal)
