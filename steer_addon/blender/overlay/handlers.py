"""Handlers that compute and draw the overlay, registered only while a scene shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from bpy.app.handlers import persistent

from .. import app_handlers
from ..crowd import links
from ..reading import scene_inputs
from ..suspension import is_suspended
from . import answers, settings, timeline, view


def is_shown(scene: bpy.types.Scene) -> bool:
    """Whether a scene shows the overlay; never without a window."""
    return not bpy.app.background and scene.steer_overlay.show


def settings_changed() -> None:
    """After a change of the overlay's settings: compute and draw once Blender is ready."""
    sync()
    if not bpy.app.background and not bpy.app.timers.is_registered(_refresh_all):
        bpy.app.timers.register(_refresh_all, first_interval=0.0)


def _refresh_all() -> None:
    """Explain the crowds of all windows. Run once by a timer."""
    for window in bpy.context.window_manager.windows:
        if is_shown(window.scene):
            answers.refresh(window.scene, window.view_layer.depsgraph)
    app_handlers.redraw()


@persistent
def on_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None = None) -> None:
    """Something was evaluated: another frame, or an edit."""
    if is_suspended() or not is_shown(scene):
        return
    if depsgraph is None or depsgraph.mode == "RENDER":
        return
    if answers.refresh(scene, depsgraph, _reshaped(scene, depsgraph)):
        app_handlers.redraw()


def _reshaped(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> set[int]:
    obj = answers.crowd_of(scene)
    if obj is None:
        return set()
    owners = scene_inputs.geometry_owners(obj)
    updated = {u.id.original.session_uid for u in depsgraph.updates if u.is_updated_geometry}
    # the state of another crowd changes in every frame; that is no edit
    others = {crowd.session_uid for crowd in links.linked_crowds(obj)}
    return {owners[uid] for uid in updated & owners.keys()} - others


@persistent
def on_undo(*_: object) -> None:
    """Drop the answers: they may belong to settings that are gone."""
    settings_changed()


@persistent
def on_load(*_: object) -> None:
    """Reset everything: the new file may not show the overlay."""
    if _drawn:
        view.forget()
    settings_changed()


WHILE_SHOWN: tuple[tuple[str, Callable[..., None]], ...] = (
    ("frame_change_post", on_change),
    ("depsgraph_update_post", on_change),
    ("undo_post", on_undo),
    ("redo_post", on_undo),
)
"""Handlers that exist only while the overlay is shown, each with its list."""


_drawn = False
"""Whether the overlay, or a rest of it, is drawn."""


def _stop() -> None:
    """Stop drawing, and drop all answers."""
    global _drawn
    if _drawn:
        view.remove()
        answers.forget()
        _drawn = False


ALWAYS = (("load_post", on_load),)
"""Handlers that exist while Steer is enabled."""


def sync() -> None:
    """Add or remove draw callbacks and handlers, which exist only while the overlay is shown."""
    global _drawn
    shown = any(is_shown(scene) for scene in bpy.data.scenes)
    if shown:
        app_handlers.add(WHILE_SHOWN)
        view.add()
        _drawn = True
    else:
        app_handlers.remove(WHILE_SHOWN)
        _stop()


_bars: list[Any] = []
"""The draw callback of timelines."""


def _draw_bar() -> None:
    """Draw the stored frames; what that needs is loaded at the first timeline."""
    timeline.draw()


def register() -> None:
    """Add the settings; a scene that is open already may show the overlay."""
    settings.register(settings_changed)
    app_handlers.add(ALWAYS)
    if not bpy.app.background:
        space = bpy.types.SpaceDopeSheetEditor
        _bars.append(space.draw_handler_add(_draw_bar, (), "WINDOW", "POST_PIXEL"))
        # while an extension is being enabled, Blender denies access to scenes
        bpy.app.timers.register(settings_changed, first_interval=0.0)


def unregister() -> None:
    """Remove all handlers, callbacks and answers."""
    app_handlers.remove_timers(settings_changed, _refresh_all)
    app_handlers.remove((*ALWAYS, *WHILE_SHOWN))
    while _bars:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_bars.pop(), "WINDOW")
    _stop()
    settings.unregister()
