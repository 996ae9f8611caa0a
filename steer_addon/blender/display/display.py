"""The Crowd modifier: its node group, and its inputs under the API of every Blender version.

The group shows one instance per agent of a state object (see `state.py`) in place of the modified
geometry; where they are asked for, the agents are a mesh of loose vertices too, with the attributes
that later modifiers read. States are in world space, so the group takes out the modified object's
own matrix; rendered agents stand where the simulation says, wherever that object is.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...core.diagnoses import diagnose
from ...core.errors import SceneError
from .. import app_handlers
from . import kept_group
from .crowd_group import (
    NODE_GROUP_NAME,
    SOURCES,
    VERSION,
    VERSION_KEY,
    build_group,
    former_values,
    menu_node,
)
from .nested_group import sockets_of

MODIFIER_NAME = "Crowd"
_HELD = {
    "Object": "Object",
    "Collection": "Collection",
    "Character": "Object",
    "Characters": "Collection",
}
"""The input that holds what is shown, by the item of *Display*."""


def update_node_groups() -> list[bpy.types.NodeTree]:
    """Bring all Crowd node groups of this file up to date, and return them.

    Older groups are rebuilt in place, so that modifiers keep their input values.
    """
    groups = [g for g in bpy.data.node_groups if g.library is None and VERSION_KEY in g]
    for group in groups:
        if group[VERSION_KEY] < VERSION:
            known = {socket.name for socket in sockets_of(group)}
            build_group(group)
            _give_defaults(group, known)
    return groups


@persistent
def on_load(*_: object) -> None:
    """Bring the node groups of a file that was opened, or of one that is open, up to date."""
    update_node_groups()


HANDLERS = (("load_post", on_load), ("blend_import_post", on_load))


def register() -> None:
    """Bring node groups up to date now and whenever a file is opened or appended from."""
    app_handlers.add(HANDLERS)
    # while an extension is being enabled Blender forbids changes of data
    bpy.app.timers.register(on_load, first_interval=0.0)


def unregister() -> None:
    """Remove handler and timer."""
    app_handlers.remove(HANDLERS)
    app_handlers.remove_timers(on_load)


def _give_defaults(group: bpy.types.NodeTree, known: set[str]) -> None:
    """Set the inputs of modifiers that are new: Blender gave them zeros before there were any."""
    wanted = {name: value for name, value in former_values().items() if name not in known}
    for obj in bpy.data.objects:
        if obj.library is None and obj.override_library is None:
            for modifier in obj.modifiers:
                if modifier.type == "NODES" and modifier.node_group == group:
                    for name, value in wanted.items():
                        set_input(modifier, name, value)


def ensure_node_group() -> bpy.types.NodeTree:
    """Return this file's Crowd node group, made or brought up to date where needed."""
    groups = update_node_groups()
    if groups:
        return next((g for g in groups if g.name == NODE_GROUP_NAME), groups[0])
    return kept_group.make(NODE_GROUP_NAME, build_group, SOURCES)


