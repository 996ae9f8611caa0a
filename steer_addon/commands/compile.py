"""Compile all kernels into a folder: for machines that share it, and for packages.

STEER_CACHE_DIR=DIR then has every process read them from there; it need not be writable.
"""

from __future__ import annotations

import argparse
import time

from ..core.compiled import jit, jit_target
from ..core.diagnoses import diagnose
from ..core.errors import KernelsMissingError, OutputError, UncompiledError
from ..core.step.simulation import Progress
from ..core.warmup import everything, processes
from . import arguments
from .output import ProgressLine, Result

NAME = "compile"
IN_BLENDER = False

INTERVAL = 0.1
"""Time between two looks at the processes [s]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--into",
        metavar="DIR",
        type=arguments.path,
        required=True,
        help="folder to fill; give it to other processes as STEER_CACHE_DIR",
    )


def run(options: argparse.Namespace) -> Result:
    """Compile what is not there yet."""
    start = time.perf_counter()
    if (found := jit.status().diagnosis) is not None:
        raise UncompiledError(found)
    jit.keep_in(options.into)
    calls = processes.noted(everything.run_everything)
    kernels = options.into / "kernels"
    lacking = [call for call in calls if not (kernels / jit.file_name(*call)).is_file()]
    failure = _compile(lacking, options)
    left = [call[0].__name__ for call in lacking if not (kernels / jit.file_name(*call)).is_file()]
    if left:
        raise OutputError(
            f"{len(left)} of {len(calls)} kernels are not in {options.into}, such as {left[0]} "
            f"({failure or 'it cannot be written there'}): make room there and run this again"
        )
    fixed = jit_target.level()
    warnings = [] if fixed else [diagnose("KERNELS_FOR_THIS_PROCESSOR", str(options.into))]
    data = {
        "command": "compile",
        "complete": True,
        "kernels": len(calls),
        "compiled": len(lacking),
        "target": jit_target.name(),
        "files": sorted(jit.file_name(*call) for call in calls),
        "seconds": round(time.perf_counter() - start, 3),
        "outputs": [str(options.into)],
        "warnings": warnings,
    }
    line = f"{options.into}: {len(calls)} kernels, {len(lacking)} of them new, for {data['target']}"
    return Result(data, [*warnings, line])


def _compile(
    calls: list[tuple[jit.Kernel, tuple[object, ...]]], options: argparse.Namespace
) -> str:
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
