"""The crowd that a bake was made for, and the .blend file, as its manifest names it."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import bpy

from ...core import cache as caches
from ...core.errors import CacheError
from ...core.files.plain import is_same

_LONGEST = 1000
"""Characters of a text that a manifest can hold."""


def this_file() -> Path | None:
    """The open .blend file; None if it was never saved."""
    return Path(bpy.data.filepath) if bpy.data.filepath else None


def other_file(folder: Path, file: Path | None = None) -> Path | None:
    """The other .blend file that the bake in a folder belongs to; None if it can be this one's.

    Args:
        folder: Folder of the bake.
        file: The .blend file in question; None for the open one.
    """
    path = owner_of_bake(folder)
    here = this_file() if file is None else file
    # a file that is gone can lose nothing
    if path is None or not path.is_file() or is_same(path, here):
        return None
    return path


def is_borrowed(obj: bpy.types.Object) -> bool:
    """Whether the crowd was duplicated from the one that its bake was made for."""
    steer = obj.steer
    if steer.cache_owner == obj.name or obj.library is not None:
        return False
    owner = bpy.data.objects.get(steer.cache_owner)
    known = steer.cache_owner, steer.cache_folder
    if owner is not None and (owner.steer.cache_owner, owner.steer.cache_folder) == known:
        # most duplicates: panels draw this too often to look at all objects
        return True
    sharing = [o for o in bpy.data.objects if o.steer.cache_folder == steer.cache_folder]
    if len(sharing) == 1:
        return False
    owners = [o for o in sharing if o.steer.cache_owner == o.name]
    # after the owner was renamed and duplicated none of them fits: the first name keeps it
    return bool(owners) or obj != min(sharing, key=lambda o: o.name)


def owner_of_bake(folder: Path) -> Path | None:
    """The .blend file that a manifest names, whether it is there or not; None if it names none."""
    owner = _owner_text(folder)
    return Path(os.path.normpath(folder / owner)) if owner else None


def owner_text(folder: Path, file: Path | None = None) -> str:
    """A .blend file as the manifest of a bake names it; empty if it was never saved.

    Args:
        folder: Folder of the bake.
        file: The .blend file; None for the open one.
    """
    here = this_file() if file is None else file
    text = "" if here is None else relative(folder, here)
    return text if len(text) <= _LONGEST else ""


def relative(folder: Path, path: Path) -> str:
    """A path as seen from a folder; the whole path from another drive (Windows)."""
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:
        return str(path)


def listed_digest(path: Path) -> str:
    """SHA-256 of a file that plays a bake, as the manifest beside it says; empty if none does."""
    try:
        played = caches.open_cache(path.parent).manifest.played
    except CacheError:
        return ""
    return (played or {}).get(path.name, "")


def _owner_text(folder: Path) -> str:
    for name in (caches.MANIFEST, caches.NEXT):
        try:
            found = os.stat(folder / name)
        except OSError:
            continue
        return _read_owner(folder, name, found.st_mtime_ns, found.st_size)
    return ""


@lru_cache(maxsize=100)
def _read_owner(folder: Path, name: str, changed: int, size: int) -> str:
    """Read again only after the manifest has changed, since panels ask with every redraw."""
    try:
        return caches.open_cache(folder, name).header.owner
    except CacheError:
        return ""
