"""Objects that only nodes read, and that Append would show.

They are in no collection. *File ▸ Append* puts such objects into the scene, all poses of a
character in one heap: there they are taken out again. A character itself may be there, but Append
shows it, too: it is hidden again.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import app_handlers

_known: set[str] = set()
"""Custom properties of such objects."""
_hidden: set[str] = set()
"""Custom properties of those that are in collections, but never seen."""


def unseen(key: str) -> str:
    """Remember a custom property whose objects only nodes read; returns it."""
    _known.add(key)
    return key


def hidden(key: str) -> str:
    """Remember a custom property whose objects are never seen themselves; returns it."""
    _hidden.add(key)
    return key


@persistent
def on_import(context: Any, *_: object) -> None:
    """Take such objects out of the collections that Append put them in, or hide them."""
    for item in context.import_items:
        obj = item.id
        if not isinstance(obj, bpy.types.Object) or obj.library is not None:
            continue
        keys = set(obj.keys())
        if _known & keys:
            for collection in obj.users_collection:
                collection.objects.unlink(obj)
        if _hidden & keys:
            obj.hide_viewport = True


HANDLERS = (("blend_import_post", on_import),)


def register() -> None:
    """Follow what is appended."""
    app_handlers.add(HANDLERS)


def unregister() -> None:
    """Follow it no more."""
    app_handlers.remove(HANDLERS)
