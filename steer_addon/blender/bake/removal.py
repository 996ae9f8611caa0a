"""Search and removal of keyframe bakes, by a mark on all data that a bake made, not by names."""

from __future__ import annotations

import bpy

from ...core.errors import SceneError

MARK = "steer_bake"
"""Custom property with the crowd's name on all that a bake made: collection, objects, actions."""


def find_bakes(name: str) -> list[bpy.types.Collection]:
    """The collections of this file that hold keyframe bakes of a crowd, by its name then."""
    return [c for c in bpy.data.collections if c.library is None and c.get(MARK) == name]


def delete_bake(collection: bpy.types.Collection) -> int:
    """Remove a keyframe bake: its objects, their actions and its collection, nothing else.

    Objects that the user put into the collection move up to where the collection was; an action
    that is used elsewhere by now stays. Returns the number of removed objects.

    Raises:
        SceneError: The collection holds no bake, or is linked from another file.
    """
    if collection.library is not None:
        raise SceneError(
            f"collection {collection.name!r} is linked from {collection.library.filepath}: "
            "delete the bake in that file"
        )
    if MARK not in collection:
        raise SceneError(
            f"collection {collection.name!r} holds no keyframe bake: choose one that "
            "Bake Keyframes made"
        )
    _move_up(collection)
    baked = [item for item in collection.all_objects if MARK in item]
    found = {item.animation_data.action for item in baked if item.animation_data is not None}
    actions = [action for action in found if action is not None and MARK in action]
    count = len(baked)
    bpy.data.batch_remove([*baked, collection])
    bpy.data.batch_remove([action for action in actions if action.users == 0])
    return count


def _move_up(collection: bpy.types.Collection) -> None:
    """Move the user's objects from a bake's collection to the collections above it."""
    own = [item for item in collection.objects if MARK not in item]
    if not own and not collection.children:
        return
    scenes = [scene.collection for scene in bpy.data.scenes]
    for above in (*scenes, *bpy.data.collections):
        if collection not in above.children.values():
            continue
        for item in set(own).difference(above.objects):
            above.objects.link(item)
        for child in set(collection.children).difference(above.children):
            above.children.link(child)
