"""Reading the command line: errors as one sentence, and values made of several numbers."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, NoReturn

from ..core.errors import printable, shortened
from ..process import tell
from ..words import LAST_FRAME as LAST_FRAME
from ..words import frame_range as frame_range
from ..words import int_number as int_number
from ..words import non_negative_float as non_negative_float
from ..words import numbers as numbers
from ..words import path as path
from ..words import positive_float as positive_float
from ..words import seed_number as seed_number
from ..words import whole_number as whole_number
from ..words import why_no_text

_NEGATIVE = re.compile(r"-[\d.][\d.,eE+x-]*")


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
        for fault in filter(None, map(why_no_text, words)):
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
        if action.default in (None, False, "") or action.default == []:
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
        "--preset",
        metavar="NAME",
        help="a preset's settings in place of those of all chosen crowds for this run, before any "
        "--set: a name that `steer presets` lists, or a .json file; seeds, and inputs of behaviors "
        "with the same name, stay",
    )
    parser.add_argument(
        "--set",
        metavar="BEHAVIOR.PARAMETER=VALUE",
        action="append",
        default=[],
        help="change a setting of all chosen crowds for this run, such as separation.weight=2, "
        "agents.max_speed=1.8 or ways=AROUND; may be given several times; `steer behaviors` lists "
        "them",
    )
