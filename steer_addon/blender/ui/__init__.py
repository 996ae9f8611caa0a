"""Panels, menus and their contents."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(
    __name__,
    "births",
    "display_fields",
    "drawing",
    "group_list",
    "messages",
    "overlay_table",
    "previews",
)
