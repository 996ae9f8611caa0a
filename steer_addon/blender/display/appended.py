"""Objects that only nodes read, and that Append would show.

They are in no collection. *File ▸ Append* puts such objects into the scene, all poses of a
character in one heap: there they are taken out again. A character itself is hidden again, and put
into a collection that no view layer shows; so is a collection of characters that came with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import app_handlers

_known: set[str] = set()
"""Custom properties of such objects."""
_hidden: dict[str, Callable[[bpy.types.Scene], bpy.types.Collection]] = {}
"""Custom properties of those that are never seen, and what finds or makes their collection."""


def unseen(key: str) -> str:
    """Remember a custom property whose objects only nodes read; returns it."""
    _known.add(key)
    return key


def hidden(key: str, home: Callable[[bpy.types.Scene], bpy.types.Collection]) -> str:
    """Remember a custom property whose objects are never seen themselves; returns it.

    Args:
        key: The custom property.
        home: Finds or makes the collection of a scene in which such objects are.
    """
    _hidden[key] = home
    return key


@persistent
def on_import(context: Any, *_: object) -> None:
    """Take such objects out of the collections that Append put them in, or hide them."""
    came = {item.id for item in context.import_items if item.id is not None}
    for item in came:
        if item.library is not None:
            continue
        if isinstance(item, bpy.types.Collection):
            _exclude(item)
        elif isinstance(item, bpy.types.Object):
            _put_away(item, came)


def _put_away(obj: bpy.types.Object, came: set[bpy.types.ID]) -> None:
    """Take an object out of the collections that Append put it in, if it is one of these."""
    keys = set(obj.keys())
    for other in obj.users_collection if _known & keys else ():
        other.objects.unlink(obj)
    for key in _hidden.keys() & keys:
        obj.hide_viewport = True
        others, scenes = set(obj.users_collection) - came, obj.users_scene
        if others and scenes:
            kept = _hidden[key](scenes[0])
            if kept not in others:
                kept.objects.link(obj)
            for other in others - {kept}:
                other.objects.unlink(obj)


def _exclude(collection: bpy.types.Collection) -> None:
    """Show a collection that came in no view layer, if it holds only objects that are not seen."""
    objects = collection.all_objects
    if any(objects and all(key in obj for obj in objects) for key in _hidden):
        for layer in (layer for scene in bpy.data.scenes for layer in scene.view_layers):
            left = [layer.layer_collection]
            while left:
                here = left.pop()
                left += here.children
                if here.collection == collection:
                    here.exclude = True


HANDLERS = (("blend_import_post", on_import),)


def register() -> None:
    """Follow what is appended."""
    app_handlers.add(HANDLERS)


def unregister() -> None:
    """Follow it no more."""
    app_handlers.remove(HANDLERS)
