"""Plain files: read without a way out of their folder, written so that they are on the disk.

A folder from a stranger may hold links that lead out of it, pipes that never end, and files of any
size. So links are never followed, only plain files of the expected size are read, and every
written file is a new one.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError

_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NOT_FOLLOWED
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOT_FOLLOWED
_TRIES = 20
"""Attempts to rename a file that another program reads: Windows refuses it meanwhile."""


def read_file(path: Path, *, size: int | None = None, most: int) -> NDArray[np.uint8]:
    """The bytes of a plain file.

    Args:
        path: The file; a link is none.
        size: The size that it has to have [bytes]; None for any.
        most: The largest size that is read [bytes].

    Raises:
        FileError: The file is missing, not a plain file, of another size, or cannot be read.
    """
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{path} is no plain file")
        found = status.st_size
        if found > most or (size is not None and found != size):
            wanted = f"{size} bytes" if size is not None else f"at most {most} bytes"
            raise FileError(f"{path} has {found} bytes instead of {wanted}")
        data = np.empty(found, np.uint8)
        with os.fdopen(os.open(path, _READ), "rb") as file:
            count = file.readinto(data.data)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {reason(error)}") from None
    if count != found:
        raise FileError(f"{path} changed while it was read")
    return data


def starts_with(path: Path, mark: bytes) -> bool:
    """Whether a plain file begins with some bytes; False for one that cannot be read."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with os.fdopen(os.open(path, _READ), "rb") as file:
            return file.read(len(mark)) == mark
    except (OSError, ValueError):
        return False


def digest_of(path: Path) -> str:
    """SHA-256 of a plain file, in hexadecimal digits.

    Raises:
        OSError: It is no plain file, or cannot be read.
    """
    with os.fdopen(os.open(path, _READ), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            # who writes to a pipe may never end
            raise OSError(errno.EINVAL, "it is no plain file")
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_if_there(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits; empty for what is none, or cannot be read.

    A link counts as the file that it leads to: studios link the newest version of an asset.
    """
    try:
        # a device may have no end
        return digest_of(Path(os.path.realpath(path))) if path.is_file() else ""
    except OSError:
        return ""


def create(path: Path) -> int:
    """Descriptor of a new, empty file to write to.

    Raises:
        OSError: There is a file or a link of this name, or none can be made.
    """
    return os.open(path, _WRITE, 0o666)


def write_file(path: Path, parts: Iterable[Any]) -> None:
    """Write bytes and contiguous arrays to a new file, and wait until it is on the disk.

    Raises:
        OSError: There is a file of this name, or the file cannot be written.
    """
    handle = create(path)
    try:
        for part in parts:
            data = memoryview(part).cast("B")
            while len(data):
                data = data[os.write(handle, data) :]
        os.fsync(handle)
    finally:
        os.close(handle)


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


def sync_file(path: Path) -> None:
    """Wait until a file is on the disk.

    Raises:
        OSError: It cannot be written there.
    """
    handle = os.open(path, os.O_RDWR | _NOT_FOLLOWED)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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


def is_file(path: Path) -> bool:
    """Whether there is a plain file of this name; a link is none."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether there is a folder of this name that is not a link."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def is_same(path: Path, other: Path | None) -> bool:
    """Whether two paths lead to the same file."""
    if other is None:
        return False
    try:
        return path == other or os.path.samefile(path, other)
    except OSError:
        return False


def why_no_file(path: Path) -> str:
    """What is wrong with a path that leads to no plain file, links followed; empty otherwise."""
    if path.is_file():
        return ""
    if path.is_dir():
        return "is a folder"
    return "is no plain file" if path.exists() else "is not there"


def reason(error: OSError) -> str:
    """The reason of an error, in the words of the system."""
    return error.strerror or str(error) or type(error).__name__
