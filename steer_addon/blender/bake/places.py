"""Where the caches of crowds lie, and whose they are.

A crowd knows the folder of its bake. A duplicate of it knows the same one, but owns nothing: only
the crowd that the bake was made for plays it, goes on with it, or deletes it.
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
    """The folder in which the folder of the crowd's next bake goes, as it stands in the file."""
    chosen: str = obj.steer.cache_directory
    return chosen or DEFAULT_PARENT


def why_no_folder(obj: bpy.types.Object) -> str:
    """Why there is no place for a bake; empty when there is one."""
    if parent_folder(obj).startswith("//") and not bpy.data.filepath:
        return "Save the file first, since the bake goes beside it, or choose a folder"
    return ""


def new_folder(obj: bpy.types.Object) -> Path:
    """Where a bake of the crowd goes when it has none.

    Raises:
        SceneError: The file was never saved, and the folder is beside it.
    """
    reason = why_no_folder(obj)
    if reason:
        raise SceneError(reason)
    return absolute(parent_folder(obj)) / caches.folder_name(obj.name)


def absolute(folder: str) -> Path:
    """A folder as it stands in the file, as an absolute path."""
    return Path(os.path.normpath(bpy.path.abspath(folder)))


def own_folder(obj: bpy.types.Object) -> Path | None:
    """The folder of the crowd's bake; None where it has none of its own."""
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
    """Note where the bake of a crowd is, relative to its file where that can be."""
    here = bpy.data.filepath
    text = _relative(folder, Path(here)) if here else str(folder)
    obj.steer.cache_folder = text
    obj.steer.cache_owner = obj.name


def _relative(folder: Path, file: Path) -> str:
    """A folder as it stands in a file, relative to it where that can be."""
    try:
        return "//" + os.path.relpath(folder, file.parent).replace(os.sep, "/")
    except ValueError:
        # another drive of Windows
        return str(folder)


_moved: dict[str, tuple[str, str]] = {}
"""Folders as they stood in the file before it was saved elsewhere, by the names of crowds."""


@persistent
def on_save(path: str, *_: object) -> None:
    """Saving a file in another folder: bakes stay where they are, so paths to them change."""
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
    """After a copy was saved the open file is still where it was."""
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
    """Follow a rename: the only crowd that knows of a bake owns it."""
    steer: Any = obj.steer
    if steer.cache_folder and steer.cache_owner != obj.name and not _is_borrowed(obj):
        steer.cache_owner = obj.name
