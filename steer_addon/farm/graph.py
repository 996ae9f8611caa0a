"""Which tasks may start, which are done, and which never can be: for any engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .tasks import Task
from .work import Outcome


@dataclass
class Graph:
    """The tasks of a batch that are not done yet.

    Attributes:
        done: Names of those that are, with those that were before.
        kept: How many were before.
        failed: Those that failed.
        skipped: Names of those that cannot be made, with the one that failed.
    """

    tasks: list[Task]
    done: set[str] = field(default_factory=set)
    kept: int = 0
    failed: list[Outcome] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Sort out those that are done."""
        self.total = len(self.tasks)
        self.kept = len(self.done)
        self._open = {task.name: task for task in self.tasks if task.name not in self.done}
        self._started: set[str] = set()

    def ready(self) -> Iterable[Task]:
        """Tasks that may start now, in order."""
        for task in list(self._open.values()):
            if task.name not in self._started and self._may_start(task):
                yield task

    def _may_start(self, task: Task) -> bool:
        return all(name in self.done for name in task.needs) and not any(
            name in self._open for name in task.after
        )

    def start(self, task: Task) -> None:
        """Note that a task has started."""
        self._started.add(task.name)

    def end(self, outcome: Outcome) -> None:
        """Note what became of a task, and of those that need it."""
        self._open.pop(outcome.task)
        if not outcome.fault:
            self.done.add(outcome.task)
            return
        self.failed.append(outcome)
        lost = {outcome.task}
        for task in list(self._open.values()):
            # tasks stand behind those that they need
            if lost & set(task.needs):
                lost.add(task.name)
                self.skipped[task.name] = outcome.task
                del self._open[task.name]

    @property
    def open(self) -> dict[str, Task]:
        """Tasks that are neither done nor given up, by name."""
        return self._open

    @property
    def left(self) -> int:
        """How many tasks are neither done nor given up."""
        return len(self._open)
