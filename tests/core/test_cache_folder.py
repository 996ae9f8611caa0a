"""The user's cache folder: which one it is, whoever wants it."""

from __future__ import annotations

from pathlib import Path

import pytest

from steer_addon.core.files import cache_folder

VARIABLES = ("STEER_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA")


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch):
    monkeypatch.setattr(cache_folder, "_users", [])
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_the_named_folder_wins_over_the_one_that_was_chosen_and_that_over_the_users(
    monkeypatch, tmp_path
):
    named, chosen = tmp_path / "named", tmp_path / "chosen"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder.folder("groups") == tmp_path / "steer" / "groups"
    cache_folder.choose(chosen)
    assert cache_folder.folder("groups") == chosen / "groups"
    monkeypatch.setenv("STEER_CACHE_DIR", str(named))
    assert cache_folder.roots() == [named, chosen]
    assert cache_folder.folder("groups") == named / "groups"
    # nothing is left of the question
    assert not list((named / "groups").iterdir())


def test_a_folder_that_takes_no_files_is_passed_over(monkeypatch, tmp_path):
    chosen = tmp_path / "chosen"
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    cache_folder.choose(chosen)
    for named in (tmp_path / "file", Path("/\0"), Path("/proc/nothing")):
        monkeypatch.setattr(cache_folder, "roots", lambda named=named: [named, chosen])
        assert cache_folder.folder("figures") == chosen / "figures"
    assert (tmp_path / "file").read_text(encoding="utf-8") == "in the way"


def test_a_user_without_a_home_has_none(monkeypatch):
    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    assert cache_folder.roots() == [] and cache_folder.folder("groups") is None
