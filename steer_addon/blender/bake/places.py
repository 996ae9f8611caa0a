"""Locations and owners of crowds' caches.

A crowd knows the folder of its bake. A duplicate of the crowd knows the same folder, but does not
own it: only the crowd that the bake was made for plays, continues or deletes it.

A bake belongs to a .blend file, too, which its manifest names. A copy of that file plays the bake,
and makes one in a place of its own; where the file is gone, the copy takes the bake over.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core import cache as caches
from ...core.errors import SceneError
from ...core.files.plain import is_same
from ..crowd.bake_owner import (
    is_borrowed,
    other_file,
    owner_of_bake,
    relative,
    this_file,
)

DEFAULT_PARENT = "//steer_cache"

deleted: set[Path] = set()
"""Folders of bakes that were deleted in this session: undo must not bring their playback back."""


def parent_folder(obj: bpy.types.Object) -> str:
    """Parent of the folder of the crowd's next bake, as saved in the file."""
    chosen: str = obj.steer.cache_directory
    return chosen or f"{DEFAULT_PARENT}/{_file_name()}"


def _file_name() -> str:
    """Name of the open .blend file as that of a folder."""
    return caches.folder_name(Path(bpy.data.filepath).stem)


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
    above, name = absolute(parent_folder(obj)), caches.folder_name(obj.name)
    if bpy.data.filepath and other_file(above / name) is not None:
        return above / _file_name() / name
    return above / name


def absolute(folder: str) -> Path:
    """A folder as saved in the file, as an absolute path."""
    return Path(os.path.normpath(bpy.path.abspath(folder)))


def own_folder(obj: bpy.types.Object) -> Path | None:
    """The folder of the crowd's bake; None if the crowd has no bake of its own."""
    folder = known_folder(obj)
    return None if folder is None or other_file(folder) is not None else folder


def folder_to_replace(obj: bpy.types.Object) -> Path | None:
    """The folder for a new bake of a crowd that is baked; None if it has no bake of its own.

    An older Steer named no file in its bakes: it may be that of another file, too, and stays.
    """
    folder = own_folder(obj)
    if folder is None or this_file() is None or owner_of_bake(folder) is not None:
        return folder
    return folder if why_no_folder(obj) else new_folder(obj)


def known_folder(obj: bpy.types.Object) -> Path | None:
    """The folder of the crowd's bake, or of the bake of the file that this one is a copy of."""
    stored: str = obj.steer.cache_folder
    if not stored or (stored.startswith("//") and not bpy.data.filepath):
        return None
    return None if is_borrowed(obj) else absolute(stored)


def check_free(obj: bpy.types.Object, folder: Path, file: Path | None = None) -> None:
    """Refuse a folder with a bake that a new bake of the crowd must not replace.

    Args:
        obj: The crowd.
        folder: Folder of the new bake.
        file: The .blend file that the new bake belongs to; None for the open one.

    Raises:
        SceneError: The bake there belongs to another file or crowd, or may do so.
    """
    other = other_file(folder, file)
    if other is not None:
        raise SceneError(
            f"{folder} holds the bake of {other}: choose another folder, where this file gets a "
            "bake of its own"
        )
    if not any((folder / name).exists() for name in (caches.MANIFEST, caches.NEXT)):
        return
    here, owner = (this_file() if file is None else file), owner_of_bake(folder)
    if known_folder(obj) == folder and (owner is not None or here is None):
        return
    if owner is None or not is_same(owner, here) or owner_of(folder) not in (None, obj):
        raise SceneError(
            f"{folder} holds a bake that may be another crowd's or another file's: choose another "
            "folder, continue that bake, or delete it"
        )


def owner_of(folder: Path) -> bpy.types.Object | None:
    """The crowd whose bake is in a folder, or None."""
    used = [obj for obj in bpy.data.objects if obj.steer.cache_folder]
    return next((obj for obj in used if known_folder(obj) == folder), None)


def set_folder(obj: bpy.types.Object, folder: Path) -> None:
    """Save the folder of a crowd's bake, relative to the file where possible.

    Whichever variation the crowd showed, it shows that bake from now on.
    """
    here = bpy.data.filepath
    text = _relative(folder, Path(here)) if here else str(folder)
    forget_variation(obj)
    obj.steer.cache_folder = text
    obj.steer.cache_owner = obj.name


def forget_variation(obj: bpy.types.Object) -> None:
    """A crowd shows no variation any more, and need not know what it showed before."""
    for name in ("variation", "own_seed", "own_cache_folder"):
        obj.steer.property_unset(name)


def _relative(folder: Path, file: Path) -> str:
    """A folder as saved in a file, relative to the file where possible."""
    text = relative(file.parent, folder)
    return text if os.path.isabs(text) else f"//{text}"


_FOLDERS = ("cache_folder", "own_cache_folder")
"""Properties of a crowd that hold folders."""
_moved: dict[tuple[str, str], tuple[str, str]] = {}
"""Folders in the file before it was saved elsewhere, by the names of crowds and properties."""


@persistent
def on_save(path: str, *_: object) -> None:
    """Adjust relative paths when the file is saved in another folder; bakes stay in place."""
    _moved.clear()
    new, old = Path(path), Path(bpy.data.filepath)
    if not path or not bpy.data.filepath or new.parent == old.parent:
        return
    for obj in bpy.data.objects:
        for name in _FOLDERS:
            stored = getattr(obj.steer, name)
            if stored.startswith("//") and obj.library is None:
                text = _relative(absolute(stored), new)
                _moved[obj.name, name] = (stored, text)
                setattr(obj.steer, name, text)


@persistent
def on_saved(path: str, *_: object) -> None:
    """Restore the paths after a copy was saved: the open file stays in its folder."""
    if _moved and Path(bpy.data.filepath).parent != Path(path).parent:
        for (crowd, name), (stored, text) in _moved.items():
            obj = bpy.data.objects.get(crowd)
            if obj is not None and getattr(obj.steer, name) == text:
                setattr(obj.steer, name, stored)
    _moved.clear()


def forget_folder(obj: bpy.types.Object) -> None:
    """The crowd has no bake any more."""
    obj.steer.cache_folder = ""
    obj.steer.cache_owner = ""


def claim(obj: bpy.types.Object) -> None:
    """Follow a rename: if only one crowd knows a bake, that crowd owns it."""
    steer: Any = obj.steer
    if steer.cache_folder and steer.cache_owner != obj.name and not is_borrowed(obj):
        steer.cache_owner = obj.name
