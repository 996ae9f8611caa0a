"""The ways in which Blender deletes an object, or a user does."""

from __future__ import annotations

import bpy


def operator(obj, use_global=False):
    """*Object ▸ Delete*."""
    with bpy.context.temp_override(active_object=obj, selected_objects=[obj], object=obj):
        assert bpy.ops.object.delete(use_global=use_global) == {"FINISHED"}


def everywhere(obj):
    """*Object ▸ Delete Global*."""
    operator(obj, use_global=True)


def remove(obj):
    """A script, and *Delete* in the Outliner."""
    bpy.data.objects.remove(obj)


def batch(obj):
    """*Purge*, and *Delete Hierarchy* in the Outliner."""
    bpy.data.batch_remove([obj])


def unlink(obj):
    """*Unlink* in the Outliner."""
    for collection in list(obj.users_collection):
        collection.objects.unlink(obj)


def collection(obj):
    """*Delete* of its collections in the Outliner."""
    for made in list(obj.users_collection):
        bpy.data.collections.remove(made)


def collection_unlinked(obj):
    """*Unlink* of its collection in the Outliner: it stays in the file until that is saved."""
    children = bpy.context.scene.collection.children
    for made in obj.users_collection:
        if made.name in children:
            children.unlink(made)


WAYS = {
    way.__name__: way
    for way in (operator, everywhere, remove, batch, unlink, collection, collection_unlinked)
}
