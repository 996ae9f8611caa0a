"""One Blender at a time bakes into a folder: a lock that the system lets go when a process ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from ..errors import OutputError
from .files import reason

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAME = ".lock"
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_PLACE = 1 << 20
"""Byte that Windows locks: far behind the text, which others may read meanwhile."""


class FolderLock:
    """Holds a folder until `release`, or until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Take it.

        Raises:
            OutputError: Somebody else has it, or the folder cannot be written to.
        """
        self._handle: int | None = None
        path = folder / NAME
        try:
            handle = os.open(path, _FLAGS, 0o666)
        except OSError as error:
            raise OutputError(
                f"Folder {folder} cannot be written: {reason(error)}; choose another one"
            ) from None
        if not _taken(handle):
            who = _owner(handle)
            os.close(handle)
            raise OutputError(
                f"Another Blender{who} is baking into {folder}: wait until it is done, stop it "
                "there, or choose another folder"
            )
        self._handle = handle
        with suppress(OSError):
            # who it is, for the message that others get
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Let it go; a second call does nothing."""
        if self._handle is not None:
            # closing lets the lock go
            os.close(self._handle)
            self._handle = None

    @staticmethod
    def remove(folder: Path) -> None:
        """Remove what a lock left in a folder that is of no use any more."""
        with suppress(OSError):
            os.unlink(folder / NAME)


def _owner(handle: int) -> str:
    try:
        text = os.read(handle, 32).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return f" (process {text})" if text.isdigit() else ""


def _taken(handle: int) -> bool:
    """Lock an open file for this process alone; False when another one has it."""
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
        # a file system that knows no locks: bakes go on as they would without
        return True
    return True
