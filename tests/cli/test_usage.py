"""Wrong usage is reported in one sentence, with exit code 2; help always works."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from steer_addon import commands
from steer_addon.cli import make_parser
from steer_addon.commands.arguments import join_negative_values

COMMANDS = [module.NAME for module in commands.MODULES]


def test_every_command_of_the_issue_is_there():
    runs = ["extract", "simulate", "bake", "render", "batch", "report", "pick", "submit"]
    listing = ["presets", "behaviors", "compile"]
    assert COMMANDS == ["scene", "demo", "character", "info", "ways", *runs, *listing]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help(run, command):
    result = run(*command, "--help")
    assert result.code == 0
    assert result.err == ""
    assert "usage: steer" in result.out
    assert "(default: )" not in " ".join(result.out.split())


def test_version(run):
    assert run("--version").out.startswith("Steer 0.")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["simulate", "x.blend"], "--out"),
        (["simulate", "x.blend", "--out", "o", "--frames", "20-10"], "give A-B with A <= B"),
        (["simulate", "x.blend", "--out", "o", "--frames", "ten"], "give A-B"),
        (["render", "x.blend", "--frames", "5-1"], "give A-B with A <= B"),
        (["render", "x.blend", "--engine", "PENCIL"], "invalid choice: 'PENCIL'"),
        (["render", "x.blend", "--size", "big"], "is no size"),
        (["render", "x.blend", "--size", "0x10"], "is no size"),
        (["render", "x.blend", "--size", "0%"], "too small"),
        (["render", "x.blend", "--samples", "0"], "too small"),
        (["bake", "x.blend"], "--save"),
        (["bake", "x.blend", "--save", "o.blend", "--to", "lasers"], "invalid choice: 'lasers'"),
        (["bake", "x.blend", "--save", "o.blend", "--step", "0"], "too small"),
        (["bake", "x.blend", "--save", "o.blend", "--step", "20000"], "from 1 to 10000"),
        (["bake", "x.blend", "--save", "o.blend", "--tolerance", "-1"], "too small"),
        (["scene", "--agents", "0"], "too small"),
        (["scene", "--agents", "many"], "is no whole number"),
        (["scene", "--spawn", "1,2"], "give 4 numbers"),
        (["scene", "--spawn", "1,2,3,-4"], "too small"),
        (["scene", "--target", "1,2,nan"], "give 3 numbers"),
        (["scene", "--radius", "-1"], "too small"),
        (["scene", "--radius", "nan"], "'nan' is no number: give one below 1e9"),
        (["scene", "--seed", "99999999999"], "32 bits"),
        (["scene", "--agent", "5"], "unrecognized arguments"),
        (["scene", "--agents", "99999999999"], "too large: give a whole number from 1 to 4000000"),
        (["scene", "--agents", "9" * 5000], "is no whole number"),
        (["scene", "--frames", "1-99999999"], "from -1048574 to 1048574"),
        (["demo", "panic", "--frames=-1048575-3"], "from -1048574 to 1048574"),
        (["simulate", "x.blend", "--out", "o", "--frames", "99999999999-99999999999"], "1048574"),
        (["bake", "x.blend", "--save", "o.blend", "--frames", "9" * 30_000], "give A-B"),
        (["render", "x.blend", "--samples", "99999999999"], "from 1 to 16777216"),
        (["render", "x.blend", "--size", "9" * 5000 + "x10"], "is no size"),
        (["simulate", "x.blend", "--out", ""], "a path is empty"),
        (["simulate", "", "--out", "o"], "a path is empty"),
        (["scene", "--save", ""], "a path is empty"),
        (["bake", "x.blend", "--to", "cache", "--cache", ""], "a path is empty"),
        (["presets", "--folder", ""], "a path is empty"),
        (["presets", "--folder", "n" * 256], "names of at most 255 bytes"),
        (["demo", "panic", "--save", "ä" * 126 + ".blend"], "names of at most 255 bytes"),
        (["render", "x.blend", "--out", "/n" * 600], "at most 1023 bytes"),
        (["simulate", "x.blend", "--out", "\udcff"], "'\\udcff' is no text in UTF-8"),
        (["scene", "--preset", "\udcff.json"], "'\\udcff.json' is no text in UTF-8"),
        (["bake", "x.blend", "--save", "o.blend", "--object", "\udcff"], "is no text in UTF-8"),
        (["bake", "x.blend", "--to", "usd", "--out", "x.abc"], "x.abc ends in .abc, and --to usd"),
        (["bake", "x.blend", "--to", "alembic", "--out", "x.USDC"], "ends in .USDC"),
        (["bake", "x.blend", "--to", "usd", "--out", "x.usda"], "writes .usdc"),
        (["d" * 30_000], "invalid choice"),
        (["demo", "d" * 300], "There is no demo 'ddd"),
        (["demo", "\x1b[31m"], "\\x1b[31m"),
    ],
)
def test_wrong_usage(run, words, told):
    result = run(*words)
    result.failed_with(told, code=2)
    assert len(result.err.splitlines()) == 1 and len(result.err) < 1200
    assert result.err.rstrip("\n").isprintable()
    assert result.out == ""
    told_json = run(*words, "--json")
    assert told_json.code == 2
    assert told in told_json.data["error"] and len(told_json.out.splitlines()) == 1


def test_values_that_begin_like_negative_numbers_need_no_equals_sign():
    words = ["scene", "--target", "-5,3,0", "--frames", "-10-20", "--json", "--spawn", "corner"]
    assert join_negative_values(words) == [
        "scene",
        "--target=-5,3,0",
        "--frames=-10-20",
        "--json",
        "--spawn",
        "corner",
    ]
    options = make_parser().parse_args(words)
    assert options.target == [(-5.0, 3.0, 0.0)]
    assert options.frames == range(-10, 21)


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed")
def test_a_folder_that_is_gone(run, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    run("presets", "--folder", "x").failed_with("in a folder that is gone", code=2)


def test_names_that_the_locale_cannot_hold_say_so(process, tmp_path):
    """Python reads them as ASCII, and Blender as UTF-8."""
    code = (
        "import os, sys; os.environ.update(LC_ALL='C', PYTHONUTF8='0', PYTHONCOERCECLOCALE='0'); "
        "os.execv(sys.executable, [sys.executable, '-m', 'steer_addon', *sys.argv[1:]])"
    )
    done = process("-c", code, "simulate", "x.blend", "--out", "é", "--json")
    told = "is no text in UTF-8: set PYTHONUTF8=1"
    assert done.code == 2 and told in done.data["error"]
    assert process("-c", code, "presets").code == 0


def test_a_single_frame_is_a_range():
    options = make_parser().parse_args(["render", "x.blend", "--frames", "7"])
    assert options.frames == range(7, 8)


def test_commands_are_known_without_blender():
    """`steer compile` runs where there is no bpy, as while an extension is built."""
    code = "import sys\nsys.modules['bpy'] = None\nfrom steer_addon import cli\nprint('known')"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "known\n"
