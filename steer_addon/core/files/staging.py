"""The one way in which Steer writes a file: beside its goal, whole, and then renamed.

A new file is made in a *stage*, a folder beside the goal with a random name, which nobody can have
prepared, and which holds a lock. The lock goes with the process: a stage without one was left by a
process that was killed, and the next run that writes there removes it. Locks of other machines are
not seen: their stages go when nothing has changed in them for a week.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import OutputError
from .lock import NAME, FolderLock, holder, host, remove_lock
from .plain import create, is_folder, reason, rename, sync_file, sync_folder, write_file

STAGE = re.compile(r"\.steer-[0-9a-f]{16}\.partial")
"""Names of stages; other files of a stage may stand beside it, with names that begin so."""

_SCRATCH = "steer-scratch-"
"""How names of temporary folders begin, see `scratch`."""

_MADE_BY_NOW = 3600.0
"""Age from which a stage without a lock is one that was never complete [s]."""
_LEFT_BY_NOW = 7 * 24 * 3600.0
"""Time without any change after which a stage of another machine is one that was left [s]: a week
is longer than clocks differ, and than a command is silent."""


@contextmanager
def stage(above: Path) -> Iterator[Path]:
    """A new, empty folder for files that are not complete; it is removed at the end.

    Args:
        above: The folder of the goal, made if it is not there; after an error it is gone again.

    Raises:
        OSError: It cannot be made.
    """
    made = _missing(above)
    try:
        with _stage(above) as folder:
            yield folder
    except BaseException:
        _take_back(made)
        raise


def check_stage(above: Path) -> None:
    """Check that a stage can be made in a folder, which is as it was afterwards.

    Raises:
        OSError: It cannot be made.
    """
    made = _missing(above)
    with stage(above):
        pass
    _take_back(made)


@contextmanager
def _stage(above: Path) -> Iterator[Path]:
    _make(above)
    sweep(above)
    folder = above / f".steer-{secrets.token_hex(8)}.partial"
    # another process may have taken back the folder above in between
    folder.mkdir(parents=True)
    lock = None
    try:
        # made first, since a full disk shows here
        os.close(create(folder / NAME))
        lock = FolderLock(folder)
        yield folder
    finally:
        _remove(folder)
        if lock is not None:
            lock.release()
            # Windows removes a locked file only now
            _remove(folder)


def _missing(folder: Path) -> list[Path]:
    """A folder and those above it, as far as they are not there."""
    with suppress(OSError):
        return [path for path in (folder, *folder.parents) if not path.exists()]
    return []


def _take_back(made: list[Path]) -> None:
    """Remove folders, the innermost first, unless somebody has put something into them."""
    with suppress(OSError):
        for path in made:
            path.rmdir()


def _make(folder: Path) -> None:
    """Make a folder and those above it; the error names a file that is in the way."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        found = next((path for path in (folder, *folder.parents) if path.is_file()), None)
        if found is None:
            raise
        raise OSError(error.errno, f"{found} is a file, not a folder") from None


@contextmanager
def replacing(path: Path, check: Callable[[Path], str] | None = None) -> Iterator[Path]:
    """A file to write, which takes the place of another one if the block ends without an error.

    After an error the earlier file is as it was.

    Args:
        path: The goal.
        check: Tells what a written file lacks; empty where it is whole.

    Yields:
        The path to write to, with the ending of the goal: programs know formats by it.

    Raises:
        OSError: The file cannot be written, or is not whole.
    """
    with stage(path.parent) as folder:
        partial = folder / f"new{path.suffix}"
        yield partial
        lack = check(partial) if check is not None else ""
        if lack:
            raise OSError(errno.EIO, lack)
        sync_file(partial)
        rename(partial, path)
    sync_folder(path.parent)


def replace_file(path: Path, parts: Iterable[Any]) -> None:
    """Write bytes and contiguous arrays in place of a file, which stays until all are there.

    Raises:
        OSError: The file cannot be written; the old one is still there.
    """
    with replacing(path) as partial:
        write_file(partial, parts)


def sweep(above: Path) -> None:
    """Remove the stages in a folder that processes left which were killed."""
    with suppress(OSError):
        for name in os.listdir(above):
            if STAGE.fullmatch(name) and is_folder(above / name):
                _sweep_stage(above / name)


def _sweep_stage(folder: Path) -> None:
    owner = holder(folder / NAME)
    if not owner and time.time() - folder.stat().st_mtime > _MADE_BY_NOW:
        # its process was killed between two lines, before anything else was in it
        remove_lock(folder / NAME)
        folder.rmdir()
    if owner != host():
        # a process makes it just now, or one of another machine does, whose locks are not seen here
        if owner and _unchanged(folder) > _LEFT_BY_NOW:
            _remove(folder)
        return
    try:
        lock = FolderLock(folder)
    except OutputError:
        return
    if lock.certain:
        _remove(folder)
    lock.release()
    if lock.certain and os.name == "nt":
        _remove(folder)


def _unchanged(folder: Path) -> float:
    """Time since anything changed in a stage, or in what stands beside it [s]."""
    parts = [path for path in folder.parent.iterdir() if path.name.startswith(folder.name)]
    found = [path for part in parts for path in (part, *part.rglob("*"))]
    return time.time() - max(os.lstat(path).st_mtime for path in found)


def _remove(folder: Path) -> None:
    """Remove a stage, and what stands beside it; links are not followed."""
    with suppress(OSError):
        for name in os.listdir(folder.parent):
            if name.startswith(folder.name + "."):
                other = folder.parent / name
                shutil.rmtree(other) if is_folder(other) else os.unlink(other)
    # last, since it is what another process finds the rest by
    shutil.rmtree(folder, ignore_errors=True)


def beside(folder: Path, suffix: str) -> Path:
    """A name beside a stage, for files that refer to others by relative paths."""
    return folder.parent / f"{folder.name}{suffix}"


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder for files on their way to others; it is removed at the end if it can be.

    Raises:
        OutputError: It cannot be made.
    """
    try:
        folder = TemporaryDirectory(prefix=_SCRATCH, ignore_cleanup_errors=True)
    except OSError as error:
        # without a name where no folder for temporary files is found
        raise cannot_write(Path(error.filename or _SCRATCH, "file"), reason(error)) from None
    with folder as name:
        yield Path(name)


def cannot_write(path: Path, why: str) -> OutputError:
    """The error for a file that cannot be written, be it for the user or a temporary one."""
    if path.parent.name.startswith(_SCRATCH):
        return OutputError(
            f"Temporary folder {path.parent.parent} cannot be written: {why}; make room there, or "
            "name another one in the environment variable TMPDIR, on Windows TEMP"
        )
    return OutputError(
        f"{path} cannot be written: {why}; choose another folder or make room. "
        "An earlier file of this name is as it was"
    )


@contextmanager
def as_output_errors(path: Path) -> Iterator[None]:
    """In this block an error of the system becomes the sentence that the file cannot be written.

    Raises:
        OutputError: In place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise cannot_write(path, reason(error)) from None
