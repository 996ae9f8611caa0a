"""Search and removal of keyframe bakes, by a mark on all data that a bake made, not by names."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.errors import SceneError

MARK = "steer_bake"
"""Custom property with the crowd's name on all that a bake made: collection, objects, actions."""


@dataclass(frozen=True)
class DeleteResult:
    """Numbers of data-blocks that `delete_bake` removed."""

    collection_count: int
    object_count: int
    action_count: int


def find_bakes(name: str) -> list[bpy.types.Collection]:
    """The collections of this file that hold keyframe bakes of a crowd.

    Args:
        name: Name that the crowd was baked under.
    """
    return [c for c in bpy.data.collections if c.library is None and c.get(MARK) == name]


def delete_bake(collection_or_crowd: bpy.types.Collection | str) -> DeleteResult:
    """Remove a keyframe bake: its objects, their actions and its collection, nothing else.

    Objects that the user put into the collection move up to where the collection was; an action
    that is used elsewhere by now stays.

    Args:
        collection_or_crowd: The collection of a bake, or the name it was baked under.

    Returns:
        The numbers of removed data-blocks.

    Raises:
        SceneError: There is no such bake, or it is linked from another file.
    """
    if isinstance(collection_or_crowd, str):
        collections = find_bakes(collection_or_crowd)
        if not collections:
            raise SceneError(
                f"crowd {collection_or_crowd!r} has no keyframe bake in this file: "
                "there is nothing to delete"
            )
    else:
        collections = [collection_or_crowd]
    for collection in collections:
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
    counts = np.sum([_delete(collection) for collection in collections], axis=0)
    return DeleteResult(len(collections), int(counts[0]), int(counts[1]))


def _delete(collection: bpy.types.Collection) -> tuple[int, int]:
    _move_up(collection)
    baked = [item for item in collection.all_objects if MARK in item]
    actions = set()
    for item in baked:
        data = item.animation_data
        if data is not None and data.action is not None and MARK in data.action:
            actions.add(data.action)
    object_count = len(baked)
    bpy.data.batch_remove([*baked, collection])
    unused = [action for action in actions if action.users == 0]
    bpy.data.batch_remove(unused)
    return object_count, len(unused)


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
