"""How numba compiles the helpers of kernels, in less time than by itself.

Numba by itself makes machine code of every function, also of helpers, and optimizes each together
with all that it calls: a helper at the bottom is optimized again at every level above it. Here a
part (a function that only other kernels call) stays as numba first wrote it, and the whole kernel
takes in every part once; then LLVM optimizes the whole, and makes machine code of it. Bits are the
same: floats are never reassociated. Numba allows this by a custom compiler class (its
documentation, "Customizing the Compiler"); it is imported when the first kernel needs it.
"""

from __future__ import annotations

import gc
from functools import cache
from importlib import import_module
from typing import Any

KNOWN = "0.68."
"""Beginning of the numba versions that this module changes; others compile as they do."""


class Pause:
    """Pauses garbage collection while numba compiles: its objects are needed until it ends.

    Collecting takes a seventh of the time. One compilation may begin inside of another.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._paused = False

    def begin(self) -> None:
        """Call it when numba begins; it holds its lock then."""
        self._depth += 1
        if self._depth == 1 and gc.isenabled():
            self._paused = True
            gc.disable()

    def end(self) -> None:
        """Call it when numba ends, also after an error."""
        self._depth = max(0, self._depth - 1)
        if self._depth == 0 and self._paused:
            self._paused = False
            gc.enable()


@cache
def compiler(part: bool) -> Any:
    """A compiler class for numba; its own where numba is not `KNOWN`.

    Args:
        part: Whether only other kernels call the function.
    """
    numba_compiler = import_module("numba.core.compiler")
    if not import_module("numba").__version__.startswith(KNOWN):
        return numba_compiler.Compiler
    lowering = import_module("numba.core.typed_passes").NativeLowering
    library = (_part_library if part else _whole_library)()

    class Compiler(numba_compiler.CompilerBase):  # type: ignore[misc, name-defined]
        """Numba's own steps, with a library of ours."""

        def define_pipelines(self) -> list[Any]:
            """The one list of steps."""
            state = self.state
            state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            steps = numba_compiler.DefaultPassBuilder.define_nopython_pipeline(state)
            if part:
                state.flags.no_compile = True
                steps.add_pass_after(_announcement(), lowering)
                steps.finalize()
            return [steps]

    return Compiler


@cache
def _part_library() -> Any:
    class PartLibrary(import_module("numba.core.codegen").JITCodeLibrary):  # type: ignore[misc]
        """A function as numba wrote it, neither optimized nor joined with what it calls."""

        def finalize(self) -> None:
            """Do nothing: the whole kernel is optimized."""
            self._finalized = True

        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout

        def _get_module_for_linking(self) -> Any:
            # several wholes take it in, each a copy
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
            return self._final_module

    return PartLibrary


@cache
def _whole_library() -> Any:
    part_library = _part_library()

    class WholeLibrary(import_module("numba.core.codegen").JITCodeLibrary):  # type: ignore[misc]
        """A kernel that Python calls, with all of its parts."""

        _linking_libraries: list[Any]

        def finalize(self) -> None:
            """Take in every part once, optimize all of it, and make machine code."""
            taken: dict[Any, None] = {}
            waiting: list[Any] = list(self._linking_libraries)
            while waiting:
                library = waiting.pop()
                if library not in taken:
                    taken[library] = None
                    if isinstance(library, part_library):
                        waiting += library._linking_libraries
            self._linking_libraries = list(taken)
            super().finalize()

        def _optimize_functions(self, module: Any) -> None:
            # all of them are optimized together
            module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            for function in self._final_module.functions:
                # no other function can call it, so nothing of it has to stay
                if not function.is_declaration and function.linkage.name == "linkonce_odr":
                    function.linkage = "internal"
            # numba goes twice: the first time makes way for what it does about counted references
            passes, builder = self._codegen._module_pass_manager()
            passes.run(self._final_module, builder)

    return WholeLibrary


@cache
def _announcement() -> Any:
    """A step that tells numba of a part, as lowering does of what has machine code."""
    machinery = import_module("numba.core.compiler_machinery")

    @machinery.register_pass(mutates_CFG=False, analysis_only=True)
    class Announcement(machinery.AnalysisPass):  # type: ignore[misc, name-defined]
        """It comes after lowering."""

        _name = "steer_announce_part"

        def __init__(self) -> None:
            machinery.AnalysisPass.__init__(self)

        def run_pass(self, state: Any) -> bool:
            """Tell under which key other functions find it."""
            found = state.cr
            # numba takes nothing but a built-in function; Python never calls this one
            key = list[Any]().append
            state.targetctx.insert_user_function(key, found.fndesc, [state.library])
            state["cr"] = found._replace(cfunc=key)
            return False

    return Announcement
