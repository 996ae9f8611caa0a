"""The parts of a folder that are a cache's own, and their removal: nothing else is ever touched.

A manifest with our mark lists its bakes and the files that play it; a bake's folder that no
manifest lists yet holds a mark of its own. All else belongs to somebody else, whatever its name.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..errors import CacheError, FileError, OutputError
from ..files.lock import FolderLock, remove_lock
from ..files.plain import digest_of, is_file, is_folder, read_file, reason, rename, write_file
from ..files.staging import stage, sweep
from ..files.whole import is_remnant
from .layout import BAKE, BAKE_MARK, CHUNK, CHUNK_FILE, MANIFEST, NEXT, PLAYED
from .manifest import is_manifest, read_manifest, write_manifest

ANY = "0" * 64
"""In place of a digest: a file is being written, or was written by an older version."""
_MARK = b"A bake of Steer is made here; Steer may replace and delete its files.\n"


def folders_in(folder: Path, kind: re.Pattern[str]) -> list[str]:
    """Names of the folders in a folder that are called as bakes or chunks are: `BAKE`, `CHUNK`."""
    return [e.name for e in os.scandir(folder) if kind.fullmatch(e.name) and is_folder(Path(e))]


def make_bake_folder(above: Path) -> None:
    """Make the folder of a bake, which holds our mark.

    Raises:
        OSError: It is there already, or cannot be made.
    """
    with stage(above.parent) as made:
        new = made / above.name
        new.mkdir()
        write_file(new / BAKE_MARK, [_MARK])
        if os.path.lexists(above):
            raise FileExistsError(errno.EEXIST, f"{above.name} is there already")
        rename(new, above)


def is_marked(above: Path) -> bool:
    """Whether a folder holds the mark of a bake."""
    try:
        return bytes(read_file(above / BAKE_MARK, most=len(_MARK))) == _MARK
    except FileError:
        return False


def check_own(folder: Path) -> None:
    """Refuse a folder in which other programs use the names of a cache.

    Raises:
        OutputError: There is such a file.
    """
    foreign = [
        name
        for name in (MANIFEST, NEXT)
        if os.path.lexists(folder / name) and not is_manifest(folder / name)
    ]
    known = _played(folder)
    foreign += [n for n in PLAYED if not _is_known(folder / n, known)]
    if foreign:
        raise OutputError(
            f"{folder} holds {' and '.join(foreign)}, which Steer did not write, or which has "
            "changed since: choose another folder, or move it away"
        )


def _is_known(path: Path, known: Mapping[str, set[str]]) -> bool:
    """Whether a file that plays a cache is one that a manifest lists, cut or not, or not there."""
    if not os.path.lexists(path):
        return True
    digests = known.get(path.name, set())
    if not digests or not is_file(path):
        return False
    try:
        # what was cut can be of no use to anybody
        return ANY in digests or digest_of(path) in digests or is_remnant(path)
    except OSError:
        return False


def _played(folder: Path) -> dict[str, set[str]]:
    """The files that play the cache, as its manifests list them: names, with their digests."""
    known: dict[str, set[str]] = {}
    for name in (MANIFEST, NEXT):
        try:
            listed = read_manifest(folder, name).played
        except CacheError:
            # a damaged manifest with our mark stood beside them
            listed = None if is_manifest(folder / name) else {}
        for played, digest in (dict.fromkeys(PLAYED, ANY) if listed is None else listed).items():
            known.setdefault(played, set()).add(digest)
    return known


def listed_played(folder: Path) -> Mapping[str, str] | None:
    """The files that play the cache that is there, see `Manifest.played`."""
    if not os.path.lexists(folder / MANIFEST):
        return {}
    try:
        return read_manifest(folder).played
    except CacheError:
        return None


def record_played(path: Path, digest: str = ANY) -> None:
    """List a file that was made of a cache in its manifest; the caller holds the lock.

    Args:
        path: One of `PLAYED` in the folder of the cache.
        digest: Its SHA-256; without one it may have any contents, while it is written.

    Raises:
        CacheError: There is no cache any more.
        OSError: The manifest cannot be written.
    """
    manifest = read_manifest(path.parent)
    played = manifest.played
    if played is None:
        played = {n: ANY for n in PLAYED if os.path.lexists(path.parent / n)}
    played = {**played, path.name: digest}
    write_manifest(path.parent / MANIFEST, replace(manifest, played=played))


def _own_bakes(folder: Path) -> list[str]:
    """Names of the folders of bakes that manifests list, or that hold our mark."""
    names = set()
    for name in (MANIFEST, NEXT):
        with suppress(CacheError):
            names.add(read_manifest(folder, name).header.folder)
    return [n for n in folders_in(folder, BAKE) if n in names or is_marked(folder / n)]


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
    for bake in _own_bakes(folder):
        above = folder / bake
        with suppress(OSError):
            for chunk in folders_in(above, CHUNK):
                if chunk not in kept.get(bake, ()):
                    remove_chunk(above / chunk)
            if bake not in kept:
                _remove_marked(above)


def remove_chunk(folder: Path) -> None:
    """Remove the files of a chunk, and its folder if nothing else is in it.

    Raises:
        OSError: A file cannot be removed.
    """
    if not is_folder(folder):
        return
    for entry in list(os.scandir(folder)):
        if CHUNK_FILE.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
            os.unlink(entry.path)
    with suppress(OSError):
        folder.rmdir()


def _remove_marked(above: Path) -> None:
    """Remove the mark of a bake, and its folder if nothing else is in it."""
    with suppress(FileNotFoundError):
        os.unlink(above / BAKE_MARK)
    with suppress(OSError):
        above.rmdir()


def delete_cache(folder: Path | str) -> None:
    """Remove a cache: its own files and folders, nothing else that is in the folder.

    An empty folder is removed too. If there is no folder, nothing happens.

    Raises:
        OutputError: Another process writes to it, files of another program have the names of a
            cache's, or a file cannot be removed.
    """
    path = Path(folder)
    if not path.is_dir():
        return
    check_own(path)
    lock = FolderLock(path)
    try:
        check_own(path)
        played = _played(path)
        bakes = _own_bakes(path)
        # without its manifests it is no cache any more, wherever the rest may stop
        older = listed_played(path) is None
        for name in (NEXT, MANIFEST, *played):
            with suppress(FileNotFoundError):
                os.unlink(path / name)
        for bake in bakes:
            for chunk in folders_in(path / bake, CHUNK):
                remove_chunk(path / bake / chunk)
            _remove_marked(path / bake)
        sweep(path)
        if older:
            # older versions left the file of their lock
            remove_lock(path / ".lock")
    except OSError as error:
        raise OutputError(
            f"Cache {path} cannot be deleted: {reason(error)}; delete its folder by hand"
        ) from None
    finally:
        lock.release(remove=True)
    with suppress(OSError):
        os.rmdir(path)
