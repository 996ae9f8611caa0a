"""The engine of one machine: what runs, what runs again, what is left where something fails."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steer_addon.core.errors import OutputError
from steer_addon.farm import books, local
from steer_addon.farm.graph import Graph
from steer_addon.farm.progress import Events, Reporter, reporter_for
from steer_addon.farm.results import is_done, place_for, publish, result_of
from steer_addon.farm.tasks import first_tasks, tasks_of
from steer_addon.farm.work import Work

ROOT = Path(__file__).resolve().parents[2]
JOB = """
scenes = "a.blend"
seeds = "1-2"
make = ["cache", "usd", "render"]
[render]
chunk = 10
"""
KINDS = ["bake", "render-1-10", "render-11-20", "usd"]


def run(bench, text=JOB, workers=2, lines=None, digest="0123"):
    """Run a job; returns the batch, its tasks and what became of them."""
    batch, tasks = bench.tasks(text, digest)
    graph = Graph(tasks, {task.name for task in tasks if is_done(task, batch.out)})
    reporter = Events(graph, (lines if lines is not None else []).append)
    local.run(local.Engine(graph, batch.out, bench.starter, workers, {}), reporter)
    return batch, tasks, graph


def test_a_batch_and_what_it_leaves(bench, tree):
    lines = []
    batch, tasks, graph = run(bench, lines=lines)
    assert not graph.failed and graph.done == {task.name for task in tasks}
    found = tree(batch.out)
    pictures = [f"a-seed{s}/frames/frame_{n:04d}.png" for s in (1, 2) for n in range(1, 21)]
    assert [name for name in found if name.endswith(".png")] == pictures
    assert b"--seed=2" in found["a-seed2/bake/cache/Crowd/1.npy"]
    # no stage, no lock, and nothing but results
    assert not [p for p in batch.out.rglob("*") if ".partial" in p.name or p.name == ".steer.lock"]
    calls = bench.calls()
    assert len(calls) == len(tasks) == 1 + 2 * len(KINDS)
    assert calls[0].startswith("compile")
    assert result_of(tasks[1], batch.out)["command"] == "bake"
    events = [line for line in lines if '"done"' in line]
    assert len(events) == len(tasks) and f'"total": {len(tasks)}' in events[-1]


def test_a_second_run_makes_what_is_missing_or_out_of_date(bench, tree):
    batch, _, _ = run(bench)
    before = tree(batch.out)
    bench.calls()
    assert run(bench)[2].kept == 9 and bench.calls() == []
    (batch.out / "a-seed1" / "frames" / "frame_0012.png").unlink()
    (batch.out / "a-seed2" / "usd" / "crowd.usdc").write_text("cut")
    run(bench)
    assert sorted(call.split()[0] for call in bench.calls()) == ["bake", "render"]
    assert tree(batch.out) == before
    # one more seed changes nothing of the others
    run(bench, JOB.replace("1-2", "1-3"))
    assert all("seed=3" in c or "a-seed3" in c for c in bench.calls())
    # another look is another picture, of the same bakes
    run(bench, JOB.replace("chunk", "samples = 3\nchunk"))
    assert {call.split()[0] for call in bench.calls()} == {"render"}
    # a scene that changed changes all
    run(bench, digest="4567")
    assert len(bench.calls()) == 9


def test_results_do_not_depend_on_where_the_batch_lies(bench, tmp_path):
    batch, tasks = bench.tasks(JOB)
    other, again = bench.tasks(JOB + "x = 1\n".replace("x = 1\n", ""))
    assert [task.digest for task in tasks] == [task.digest for task in again]
    assert len({task.digest for task in tasks}) == len(tasks)
    moved = bench.tasks(JOB.replace("make", 'out = "elsewhere"\nmake'))[1]
    assert [task.digest for task in moved][1:] == [task.digest for task in tasks][1:]


def test_a_world_is_read_once(bench):
    job = JOB.replace('"cache", "usd", "render"', '"usd"')
    batch = bench.batch(job)
    tasks = tasks_of(batch, bench.variations(batch), "5.0.1", extracts=True)
    (world,) = [task for task in tasks if task.kind == "extract"]
    assert (world.name, world.folder) == ("extract/world-a", "shared/world-a")
    simulations = [task for task in tasks if task.kind == "simulate"]
    assert [task.needs for task in simulations] == [("extract/world-a",)] * 2
    assert simulations[1].command(batch.out)[1:] == [
        str(batch.out / "shared" / "world-a" / "world"),
        f"--out={batch.out / 'a-seed2' / 'simulation'}",
        "--seed=2",
        "--json",
    ]
    # one simulation reads the scene itself, and a bake keeps what it simulates
    for text in (job.replace("1-2", "1"), JOB):
        other = bench.batch(text)
        found = tasks_of(other, bench.variations(other), "", extracts=True)
        assert "extract" not in [task.kind for task in found]
    assert "--simulation=\0/simulation" in found[1].words


def test_the_task_that_reads_a_scene_is_known_before(bench):
    job = JOB.replace('"cache", "usd", "render"', '"usd"')
    presets = 'presets = ["pedestrians", "birds"]\n'
    for text in (job, presets + job):
        batch = bench.batch(text)
        (scene,) = batch.scenes
        planned = tasks_of(batch, bench.variations(batch), "5.0.1", extracts=True)
        worlds = [task for task in planned if task.kind == "extract"]
        assert first_tasks(batch, {scene: "0123"}, "5.0.1") == {scene: worlds[0]}
    for text in (job.replace("1-2", "1"), JOB):
        batch = bench.batch(text)
        assert first_tasks(batch, {batch.scenes[0]: "0123"}, "5.0.1") == {}


@pytest.mark.parametrize("fails", [False, True])
def test_a_task_that_has_begun_goes_on(bench, fails):
    bench.fail(*["--seed=1"] * fails)
    batch, tasks = bench.tasks(JOB)
    graph, lines = Graph(tasks, {"kernels"}), []
    reporter = Events(graph, lines.append)
    engine = local.Engine(graph, batch.out, bench.starter, 2, {})
    engine.adopt(Work(tasks[1], batch.out, bench.starter, {}), reporter)
    local.run(engine, reporter)
    events = [json.loads(line) for line in lines]
    told = [event["event"] for event in events if event["task"] == tasks[1].name]
    assert told == ["started", "failed" if fails else "done"]
    assert is_done(tasks[1], batch.out) != fails and bool(graph.skipped) == fails
    # it is started once; what needs it is skipped where it fails
    assert len(bench.calls()) == (1 + len(KINDS) if fails else 2 * len(KINDS))


def test_a_task_that_is_dropped_leaves_nothing(bench):
    bench.sleep(20.0)
    batch, tasks = bench.tasks(JOB)
    work = Work(tasks[1], batch.out, bench.starter, {})
    assert work.runs and work.place.is_dir()
    work.drop()
    assert not batch.out.exists() and bench.folder.is_dir()
    batch.out.mkdir()
    Work(tasks[1], batch.out, bench.starter, {}).drop()
    assert list(batch.out.iterdir()) == []


def test_what_fails_leaves_the_others(bench):
    bench.fail("--seed=1")
    batch, tasks, graph = run(bench)
    assert {one.task for one in graph.failed} == {"a-seed1/bake"}
    assert {name for name, why in graph.skipped.items() if why == "a-seed1/bake"} == {
        f"a-seed1/{kind}" for kind in ("usd", "render-1-10", "render-11-20")
    }
    assert {f"a-seed2/{kind}" for kind in KINDS} <= graph.done
    assert graph.failed[0].fault == "--seed=1 cannot be done"
    assert "--seed=1 cannot be done" in Path(graph.failed[0].log).read_text()
    assert not (batch.out / "a-seed1" / "bake").exists()
    bench.fail()
    bench.calls()
    assert not run(bench)[2].failed
    assert len(bench.calls()) == len(KINDS)


def test_a_full_disk_may_pass(bench):
    (bench.script.parent / "full.txt").touch()
    (fault,) = run(bench)[2].failed
    assert fault.passing and fault.fault.endswith("No space left on device")
    assert not run(bench)[2].failed


def test_kernels_that_cannot_be_compiled_stop_nobody(bench):
    bench.fail("compile", "--quiet")
    _, _, graph = run(bench)
    assert [one.task for one in graph.failed] == ["kernels"] and not graph.skipped


def test_files_of_others_stay(bench):
    batch, tasks, _ = run(bench)
    notes = batch.out / "a-seed1" / "bake" / "notes.txt"
    notes.write_text("keep")
    picture = batch.out / "a-seed2" / "frames" / "frame_0003.png"
    picture.write_bytes(b"mine")
    graph = run(bench, digest="4567")[2]
    told = {one.task: one.fault for one in graph.failed}
    assert "notes.txt" in told["a-seed1/bake"] and "move it away" in told["a-seed1/bake"]
    assert "frame_0003.png" in told["a-seed2/render-1-10"]
    assert notes.read_text() == "keep" and picture.read_bytes() == b"mine"


def test_a_link_in_place_of_a_folder(bench, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    batch, _ = bench.tasks(JOB)
    batch.out.mkdir()
    (batch.out / "a-seed1").symlink_to(elsewhere)
    graph = run(bench)[2]
    assert all("move it away" in one.fault for one in graph.failed) and graph.failed
    assert not list(elsewhere.iterdir())


def test_books(bench):
    batch = bench.batch(JOB.replace("seeds", 'presets = ["pedestrians", "birds"]\nseeds'))
    variations = bench.variations(batch)
    batch.out.mkdir()
    books.write(batch, variations, {"0123": {"crowds": []}}, "5.0.1")
    assert books.known_scenes(batch, "5.0.1") == {"0123": {"crowds": []}}
    assert books.known_scenes(batch, "4.5.0") == {}
    told = (batch.out / "a-birds-seed2" / "variation.json").read_text()
    assert '"preset": "birds"' in told and '"motion": "FLY"' in told and '"seed": 2' in told
    (batch.out / "batch.json").write_text("mine")
    with pytest.raises(OutputError, match="move it away"):
        books.write(batch, variations, {}, "5.0.1")


def test_two_that_finish_the_same_task(bench):
    batch, tasks = bench.tasks(JOB)
    task = tasks[1]
    with place_for(task, batch.out) as one, place_for(task, batch.out) as other:
        for number, place in enumerate((one, other)):
            (place / "positions.npy").write_text(str(number))
        publish(task, batch.out, one, {}, 1.0)
        publish(task, batch.out, other, {}, 1.0)
    assert (batch.out / task.folder / "positions.npy").read_text() == "0"
    assert is_done(task, batch.out)
    assert sorted(p.name for p in (batch.out / "a-seed1").iterdir()) == ["bake"]


RUN = """
import sys
from pathlib import Path
sys.path[:0] = [{root!r}, {root!r} + "/tests/farm"]
from conftest import Bench
from test_local import run
bench = Bench.__new__(Bench)
bench.folder, bench.script = Path({folder!r}), Path({folder!r}) / "bin" / "stand_in.py"
from steer_addon.farm.starter import Starter
bench.starter, bench.blender = Starter((sys.executable, str(bench.script)), {{}}, "5.0.1"), "5.0.1"
run(bench)
"""


KILLS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


@pytest.mark.parametrize("kinds", [KILLS, pytest.param(KILLS * 7, marks=pytest.mark.long)])
def test_killed_at_any_moment_and_run_again(bench, tree, kinds):
    wanted = tree(run(bench)[0].out)
    out = bench.folder / "batch"
    out.rename(bench.folder / "first")
    bench.sleep(0.05)
    pick = random.Random(5)
    code = RUN.format(root=str(ROOT), folder=str(bench.folder))
    for kind in kinds:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        bench.calls()
        while not bench.calls() and process.poll() is None:
            time.sleep(0.01)
        # a task works now, and others follow it
        time.sleep(pick.uniform(0.0, 0.4))
        process.send_signal(kind)
        process.wait()
        found = tree(out)
        whole = {name: data for name, data in found.items() if ".partial" not in name}
        assert whole.items() <= wanted.items()
    _, tasks, graph = run(bench)
    assert not graph.failed and tree(out) == wanted
    assert not [p for p in out.rglob("*") if ".partial" in p.name]


def test_workers_and_threads(bench):
    batch, tasks, _ = run(bench, workers=4)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert result_of(tasks[1], batch.out)["threads"] == str(max(1, cores // 4))
    assert result_of(tasks[0], batch.out)["threads"] == str(cores)
    assert 1 <= local.worker_count() <= cores


def test_a_terminal(bench, monkeypatch, capfd):
    pytest.importorskip("rich", reason="rich is not installed")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    _, tasks = bench.tasks(JOB)
    lines = []
    live = reporter_for(Graph(tasks), lines.append, terminal=True, quiet=False, events=False)
    live.tick({0: ("a-seed1/bake", 0.5)})
    live.line("a-seed1/bake: [bold] 1.0 s")
    live.close()
    shown = capfd.readouterr().err
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert "a-seed1/bake: [bold] 1.0 s" in shown and "0/9 tasks" in shown and lines == []
    monkeypatch.setitem(sys.modules, "rich.live", None)
    plain = reporter_for(Graph(tasks), lines.append, terminal=True, quiet=False, events=False)
    plain.line("a line")
    assert lines == ["a line"]


def test_nobody_watches(bench):
    _, tasks = bench.tasks(JOB)
    lines = []
    graph = Graph(tasks)
    quiet = reporter_for(graph, lines.append, terminal=False, quiet=False, events=False)
    quiet.line("a line")
    assert lines == []
    loud = Reporter(graph, lines.append)
    loud.line(loud.total({0: ("a", 0.5)}))
    assert lines and lines[0].startswith("0/9 tasks, ")
