"""Runs without numba: a warning that farms can read, or a refusal before any work."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("bpy", reason="bpy is not installed")

from steer_addon.commands import pipeline
from steer_addon.core.compiled import jit
from steer_addon.core.diagnoses import diagnose

MISSING = diagnose("NUMBA_MISSING", reason="OSError: Could not load libllvmlite.so")
COMMANDS = {
    "simulate": ["--out", "out", "--frames", "1-2"],
    "bake": ["--to", "cache", "--cache", "out", "--frames", "1-2"],
    "render": ["--out", "out", "--frames", "1-1", "--size", "8x8", "--samples", "1"],
}


@pytest.fixture
def without_numba(monkeypatch, tmp_path):
    """Commands find numba missing; kernels still run as they do in other tests."""
    found = SimpleNamespace(status=lambda: jit.Status(False, MISSING))
    monkeypatch.setattr(pipeline, "jit", found)
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("without_numba")
@pytest.mark.parametrize("command", COMMANDS)
def test_uncompiled_kernels_are_a_warning(run, small_flock, tmp_path, command):
    result = run(command, small_flock, *COMMANDS[command], "--json")
    assert result.code == 0, result.err
    assert MISSING.to_dict() in result.data["diagnoses"]
    assert MISSING.sentence in result.data["warnings"]
    if command == "simulate":
        report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
        assert MISSING.to_dict() in report["diagnoses"]


@pytest.mark.usefixtures("without_numba")
@pytest.mark.parametrize("command", COMMANDS)
def test_compiled_kernels_can_be_required(run, small_flock, tmp_path, command):
    words = [command, small_flock, *COMMANDS[command], "--require-compiled"]
    run(*words).failed_with("--require-compiled", "Could not load libllvmlite.so")
    assert not list(tmp_path.iterdir())


def test_nothing_is_told_of_compiled_kernels(run, small_flock, tmp_path):
    words = ["--out", tmp_path / "out", "--frames", "1-2", "--require-compiled", "--json"]
    result = run("simulate", small_flock, *words)
    assert (result.code, result.data["diagnoses"]) == (0, [])


@pytest.mark.slow
def test_numba_that_cannot_be_imported(process, small_flock, tmp_path):
    # the true entry, which also ends a process that Blender's module would keep
    code = "import sys; sys.modules['numba'] = None; from steer_addon.__main__ import script; "
    words = ["simulate", small_flock, "--out", tmp_path / "out", "--frames", "1-1", "--json"]
    done = process("-c", code + "script()", *words)
    assert (done.code, [row["code"] for row in done.data["diagnoses"]]) == (0, ["NUMBA_MISSING"])
