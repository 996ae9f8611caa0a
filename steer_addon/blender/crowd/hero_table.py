"""Which agents of a crowd are heroes: a hidden mesh that its Crowd modifier reads.

The mesh has a vertex for each place of a table, whose attribute `hero` holds an id: that of a hero
at its remainder by the size of the table. So the nodes look up each agent at one place, whatever
ids there are, and need no Steer for it.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import SceneError
from ..display import display
from ..display.appended import unseen

INPUT = "Heroes"
"""Input of the Crowd modifier."""
_ATTRIBUTE = "hero"
_OWNER_KEY = unseen("steer_heroes")
"""Custom property of tables: name of the crowd that it was made for."""
_GROWTH = 1.25


def table_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The table of a crowd; None where there is none."""
    modifier = display.find_modifier(obj)
    if modifier is None or INPUT not in display.input_names(modifier):
        return None
    table: bpy.types.Object | None = display.get_input(modifier, INPUT)
    return table if table is not None and table.type == "MESH" else None


def is_own(obj: bpy.types.Object) -> bool:
    """Whether the table of a crowd is its own, and not that of the one it was duplicated from."""
    table = table_of(obj)
    if table is None or table.library is not None:
        return False
    owner = table.get(_OWNER_KEY)
    if owner == obj.name:
        return True
    sharing = [other for other in bpy.data.objects if table_of(other) == table]
    if any(other.name == owner for other in sharing):
        return False
    # the crowd was renamed before it was duplicated: it is the older one
    return obj == min(sharing, key=lambda other: other.session_uid)


def ids_of(table: bpy.types.Object | None) -> set[int]:
    """The ids in a table, as 32-bit numbers."""
    attribute = None if table is None else table.data.attributes.get(_ATTRIBUTE)
    if attribute is None:
        return set()
    values = np.empty(len(attribute.data), np.int32)
    attribute.data.foreach_get("value", values)
    places = np.arange(len(values))
    return set(values[values % max(len(values), 1) == places].tolist())


def set_ids(obj: bpy.types.Object, ids: Iterable[int]) -> bpy.types.Object | None:
    """Hide the instances of these agents, and show all others.

    A crowd that was duplicated gets a table of its own.

    Args:
        obj: The crowd.
        ids: Ids of agents.

    Returns:
        The table; None where it is not needed any more.

    Raises:
        SceneError: The crowd's node group was changed.
    """
    modifier = display.require_modifier(obj)
    before = table_of(obj)
    own = is_own(obj)
    numbers = np.unique(np.array(sorted(ids), np.int64).astype(np.int32))
    if not len(numbers):
        if INPUT in display.input_names(modifier):
            display.set_input(modifier, INPUT, None)
        # the count alone would not do: collections that are removed in 5.2 leave theirs behind
        if own and before is not None and not bpy.data.user_map(subset=[before])[before]:
            bpy.data.batch_remove([before, before.data])
        return None
    if INPUT not in display.input_names(modifier):
        raise SceneError(
            f"The Crowd modifier of {obj.name!r} is that of an older Steer, and linked: open the "
            "file that it comes from, and save it"
        )
    name = f"{obj.name} Heroes"
    mesh = bpy.data.meshes.new(name)
    table = arranged(numbers)
    mesh.vertices.add(len(table))
    mesh.attributes.new(_ATTRIBUTE, "INT", "POINT").data.foreach_set("value", table)
    if own and before is not None:
        old, before.data = before.data, mesh
        if old is not None and old.users == 0:
            bpy.data.batch_remove([old])
        result = before
    else:
        result = bpy.data.objects.new(name, mesh)
    result[_OWNER_KEY] = obj.name
    display.set_input(modifier, INPUT, result)
    return result


def arranged(ids: NDArray[np.int32]) -> NDArray[np.int32]:
    """A table in which each id stands at its remainder, and nothing else does.

    Args:
        ids: Ids, each once, shape (id_count,).
    """
    size = max(len(ids), 2)
    while len(np.unique(ids % size)) < len(ids):
        size = int(size * _GROWTH) + 1
    table = np.arange(1, size + 1, dtype=np.int32)
    table[ids % size] = ids
    return table
