"""The baked file that a crowd plays: where it is, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

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
    """What holds the path of a state's file, or None when the modifier was taken away."""
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
    """The file that a baked crowd plays, whether it is there or not; None for a live crowd."""
    state = playback_state(obj)
    return None if state is None else path_of(state)


def problem(obj: bpy.types.Object) -> str:
    """Why a baked crowd does not play, and the way out; empty when it does."""
    state = playback_state(obj)
    if state is None:
        return ""
    path = path_of(state)
    if path is None:
        return "The bake has lost its modifier: delete the bake and bake again"
    if not path.is_file():
        return f"{path} is missing: use Relink to say where it is, or bake again"
    if state[PLAYBACK_KEY] == "usdc" and not bpy.app.build_options.usd:
        return "This build of Blender has no USD and cannot play the bake: bake again"
    return ""


def limits(obj: bpy.types.Object) -> str:
    """What the played file lacks; empty when it has everything."""
    state = playback_state(obj)
    if state is not None and state[PLAYBACK_KEY] == "pc2":
        return (
            "No USD in this build of Blender: the bake lacks what behaviors show, such as zone and "
            "waypoint, and changes of radius"
        )
    return ""


def message(obj: bpy.types.Object) -> str:
    """What the panel says about a baked crowd."""
    reason, state = problem(obj), playback_state(obj)
    if reason or state is None:
        return reason
    first, last = state.get(RANGE_KEY, (0, 0))
    path = path_of(state)
    name = "" if path is None else path.name
    return f"Baked: {name} plays frames {first} to {last}; delete the bake to simulate live"
