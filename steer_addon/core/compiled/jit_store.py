"""Compiled kernels on disk: where they are kept, under which names, and in which form.

There are three places, all of the same form: `kernels` beside this package, which a built extension
brings along; the folder that STEER_CACHE_DIR names, which many machines may share; and the user's
own cache folder (`files.cache_folder`). All are read; what is compiled here goes to the first of
the last two that may be written to. `steer compile --into` fills a folder for STEER_CACHE_DIR.

A file holds one kernel for one set of argument types. Its folder is named after what machine code
depends on (`jit_target.name`), and the file after the kernel, its types, and a digest of its
sources (`jit_sources`). Numba's own cache does almost the same, but puts the path of the source
into names, which differs on every machine, and names of modules into files, which differ between a
package of Python and an extension of Blender.

What a file holds becomes machine code: a folder of kernels deserves the trust of a program.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .. import views
from ..doors import logging
from ..errors import SteerError, warn
from ..files import cache_folder, staging
from . import jit_sources, jit_target

PACKAGE = __name__.rpartition(".core.")[0]
"""Name of the package: that of an extension begins with the name of its repository."""
SHIPPED = Path(__file__).parents[2] / "kernels"
"""Kernels that came with the package."""
_CHECK = 32
"""Bytes of the SHA-256 of all that follows: code that was cut off would end the process."""


class Places(NamedTuple):
    """Folders of kernels.

    Attributes:
        read: Those that kernels are read from, in this order.
        write: The one that new kernels go to; None where there is none.
    """

    read: list[Path]
    write: Path | None


def find_places() -> Places:
    """The folders of this process."""
    read = [SHIPPED]
    for root in cache_folder.roots():
        folder = root / "kernels"
        read.append(folder)
        if _can_write(folder):
            return Places(read, folder)
    # never a shared temporary folder: what is found there is run
    warn(__name__, "No folder for kernels can be written to: new ones compile again each time")
    return Places(read, None)


def place(folder: Path) -> Places:
    """One folder for all kernels, those that the package brings along included.

    Raises:
        OutputError: It cannot be written to.
    """
    kernels = folder / "kernels"
    with staging.as_output_errors(kernels):
        kernels.mkdir(parents=True, exist_ok=True)
    if not _can_write(kernels):
        raise staging.cannot_write(kernels, "it takes no files")
    return Places([kernels], kernels)


def _can_write(kernels: Path) -> bool:
    # that of another target may be somebody else's
    return cache_folder.takes_files(kernels / jit_target.name())


def file_name(function: Callable[..., Any], types: tuple[Any, ...]) -> str:
    """Name of the file for a kernel and types of arguments, with its folder."""
    # numba takes one named tuple for another when their fields change places
    told = [jit_sources.digest(function.__module__, views.__name__)]
    told += [function.__qualname__, *(str(one) for one in types)]
    found = hashlib.sha256("\n".join(told).encode()).hexdigest()[:24]
    return f"{jit_target.name()}/{function.__name__[:40]}-{found}"


def read(path: Path) -> bytes | None:
    """What a file of a kernel holds; None where there is none, or one that is not whole."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    held = data[_CHECK:]
    return held if hashlib.sha256(held).digest() == data[:_CHECK] else None


class Store:
    """The files of one kernel; numba asks it as it asks its own caches."""

    def __init__(self, function: Callable[..., Any], places: Places) -> None:
        self.function = function
        self.places = places

    @property
    def cache_path(self) -> str:
        """The folder that new files go to."""
        return str(self.places.write or "")

    def flush(self) -> None:
        """Nothing: no file is ever out of date."""

    def load_overload(self, types: tuple[Any, ...], target: Any) -> Any:
        """The compiled function for these types; None where no file has it."""
        # machine code calls functions of numba's, which only then have addresses
        target.refresh()
        name = file_name(self.function, types)
        for folder in self.places.read:
            data = read(folder / name)
            if data is None:
                continue
            try:
                owner, *parts = _Reader(io.BytesIO(data)).load()
                if owner in (b"", PACKAGE.encode()):
                    compiler = import_module("numba.core.compiler")
                    found = compiler.CompileResult._rebuild(target, *parts)
                    # types of another class of the same name: the file would be read at each call
                    if found.signature.args == types:
                        return found
            except Exception:  # a file of another make; compiling heals it
                log = logging.getLogger(__name__)
                log.debug("Kernel %s cannot be read", folder / name, exc_info=True)
        return None

    def save_overload(self, types: tuple[Any, ...], compiled: Any) -> None:
        """Keep a compiled function; without room it compiles again next time."""
        if self.places.write is None or compiled.library.has_dynamic_globals:
            return
        # a file serves any installation, but code that makes objects of our classes names them
        owner = PACKAGE.encode() if makes_records(compiled.signature.return_type) else b""
        data = _written((owner, *compiled._reduce()))
        with suppress(OSError, SteerError):
            path = self.places.write / file_name(self.function, types)
            staging.replace_file(path, [hashlib.sha256(data).digest(), data])


def makes_records(returned: Any) -> bool:
    """Whether a kernel's type of result is a named tuple, or holds one."""
    types = import_module("numba.core.types")
    inner = returned.types if isinstance(returned, types.BaseTuple) else ()
    return isinstance(returned, types.BaseNamedTuple) or any(map(makes_records, inner))


def _written(parts: tuple[Any, ...]) -> bytes:
    """A compiled function as bytes, without the address of this package."""
    pickler = import_module("numba.core.serialize").NumbaPickler

    class Writer(pickler):  # type: ignore[misc, valid-type]
        """Numba's, which leaves out the part of modules' names that differs between machines."""

        def persistent_id(self, value: Any) -> str | None:
            """The rest of such a name."""
            ours = type(value) is str and f"{value}.".startswith(f"{PACKAGE}.")
            return value[len(PACKAGE) :] if ours else None

    file = io.BytesIO()
    Writer(file, protocol=4).dump(parts)
    return file.getvalue()


class _Reader(pickle.Unpickler):
    """Puts the address of this package back."""

    def persistent_load(self, rest: str) -> str:
        return PACKAGE + rest
