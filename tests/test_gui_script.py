"""`make test-gui` where there is no window: it says why, and only a wrong BLENDER is a failure."""

from __future__ import annotations

import pytest

from scripts.window import test_gui as script


@pytest.mark.parametrize("program", ["/path/that/does/not/exist", "no-such-blender", "."])
def test_a_program_that_cannot_be_run_is_one_sentence(program, capsys):
    assert script.main(["--blender", program]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: BLENDER={program} is no program that can be run")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [("#!/bin/sh\necho Hello\n", "is no Blender"), ("\x7fELF", "cannot be run")],
)
def test_a_program_that_is_no_blender_is_one_sentence(text, message, tmp_path, capsys):
    program = tmp_path / "blender"
    program.write_text(text)
    program.chmod(0o755)
    assert script.main(["--blender", str(program)]) == 1
    said = capsys.readouterr().err
    assert message in said and len(said.splitlines()) == 1


@pytest.mark.parametrize(("python", "wheels"), [("3.11", True), ("3.13", True), ("3.14", False)])
def test_the_package_fits_the_python_of_the_program(python, wheels, tmp_path):
    program = tmp_path / "blender"
    program.write_text(f"#!/bin/sh\necho Blender 5.2\necho PYTHON {python}\n")
    program.chmod(0o755)
    assert (script.platform_for([str(program)]) != script.build_extension.WITHOUT_WHEELS) == wheels


def test_without_a_program_and_without_the_tool_it_is_skipped(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(script, "TOOL", tmp_path / "blender_app.sh")
    assert script.main([]) == 0
    assert capsys.readouterr().out.startswith("Skipped: no window, as blender_app.sh is absent")


@pytest.mark.parametrize(
    ("user", "message"),
    [(0, "Skipped: no window, as Blender could not be installed"), (1000, "needs root")],
)
def test_a_tool_that_cannot_install_or_be_used_is_skipped(
    user, message, monkeypatch, tmp_path, capsys
):
    tool = tmp_path / "blender_app.sh"
    tool.write_text("exit 3\n")
    monkeypatch.setattr(script, "TOOL", tool)
    monkeypatch.setattr(script.os, "geteuid", lambda: user, raising=False)
    assert script.main([]) == 0
    assert message in capsys.readouterr().out


def test_a_relative_program_is_found_from_where_it_was_named(monkeypatch, tmp_path):
    program = tmp_path / "blender"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    words = script.command("./blender")
    assert words is not None and words[0] == str(program)
