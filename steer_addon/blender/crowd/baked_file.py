"""The baked file that a crowd plays: its path, and its problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ...core.diagnoses import Diagnosis, diagnose
from .state import PLAYBACK_KEY, playback_state

RANGE_KEY = "steer_playback_frames"
"""Custom property of a state that plays a file: first and last frame."""


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
    return Path(bpy.path.abspath(owner.filepath, library=owner.id_data.library))


def path_of(state: bpy.types.Object) -> Path | None:
    """The file that a state plays."""
    owner = path_owner(state)
    return None if owner is None else absolute_path(owner)


def file_of(obj: bpy.types.Object) -> Path | None:
    """The file that a baked crowd plays, whether it exists or not; None for a live crowd."""
    state = playback_state(obj)
    return None if state is None else path_of(state)


def problem(obj: bpy.types.Object) -> Diagnosis | None:
    """Why a baked crowd does not play; None when it does."""
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
    return None


def limits(obj: bpy.types.Object) -> Diagnosis | None:
    """Diagnosis of a file that lacks something; None when it has everything."""
    state = playback_state(obj)
    if state is not None and state[PLAYBACK_KEY] == "pc2":
        return diagnose("PLAYS_WITHOUT_USD")
    return None


def diagnosis(obj: bpy.types.Object) -> Diagnosis | None:
    """Diagnosis of a baked crowd, for the panel; None for a live one."""
    found, state = problem(obj), playback_state(obj)
    if found is not None or state is None:
        return found
    first, last = state.get(RANGE_KEY, (0, 0))
    path = path_of(state)
    name = "" if path is None else path.name
    return diagnose("PLAYS_BAKE", file=name, first=first, last=last)
