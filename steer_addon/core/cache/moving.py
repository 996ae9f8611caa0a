"""Move a whole cache to another folder, where it belongs to another .blend file."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..errors import OutputError
from ..files.lock import FolderLock
from ..files.plain import reason, rename
from .cleaning import check_own
from .layout import MANIFEST
from .manifest import read_manifest, write_manifest


def move_cache(folder: Path, goal: Path, owner: str) -> None:
    """Move a cache; it is whole at every moment, in one of the two folders.

    Args:
        folder: Folder of the cache.
        goal: Its new folder, on the same drive; there is none, or an empty one.
        owner: The .blend file that the cache belongs to, relative to the new folder.

    Raises:
        CacheError: There is no cache.
        OutputError: Another process writes to it, the goal is not empty, or it cannot be moved.
    """
    manifest = read_manifest(folder)
    check_own(folder)
    lock = FolderLock(folder)
    try:
        header = replace(manifest.header, owner=owner)
        write_manifest(folder / MANIFEST, replace(manifest, header=header))
    except OSError as error:
        raise OutputError(f"Cache {folder} cannot be written: {reason(error)}") from None
    finally:
        lock.release(remove=True)
    try:
        goal.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            os.rmdir(goal)
        rename(folder, goal)
    except OSError as error:
        raise OutputError(
            f"Cache {folder} cannot be moved to {goal}: {reason(error)}; move what is there away"
        ) from None
