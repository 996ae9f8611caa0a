"""The only door to numba: functions that compile on first use, and loops over agents on threads.

Importing this module, and decorating functions with `kernel`, does not import numba. The first
call of a kernel does, with the modules that only then are needed, since enabling the extension has
to be quick. Where numba is missing or fails to load, kernels run as plain Python: the results are
the same, only slower; `status()` says so, and why.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from ..diagnoses import Diagnosis, diagnose
from ..doors import futures
from ..errors import KernelsMissingError, warn
from . import jit_parts, jit_scratch, jit_sources, jit_store, jit_target, jit_threads

CHUNK = 1024
"""Agents per task of the thread pool: large enough to hide the cost of handing it over."""
MANY = 16 * CHUNK
"""The same for loops that take no more than a few nanoseconds an agent."""

DRY = 64
"""Most rows that a dry run goes through."""

_VIEWS = frozenset(("agents", "world", "bvh", "table", "room"))
"""Arguments that hold many arrays, or one array that loops read column by column."""


class Status(NamedTuple):
    """Whether kernels are compiled.

    Attributes:
        compiled: True when numba is in use.
        diagnosis: Why not; None when they are.
    """

    compiled: bool
    diagnosis: Diagnosis | None = None


class _State:
    """State of this process: numba, once it is loaded, and the settings of kernels."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.numba: Any = None
        self.status: Status | None = None
        self.places: jit_store.Places | None = None
        self.threads = jit_threads.wanted()
        self.pool: futures.ThreadPoolExecutor | None = None
        self.deferring = False
        self.recorder: Callable[..., Any] | None = None


_state = _State()


class Kernel:
    """A function for scalars and arrays that numba compiles when it is first called.

    Numba accepts an instance as a callable inside other kernels, through `_numba_type_`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        allocates: bool = False,
        inlined: bool = False,
        record: bool = False,
    ) -> None:
        self.function = function
        self.allocates = allocates
        self.record = record
        # handing over a view takes longer than most helpers that read it
        code = function.__code__
        self.inlined = inlined or not _VIEWS.isdisjoint(code.co_varnames[: code.co_argcount])
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__wrapped__ = function
        self._target: Callable[..., Any] | None = None
        self._part: Callable[..., Any] | None = None

    def target(self) -> Callable[..., Any]:
        """The compiled function, or the plain one where numba is missing."""
        if self.record:
            return self.function
        if self._target is None:
            if _state.recorder is not None:
                return partial(_state.recorder, self)
            with _state.lock:
                if self._target is None:
                    self._target = self._compile()
        return self._target

    def _compile(self, part: bool = False) -> Callable[..., Any]:
        """Hand the function to numba; a part is only ever called by other kernels."""
        if not status().compiled:
            return self.function
        options: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy"}
        # a kernel that allocates nothing need not count references either: every call with the
        # views of a world, which hold tens of arrays, would count each up and down, atomically
        options["_nrt"] = self.allocates
        options["forceinline"] = self.inlined
        # a part is kept on disk with its callers; an entry for Python would take a third of the
        # time to compile, and C never calls any kernel
        options["no_cpython_wrapper"], options["no_cfunc_wrapper"] = part, True
        steps = jit_parts.compiler(part)
        compiled = jit_target.dispatcher()(self.function, {}, options, steps)
        if not part and _state.places is not None:
            compiled._cache = jit_store.Store(self.function, _state.places)
        return cast(Callable[..., Any], compiled)

    @property
    def _numba_type_(self) -> Any:
        with _state.lock:
            self._part = self._part or self._compile(part=True)
        return _state.numba.types.Dispatcher(self._part)

    def __call__(self, *args: Any) -> Any:
        """Run the compiled function."""
        return (self._target or self.target())(*args)


def kernel(function: Callable[..., Any]) -> Any:
    """Mark a function for compilation on first use; it makes no arrays (see `scratch`)."""
    return Kernel(function)


def allocating_kernel(function: Callable[..., Any]) -> Any:
    """Mark a function that makes arrays: calls cost more, so it is for whole loops."""
    return Kernel(function, allocates=True)


def inlined_kernel(function: Callable[..., Any]) -> Any:
    """Mark a function that becomes part of its caller, however large it is.

    A loop without any other call can be compiled to instructions that do several rounds at once.
    """
    return Kernel(function, inlined=True)


def record_kernel(function: Callable[..., Any]) -> Any:
    """Mark a function that returns a named tuple; Python itself runs it uncompiled.

    Machine code that makes an object of a class names the class's module, which is not the same in
    each installation. Inside other kernels it is compiled as any function is.
    """
    return Kernel(function, record=True)


class _Scratch:
    """The function `scratch`; see there."""

    def __call__(self, rows: int, columns: int) -> Any:
        return np.empty((rows, columns))

    @property
    def _numba_type_(self) -> Any:
        return jit_scratch.numba_type()


scratch = _Scratch()
"""`scratch(rows, columns)`: an array of 64-bit floats for a kernel's own use, with no values yet.

