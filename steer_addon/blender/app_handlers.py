"""Blender's application handlers and timers, added once and removed wherever they are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy

Rows = Iterable[tuple[str, Callable[..., None]]]
"""Handlers, each after the name of the list of `bpy.app.handlers` that it goes into."""


def add(rows: Rows) -> None:
    """Add handlers; existing ones are not added again."""
    for name, handler in rows:
        handlers = getattr(bpy.app.handlers, name)
        if handler not in handlers:
            handlers.append(handler)


def remove(rows: Rows) -> None:
    """Remove handlers that are there."""
    for name, handler in rows:
        handlers = getattr(bpy.app.handlers, name)
        if handler in handlers:
            handlers.remove(handler)


def remove_timers(*calls: Callable[[], float | None]) -> None:
    """Take timers back that wait."""
    for call in calls:
        if bpy.app.timers.is_registered(call):
            bpy.app.timers.unregister(call)


def redraw() -> None:
    """Draw all 3D views again, the panels, and the bars of stored frames."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PROPERTIES", "DOPESHEET_EDITOR"):
                area.tag_redraw()


def redraw_panels() -> None:
    """Draw the panels again, and no 3D view."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()
            for region in area.regions if area.type == "VIEW_3D" else ():
                if region.type == "UI":
                    region.tag_redraw()
