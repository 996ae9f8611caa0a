"""Files that are added beside others never harm them."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from steer_addon.core.errors import OutputError
from steer_addon.core.files import additions
from steer_addon.core.files.additions import Additions


@pytest.fixture
def give(tmp_path):
    """Makes a source of some bytes; the goal and the stage are on one disk."""
    (tmp_path / "stage").mkdir()
    (tmp_path / "goal").mkdir()

    def made(data):
        source = tmp_path / f"source{len(os.listdir(tmp_path))}"
        source.write_bytes(data)
        return source

    return made


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.png")}


@pytest.fixture(params=["links", "no links"])
def disk(request, monkeypatch):
    """A disk with hard links, and one without."""

    def refused(source, path):
        raise OSError(errno.EPERM, "no links here")

    if request.param == "no links":
        monkeypatch.setattr(additions.os, "link", refused)


@pytest.mark.usefixtures("disk")
def test_other_files_stay_and_those_with_the_same_bytes_are_used(tmp_path, give):
    goal, stage = tmp_path / "goal", tmp_path / "stage"
    (goal / "textures").mkdir()
    (goal / "textures" / "a.png").write_bytes(b"theirs")
    (goal / "textures" / "a_2.png").symlink_to(give(b"ours"))
    (goal / "textures" / "b.png").write_bytes(b"ours")
    added = Additions(goal, "textures")
    assert added.add("a", {".png": give(b"ours")}, stage) == "textures/a_3"
    assert added.add("a", {".png": give(b"more")}, stage) == "textures/a_4"
    assert added.add("a", {".png": give(b"ours")}, stage) == "textures/a_3"
    assert added.add("b", {".png": give(b"ours")}, stage) == "textures/b"
    # b.png was there: it stays
    added.undo()
    assert contents(goal) == {
        "textures/a.png": b"theirs",
        "textures/a_2.png": b"ours",
        "textures/b.png": b"ours",
    }


@pytest.mark.usefixtures("disk")
def test_files_that_belong_together_get_one_name(tmp_path, give):
    goal, stage = tmp_path / "goal", tmp_path / "stage"
    (goal / "textures").mkdir()
    (goal / "textures" / "a.1002.png").write_bytes(b"theirs")
    tiles = {".1001.png": give(b"one"), ".1002.png": give(b"two")}
    assert Additions(goal, "textures").add("a", tiles, stage) == "textures/a_2"
    assert contents(goal) == {
        "textures/a.1002.png": b"theirs",
        "textures/a_2.1001.png": b"one",
        "textures/a_2.1002.png": b"two",
    }


def test_no_path_leads_out_of_the_folder(tmp_path, give):
    goal, away = tmp_path / "goal", tmp_path / "away"
    away.mkdir()
    (goal / "textures").symlink_to(away)
    added = Additions(goal, "textures")
    assert added.add("a", {".png": give(b"ours")}, tmp_path / "stage") == "textures_2/a"
    added.undo()
    assert not list(away.iterdir()) and os.listdir(goal) == ["textures"]


def test_undo_leaves_what_came_meanwhile(tmp_path, give):
    goal = tmp_path / "goal"
    added = Additions(goal, "textures")
    added.add("a", {".png": give(b"ours")}, tmp_path / "stage")
    added.add("b", {".png": give(b"ours too")}, tmp_path / "stage")
    (goal / "textures" / "other").write_bytes(b"theirs")
    os.replace(goal / "textures" / "other", goal / "textures" / "a.png")
    added.undo()
    assert contents(goal) == {"textures/a.png": b"theirs"}


def test_a_run_waits_for_one_that_may_take_back_its_files(tmp_path, give):
    goal, stage = tmp_path / "goal", tmp_path / "stage"
    first, second = Additions(goal, "textures"), Additions(goal, "textures")
    first.add("a", {".png": give(b"same")}, stage)
    source = give(b"same")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.add, "a", {".png": source}, stage)
        with pytest.raises(TimeoutError):
            waiting.result(0.2)
        first.undo()
        assert waiting.result(10) == "textures/a"
    second.complete()
    assert contents(goal) == {"textures/a.png": b"same"}
    assert os.listdir(goal / "textures") == ["a.png"]


def test_a_folder_that_is_taken_back_while_it_is_looked_at_is_made_again(
    tmp_path, give, monkeypatch
):
    goal, looked = tmp_path / "goal", additions.is_folder
    (goal / "textures").mkdir(parents=True)

    def gone(path):
        monkeypatch.setattr(additions, "is_folder", looked)
        path.rmdir()
        return looked(path)

    monkeypatch.setattr(additions, "is_folder", gone)
    added = Additions(goal, "textures")
    assert added.add("a", {".png": give(b"ours")}, tmp_path / "stage") == "textures/a"


def test_nobody_waits_for_a_folder_that_cannot_be_locked(tmp_path, give, monkeypatch):
    def refused(folder):
        raise OutputError("full")

    monkeypatch.setattr(additions, "FolderLock", refused)
    added = Additions(tmp_path / "goal", "textures")
    naps = []
    clock = SimpleNamespace(monotonic=lambda: sum(naps), sleep=naps.append)
    monkeypatch.setattr(additions, "time", clock)
    assert added.add("a", {".png": give(b"one")}, tmp_path / "stage") == "textures/a"
    assert sum(naps) < 1.0
    added.complete()
    assert contents(tmp_path / "goal") == {"textures/a.png": b"one"}


def test_patience_ends(tmp_path, give, monkeypatch):
    goal, stage = tmp_path / "goal", tmp_path / "stage"
    first, second = Additions(goal, "textures"), Additions(goal, "textures")
    first.add("a", {".png": give(b"one")}, stage)
    monkeypatch.setattr(additions, "_PATIENCE", 0.1)
    assert second.add("a", {".png": give(b"two")}, stage) == "textures/a_2"
    for added in (first, second):
        added.complete()
    assert set(contents(goal)) == {"textures/a.png", "textures/a_2.png"}


def test_a_full_disk_leaves_nothing(tmp_path, give, monkeypatch):
    goal = tmp_path / "goal"
    added = Additions(goal, "textures")

    def full(path, parts):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(additions, "write_file", full)
    with pytest.raises(OSError, match="No space left"):
        added.add("a", {".png": give(b"ours")}, tmp_path / "stage")
    added.complete()
    assert not os.listdir(goal)
