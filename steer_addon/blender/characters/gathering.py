"""The poses of a collection of characters, gathered once by a hidden object.

The nodes of a crowd pick from the poses of all its characters. Gathering these takes longer than
all the rest of a frame, as Blender compares each with all before it; a hidden mesh does it only
when the characters change. A crowd without that object gathers them itself, and looks the same.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.errors import SceneError
from .. import app_handlers
from ..display import display, node_builder
from ..display.appended import unseen
from ..suspension import is_suspended
from . import library_group

INPUT = "Poses"
"""Input of the Crowd modifier."""
_COLLECTION = "Collection"
_KEY = unseen("steer_poses")
"""Custom property of the node group, and of the objects that have it."""
_NODES: dict[str, dict[str, Any]] = {
    "input": {"type": "NodeGroupInput"},
    "members": {
        "type": "GeometryNodeCollectionInfo",
        "at": [1, 0],
        "Collection": "<input.Collection",
        "Separate Children": True,
        "Reset Children": True,
    },
    "poses": {
        "type": "GeometryNodeRealizeInstances",
        "at": [2, 0],
        "Geometry": "<members",
        "Realize All": False,
        "Depth": 1,
    },
    "output": {"type": "NodeGroupOutput", "at": [3, 0], "Geometry": "<poses"},
}
"""The same as in `display/crowd_group.toml`, for crowds without a hidden object."""


def gather(obj: bpy.types.Object) -> None:
    """Let a crowd read its poses from the hidden object of its collection.

    Args:
        obj: Original (not evaluated) object; one that is no crowd, or shows no collection of
            characters, needs none.
    """
    modifier = display.find_modifier(obj)
    if modifier is None or obj.library is not None or obj.override_library is not None:
        return
    try:
        shown, body = display.shown_as(modifier)
        gathered = display.get_input(modifier, INPUT)
        if shown != "Characters" or body is None:
            if gathered is not None:
                display.set_input(modifier, INPUT, None)
        elif _gathers(gathered) != body:
            display.set_input(modifier, INPUT, _of(body))
    except SceneError:
        # a node group of an older Steer, or a changed one: the Display panel says so
        return


def _of(collection: bpy.types.Collection) -> bpy.types.Object:
    """The hidden object of a collection, made where there is none."""
    for obj in bpy.data.objects:
        if obj.library is None and _gathers(obj) == collection:
            return obj
    name = f"Poses of {collection.name}"
    made = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    made[_KEY] = True
    # Append puts all objects that are in no collection into the scene; crowds read it nonetheless
    made.hide_viewport = made.hide_render = True
    modifier = made.modifiers.new("Poses", "NODES")
    modifier.node_group = _group()
    display.set_input(modifier, _COLLECTION, collection)
    return made


def _gathers(obj: bpy.types.Object | None) -> bpy.types.Collection | None:
    """The collection whose poses an object gathers; None where it gathers none."""
    if obj is None or _KEY not in obj or not obj.modifiers:
        return None
    modifier: Any = obj.modifiers[0]
    found: bpy.types.Collection | None = display.get_input(modifier, _COLLECTION)
    return found


def _group() -> bpy.types.NodeTree:
    for group in bpy.data.node_groups:
        if _KEY in group and group.library is None:
            return group
    made = node_builder.modifier_group(".Steer Poses", "Gathers the poses of characters")
    made.interface.new_socket(_COLLECTION, in_out="INPUT", socket_type="NodeSocketCollection")
    node_builder.add_nodes(made, _NODES)
    made[_KEY] = True
    return made


@persistent
def on_edit(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Follow changes of what crowds show."""
    if is_suspended() or depsgraph.mode == "RENDER":
        return
    for update in depsgraph.updates:
        if update.is_updated_geometry and isinstance(update.id, bpy.types.Object):
            gather(update.id.original)


@persistent
def on_load(*_: object) -> None:
    """Give crowds of older files what they lack, and take the weights of bones from characters.

    Blender would keep these for each pose, see `joining`.
    """
    for obj in list(bpy.data.objects):
        gather(obj)
        if obj.vertex_groups and obj.library is None and library_group.modifier_of(obj) is not None:
            obj.vertex_groups.clear()


_HANDLERS = (("depsgraph_update_post", on_edit), ("load_post", on_load))


def register() -> None:
    """Follow changes from now on."""
    app_handlers.add(_HANDLERS)


def unregister() -> None:
    """Follow no changes any more."""
    app_handlers.remove(_HANDLERS)
