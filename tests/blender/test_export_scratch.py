"""Exports that go through a temporary folder, where that has no room: the sentence names it."""

from __future__ import annotations

import resource
import sys
import tempfile

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.blender.display import display  # noqa: E402
from steer_addon.core.errors import OutputError  # noqa: E402
from tests.blender.live_scenes import make_runner  # noqa: E402
from tests.blender.test_export import export, needs_alembic, needs_usd  # noqa: E402

pytestmark = pytest.mark.usefixtures("empty_scene")


NAMES = pytest.mark.parametrize(
    "name",
    [
        pytest.param("alembic", marks=needs_alembic),
        pytest.param("pointinstancer", marks=needs_usd),
    ],
)


@NAMES
def test_a_temporary_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch, name):
    scratch = tmp_path / "gone"
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with pytest.raises(OutputError) as told:
        export(make_runner(), name, tmp_path)
    text = str(told.value)
    assert text.startswith(f"Temporary folder {scratch} cannot be written: "), text
    assert not list(tmp_path.iterdir())


@NAMES
def test_a_temporary_folder_without_room_is_named(tmp_path, monkeypatch, name):
    obj = make_runner()
    modifier = display.find_modifier(obj)
    display.set_input(modifier, "Display", "Object")
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    corners = np.random.default_rng(0).random((300, 3))
    body.data.from_pydata(corners, [], np.arange(300).reshape(-1, 3).tolist())
    display.set_input(modifier, "Object", body)
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    out.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    # else Python keeps what it compiles in files that are cut off, too
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, limits[1]))
    try:
        with pytest.raises(OutputError) as told:
            export(obj, name, out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    text = str(told.value)
    assert text.startswith(f"Temporary folder {scratch} cannot be written: "), text
    assert "TMPDIR" in text
    assert not list(scratch.iterdir()) and not list(out.iterdir())
