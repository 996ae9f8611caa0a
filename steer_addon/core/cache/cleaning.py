"""Removing what a cache no longer needs: its own files and folders, and nothing else."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..errors import CacheError, OutputError
from .files import PARTIAL, is_folder, reason, remove_folder
from .layout import BAKE, CHUNK, MANIFEST, NEXT
from .lock import FolderLock
from .manifest import read_manifest


def bake_folders(folder: Path) -> list[str]:
    """Names of the folders that hold bakes."""
    return [e.name for e in os.scandir(folder) if BAKE.fullmatch(e.name) and is_folder(Path(e))]


def chunk_folders(folder: Path) -> list[str]:
    """Names of the folders that hold chunks."""
    return [e.name for e in os.scandir(folder) if CHUNK.fullmatch(e.name) and is_folder(Path(e))]


def remove_unknown(folder: Path) -> None:
    """Remove the chunks that no manifest knows of; what cannot be removed stays.

    Args:
        folder: The cache; the caller holds its lock.
    """
    kept: dict[str, set[str]] = {}
    for name in (MANIFEST, NEXT):
        if os.path.lexists(folder / name):
            try:
                manifest = read_manifest(folder, name)
            except CacheError:
                # it cannot tell what is its own: better too much than too little is kept
                return
            known = kept.setdefault(manifest.header.folder, set())
            known.update(chunk.folder for chunk in manifest.chunks)
    for bake in bake_folders(folder):
        above = folder / bake
        with suppress(OSError):
            for chunk in chunk_folders(above):
                if chunk not in kept.get(bake, ()):
                    remove_folder(above / chunk)
            if bake not in kept:
                remove_folder(above)


def delete_cache(folder: Path | str, also: tuple[str, ...] = ()) -> None:
    """Remove a cache: its own files and folders, nothing else that is in the folder.

    The folder itself goes when nothing is left in it. Where there is none, nothing happens.

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
        # without its manifests it is none any more, wherever the rest may stop
        for name in (NEXT, MANIFEST, NEXT + PARTIAL, MANIFEST + PARTIAL, *also):
            with suppress(FileNotFoundError):
                os.unlink(path / name)
        for bake in bake_folders(path):
            for chunk in chunk_folders(path / bake):
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
