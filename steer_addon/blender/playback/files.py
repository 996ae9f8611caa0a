"""State objects that play a file, and the paths they play it from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core.cache import open_cache
from ...core.errors import SceneError
from ...core.results.frames import Frame
from ..crowd.baked_file import absolute_path, path_owner
from ..writing.files import Header
from ..writing.mesh_cache import read_point_count
from ..writing.usd_points import CROWD_PATH
from .packed import BLOCKS, ensure_group


def read_cache(folder: Path) -> tuple[Any, Header]:
    """The frames of a baked cache, which can be iterated repeatedly, and their header.

    Raises:
        SteerError: The cache cannot be read.
    """
    cache = open_cache(folder)
    numbers = cache.frames
    if not len(numbers):
        raise SceneError(f"{folder} holds no frames yet: continue the bake")
    header = Header(cache.header.name, cache.header.fps, numbers[0], numbers[-1])
    return cache, header


def make_usd_state(name: str, path: Path) -> bpy.types.Object:
    """A point cloud that plays a USD file."""
    state = bpy.data.objects.new(name, bpy.data.pointclouds.new(name))
    modifier = state.modifiers.new("Crowd Cache", "MESH_SEQUENCE_CACHE")
    modifier.cache_file = _cache_file(path)
    modifier.object_path = CROWD_PATH
    return state


def _cache_file(path: Path) -> bpy.types.CacheFile:
    """The data-block of a file, read again if there is one already."""
    for found in bpy.data.cache_files:
        if found.library is None and absolute_path(found) == path:
            reload(found)
            return found
    before = set(bpy.data.cache_files)
    bpy.ops.cachefile.open(filepath=str(path), relative_path=False)
    made: bpy.types.CacheFile = next(found for found in bpy.data.cache_files if found not in before)
    made.filepath = _stored(path)
    made.name = f"{path.parent.name} {path.name}"
    # the operator counts one user too many, and it would never be removed
    made.user_clear()
    return made


def reload(cache_file: bpy.types.CacheFile) -> None:
    """Read a file again that was replaced."""
    with bpy.context.temp_override(edit_cachefile=cache_file):
        bpy.ops.cachefile.reload()


def make_plain_state(name: str, path: Path, first: Frame, start: int) -> bpy.types.Object:
    """A mesh of loose vertices that plays a packed PC2 file; radii stay those of a frame."""
    points = read_point_count(path)
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(points)
    ids, radii = np.zeros(points, np.int32), np.zeros(points, np.float32)
    count = min(len(first.id), points // BLOCKS)
    ids[:count], radii[:count] = first.id[:count].astype(np.int32), first.radius[:count]
    for attribute, kind, values in (("id", "INT", ids), ("radius", "FLOAT", radii)):
        mesh.attributes.new(attribute, kind, "POINT").data.foreach_set("value", values)
    state = bpy.data.objects.new(name, mesh)
    modifier = state.modifiers.new("Crowd Cache", "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.deform_mode, modifier.interpolation = "OVERWRITE", "LINEAR"
    modifier.time_mode, modifier.play_mode = "FRAME", "SCENE"
    modifier.frame_start, modifier.frame_scale = start, 1.0
    modifier.filepath = _stored(path)
    state.modifiers.new("Crowd Attributes", "NODES").node_group = ensure_group()
    return state


def set_path(state: bpy.types.Object, path: Path) -> None:
    """Let a state play another file of the same kind.

    Raises:
        SceneError: Its modifier was removed.
    """
    owner = path_owner(state)
    if owner is None:
        raise SceneError(
            f"{state.name!r} has lost the modifier that plays the bake: delete the bake"
        )
    owner.filepath = _stored(path)
    state.update_tag()


def _stored(path: Path) -> str:
    """A path as it is stored in the .blend file: relative to it if possible."""
    if bpy.data.filepath:
        try:
            return str(bpy.path.relpath(str(path)))
        except ValueError:
            # another drive
            pass
    return str(path)


@contextmanager
def released(path: Path) -> Iterator[None]:
    """Close a file while it is replaced: Windows refuses to replace an open one."""
    owners = [
        (found, found.filepath)
        for found in bpy.data.cache_files
        if found.library is None and path.is_file() and absolute_path(found) == path
    ]
    for owner, _ in owners:
        owner.filepath = ""
    try:
        yield
    finally:
        for owner, stored in owners:
            owner.filepath = stored
            reload(owner)
