"""Locations and owners of crowds' caches.

A crowd knows the folder of its bake. A duplicate of the crowd knows the same folder, but does not
own it: only the crowd that the bake was made for plays, continues or deletes it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core import cache as caches
from ...core.errors import SceneError

DEFAULT_PARENT = "//steer_cache"


def parent_folder(obj: bpy.types.Object) -> str:
    """Parent of the folder of the crowd's next bake, as saved in the file."""
    chosen: str = obj.steer.cache_directory
    return chosen or DEFAULT_PARENT


def why_no_folder(obj: bpy.types.Object) -> str:
    """Reason why a bake has no folder to go to; empty if it has one."""
    if parent_folder(obj).startswith("//") and not bpy.data.filepath:
        return "Save the file first, since the bake goes beside it, or choose a folder"
    return ""


def new_folder(obj: bpy.types.Object) -> Path:
    """Folder of a new bake of the crowd.

    Raises:
        SceneError: The folder is relative to the file, which was never saved.
    """
    reason = why_no_folder(obj)
    if reason:
        raise SceneError(reason)
    return absolute(parent_folder(obj)) / caches.folder_name(obj.name)


def absolute(folder: str) -> Path:
    """A folder as saved in the file, as an absolute path."""
    return Path(os.path.normpath(bpy.path.abspath(folder)))


def own_folder(obj: bpy.types.Object) -> Path | None:
    """The folder of the crowd's bake; None if the crowd has no bake of its own."""
    stored: str = obj.steer.cache_folder
    if not stored or (stored.startswith("//") and not bpy.data.filepath):
        return None
    return None if _is_borrowed(obj) else absolute(stored)


def _is_borrowed(obj: bpy.types.Object) -> bool:
    """Whether the crowd was duplicated from the one that the bake was made for."""
    steer = obj.steer
    if steer.cache_owner == obj.name or obj.library is not None:
        return False
    sharing = [o for o in bpy.data.objects if o.steer.cache_folder == steer.cache_folder]
    if len(sharing) == 1:
        return False
    owners = [o for o in sharing if o.steer.cache_owner == o.name]
    # after the owner was renamed and duplicated none of them fits: the first name keeps it
    return bool(owners) or obj != min(sharing, key=lambda o: o.name)


def owner_of(folder: Path) -> bpy.types.Object | None:
    """The crowd whose bake is in a folder, or None."""
    used = [obj for obj in bpy.data.objects if obj.steer.cache_folder]
    return next((obj for obj in used if own_folder(obj) == folder), None)


def set_folder(obj: bpy.types.Object, folder: Path) -> None:
    """Save the folder of a crowd's bake, relative to the file where possible."""
    here = bpy.data.filepath
    text = _relative(folder, Path(here)) if here else str(folder)
    obj.steer.cache_folder = text
    obj.steer.cache_owner = obj.name


def _relative(folder: Path, file: Path) -> str:
    """A folder as saved in a file, relative to the file where possible."""
    try:
        return "//" + os.path.relpath(folder, file.parent).replace(os.sep, "/")
    except ValueError:
        # the folder is on another drive (Windows)
        return str(folder)


_moved: dict[str, tuple[str, str]] = {}
"""Folders in the file before it was saved elsewhere, by the names of crowds."""


@persistent
def on_save(path: str, *_: object) -> None:
    """Adjust relative paths when the file is saved in another folder; bakes stay in place."""
    _moved.clear()
    new, old = Path(path), Path(bpy.data.filepath)
    if not path or not bpy.data.filepath or new.parent == old.parent:
        return
    for obj in bpy.data.objects:
        stored = obj.steer.cache_folder
        if stored.startswith("//") and obj.library is None:
            text = _relative(absolute(stored), new)
            _moved[obj.name] = (stored, text)
            obj.steer.cache_folder = text


@persistent
def on_saved(path: str, *_: object) -> None:
    """Restore the paths after a copy was saved: the open file stays in its folder."""
    if _moved and Path(bpy.data.filepath).parent != Path(path).parent:
        for name, (stored, text) in _moved.items():
            obj = bpy.data.objects.get(name)
            if obj is not None and obj.steer.cache_folder == text:
                obj.steer.cache_folder = stored
    _moved.clear()


def forget_folder(obj: bpy.types.Object) -> None:
    """The crowd has no bake any more."""
    obj.steer.cache_folder = ""
    obj.steer.cache_owner = ""


def claim(obj: bpy.types.Object) -> None:
    """Follow a rename: if only one crowd knows a bake, that crowd owns it."""
    steer: Any = obj.steer
    if steer.cache_folder and steer.cache_owner != obj.name and not _is_borrowed(obj):
        steer.cache_owner = obj.name
