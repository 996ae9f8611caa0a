"""Files with an older Crowd node group are brought up to date when they are opened."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from .. import app_handlers
from .display import update_node_groups


@persistent
def on_load(*_: object) -> None:
    """Bring the node groups of the file that was opened up to date."""
    update_node_groups()


def _begin() -> None:
    # while an extension is being enabled Blender forbids changes of data
    update_node_groups()


HANDLERS = (("load_post", on_load),)


def register() -> None:
    """Add the handler; a file that is open already is looked at as soon as can be."""
    app_handlers.add(HANDLERS)
    bpy.app.timers.register(_begin, first_interval=0.0)


def unregister() -> None:
    """Remove the handler."""
    app_handlers.remove(HANDLERS)
    app_handlers.remove_timers(_begin)
