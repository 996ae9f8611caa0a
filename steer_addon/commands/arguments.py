"""Reading the command line: errors as one sentence, and values made of several numbers."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ..core.errors import printable, short, shortened
from ..process import tell

LAST_FRAME = 1_048_574
"""Blender's last frame; its first one is as far below 0."""
_NAME, _PATH = 255, 1023
"""Bytes of the longest name on usual file systems, and of the longest path in Blender."""
_NEGATIVE = re.compile(r"-[\d.][\d.,eE+x-]*")
_RANGE = re.compile(r"(-?\d{1,20})(?:-(-?\d{1,20}))?")


class ParserExitError(Exception):
    """The command line asks for nothing that can be run: a help text, or a mistake in it.

    Attributes:
        code: The exit code.
        sentence: The mistake; empty for none.
    """

    def __init__(self, code: int, sentence: str = "") -> None:
        super().__init__(code)
        self.code, self.sentence = code, sentence


class ArgumentParser(argparse.ArgumentParser):
    """A parser that says one sentence about a mistake, and never ends the process."""

    def __init__(self, *args: Any, **options: Any) -> None:
        # an abbreviation that works today would be ambiguous with tomorrow's option
        super().__init__(*args, **{**options, "allow_abbrev": False})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Take values that begin like negative numbers, too; refuse what is no text in UTF-8."""
        words = sys.argv[1:] if args is None else list(args)
        for fault in filter(None, map(_why_no_text, words)):
            self.error(fault)
        return super().parse_known_args(join_negative_values(words), namespace)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to read on."""
        sentence = printable(f"{shortened(message)} (see {self.prog} --help)")
        tell(f"{self.prog}: {sentence}")
        raise ParserExitError(2, sentence)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Leave the parser, not the process."""
        if message:
            tell(message, end="")
        raise ParserExitError(status)


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Tells the default of an option, where there is one to tell."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default in (None, False) or action.default == []:
            return action.help
        return super()._get_help_string(action)


def join_negative_values(words: list[str]) -> list[str]:
    """Let `--target -5,3,0` be written as well as `--target=-5,3,0`.

    Args:
        words: Arguments as given; a value that begins like a negative number is joined to the
            option before it, or argparse would take it for an option.
    """
    result: list[str] = []
    for word in words:
        option = result[-1] if result else ""
        if _NEGATIVE.fullmatch(word) and option.startswith("--") and "=" not in option:
            result[-1] = f"{option}={word}"
        else:
            result.append(word)
    return result


def frame_range(text: str) -> range:
    """Frames from `A-B` or a single `A`; either may be negative."""
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"frames are {short(text)}: give A-B, such as 1-250")
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    if max(abs(first), abs(last)) > LAST_FRAME:
        raise argparse.ArgumentTypeError(
            f"frames are {text}: Blender has those from {-LAST_FRAME} to {LAST_FRAME}"
        )
    if last < first:
        raise argparse.ArgumentTypeError(f"frames are {text}: give A-B with A <= B")
    return range(first, last + 1)


def numbers(text: str, count: int, form: str) -> tuple[float, ...]:
    """A given count of finite numbers with commas between them."""
    parts = text.split(",")
    try:
        values = tuple(float(part) for part in parts)
    except ValueError:
        values = ()
    if len(values) != count or not all(abs(value) < 1.0e9 for value in values):
        raise argparse.ArgumentTypeError(f"{short(text)} is no {form}: give {count} numbers")
    return values


def whole_number(most: int) -> Callable[[str], int]:
    """A whole number from 1 up to the most that can be."""

    def read(text: str) -> int:
        value = int_number(text)
        if not 1 <= value <= most:
            how = "small" if value < 1 else "large"
            raise argparse.ArgumentTypeError(
                f"{short(value)} is too {how}: give a whole number from 1 to {most}"
            )
        return value

    return read


def _why_no_text(text: str) -> str:
    """Why Blender and JSON cannot hold a text of the command line; empty where they can."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        unaware = sys.getfilesystemencoding() != "utf-8"
        way_out = "set PYTHONUTF8=1 or a locale with UTF-8" if unaware else "give another name"
        return f"{short(text)} is no text in UTF-8: {way_out}"
    return ""


