"""The processor that kernels are compiled for: a level that all PCs of the last ten years have.

Machine code for one fixed level serves every machine that has it, so kernels can be compiled where
a package is made. Levels change no bit of a result, since floats are never reassociated; and no
step was found to be slower than with all that a newer processor can do. Other processors get code
of their own, which is compiled where it runs.

Numba has one target for the whole process, and other add-ons use it too. So kernels get a copy of
it, with a code generator of their own (numba's `subtarget`); nothing of numba's settings changes.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from functools import cache
from importlib import import_module
from typing import Any

X86_64_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
"""What a processor of level x86-64-v3 has beyond v2 (x86-64 psABI, 3.1.1), as LLVM names it."""

USUAL = (3, 1, 0, None)
"""Numba's settings of optimization and checks, where no variable of its own says otherwise."""


@cache
def level() -> str:
    """LLVM's name of the fixed level that kernels are compiled for; empty where there is none.

    Variables of numba's that name a processor or its features for all of numba win.
    """
    config = import_module("numba").config
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None or not config.ENABLE_AVX:
        return ""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        try:
            features = import_module("llvmlite.binding").get_host_cpu_features()
        except RuntimeError:  # LLVM does not know this processor
            return ""
        return "x86-64-v3" if all(features.get(name) for name in X86_64_V3) else ""
    return "apple-m1" if sys.platform == "darwin" and machine == "arm64" else ""


@cache
def name() -> str:
    """What machine code depends on, besides its source: Python, numba, system and processor."""
    numba = import_module("numba")
    processor = level()
    if not processor:
        processor, features = target().target_context.codegen().magic_tuple()[1:]
        processor += "-" + hashlib.sha256(features.encode()).hexdigest()[:8]
    config = numba.config
    if config.USING_SVML:
        processor += "-svml"
    ways = (int(config.OPT), config.LOOP_VECTORIZE, config.SLP_VECTORIZE, config.BOUNDSCHECK)
    if ways != USUAL:
        processor += "-" + hashlib.sha256(repr(ways).encode()).hexdigest()[:8]
    python = f"{sys.version_info.major}{sys.version_info.minor}"
    return f"py{python}-numba{numba.__version__}-{sys.platform}-{processor}"


@cache
def target() -> Any:
    """Numba's description of the target that kernels are compiled for."""
    registry = import_module("numba.core.registry")
    if not level():
        return registry.cpu_target

    class Code(import_module("numba.core.codegen").JITCPUCodegen):  # type: ignore[misc]
        """A code generator for the fixed level."""

        def _get_host_cpu_name(self) -> str:
            return level()

        def _customize_tm_features(self) -> str:
            # the level says it all
            return ""

    context = registry.cpu_target.target_context.subtarget(_internal_codegen=Code("steer"))

    class Target(registry.CPUTarget):  # type: ignore[misc, name-defined]
        """Numba's own target with that generator."""

        target_context = context
        typing_context = registry.cpu_target.typing_context

    return Target("cpu")


@cache
def dispatcher() -> Any:
    """Numba's class of functions that compile when they are called, for that target."""

    class Dispatcher(import_module("numba.core.registry").CPUDispatcher):  # type: ignore[misc]
        """As numba's own."""

        targetdescr = target()

    return Dispatcher
