"""Files of a cache: whole or not there at all, and never the files of another program.

A folder from a stranger may hold links that lead out of it, pipes that never end, and files of any
size. So nothing is followed, nothing is read that is no plain file of the size expected, and what
is written is always a new file.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CacheError

_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NOT_FOLLOWED
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOT_FOLLOWED
_TRIES = 20
"""Attempts to rename a file that another program reads: Windows refuses it meanwhile."""

PARTIAL = ".partial"
"""Ending of what is not complete yet."""


def read_file(path: Path, *, size: int | None = None, most: int) -> NDArray[np.uint8]:
    """The bytes of a plain file.

    Args:
        path: The file.
        size: The size that it has to have [bytes]; None for any.
        most: The largest size that is read [bytes].

    Raises:
        CacheError: It is not there, no plain file, of another size, or cannot be read.
    """
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise CacheError(f"{path} is no plain file: delete the bake and bake again")
        found = status.st_size
        if found > most or (size is not None and found != size):
            wanted = f"{size} bytes" if size is not None else f"at most {most} bytes"
            raise CacheError(
                f"{path} has {found} bytes instead of {wanted}: the cache is damaged, bake again"
            )
        handle = os.open(path, _READ)
        with os.fdopen(handle, "rb", buffering=0) as file:
            data = np.empty(found, np.uint8)
            count = _fill(file, data)
    except OSError as error:
        raise CacheError(f"{path} cannot be read: {reason(error)}") from None
    if count != found:
        raise CacheError(f"{path} changed while it was read: bake again, or try again")
    return data


def _fill(file: Any, data: NDArray[np.uint8]) -> int:
    view, count = data.data, 0
    while count < len(data):
        got = file.readinto(view[count:])
        if not got:
            break
        count += got
    return count


def write_file(path: Path, parts: Iterable[Any]) -> None:
    """Write a new file and see to it that it is on the disk.

    Args:
        path: The file; whatever has this name is removed first.
        parts: Bytes and contiguous arrays, one after the other.

    Raises:
        OSError: It cannot be written.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
    handle = os.open(path, _WRITE, 0o666)
    try:
        for part in parts:
            write_all(handle, memoryview(part).cast("B"))
        os.fsync(handle)
    finally:
        os.close(handle)


def write_all(handle: int, data: memoryview) -> None:
    """Write all bytes to an open file."""
    while len(data):
        data = data[os.write(handle, data) :]


def replace_file(path: Path, parts: Iterable[Any]) -> None:
    """Write a file beside another one, and put it in that one's place at once.

    Raises:
        OSError: It cannot be written; the old one is still there.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        write_file(partial, parts)
        rename(partial, path)
    except OSError:
        with suppress(OSError):
            os.unlink(partial)
        raise
    sync_folder(path.parent)


def rename(old: Path, new: Path) -> None:
    """Give a file or folder a name, in place of a file that has it.

    Raises:
        OSError: It cannot be done.
    """
    for left in reversed(range(_TRIES)):
        try:
            os.replace(old, new)
            return
        except PermissionError:
            # on Windows a virus scanner or an indexer may be reading it
            if os.name != "nt" or not left:
                raise
            time.sleep(0.05)


def sync_folder(path: Path) -> None:
    """See to it that the names in a folder are on the disk, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        # some network file systems know no such thing
        pass
    finally:
        os.close(handle)


def is_folder(path: Path) -> bool:
    """Whether there is a folder of this name that is no link."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def remove_folder(path: Path) -> None:
    """Remove a folder with the plain files in it; folders in it and what links lead to stay.

    Raises:
        OSError: It cannot be removed; whatever else is in it stays.
    """
    if not is_folder(path):
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    for entry in list(os.scandir(path)):
        if not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
    os.rmdir(path)


def reason(error: OSError) -> str:
    """The fault, in the system's words."""
    return error.strerror or type(error).__name__