def path(text: str) -> Path:
    """A path that file systems, Blender and JSON can hold."""
    if not text:
        raise argparse.ArgumentTypeError("a path is empty: give one, such as . for this folder")
    try:
        whole = os.path.abspath(text)
    except OSError:
        raise argparse.ArgumentTypeError(
            f"the path {short(text)} begins in a folder that is gone: give a whole path"
        ) from None
    if fault := _why_no_text(whole):
        raise argparse.ArgumentTypeError(fault)
    raw = whole.encode("utf-8")
    if max(map(len, raw.split(os.fsencode(os.sep)))) > _NAME or len(raw) > _PATH:
        raise argparse.ArgumentTypeError(
            f"the path {short(text)} is too long: give names of at most {_NAME} bytes, and at most "
            f"{_PATH} bytes in all"
        )
    return Path(text)


def int_number(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{short(text)} is no whole number") from None


def seed_number(text: str) -> int:
    """A random seed, as Blender stores it."""
    value = int_number(text)
    if not -(2**31) <= value < 2**31:
        raise argparse.ArgumentTypeError(
            f"{short(value)} is no seed: give a whole number of 32 bits"
        )
    return value


def positive_float(text: str) -> float:
    """A finite number above 0."""
    (value,) = numbers(text, 1, "number")
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f"{text} is too small: give a number above 0")
    return value


def non_negative_float(text: str) -> float:
    """A finite number from 0 up."""
    (value,) = numbers(text, 1, "number")
    if value < 0.0:
        raise argparse.ArgumentTypeError(f"{text} is too small: give a number from 0 up")
    return value


def add_blend(parser: argparse.ArgumentParser) -> None:
    """Take the .blend file that a command works on."""
    parser.add_argument("file", metavar="FILE.blend", type=path, help="file with crowds")


def add_blend_or_world(parser: argparse.ArgumentParser) -> None:
    """Take the .blend file that a command works on, or a world that was extracted from one."""
    parser.add_argument(
        "file",
        metavar="FILE.blend|WORLD",
        type=path,
        help="file with crowds, or the folder that `steer extract` wrote, which needs no Blender",
    )


def add_crowd(
    parser: argparse.ArgumentParser,
    what: str = "name of a crowd object; may be given several times (default: all crowds of the "
    "file)",
) -> None:
    """Take names of crowds; `what` says what is done with these."""
    parser.add_argument(
        "--crowd",
        metavar="NAME",
        action="append",
        default=[],
        help=what,
    )


def add_frames(parser: argparse.ArgumentParser, what: str) -> None:
    """Take a range of frames."""
    parser.add_argument("--frames", metavar="A-B", type=frame_range, help=what)


def add_compiled(parser: argparse.ArgumentParser) -> None:
    """Take whether kernels have to be compiled."""
    parser.add_argument(
        "--require-compiled",
        action="store_true",
        help="fail at once where numba cannot be loaded, in place of a run that takes about a "
        "hundred times longer",
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Take changes of the settings of the chosen crowds for this run, and of the seed."""
    parser.add_argument("--seed", metavar="N", type=seed_number, help="random seed for this run")
    add_changes(parser)
    add_compiled(parser)


def add_changes(parser: argparse.ArgumentParser) -> None:
    """Take changes of the settings of the chosen crowds for this run."""
    parser.add_argument(
        "--set",
        metavar="BEHAVIOR.PARAMETER=VALUE",
        action="append",
        default=[],
        help="change a setting of all chosen crowds for this run, such as separation.weight=2, "
        "agents.max_speed=1.8 or ways=AROUND; may be given several times; `steer behaviors` lists "
        "them",
    )
