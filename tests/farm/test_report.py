"""Reports of batches, from arrays whose figures are known."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from steer_addon.core.errors import OutputError
from steer_addon.farm.errors import JobError
from steer_addon.farm.report import drawing, figures, page
from steer_addon.farm.report.gather import outcomes, variation
from tests.cli.trees import tree

ROOT = Path(__file__).resolve().parents[2]
FRAMES, FPS = 49, 24.0


def simulation(folder, positions, velocities, alive=None, **report):
    """What `steer simulate --json` leaves of one crowd."""
    folder.mkdir(parents=True)
    count, agents, _ = positions.shape
    np.save(folder / "positions.npy", positions.astype("<f4"))
    np.save(folder / "velocities.npy", velocities.astype("<f4"))
    there = np.ones((count, agents)) if alive is None else alive
    np.save(folder / "alive.npy", there.astype("u1"))
    np.save(folder / "frames.npy", np.arange(1, count + 1, dtype="<i8"))
    told = {"format": "steer-simulation", "command": "simulate", "complete": True, "fps": FPS}
    (folder / "report.json").write_text(json.dumps({**told, "crowd": "Crowd", **report}))


def batch(out, *names, **differs):
    rows = [
        {"number": n, "name": name, "differs": {"seed": n, **differs}}
        for n, name in enumerate(names, 1)
    ]
    out.mkdir(exist_ok=True)
    book = {"format": "steer-batch", "variations": rows}
    (out / "batch.json").write_text(json.dumps(book))


@pytest.fixture
def walkers(tmp_path):
    return make_walkers(tmp_path)


def make_walkers(folder):
    """Four that walk along x at 1.5 m/s, a meter apart; the second half of a metric's agents."""
    time = np.arange(FRAMES) / FPS
    place = np.zeros((FRAMES, 4, 3))
    place[..., 0], place[..., 1] = 1.5 * time[:, None], np.arange(4.0)
    metrics = {"agents": 4, "arrived": 2, "time": 1.25, "arrivals": [0] * 30 + [2] * 19}
    batch(folder, "walk")
    speed = np.broadcast_to([1.5, 0.0, 0.0], place.shape)
    simulation(folder / "walk" / "simulation", place, speed, metrics=metrics)
    return folder


def test_figures_of_walkers(walkers):
    (one,) = outcomes(walkers)
    view = figures.view_of([one])
    # 3 m by 3 m, and 3 % and half a meter around them
    assert view.low == pytest.approx([-0.59, -0.59]) and view.high == pytest.approx([3.59, 3.59])
    found = figures.maps(one.tracks, view)
    area = view.size**2
    assert found.density.sum() * area == pytest.approx(4.0)
    assert found.flow[..., 0].sum() * area == pytest.approx(6.0)
    assert abs(found.flow[..., 1]).max() == 0.0
    curve = figures.speeds(one.tracks)
    assert curve.mean == pytest.approx(1.5) and curve.time[-1] == pytest.approx(2.0)
    time, arrived = figures.arrivals(one.tracks[0])
    assert arrived[time < 1.24].max() == 0.0 and arrived[-1] == 2.0
    assert (
        figures.row_of(one.metrics)["time"] == 1.25 and figures.row_of(one.metrics)["end"] is None
    )


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({}, ""),
        ({"agents": 9, "arrived": 0}, "0 of 9 arrived"),
        ({"agents": 9, "arrived": 4, "time": 2.5}, "4 of 9 arrived, in 2.5 s in the mean"),
        (
            {"agents": 9, "arrived": 9, "stuck": 2, "penetrations": 1},
            "9 of 9 arrived; 2 stuck; 1 through walls",
        ),
    ],
)
def test_figures_in_words(row, told):
    assert figures.in_words({**dict.fromkeys(figures.COLUMNS), **row}) == told


def test_who_is_not_there_is_not_counted(tmp_path):
    place = np.zeros((FRAMES, 2, 3))
    place[:, 1] = 1.0e6
    alive = np.array([[1, 0]] * FRAMES)
    batch(tmp_path, "one")
    simulation(tmp_path / "one" / "simulation", place, place, alive)
    (one,) = outcomes(tmp_path)
    view = figures.view_of([one])
    assert view.high.max() < 1.0
    assert figures.maps(one.tracks, view).density.sum() * view.size**2 == pytest.approx(1.0)
    assert math.isnan(figures.paths(one.tracks[0])[1].max())


