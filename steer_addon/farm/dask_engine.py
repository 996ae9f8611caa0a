"""The engine of many machines: tasks go to the workers of a Dask scheduler (extra `farm`).

Without an address it starts a cluster of its own on this machine. All workers see the folder of the
batch under the same path. A worker that is lost gives its tasks back to the scheduler; what it had
not finished lies in a stage, which the next one that writes there removes.
"""

from __future__ import annotations

import importlib
import queue
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..core.doors import futures, logging
from ..core.errors import SteerError, short
from ..version import __version__
from .errors import JobError
from .graph import Graph
from .progress import Reporter
from .starter import Starter, find_starter
from .tasks import Task
from .work import Outcome, Work

_PAUSE = 0.1
"""Time between two looks at the work [s]."""
_TIMEOUT = "10s"
"""Time that a scheduler has to answer."""
_RETRIES = 2


class _PassingError(Exception):
    """A task failed for what may be gone another time."""


def run(
    graph: Graph,
    out: Path,
    starter: Starter,
    reporter: Reporter,
    workers: int,
    variables: Mapping[str, str],
    scheduler: str | None,
) -> None:
    """Run the tasks of a batch.

    Args:
        graph: The tasks.
        out: Folder of the batch.
        starter: How this machine starts commands.
        reporter: Where to report.
        workers: Workers of a cluster of its own.
        variables: More of the environment of each command.
        scheduler: Address of a running scheduler; None for a cluster of its own.

    Raises:
        JobError: Dask is not there, or the scheduler is not, or is lost.
    """
    with _client(scheduler, workers) as client:
        waiting: queue.Queue[Any] = queue.Queue()
        running: dict[str, Any] = {}
        try:
            while graph.left:
                for task in graph.ready():
                    graph.start(task)
                    reporter.started("dask", task.name)
                    running[task.name] = future = client.submit(
                        do_task, task, str(out), starter, dict(variables),
                        key=f"{task.name}-{task.digest[:16]}", retries=_RETRIES, pure=False,
                    )  # fmt: skip
                    future.add_done_callback(lambda _, name=task.name: waiting.put(name))
                with suppress(queue.Empty):
                    name = waiting.get(timeout=_PAUSE)
                    outcome = _outcome(name, running.pop(name), scheduler)
                    graph.end(outcome)
                    reporter.ended("dask", outcome)
                if client.status not in ("running", "connecting"):
                    raise _lost(scheduler)
                reporter.tick({})
        finally:
            with suppress(Exception):
                client.cancel(list(running.values()), force=True)


@contextmanager
def _client(scheduler: str | None, workers: int) -> Iterator[Any]:
    """A client of a scheduler; its log says nothing that a sentence does not say."""
    try:
        dask = importlib.import_module("distributed")
    except ImportError:
        raise JobError(
            "the engine dask needs the module distributed: install it with "
            "`pip install 'steer[farm]'`, or leave --engine out"
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if scheduler is None:
        with (
            dask.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None,
                silence_logs=logging.CRITICAL,
            ) as cluster,
            dask.Client(cluster) as client,
        ):  # fmt: skip
            yield client
        return
    try:
        client = dask.Client(scheduler, timeout=_TIMEOUT, set_as_default=False)
    except (TimeoutError, OSError, ValueError) as error:
        raise JobError(
            f"no Dask scheduler answers at {short(scheduler)} ({type(error).__name__}): start one "
            "with `dask scheduler`, check the address, or leave --scheduler out"
        ) from None
    with client:
        yield client


def _outcome(name: str, future: Any, scheduler: str | None) -> Outcome:
    try:
        told = future.result(timeout=_TIMEOUT)
        return Outcome(**told)
    except futures.CancelledError:
        raise _lost(scheduler) from None
    except _PassingError as error:
        return Outcome(name, 0.0, str(error))
    except Exception as error:  # noqa: BLE001 - whatever a worker raises
        return Outcome(name, 0.0, f"no worker could do it: {type(error).__name__}: {error}")


def _lost(scheduler: str | None) -> JobError:
    where = f" at {scheduler}" if scheduler else ""
    return JobError(
        f"the Dask scheduler{where} is gone: start it, and run the batch again; what is done stays"
    )


def do_task(task: Task, out: str, starter: Starter, variables: Mapping[str, str]) -> dict[str, Any]:
    """The work of a worker; returns an outcome as plain data.

    Raises:
        _PassingError: Another worker may do better.
    """
    here = starter if starter.anywhere else find_starter()
    if here.blender != starter.blender:
        raise _PassingError(
            f"its worker has bpy {here.blender or 'of no version'} and Steer {__version__}, the "
            f"batch is of bpy {starter.blender or 'of no version'}: give all workers the same"
        )
    start = time.perf_counter()
    try:
        work = Work(task, Path(out), here, {"STEER_THREADS": "1", **variables})
    except SteerError as error:
        raise _PassingError(str(error)) from None
    worker = importlib.import_module("distributed").get_worker()
    key = worker.get_current_task()
    while (outcome := work.outcome()) is None:
        known = worker.state.tasks.get(key)
        if known is None or known.state in ("cancelled", "released"):
            # the batch was stopped
            work.stop()
            return vars(Outcome(task.name, time.perf_counter() - start, "cancelled"))
        time.sleep(_PAUSE)
    if outcome.passing:
        raise _PassingError(outcome.fault)
    return vars(outcome)
