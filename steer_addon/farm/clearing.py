"""Remove what a batch left in its folder, and nothing else that is in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..core.errors import OutputError
from ..core.files import lock
from ..core.files.plain import is_folder, reason
from .books import BOOK, FORMAT, VARIATION, VARIATION_FORMAT
from .results import read_json, remove, remove_empty
from .variations import SHARED
from .work import LOGS, is_log


def clear(out: Path) -> None:
    """Remove the results of a batch, its logs and its books; what others put there stays.

    Args:
        out: Folder of the batch; nothing happens where there is none.

    Raises:
        OutputError: Another process writes there, or a file cannot be removed.
    """
    if read_json(out / BOOK, FORMAT) is None:
        return
    held = lock.FolderLock(out)
    try:
        for folder in (*_folders(out), out / SHARED):
            _clear_variation(folder)
        # last, since it says that the rest is a batch
        os.unlink(out / BOOK)
    except OSError as error:
        raise OutputError(
            f"{out} cannot be cleared: {reason(error)}; delete the folder by hand"
        ) from None
    finally:
        held.release(remove=True)
    remove_empty(out)


def _folders(out: Path) -> Iterator[Path]:
    """Folders of variations, of an earlier run too."""
    for path in sorted(out.iterdir()):
        if is_folder(path) and read_json(path / VARIATION, VARIATION_FORMAT) is not None:
            yield path


def _clear_variation(folder: Path) -> None:
    if not is_folder(folder):
        return
    for path in sorted(folder.iterdir()):
        remove(path)
    logs = folder / LOGS
    for path in sorted(logs.iterdir()) if is_folder(logs) else ():
        if is_log(path):
            os.unlink(path)
    if read_json(folder / VARIATION, VARIATION_FORMAT) is not None:
        os.unlink(folder / VARIATION)
    remove_empty(folder)
