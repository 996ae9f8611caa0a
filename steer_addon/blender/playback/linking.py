"""Baked files and the state objects that play them; removal of a crowd with its state."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ...core.cache import MANIFEST, PLAYED, check_own, record_played
from ...core.errors import SceneError
from ...core.files.lock import FolderLock
from ...core.files.plain import digest_of
from ...core.files.staging import as_output_errors
from ...core.results.roster import Roster, everybody, placed
from ..crowd import animation_paths, baked_file, crowds
from ..crowd.state import (
    PLAYBACK_KEY,
    ensure_state,
    get_state,
    playback_state,
    plays_back,
    remove_state,
)
from ..display.display import ensure_node_group, find_modifier, require_modifier, set_input
from ..live import live
from ..suspension import suspended
from ..writing import usd_points
from ..writing.mesh_cache import write_pc2
from . import files, renaming
from .packed import packed_points

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...core.results.frames import Frame
    from ..writing.files import Header

USD_FILE, PLAIN_FILE = PLAYED
"""The files that `write` leaves in the folder of a cache; for the second one see `packed`."""


class Played(NamedTuple):
    """A written file that Blender can play.

    Attributes:
        path: The file.
        header: Header of its frames.
        first: The first frame.
        digest: SHA-256 of the file.
    """

    path: Path
    header: Header
    first: Frame
    digest: str = ""


def write(
    frames: Iterable[Frame],
    folder: Path,
    header: Header,
    everybody: Callable[[], NDArray[np.int64]] | None = None,
) -> Played:
    """Write the file that Blender plays to a folder, see `writing`.

    Args:
        frames: Ascending frames, one by one.
        folder: Folder of the new `crowd.usdc`, or `crowd.pc2` for a Blender without USD.
        header: Header of the frames.
        everybody: Function that finds all identities there will be, called for a Blender without
            USD; None takes those of the first frame.
    """
    coming = iter(frames)
    first = next(coming, None)
    if first is None:
        raise SceneError(f"Crowd {header.name!r} has no frames to write: simulate it first")
    coming = chain([first], coming)
    path = folder / (USD_FILE if usd_points.has_usd() else PLAIN_FILE)
    with files.released(path):
        if usd_points.has_usd():
            usd_points.write_points(coming, path, header)
        else:
            ids = first.id if everybody is None else everybody()
            first = Roster(ids).placed(first)
            write_pc2(packed_points(placed(coming, ids)), path, header)
    with as_output_errors(path):
        return Played(path, header, first, digest_of(path))


def show(obj: bpy.types.Object, played: Played) -> bpy.types.Object:
    """Let a crowd show the result of `write` in place of its simulation; returns the new state.

    Raises:
        SceneError: The object is no crowd or comes from another file, or the file is missing.
    """
    modifier = require_modifier(obj)
    if obj.library is not None or obj.override_library is not None:
        raise SceneError(
            f"Crowd {obj.name!r} is linked from another file: bake it in that file, or make it "
            "local (Object > Relations > Make Local)"
        )
    if not played.path.is_file():
        raise SceneError(
            f"There is no file {played.path}: bake the crowd again, or use Relink Bake"
        )

    # groups of an older version know no point clouds
    ensure_node_group()
    state = make_state(f"{obj.name} Playback", played)
    live.clear(obj)
    forget(obj)
    set_input(modifier, "State", state)
    live.sync_locks()
    _settle(obj)
    return state


def make_state(name: str, played: Played) -> bpy.types.Object:
    """A state object that plays a written file; it is in no collection yet.

    Raises:
        SceneError: The file is damaged.
    """
    path, header = played.path, played.header
    if path.suffix == ".usdc":
        state = files.make_usd_state(name, path)
        renaming.rename(state, usd_points.keys_of(played.first.attributes))
    else:
        state = files.make_plain_state(name, path, played.first, header.start)
    state[PLAYBACK_KEY] = path.suffix[1:]
    state[baked_file.RANGE_KEY] = [header.start, header.end]
    state[baked_file.DIGEST_KEY] = played.digest
    return state


def attach(obj: bpy.types.Object, cache_folder: str | Path) -> Path:
    """Let a crowd play its baked cache: write the file that Blender plays, and show it.

    The folder may begin with `//`. Returns the path of the file.

    Raises:
        SteerError: The cache cannot be read, the file not written, or the crowd not changed; the
            crowd then shows what it showed before.
    """
    folder = folder_path(cache_folder)
    files.read_cache(folder)
    lock = FolderLock(folder)
    try:
        check_own(folder)
        frames, header = files.read_cache(folder)
        name = USD_FILE if usd_points.has_usd() else PLAIN_FILE
        with as_output_errors(folder / MANIFEST):
            # before it is there, so that a process which ends in between leaves no foreign file
            record_played(folder / name)
        played = write(frames, folder, header, lambda: everybody(frames))
        with as_output_errors(folder / MANIFEST):
            record_played(played.path, played.digest)
    finally:
        lock.release(remove=True)
    show(obj, played)
    return played.path


def play(obj: bpy.types.Object, folder: Path) -> None:
    """Let a crowd play the file in the folder of a cache, which is written where there is none.

    Raises:
        SteerError: The cache cannot be read, or the crowd not changed.
    """
    cache, header = files.read_cache(folder)
    path, digest = folder / USD_FILE, (cache.manifest.played or {}).get(USD_FILE, "")
    if path.is_file() and usd_points.has_usd():
        show(obj, Played(path, header, cache.frame(header.start), digest))
    else:
        attach(obj, folder)


def detach(obj: bpy.types.Object) -> None:
    """Go back to the live crowd; the files stay where they are. A live crowd stays as it is."""
    if not plays_back(obj):
        return

    forget(obj)
    if obj.library is None and obj.override_library is None:
        ensure_state(obj)
    live.clear(obj)
    live.sync_locks()
    _settle(obj)


def relink(obj: bpy.types.Object, folder: str | Path) -> Path:
    """Let a baked crowd play the file in another folder.

    The file is written again from the cache if the folder holds only the cache. The folder may
    begin with `//`. Returns the path of the file.

    Raises:
        SceneError: The crowd is not baked.
        SteerError: There is neither the file nor a cache.
    """
    if not plays_back(obj):
        raise SceneError(f"Crowd {obj.name!r} is not baked: bake it first")
    state: Any = get_state(obj)
    place = folder_path(folder)
    path = place / (PLAIN_FILE if state[PLAYBACK_KEY] == "pc2" else USD_FILE)
    if not path.is_file():
        return attach(obj, place)
    with as_output_errors(path):
        digest = digest_of(path)
    files.set_path(state, path)
    # the user says which file it is
    state[baked_file.DIGEST_KEY] = digest
    return path


def folder_path(folder: str | Path) -> Path:
    """A folder as it may be stored in a .blend file, as an absolute path."""
    return Path(os.path.normpath(bpy.path.abspath(str(folder))))


def _settle(obj: bpy.types.Object) -> None:
    """Evaluate the exchange now, so that no handler takes it for an edit."""
    with suspended():
        for scene in obj.users_scene:
            for layer in scene.view_layers:
                layer.update()


def forget(obj: bpy.types.Object) -> None:
    """Remove the crowd's state, with its cache file if no other state plays it."""
    state = playback_state(obj)
    used = None if state is None else baked_file.cache_file_of(state)
    remove_state(obj)
    if used is not None and used.users == 0:
        bpy.data.batch_remove([used])


def remove_crowd(obj: bpy.types.Object) -> None:
    """Give the object back as it was: no modifier, no state, no settings, no animation of them.

    A keyframe bake stays: by now it is the user's.

    Raises:
        SceneError: The object comes from another file.
    """
    reason = crowds.why_not_editable(obj)
    if reason:
        raise SceneError(reason)
    animation_paths.drop(obj, "steer.")
    crowds.unhide(obj)
    forget(obj)
    modifier = find_modifier(obj)
    if modifier is not None:
        obj.modifiers.remove(modifier)
    obj.property_unset("steer")
