"""Node groups are built once and then kept, from session to session, in the user's cache folder.

To read the one of crowds takes a third of the time in which it is built.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import SteerError
from ...core.files import cache_folder, staging
from ...core.files.whole import why_not_whole
from . import nested_group, node_builder, one_update

Build = Callable[[bpy.types.NodeTree], None]


def make(name: str, build: Build, sources: tuple[str, ...]) -> bpy.types.NodeTree:
    """A new group, read from its file or built.

    Args:
        name: Its name.
        build: Gives a new group its nodes.
        sources: Files that say what is in it: a kept one is used as long as these are the same.
    """
    folder = cache_folder.folder("groups")
    path = folder and folder / _file_name(name, sources)
    if path is not None and path.is_file():
        # a file that Blender cannot read, or of something else, is as good as none
        with suppress(OSError, RuntimeError):
            group = _read(path, name)
            if group is not None:
                return group
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    build(group)
    if path is not None:
        with suppress(OSError, RuntimeError, SteerError):
            with staging.replacing(path, why_not_whole) as partial:
                bpy.data.libraries.write(str(partial), {group}, compress=True)
    return group


def _file_name(name: str, sources: tuple[str, ...]) -> str:
    """Name of the file of a group: other Blenders and other sources have another one."""
    found = hashlib.sha256(bpy.app.version_string.encode() + bpy.app.build_hash)
    makers = nested_group, node_builder, one_update
    for source in (*sources, *(str(module.__file__) for module in makers)):
        found.update(Path(source).read_bytes())
    return f"{name.lower().replace(' ', '_')}-{found.hexdigest()[:24]}.blend"


def _read(path: Path, name: str) -> bpy.types.NodeTree | None:
    """A copy of the group in a file; None where the file has none of that name."""
    libraries: Any = bpy.data.libraries
    known, groups = set(libraries), set(bpy.data.node_groups)
    with libraries.load(str(path), link=False) as (held, wanted):
        wanted.node_groups = [name] if name in held.node_groups else []
    found = next(iter(wanted.node_groups), None)
    for read in set(bpy.data.node_groups) - groups:
        # a copy knows nothing of the file that it comes from
        made, own_name = read.copy(), read.name
        read.user_remap(made)
        found = made if found == read else found
        bpy.data.node_groups.remove(read)
        made.name = own_name
    for library in set(libraries) - known:
        libraries.remove(library)
    return found
