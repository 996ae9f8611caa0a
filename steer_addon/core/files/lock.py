"""One process at a time writes to a folder: a lock that the system releases with the process."""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path

from ..doors import socket
from ..errors import FileError, OutputError
from .plain import read_file, reason

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAME = ".steer.lock"
_OURS = re.compile(rb"(\d{1,19}( [^\s]{1,255})?\n)?")
"""Contents of the file: the process, and the machine on which it runs."""
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_PLACE = 1 << 20
"""Byte that Windows locks: far behind the text, which others may read meanwhile."""


class FolderLock:
    """Holds a folder until `release`, or until the process ends, however it ends.

    Attributes:
        certain: Whether the file system has locks; without them nobody is kept out.
    """

    def __init__(self, folder: Path) -> None:
        """Lock the folder.

        Raises:
            OutputError: Another process holds it, or the folder cannot be written to.
        """
        self._handle: int | None = None
        self._path = folder / NAME
        self.certain = True
        # the file may go with the lock of another process, just when it is opened here
        for _ in range(10):
            try:
                handle = os.open(self._path, _FLAGS, 0o666)
            except OSError as error:
                raise _cannot(folder, error) from None
            held = _lock(handle)
            if held is False:
                owner = _owner(handle)
                os.close(handle)
                raise OutputError(
                    f"Another Blender{owner} is writing to {folder}: wait until it is done, stop "
                    "it there, or choose another folder"
                )
            if _is_still(handle, self._path):
                break
            os.close(handle)
        else:
            raise OutputError(f"{self._path} is no lock of Steer: move it away")
        self._handle, self.certain = handle, held is True
        with suppress(OSError):
            # the process, for the message in others
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"{os.getpid()} {host()}\n".encode())

    def release(self, *, remove: bool = False) -> None:
        """Release the folder, and remove the file of the lock; a second call does nothing."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        if remove and os.name != "nt":
            # while it is held: no other process can have taken it yet
            with suppress(OSError):
                os.unlink(self._path)
        os.close(handle)
        if remove and os.name == "nt":
            # Windows keeps a file that another process has opened
            with suppress(OSError):
                os.unlink(self._path)


def _cannot(folder: Path, error: OSError) -> OutputError:
    return OutputError(f"Folder {folder} cannot be written: {reason(error)}; choose another one")


def host() -> str:
    """Name of this machine, without spaces."""
    return re.sub(r"\s+", "_", socket.gethostname())[:80] or "unknown"


def holder(path: Path) -> str:
    """The machine whose process locked a file; empty if it was not locked yet."""
    try:
        words = read_file(path, most=400).tobytes().decode().split()
    except (FileError, UnicodeDecodeError):
        return ""
    return words[1] if len(words) == 2 else ""


def remove_lock(path: Path) -> None:
    """Remove the file of a lock that nobody holds; a file with other contents stays."""
    try:
        ours = _OURS.fullmatch(read_file(path, most=400).tobytes()) is not None
        if ours and os.lstat(path).st_nlink == 1:
            os.unlink(path)
    except (FileError, OSError):
        pass


def _is_still(handle: int, path: Path) -> bool:
    """Whether an open file is the plain file of this name, and nothing but a lock of ours."""
    try:
        found, there = os.fstat(handle), os.lstat(path)
        os.lseek(handle, 0, os.SEEK_SET)
        ours = _OURS.fullmatch(os.read(handle, 400)) is not None
    except OSError:
        return False
    same = (found.st_dev, found.st_ino) == (there.st_dev, there.st_ino)
    return same and ours and stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def _owner(handle: int) -> str:
    try:
        text = os.read(handle, 400).decode().partition(" ")[0].strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return f" (process {text})" if text.isdigit() else ""


def _lock(handle: int) -> bool | None:
    """Lock an open file for this process alone; False if another has it, None without locks."""
    if sys.platform == "win32":
        try:
            os.lseek(handle, _PLACE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
