"""The engine of dask.distributed: the same results as on one machine, whatever is lost."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from steer_addon.farm import dask_engine
from steer_addon.farm.errors import JobError
from steer_addon.farm.graph import Graph
from steer_addon.farm.progress import Reporter
from steer_addon.farm.results import is_done
from tests.farm.test_local import JOB
from tests.farm.test_local import run as run_locally

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run(bench, scheduler, text=JOB):
    """Run a job; returns the batch, its tasks and what became of them."""
    batch, tasks = bench.tasks(text)
    graph = Graph(tasks, {task.name for task in tasks if is_done(task, batch.out)})
    reporter = Reporter(graph, lambda line: None)
    dask_engine.run(graph, batch.out, bench.starter, reporter, 2, {}, scheduler)
    return batch, tasks, graph


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """A scheduler with two workers on loopback: its address, and the processes.

    Tests that kill one of them stand last: first a worker, then the scheduler.
    """
    pytest.importorskip("distributed", reason="distributed is not installed")
    address = f"tcp://127.0.0.1:{free_port()}"
    port = address.rpartition(":")[2]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [
        ["distributed.cli.dask_scheduler", "--host=127.0.0.1", f"--port={port}", "--no-dashboard"],
        *[["distributed.cli.dask_worker", address, "--nthreads=1", "--no-dashboard", "--no-nanny"]]
        * 2,
    ]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", *more],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for more in words
    ]
    limit = time.monotonic() + 120.0
    while time.monotonic() < limit:
        with suppress(OSError), socket.create_connection(("127.0.0.1", int(port)), timeout=1.0):
            break
        time.sleep(0.05)
    yield address, processes
    for process in processes:
        process.kill()
        process.wait()


def test_a_scheduler_that_is_not_there(bench, monkeypatch):
    pytest.importorskip("distributed", reason="distributed is not installed")
    monkeypatch.setattr(dask_engine, "_TIMEOUT", "1s")
    with pytest.raises(JobError, match="no Dask scheduler answers at"):
        run(bench, f"tcp://127.0.0.1:{free_port()}")


def test_without_dask(bench, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(JobError, match=r"steer\[farm\]"):
        run(bench, None)


def kill_at_work(bench, process: subprocess.Popen) -> threading.Thread:
    """Kill a process once the work on a variation has begun; returns the thread that does."""

    def kill() -> None:
        limit = time.monotonic() + 60.0
        while time.monotonic() < limit:
            time.sleep(0.02)
            if list((bench.folder / "batch").glob("a-seed*/.steer*.partial")):
                break
        process.send_signal(signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.slow
def test_a_full_disk_of_one_worker(bench, cluster):
    address, _ = cluster
    (bench.script.parent / "full.txt").touch()
    assert not run(bench, address)[2].failed
    bakes = [call for call in bench.calls() if "--to=cache" in call]
    assert len(bakes) == 3  # two, and one of them once more


@pytest.mark.slow
def test_a_worker_of_another_blender(bench, cluster):
    address, _ = cluster
    bench.starter = replace(bench.starter, blender="4.2.0", anywhere=False)
    _, _, graph = run(bench, address)
    assert {one.task for one in graph.failed} >= {"a-seed1/bake", "a-seed2/bake"}
    assert all("the batch is of bpy 4.2.0" in one.fault for one in graph.failed)
    assert bench.calls() == []


@pytest.mark.slow
def test_a_worker_that_is_killed(bench, cluster, tree):
    address, processes = cluster
    wanted = tree(run_locally(bench)[0].out)
    (bench.folder / "batch").rename(bench.folder / "local")
    bench.sleep(0.3)
    killer = kill_at_work(bench, processes[1])
    batch, _, graph = run(bench, address)
    killer.join()
    assert processes[1].wait() == -signal.SIGKILL
    assert not graph.failed and tree(batch.out) == wanted


@pytest.mark.slow
def test_a_scheduler_that_is_lost(bench, cluster, tree):
    address, processes = cluster
    bench.sleep(0.3)
    killer = kill_at_work(bench, processes[0])
    with pytest.raises(JobError, match="is gone: start it, and run the batch again"):
        run(bench, address)
    killer.join()
    assert not run_locally(bench)[2].failed