def find_modifier(obj: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """Return the object's Crowd modifier, whatever its name, or None."""
    for modifier in obj.modifiers:
        if isinstance(modifier, bpy.types.NodesModifier):
            group = modifier.node_group
            if group is not None and VERSION_KEY in group:
                return modifier
    return None


def require_modifier(obj: bpy.types.Object) -> bpy.types.NodesModifier:
    """Return the object's Crowd modifier.

    Raises:
        SceneError: There is none.
    """
    modifier = find_modifier(obj)
    if modifier is None:
        raise SceneError(
            f"Object {obj.name!r} has no Crowd modifier: use Add Modifier > Crowd on it"
        )
    return modifier


def add_modifier(obj: bpy.types.Object) -> bpy.types.NodesModifier:
    """Return the object's Crowd modifier, added at the end of its stack if there is none.

    Raises:
        SceneError: The object is no mesh, or comes from another file.
    """
    if obj.type != "MESH":
        raise SceneError(
            f"Object {obj.name!r} is of type {obj.type}: a crowd needs a mesh, its vertices are "
            "the agents; convert the object or choose another one"
        )
    if obj.library is not None or obj.override_library is not None:
        raise SceneError(
            f"Object {obj.name!r} is linked from another file: make it local "
            "(Object > Relations > Make Local) before making it a crowd"
        )
    modifier = find_modifier(obj)
    group = ensure_node_group()
    if modifier is None:
        modifier = obj.modifiers.new(MODIFIER_NAME, "NODES")
        modifier.node_group = group
        # a name that was taken becomes "Crowd.001"; a modifier is found by its group anyway
        modifier.show_group_selector = False
    return modifier


def set_input(modifier: bpy.types.NodesModifier, name: str, value: Any) -> None:
    """Set an input of the Crowd modifier.

    Args:
        modifier: The modifier.
        name: Name of the input as the panel shows it; menus take the name of an item.
        value: The new value.

    Raises:
        SceneError: There is no such input or menu item.
    """
    socket = _socket(modifier, name)
    if socket.socket_type == "NodeSocketMenu":
        items = _menu_items(modifier.node_group, name)
        if value not in items:
            raise SceneError(
                f"Input {name!r} of modifier {modifier.name!r} is {value!r}: "
                f"give one of {', '.join(items)}"
            )
        is_named = _path(modifier, socket.identifier)[1] == "value"
        value = value if is_named else items[value]
    write_input(modifier, socket.identifier, value)
    modifier.id_data.update_tag()


def get_input(modifier: bpy.types.NodesModifier, name: str) -> Any:
    """Return the value of an input of the Crowd modifier; of menus the name of the item.

    Raises:
        SceneError: There is no such input.
    """
    socket = _socket(modifier, name)
    value = _read(modifier, socket.identifier)
    if socket.socket_type == "NodeSocketMenu" and not isinstance(value, str):
        items = _menu_items(modifier.node_group, name)
        return next((item for item, number in items.items() if number == value), None)
    return value


def input_names(modifier: bpy.types.NodesModifier) -> set[str]:
    """The inputs that there are: a group that is linked from an older file lacks the newer ones."""
    group = modifier.node_group
    return set() if group is None else {socket.name for socket in sockets_of(group)}


def shown_body(modifier: bpy.types.NodesModifier) -> Any:
    """The object or collection that agents are shown as; None for points, cones and discs.

    Characters count as what they are made of.

    Raises:
        SceneError: The modifier's node group was changed.
    """
    return shown_as(modifier)[1]


def shown_as(modifier: bpy.types.NodesModifier) -> tuple[str, Any]:
    """The item of *Display*, and what `shown_body` gives.

    Raises:
        SceneError: The modifier's node group was changed.
    """
    item = str(get_input(modifier, "Display"))
    held = _HELD.get(item)
    return item, None if held is None else get_input(modifier, held)


def input_path(modifier: bpy.types.NodesModifier, name: str) -> tuple[Any, str]:
    """Return owner and property of an input, for `layout.prop` and `keyframe_insert`.

    Raises:
        SceneError: There is no such input.
    """
    return _path(modifier, _socket(modifier, name).identifier)


def object_inputs(modifier: bpy.types.NodesModifier) -> dict[str, bpy.types.Object]:
    """Objects that inputs of any Geometry Nodes modifier take, by the identifiers of the inputs."""
    group = modifier.node_group
    sockets = [] if group is None else sockets_of(group)
    wanted = [item.identifier for item in sockets if item.socket_type == "NodeSocketObject"]
    found = {identifier: _read(modifier, identifier) for identifier in wanted}
    return {identifier: obj for identifier, obj in found.items() if obj is not None}


def write_input(modifier: bpy.types.NodesModifier, identifier: str, value: Any) -> None:
    """Write an input of any Geometry Nodes modifier by its identifier."""
    owner, prop = _path(modifier, identifier)
    if prop == "value":
        owner.value = value
    else:
        owner[identifier] = value
    if isinstance(value, bpy.types.ID) or value is None:
        # only a property's own update function tells the depsgraph of a new dependency
        modifier.node_group = modifier.node_group


def _read(modifier: bpy.types.NodesModifier, identifier: str) -> Any:
    owner, prop = _path(modifier, identifier)
    return owner.value if prop == "value" else owner.get(identifier)


def _path(modifier: bpy.types.NodesModifier, identifier: str) -> tuple[Any, str]:
    if bpy.app.version >= (5, 2, 0):
        return getattr(modifier.properties.inputs, identifier), "value"
    return modifier, f'["{identifier}"]'


def _socket(modifier: bpy.types.NodesModifier, name: str) -> Any:
    group = modifier.node_group
    if group is not None:
        # quicker than to look through all: panels ask for ten inputs in each redraw
        socket = group.interface.items_tree.get(name)
        if getattr(socket, "in_out", "") == "INPUT":
            return socket
        for socket in sockets_of(group):
            if socket.name == name:
                return socket
    raise SceneError(diagnose("INPUT_REMOVED", modifier.name, input=name))


def _menu_items(group: Any, name: str) -> dict[str, int]:
    # a menu is stored as the number that the switch gave to the item when it was made
    switch = menu_node(group, name)
    if switch is None:
        raise SceneError(f"Node group {group.name!r} has lost its node {name!r}: add a crowd again")
    start = "Item_"
    items = [socket for socket in switch.inputs if socket.identifier.startswith(start)]
    return {item.name: int(item.identifier.removeprefix(start)) for item in items}
