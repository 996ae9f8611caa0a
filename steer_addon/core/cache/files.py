"""Files of a cache: whole or not there at all, and never the files of another program.

A folder from a stranger may hold links that lead out of it, pipes that never end, and files of any
size. So links are never followed, only plain files of the expected size are read, and every
written file is a new one.
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
"""Ending of files and folders that are not complete yet."""


def read_file(path: Path, *, size: int | None = None, most: int) -> NDArray[np.uint8]:
    """The bytes of a plain file.

    Args:
        path: The file.
        size: The size that it has to have [bytes]; None for any.
        most: The largest size that is read [bytes].

    Raises:
        CacheError: The file is missing, not a plain file, of another size, or cannot be read.
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
        data = np.empty(found, np.uint8)
        with os.fdopen(os.open(path, _READ), "rb") as file:
            count = file.readinto(data.data)
    except OSError as error:
        raise CacheError(f"{path} cannot be read: {reason(error)}") from None
    if count != found:
        raise CacheError(f"{path} changed while it was read: bake again, or try again")
    return data


def write_file(path: Path, parts: Iterable[Any]) -> None:
    """Write bytes and contiguous arrays to a new file, and wait until it is on the disk.

    An earlier file of this name is removed first.

    Raises:
        OSError: The file cannot be written.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
    handle = os.open(path, _WRITE, 0o666)
    try:
        for part in parts:
            data = memoryview(part).cast("B")
            while len(data):
                data = data[os.write(handle, data) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_file(path: Path, parts: Iterable[Any]) -> None:
    """Write a file beside another one, and then put it in that one's place.

    Raises:
        OSError: The file cannot be written; the old one is still there.
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
    """Rename a file or folder, in place of a file that has the new name.

    Raises:
        OSError: It cannot be renamed.
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
    """Wait until the names in a folder are on the disk, if the system can tell."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        # some network file systems cannot do this
        pass
    finally:
        os.close(handle)


def is_folder(path: Path) -> bool:
    """Whether there is a folder of this name that is not a link."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def remove_folder(path: Path) -> None:
    """Remove a folder with the files and links in it; their targets stay.

    Raises:
        OSError: It cannot be removed, such as one with folders in it.
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
    """The reason of an error, in the words of the system."""
    return error.strerror or type(error).__name__