class Page(HTMLParser):
    """Names of all elements, and where they lead."""

    def __init__(self, text):
        super().__init__()
        self.links, self.tags, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for key, value in attrs if key in ("src", "href")]

    def handle_data(self, data):
        self.text.append(data)


def test_a_page_that_needs_nothing_else(walkers):
    pytest.importorskip("matplotlib")
    # names from files of strangers are shown, and are nothing else
    batch(walkers, "walk", "lost", preset="<script>alert(1)</script>")
    paths = page.write_report(walkers)
    assert [path.name for path in paths] == ["report.html", "report.json", "report.csv"]
    found = Page(paths[0].read_text("utf-8"))
    assert "script" not in found.tags and found.tags.count("img") == 7
    assert all(link.startswith(("data:image/png;base64,", "#v")) for link in found.links)
    assert any("holds no whole simulation" in text for text in found.text)
    rows = list(csv.DictReader(paths[2].read_text("utf-8").splitlines()))
    assert [row["arrived"] for row in rows] == ["2", ""] and "no whole" in rows[1]["fault"]
    told = json.loads(paths[1].read_text("utf-8"))["variations"]
    assert told[0]["figures"]["arrived"] == 2 and told[1]["crowds"] == []
    # written again over its own, and over nothing else
    page.write_report(walkers)
    paths[1].write_text("{}")
    with pytest.raises(OutputError, match="Steer did not write it"):
        page.write_report(walkers)


@pytest.fixture(scope="module")
def two_and_three(tmp_path_factory):
    """Walkers in four variations of other speeds, one of which was not simulated."""
    walkers = make_walkers(tmp_path_factory.mktemp("report"))
    place = np.load(walkers / "walk" / "simulation" / "positions.npy").astype(float)
    speed = np.broadcast_to([1.5, 0.0, 0.0], place.shape)
    for k, name in enumerate(("b", "d", "e"), 2):
        simulation(walkers / name / "simulation", k * place, k * speed)
    batch(walkers, "walk", "b", "lost", "d", "e")
    return walkers


REPORT = """
import json, os, signal, sys
from pathlib import Path
from steer_addon.farm.report import drawing, page

out, told = Path(sys.argv[1]), {}
draw, before = drawing._draw, (drawing._work, os.fork)
def noted(ready, *rest):
    numbers.append(ready.one.number)
    return draw(ready, *rest)

drawing._draw, drawing._FEWEST = noted, 1
for name, fault in json.loads(sys.argv[2]).items():
    numbers, (drawing._work, os.fork) = [], before
    (out / "report.html").write_bytes(b"")
    exec(fault)
    (drawn, *_) = page.write_report(out, 2)
    told[name] = numbers, drawn.read_text("utf-8")
print(json.dumps(told))
"""
KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
IN_THE_OTHER = """
whole = drawing._work
def work(work, there):
    {instead}
drawing._work = work
"""
SAYS = "there.sendall(drawing._line({said})); os._exit(0)"
DRAWS = "drawing._Part.draw = lambda *_: {instead}; whole(work, there)"
FAULTS = {
    "missing": "def none(): raise OSError\nos.fork = none",
    "killed": IN_THE_OTHER.format(instead=KILLED),
    "failed": IN_THE_OTHER.format(instead="whole(None, there)"),
    "of other results": IN_THE_OTHER.format(instead=SAYS.format(said=[9.0])),
    "killed while it draws": IN_THE_OTHER.format(instead=DRAWS.format(instead=KILLED)),
    "failed while it draws": IN_THE_OTHER.format(instead=DRAWS.format(instead="1 // 0")),
    "of fewer pictures": IN_THE_OTHER.format(instead=DRAWS.format(instead="[{}]")),
}
linux = pytest.mark.skipif(sys.platform != "linux", reason="one process draws alone")


@pytest.fixture(scope="module")
def drawn_alone(two_and_three):
    """The page that one process writes."""
    pytest.importorskip("matplotlib")
    (alone, *_) = page.write_report(two_and_three)
    return alone.read_bytes()


