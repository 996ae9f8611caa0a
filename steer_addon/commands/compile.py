"""Compile all kernels into a folder: for machines that share it, and for packages.

STEER_CACHE_DIR=DIR then has every process read them from there; it need not be writable.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from pathlib import Path
from typing import Any

from ..core.compiled import jit, jit_store, jit_target
from ..core.crowd.settings import CrowdSettings
from ..core.diagnoses import diagnose
from ..core.errors import (
    FileError,
    KernelsMissingError,
    OutputError,
    UncompiledError,
    UsageError,
)
from ..core.files.plain import read_file
from ..core.step.simulation import Progress
from ..core.warmup import everything, processes
from . import arguments
from .output import ProgressLine, Result

Call = tuple[jit.Kernel, tuple[object, ...]]
"""A kernel, and the types of its arguments."""
NAME = "compile"
IN_BLENDER = False

_MOST = 100_000_000
"""Bytes of the largest batch.json that is read."""
INTERVAL = 0.1
"""Time between two looks at the processes [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--into",
        metavar="DIR",
        type=arguments.path,
        help="folder to fill; give it to other processes as STEER_CACHE_DIR",
    )
    parser.add_argument(
        "--for",
        dest="book",
        metavar="FILE.json",
        type=arguments.path,
        help="compile only what the crowds of a batch need, by its batch.json; without --into they "
        "are kept where this user's kernels are",
    )


def run(options: argparse.Namespace) -> Result:
    """Compile what is not there yet."""
    start = time.perf_counter()
    if (found := jit.status().diagnosis) is not None:
        raise UncompiledError(found)
    if options.into is None and options.book is None:
        raise UsageError("give --into DIR, the folder to fill, or --for a batch.json")
    work = everything.run_everything
    if options.book is not None:
        work = functools.partial(everything.run_for, _settings_in(options.book))
    if options.into is not None:
        jit.keep_in(options.into)
    calls = processes.noted(work)
    into = options.into or jit.cache_root()
    places = jit_store.find_places() if options.into is None else jit_store.place(options.into)
    lacking = [call for call in calls if not _is_kept(call, places)]
    failure = _compile(lacking, options) if lacking else ""
    left = [call[0].__name__ for call in lacking if not _is_kept(call, places)]
    if left:
        raise OutputError(
            f"{len(left)} of {len(calls)} kernels are not in {into}, such as {left[0]} "
            f"({failure or 'it cannot be written there'}): make room there and run this again"
        )
    fixed = jit_target.level()
    warnings = [] if fixed else [diagnose("KERNELS_FOR_THIS_PROCESSOR", str(into))]
    data = {
        "command": "compile",
        "complete": True,
        "kernels": len(calls),
        "compiled": len(lacking),
        "target": jit_target.name(),
        "files": sorted(jit.file_name(*call) for call in calls),
        "seconds": round(time.perf_counter() - start, 3),
        "outputs": [str(into)],
        "warnings": warnings,
    }
    line = f"{into}: {len(calls)} kernels, {len(lacking)} of them new, for {data['target']}"
    return Result(data, [*warnings, line])


def _is_kept(call: Call, places: jit_store.Places) -> bool:
    """Whether a kernel is on disk and whole, in any folder that is read."""
    name = jit.file_name(*call)
    return any(jit_store.read(folder / name) is not None for folder in places.read)


def _settings_in(path: Path) -> list[dict[str, Any]]:
    """The settings of crowds that a batch wrote down."""
    try:
        data = json.loads(read_file(path, most=_MOST).tobytes())
        found = [CrowdSettings.from_dict(row).to_dict() for row in data["settings"]]
    except FileError as error:
        raise UsageError(f"{error}: give the batch.json of a batch") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path} is no batch.json: give the one of a batch") from None
    return found


def _compile(calls: list[Call], options: argparse.Namespace) -> str:
    """Compile them in processes; returns why that failed, or an empty text."""
    missing = [KernelsMissingError(k.__module__, k.__name__, types) for k, types in calls]
    report, last = ProgressLine("Kernels", options.quiet), -1
    compilation = processes.Compilation(
        processes.Need(None, missing=tuple(missing), into=options.into)
    )
    start = time.perf_counter()
    try:
        compilation.start()
        while (state := compilation.state()).running:
            spent = time.perf_counter() - start
            left = spent / state.done * (state.total - state.done) if state.done else 0.0
            if state.total and state.done > last:
                last = state.done
                report(Progress(state.done, state.total, spent, left))
            time.sleep(INTERVAL)
        return state.failure
    except OSError as error:
        raise OutputError(f"Kernels cannot be compiled here: {error}") from None
    finally:
        compilation.stop()
