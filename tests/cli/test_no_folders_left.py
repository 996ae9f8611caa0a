"""Folders above what a command saves are made when it saves, and not where it fails."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.headless import batch  # noqa: E402
from steer_addon.core.errors import OutputError  # noqa: E402


@pytest.mark.parametrize(
    "words",
    [
        ("bake", "{scene}", "--object", "Duck", "--save"),
        ("bake", "{scene}", "--crowd", "Ducks", "--save"),
        ("bake", "{scene}", "--to", "csv", "--frames", "-5-3", "--out"),
        ("scene", "--preset", "no such preset", "--save"),
        ("character", "make", "{scene}", "--save"),
        ("character", "make", "none.blend", "--save"),
    ],
)
def test_a_command_that_fails_leaves_no_folder(run, small_scene, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    ending = ".csv" if "csv" in words else ".blend"
    out = tmp_path / "new" / "deep" / f"x{ending}"
    done = run(*[word.format(scene=small_scene) for word in words], out)
    assert done.code != 0
    assert list(tmp_path.iterdir()) == []


def test_folders_are_there_where_it_works(run, tmp_path):
    out = tmp_path / "new" / "deep" / "x.blend"
    assert run("scene", "--agents", 3, "--save", out).code == 0
    assert [path.name for path in out.parent.iterdir()] == ["x.blend"]


def test_a_file_that_blender_does_not_save_leaves_no_folder(empty_scene, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "why_not_whole", lambda path: "it is cut short")
    with pytest.raises(OutputError, match="x.blend cannot be written: it is cut short"):
        batch.save_file(tmp_path / "new" / "x.blend")
    assert list(tmp_path.iterdir()) == []
