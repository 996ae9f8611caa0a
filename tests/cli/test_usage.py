"""Wrong usage is reported in one sentence, with exit code 2; help always works."""

from __future__ import annotations

import pytest

from steer_addon import commands
from steer_addon.cli import make_parser
from steer_addon.commands.arguments import join_negative_values

COMMANDS = [module.NAME for module in commands.MODULES]


def test_every_command_of_the_issue_is_there():
    assert COMMANDS == ["scene", "demo", "simulate", "bake", "render", "presets", "behaviors"]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help(run, command):
    result = run(*command, "--help")
    assert result.code == 0
    assert result.err == ""
    assert "usage: steer" in result.out


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
        (["scene", "--seed", "99999999999"], "32 bits"),
        (["scene", "--agent", "5"], "unrecognized arguments"),
    ],
)
def test_wrong_usage(run, words, told):
    result = run(*words)
    result.failed_with(told, code=2)
    assert len(result.err.splitlines()) == 1
    assert result.out == ""


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


def test_a_single_frame_is_a_range():
    options = make_parser().parse_args(["render", "x.blend", "--frames", "7"])
    assert options.frames == range(7, 8)
