"""One Blender at a time bakes into a folder: a lock that the system releases with the process."""

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
        """Lock the folder.

        Raises:
            OutputError: Another process holds it, or the folder cannot be written to.
        """
        self._handle: int | None = None
        path = folder / NAME
        try:
            handle = os.open(path, _FLAGS, 0o666)
        except OSError as error:
            raise OutputError(
                f"Folder {folder} cannot be written: {reason(error)}; choose another one"
            ) from None
        if not _lock(handle):
            owner = _owner(handle)
            os.close(handle)
            raise OutputError(
                f"Another Blender{owner} is baking into {folder}: wait until it is done, stop it "
                "there, or choose another folder"
            )
        self._handle = handle
        with suppress(OSError):
            # the process, for the message in others
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Release the folder; a second call does nothing."""
        if self._handle is not None:
            # closing releases the lock
            os.close(self._handle)
            self._handle = None

    @staticmethod
    def remove(folder: Path) -> None:
        """Remove the file of a lock from a folder that is to be deleted."""
        with suppress(OSError):
            os.unlink(folder / NAME)


def _owner(handle: int) -> str:
    try:
        text = os.read(handle, 32).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return f" (process {text})" if text.isdigit() else ""


def _lock(handle: int) -> bool:
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
        # the file system has no locks: bake without one
        return True
    return True