Both sizes are written as numbers, or constants of the module. It lives on the machine's stack as
long as the kernel's call: making it costs nothing, and it must not be returned.
"""


def keep_in(folder: Path) -> None:
    """Read and keep kernels in one folder and nowhere else; call it before the first one runs.

    Raises:
        OutputError: The folder cannot be written to.
    """
    if status().compiled:
        _state.places = jit_store.place(folder)


def file_name(kernel: Kernel, types: tuple[Any, ...]) -> str:
    """Name of the file that keeps a kernel for these types of arguments, in a folder of kernels."""
    return jit_store.file_name(kernel.function, types)


def set_threads(count: int) -> int:
    """Set how many threads loops over agents use; returns the number before."""
    with _state.lock:
        before = _state.threads
        _state.threads = max(1, count)
        if _state.threads != before:
            stop_threads()
        return before


def stop_threads() -> None:
    """End the threads that loops over agents use; the next such loop starts new ones."""
    with _state.lock:
        if _state.pool is not None:
            _state.pool.shutdown(wait=True)
            _state.pool = None


def threads() -> int:
    """How many threads loops over agents use."""
    return _state.threads


def status() -> Status:
    """Load numba if that was not done yet, and say whether kernels are compiled."""
    with _state.lock:
        if _state.status is None:
            _state.status = _load()
            if _state.status.diagnosis is not None:
                warn(__name__, "%s", _state.status.diagnosis)
        return _state.status


def types_of(kernel: Kernel, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types by which numba tells calls of a kernel apart."""
    typeof = importlib.import_module("numba.core.typing.typeof")
    omitted = importlib.import_module("numba.core.dispatcher").OmittedArg
    lacking = kernel.function.__code__.co_argcount - len(arguments)
    defaults = (kernel.function.__defaults__ or ())[-lacking:] if lacking else ()
    values = (*arguments, *(omitted(value) for value in defaults))
    return tuple(typeof.typeof(value, typeof.Purpose.argument) for value in values)


def known_status() -> Status | None:
    """The result of `status`, or None while nothing was simulated yet; never loads numba."""
    return _state.status


def prepare(module: str) -> None:
    """Load numba, and what it needs before its first kernel; a thread may do that ahead of time.

    It takes most of a second, in which other threads get their turns.

    Args:
        module: Name of a loaded module that imports all kernels, so that the names of the folders
            that they are kept in are found too.
    """
    if status().compiled:
        registry = importlib.import_module("numba.core.registry")
        with importlib.import_module("numba.core.compiler_lock").global_compiler_lock:
            registry.cpu_target.typing_context.refresh()
            registry.cpu_target.target_context.refresh()
        jit_sources.digest(module)


