"""The baked file that a crowd plays: its path, and its problems."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import bpy

from ...core.diagnoses import Diagnosis, diagnose
from ...core.files.plain import digest_of
from ...core.files.whole import why_not_whole
from .bake_owner import is_borrowed, listed_digest, other_file
from .state import PLAYBACK_KEY, playback_state

RANGE_KEY = "steer_playback_frames"
"""Custom property of a state that plays a file: first and last frame."""
DIGEST_KEY = "steer_playback_sha256"
"""Custom property of a state that plays a file: the digest of that file; none in older files."""
_QUICK = 100_000_000
"""Size up to which a file is compared with its digest while the panel is drawn [bytes]."""


def cache_file_of(state: bpy.types.Object) -> bpy.types.CacheFile | None:
    """The data-block of the file that a state plays, where it has one."""
    for modifier in state.modifiers:
        if isinstance(modifier, bpy.types.MeshSequenceCacheModifier):
            return modifier.cache_file
    return None


def path_owner(state: bpy.types.Object) -> Any:
    """Owner of the path of a state's file, or None when the modifier was removed."""
    for modifier in state.modifiers:
        if modifier.type == "MESH_CACHE":
            return modifier
    return cache_file_of(state)


def absolute_path(owner: Any) -> Path:
    """The path that a data-block or modifier holds."""
    path = bpy.path.abspath(owner.filepath, library=owner.id_data.library)
    return Path(os.path.normpath(path))


def path_of(state: bpy.types.Object) -> Path | None:
    """The file that a state plays."""
    owner = path_owner(state)
    return None if owner is None else absolute_path(owner)


def file_of(obj: bpy.types.Object) -> Path | None:
    """The file that a baked crowd plays, whether it exists or not; None for a live crowd."""
    state = playback_state(obj)
    return None if state is None else path_of(state)


def problem(obj: bpy.types.Object, *, thorough: bool = False) -> Diagnosis | None:
    """Why a baked crowd does not play what was baked; None when it does.

    Args:
        obj: The crowd.
        thorough: Compare a large file with its digest, too, which takes a second per gigabyte.
    """
    state = playback_state(obj)
    if state is None:
        return None
    path = path_of(state)
    if path is None:
        return diagnose("BAKE_WITHOUT_MODIFIER")
    if not path.is_file():
        return diagnose("BAKE_FILE_MISSING", str(path))
    if state[PLAYBACK_KEY] == "usdc" and not bpy.app.build_options.usd:
        return diagnose("BAKE_NEEDS_USD")
    try:
        # published bakes are often links
        path = path.resolve()
        found = os.stat(path)
        wanted = state.get(DIGEST_KEY, "") if thorough or found.st_size <= _QUICK else ""
        reason = _fault(path, str(wanted), bpy.data.filepath, found.st_mtime_ns, found.st_size)
    except OSError as error:
        reason = error.strerror or str(error)
    return diagnose("BAKE_FILE_DAMAGED", str(path), reason=reason) if reason else None


@lru_cache(maxsize=100)
def _fault(path: Path, digest: str, blend: str, changed: int, size: int) -> str:
    """Asked again only after the file has changed, since panels ask with every redraw."""
    found = digest_of(path) if digest else ""
    # this file may have baked again, and was not saved since, or the crowd is a duplicate
    again = found == listed_digest(path) and other_file(path.parent) is None
    if digest not in ("", found) and not again:
        return "it is not the file that was baked"
    return why_not_whole(path)


def limits(obj: bpy.types.Object) -> Diagnosis | None:
    """Diagnosis of a file that lacks something; None when it has everything."""
    state = playback_state(obj)
    if state is not None and state[PLAYBACK_KEY] == "pc2":
        return diagnose("PLAYS_WITHOUT_USD")
    return None


def is_others(obj: bpy.types.Object) -> bool:
    """Whether a crowd plays the bake of another crowd, or of another .blend file."""
    path = file_of(obj)
    if path is None:
        return False
    borrowed = bool(obj.steer.cache_folder) and is_borrowed(obj)
    return borrowed or other_file(path.parent) is not None


def diagnosis(obj: bpy.types.Object) -> Diagnosis | None:
    """Diagnosis of a baked crowd, for the panel; None for a live one."""
    found, state = problem(obj), playback_state(obj)
    if found is not None or state is None:
        return found
    first, last = state.get(RANGE_KEY, (0, 0))
    path = path_of(state)
    name = "" if path is None else path.name
    if number := obj.steer.variation:
        return diagnose("PLAYS_VARIATION", number=number, first=first, last=last)
    code = "PLAYS_OTHERS_BAKE" if is_others(obj) else "PLAYS_BAKE"
    return diagnose(code, file=name, first=first, last=last)
