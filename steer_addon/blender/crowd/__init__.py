"""A crowd in a .blend file: its object, properties, state object, inputs and links."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(
    __name__,
    "animation_paths",
    "bake_owner",
    "baked_file",
    "casting",
    "hero_table",
    "links",
    "live_settings",
    "properties",
)
