"""Removal of caches, and of chunks that no cache needs: their own files, and nothing else."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from ..errors import CacheError, OutputError
from .files import PARTIAL, is_folder, reason, remove_folder
from .layout import BAKE, CHUNK, MANIFEST, NEXT
from .lock import FolderLock
from .manifest import read_manifest


def folders_in(folder: Path, kind: re.Pattern[str]) -> list[str]:
    """Names of the folders in a folder that hold bakes or chunks: `BAKE` or `CHUNK`."""
    return [e.name for e in os.scandir(folder) if kind.fullmatch(e.name) and is_folder(Path(e))]


def remove_unknown(folder: Path) -> None:
    """Remove the chunks of a cache that no manifest lists; files that cannot be removed stay.

    The caller holds the lock of the folder.
    """
    kept: dict[str, set[str]] = {}
    for name in (MANIFEST, NEXT):
        if os.path.lexists(folder / name):
            try:
                manifest = read_manifest(folder, name)
            except CacheError:
                # nothing tells which chunks are its own: better too many than too few are kept
                return
            known = kept.setdefault(manifest.header.folder, set())
            known.update(chunk.folder for chunk in manifest.chunks)
    for bake in folders_in(folder, BAKE):
        above = folder / bake
        with suppress(OSError):
            for chunk in folders_in(above, CHUNK):
                if chunk not in kept.get(bake, ()):
                    remove_folder(above / chunk)
            if bake not in kept:
                remove_folder(above)


def delete_cache(folder: Path | str, also: tuple[str, ...] = ()) -> None:
    """Remove a cache: its own files and folders, nothing else that is in the folder.

    An empty folder is removed too. If there is no folder, nothing happens.

    Args:
        folder: The cache.
        also: Names of further files in it that were made of the cache.

    Raises:
        OutputError: Another process writes to it, or a file cannot be removed.
    """
    path = Path(folder)
    if not path.is_dir():
        return
    lock = FolderLock(path)
    try:
        # without its manifests it is no cache any more, wherever the rest may stop
        for name in (NEXT, MANIFEST, NEXT + PARTIAL, MANIFEST + PARTIAL, *also):
            with suppress(FileNotFoundError):
                os.unlink(path / name)
        for bake in folders_in(path, BAKE):
            for chunk in folders_in(path / bake, CHUNK):
                remove_folder(path / bake / chunk)
            remove_folder(path / bake)
    except OSError as error:
        raise OutputError(
            f"Cache {path} cannot be deleted: {reason(error)}; delete its folder by hand"
        ) from None
    finally:
        lock.release()
    FolderLock.remove(path)
    with suppress(OSError):
        os.rmdir(path)
