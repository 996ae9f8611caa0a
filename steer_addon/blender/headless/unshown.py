"""Files that are opened without what their crowds show, which is most of what Blender evaluates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
from bpy.app.handlers import persistent

from .. import app_handlers
from ..display import display


@contextmanager
def crowds_unshown() -> Iterator[None]:
    """A block in which files are opened, and their crowds are not shown.

    Blender evaluates a file as it opens it, and the agents of a crowd take longer than all else.
    What is read of agents never depends on it. At the end modifiers are as the file has them;
    Blender evaluates them when the scene is asked for the next time.
    """
    found: list[bpy.types.Modifier] = []

    @persistent
    def hide(*_: object) -> None:
        # handlers of files that are opened run before Blender evaluates them
        found.clear()
        for obj in bpy.data.objects:
            modifier = display.find_modifier(obj)
            own = obj.library is None and obj.override_library is None
            if own and modifier is not None and modifier.show_viewport:
                modifier.show_viewport = False
                found.append(modifier)

    handlers = (("load_post", hide),)
    app_handlers.add(handlers)
    try:
        yield
    finally:
        app_handlers.remove(handlers)
        for modifier in found:
            modifier.show_viewport = True