def _load() -> Status:
    if os.environ.get("STEER_JIT", "1") == "0":
        return Status(False, diagnose("UNCOMPILED"))
    try:
        numba = importlib.import_module("numba")
    except Exception as error:  # a broken wheel may raise anything  # noqa: BLE001
        reason = f"{type(error).__name__}: {error}"
        return Status(False, diagnose("NUMBA_MISSING", reason=reason))
    if numba.config.DISABLE_JIT:
        return Status(False, diagnose("NUMBA_MISSING", reason="NUMBA_DISABLE_JIT is set"))
    _state.numba = numba
    _watch_compiling()
    _state.places = jit_store.find_places()
    return Status(True)


@contextmanager
def deferring() -> Iterator[None]:
    """In this block a kernel that is not compiled yet, here or on disk, raises instead.

    A caller with a window to keep alive then compiles by `warmup`, and comes back. Where nothing
    can be kept on disk, compiling elsewhere would not help, and kernels compile as always.
    """
    before, _state.deferring = _state.deferring, True
    try:
        yield
    finally:
        _state.deferring = before


def is_deferring() -> bool:
    """Whether `deferring` holds now."""
    return _state.deferring


@contextmanager
def recording(recorder: Callable[..., Any]) -> Iterator[None]:
    """In this block `recorder(kernel, *arguments)` is called; no kernel may have run before."""
    _state.recorder = recorder
    try:
        yield
    finally:
        _state.recorder = None


def cache_root() -> Path | None:
    """Where new kernels are kept, once numba is loaded; None where they cannot be."""
    folder = _state.places and _state.places.write
    return folder.parent if folder else None


def _watch_compiling() -> None:
    """Have numba announce each kernel that it compiles, being neither in memory nor on disk."""
    event = importlib.import_module("numba.core.event")
    pause = jit_parts.Pause()

    class Watch(event.Listener):  # type: ignore[misc, name-defined]
        """Refuses to compile where that is deferred."""

        def on_start(self, event: Any) -> None:
            """Called with the compiler's lock held."""
            pause.begin()
            function = event.data["dispatcher"].py_func
            ours = function.__module__.startswith(__name__.rpartition(".compiled.")[0])
            if _state.deferring and ours and cache_root() is not None:
                raise KernelsMissingError(
                    function.__module__, function.__qualname__, tuple(event.data["args"])
                )

        def on_end(self, event: Any) -> None:
            """Called with that lock too, also where `on_start` raised."""
            pause.end()

    event.register("numba:compile", Watch())


def _pool() -> futures.ThreadPoolExecutor:
    with _state.lock:
        if _state.pool is None:
            _state.pool = futures.ThreadPoolExecutor(
                max(1, _state.threads - 1), thread_name_prefix="steer"
            )
        return _state.pool


def runs_alone(count: int, chunk: int = CHUNK) -> bool:
    """Whether `parallel_for` runs this number in one range, on the calling thread."""
    return _state.threads == 1 or count <= chunk or not status().compiled


def parallel_for(function: Kernel, count: int, *args: Any, chunk: int = CHUNK) -> None:
    """Call `function(start, stop, *args)` over index ranges that cover 0 to count.

    Every index must write only its own row, so that the ranges, and the threads that run them,
    cannot change a bit of the result. No range is smaller than `chunk`.
    """
    target = function.target()
    if _state.recorder is not None:
        # a dry run notes which kernels are called, not their results
        count = min(count, DRY)
    if runs_alone(count, chunk):
        target(0, count, *args)
        return
    size = max(chunk, -(-count // (2 * _state.threads)))
    starts = iter(range(0, count, size))

    def work() -> None:
        for start in starts:  # shared, so that each range goes to one thread
            target(start, min(start + size, count), *args)

    on_threads(work)


def on_threads(work: Callable[[], None]) -> None:
    """Call a function on all threads at once; it takes its share of what there is to do."""
    if runs_alone(2, 1) or _state.recorder is not None:
        work()
        return
    pool = _pool()
    # This thread works too. While it does, the system wakes the others on idle cores; were it
    # to wait at once, it would often wake them on its own.
    helpers = [pool.submit(work) for _ in range(_state.threads - 1)]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():
                helper.result()
