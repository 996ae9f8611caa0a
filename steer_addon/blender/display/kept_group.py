"""A node group that was built once is kept for the session, in Blender's own temporary folder.

Blender updates a tree with every link that is made, so a large one takes a second to build; read
from a file it takes a hundredth of that.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

_kept: list[Path] = []


def keep(group: bpy.types.NodeTree) -> None:
    """Keep a group as it is now; where its file cannot be written it is built again."""
    path = Path(bpy.app.tempdir) / "steer_crowd_group.blend"
    with suppress(OSError, RuntimeError):
        bpy.data.libraries.write(str(path), {group})
        _kept[:] = [path]


def load(name: str) -> bpy.types.NodeTree | None:
    """A new copy of the kept group; None where there is none.

    Args:
        name: Its name.
    """
    if not _kept or not _kept[0].is_file():
        return None
    libraries: Any = bpy.data.libraries
    known, groups = set(libraries), set(bpy.data.node_groups)
    with libraries.load(str(_kept[0]), link=False) as (_held, wanted):
        wanted.node_groups = [name]
    (found,) = wanted.node_groups
    for read in set(bpy.data.node_groups) - groups:
        # a copy knows nothing of the file that it comes from
        made, own_name = read.copy(), read.name
        read.user_remap(made)
        found = made if found == read else found
        bpy.data.node_groups.remove(read)
        made.name = own_name
    for library in set(libraries) - known:
        libraries.remove(library)
    group: bpy.types.NodeTree = found
    return group
