"""The command line: `steer …` = `python -m steer_addon …` = `blender -c steer …`.

Exit codes: 0 the whole result is there, 1 failed or cancelled, 2 wrong usage. Results go to stdout,
progress and errors to stderr, each error one sentence. With `--json` the last line of stdout is one
JSON object, after an error too.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from . import commands, process
from .commands.arguments import ArgumentParser, HelpFormatter, ParserExitError
from .commands.output import Result, quiet_stdout, with_sentences
from .core import own_behaviors
from .core.errors import SteerError, UsageError, printable, shortened
from .version import __version__


def make_parser(modules: Sequence[Any] = commands.MODULES) -> ArgumentParser:
    """The parser with one sub-parser per command.

    Args:
        modules: Modules of the commands, as `commands` describes them, with a docstring.
    """
    parser = ArgumentParser(
        prog="steer",
        description="Procedural crowds for Blender, without a screen.",
        epilog="`steer COMMAND --help` lists the arguments of a command.",
    )
    parser.add_argument("--version", action="version", version=f"Steer {__version__}")
    common = ArgumentParser(add_help=False)
    group = common.add_argument_group("output")
    group.add_argument(
        "--json", action="store_true", help="write one JSON object as the last line of stdout"
    )
    group.add_argument("--quiet", action="store_true", help="report no progress")
    group.add_argument(
        "--debug", action="store_true", help="show Blender's messages and tracebacks of failures"
    )
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, dest="command"
    )
    for module in modules:
        summary = (module.__doc__ or "").partition("\n")[0]
        sub = subparsers.add_parser(
            module.NAME,
            help=summary[:1].lower() + summary[1:].rstrip("."),
            description=summary,
            parents=[common],
            formatter_class=HelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run, in_blender=getattr(module, "IN_BLENDER", True))
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Arguments without the program's name; None takes those of the process.

    Returns:
        Exit code: 0 done, 1 failed, 2 wrong usage.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    return run_command(make_parser(), words, keep=argv is None)


def run_command(parser: ArgumentParser, words: list[str], *, keep: bool) -> int:
    """Run the command that words ask for; returns the exit code.

    Args:
        parser: From `make_parser`.
        words: Arguments.
        keep: Let nothing but the result reach stdout until the process ends.
    """
    process.end_with_parent()
    try:
        options = parser.parse_args(words)
    except ParserExitError as done:
        if done.sentence and "--json" in words:
            with quiet_stdout(debug=False, keep=keep) as write:
                return _written(write, _text(Result({"error": done.sentence}), True), done.code)
        return done.code
    with quiet_stdout(debug=options.debug, keep=keep or _in_background_blender()) as write:
        result, code = _run(options)
        return code if result is None else _written(write, _text(result, options.json), code)


def _written(write: Callable[[str], None], text: str, code: int) -> int:
    """Write the result; returns the exit code, which says too when that failed."""
    try:
        write(text)
    except BrokenPipeError:
        # the reader of the output, such as `head`, has closed it
        return code or 1
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        process.tell(f"steer: the result cannot be written to stdout: {reason}")
        return code or 1
    return code


def _run(options: argparse.Namespace) -> tuple[Result | None, int]:
    result, code = _try(options)
    faults = [fault.diagnosis for fault in own_behaviors.faults()]
    for fault in faults:
        process.tell(f"steer: {printable(fault.sentence)}")
    if result is not None and faults:
        found = with_sentences({"warnings": faults})
        result.data |= {name: [*result.data.get(name, ()), *more] for name, more in found.items()}
    return result, code


def _try(options: argparse.Namespace) -> tuple[Result | None, int]:
    try:
        needed = options.in_blender
        if needed(options) if callable(needed) else needed:
            with process.held():
                importlib.import_module("bpy")
        result = options.run(options)
        process.stop_if_asked()
        return result, result.code
    except ParserExitError as done:
        return None, done.code
    except UsageError as error:
        return _failed(str(error), options, 2)
    except SteerError as error:
        return _failed(str(error), options, 1)
    except KeyboardInterrupt:
        return _failed("cancelled", options, 1)
    except Exception as error:  # noqa: BLE001 - a user gets a sentence, never a traceback
        if process.is_cancelled():
            # what calls Python may make another error of it
            return _failed("cancelled", options, 1)
        return _failed(_unexpected(error, options), options, 1)


def _unexpected(error: Exception, options: argparse.Namespace) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == "bpy":
        return (
            f"the command {options.command!r} needs Blender: install its module with "
            "`pip install bpy`, or run it as `blender -c steer …`"
        )
    text = shortened(" ".join(str(error).split())) or "no message"
    hint = "" if options.debug else "; run it again with --debug for the traceback"
    return f"{options.command} failed unexpectedly ({type(error).__name__}: {text}){hint}"


def _failed(sentence: str, options: argparse.Namespace, code: int) -> tuple[Result | None, int]:
    if options.debug:
        process.tell(traceback.format_exc())
    process.tell(f"steer: {printable(sentence)}")
    return (Result({"error": sentence}) if options.json else None), code


def _text(result: Result, as_json: bool) -> str:
    if as_json:
        return json.dumps(result.data, ensure_ascii=False, allow_nan=False) + "\n"
    return "".join(f"{line}\n" for line in result.lines)


def _in_background_blender() -> bool:
    """Whether the program `blender` runs this and ends, with words of its own, afterwards."""
    bpy = sys.modules.get("bpy")
    return bpy is not None and bpy.app.background and not bpy.app.module