def drawn_together(out, faults):
    """Let two processes write reports: the numbers that the first one has drawn, and the pages."""
    words = [sys.executable, "-c", REPORT, str(out), json.dumps(faults)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


@linux
def test_processes_draw_together_what_one_draws_alone(two_and_three, drawn_alone):
    before = tree(two_and_three)
    ((numbers, _),) = drawn_together(two_and_three, {"none": ""}).values()
    assert numbers == [1, 4]
    assert tree(two_and_three) == {**before, "report.html": drawn_alone}


@linux
def test_what_other_processes_do_not_draw_is_drawn_here(two_and_three, drawn_alone):
    drawn = drawn_together(two_and_three, FAULTS)
    page = drawn_alone.decode()
    assert drawn == dict.fromkeys(FAULTS, [[1, 4, 2, 5], page])


def test_a_process_with_other_threads_draws_alone(two_and_three, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(drawing, "_FEWEST", 1)
    monkeypatch.setattr(drawing, "_Other", None)
    held = threading.Event()
    other = threading.Thread(target=held.wait)
    other.start()
    try:
        paths = page.write_report(two_and_three, 2)
    finally:
        held.set()
        other.join()
    assert Page(paths[0].read_text("utf-8")).tags.count("img") == 4 + 4 * 4 + 2


def test_a_picture_holds_nothing_of_those_before_it(two_and_three):
    pytest.importorskip("matplotlib")
    shown = [one for one in outcomes(two_and_three) if one.tracks]
    first, *others = drawing.pictures_of(shown)
    assert drawing.pictures_of(shown[::-1]) == [first, *others][::-1]
    for name in ("ways", "density", "flow", "speed"):
        assert len({first[name], *(other[name] for other in others)}) == 4, name


def test_a_cell_is_no_formula(walkers):
    pytest.importorskip("matplotlib")
    batch(walkers, "walk", preset="=1+1")
    text = page.write_report(walkers)[2].read_text("utf-8")
    assert ",'=1+1," in text


def cut(folder):
    path = folder / "positions.npy"
    path.write_bytes(path.read_bytes()[:-8])


def other_type(folder):
    np.save(folder / "positions.npy", np.zeros((FRAMES, 4, 3)))


def other_shape(folder):
    np.save(folder / "velocities.npy", np.zeros((FRAMES, 3, 3), "<f4"))


def objects(folder):
    np.save(folder / "alive.npy", np.array([[{}]]), allow_pickle=True)


def no_frames(folder):
    np.save(folder / "frames.npy", np.zeros(0, "<i8"))


def a_link(folder):
    (folder / "alive.npy").rename(folder / "other.npy")
    (folder / "alive.npy").symlink_to(folder / "other.npy")


@pytest.mark.parametrize("damage", [cut, other_type, other_shape, objects, no_frames, a_link])
def test_damaged_arrays_are_told(walkers, damage):
    damage(walkers / "walk" / "simulation")
    (one,) = outcomes(walkers)
    assert one.tracks == () and "walk/simulation" in one.fault


@pytest.mark.parametrize("name", ["..", "a/b", "", "/etc", "a\0b", 3])
def test_a_batch_that_names_other_folders_is_broken(walkers, name):
    batch(walkers, name)
    with pytest.raises(JobError, match="is broken"):
        outcomes(walkers)


def test_what_is_no_batch_or_no_variation_is_told(walkers, tmp_path):
    with pytest.raises(JobError, match=r"holds no batch\.json"):
        outcomes(tmp_path / "nowhere")
    with pytest.raises(JobError, match="has no variation 7: choose one of 1"):
        variation(walkers, 7)
    with pytest.raises(JobError, match=r"holds no variation\.json"):
        variation(walkers, 1)


def test_curves_that_end_at_one_place_share_a_name():
    ends = [(k, 10.0, 0.0) for k in range(1, 8)] + [
        (8, 10.0, 60.0),
        (9, 10.0, 61.0),
        (10, 5.0, 0.5),
    ]
    named = figures.named_ends(ends, wide=0.5, high=4.0)
    assert named == [
        ("1, 2, 3, 4 and 3 more", 10.0, 0.0), ("10", 5.0, 0.5), ("8, 9", 10.0, 60.0)
    ]  # fmt: skip
