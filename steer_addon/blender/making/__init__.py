"""Objects made for users: crowds, scenery, inputs, demo scenes."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(
    __name__,
    "arrangement",
    "demos",
    "distribute",
    "grounds",
    "importers",
    "input_makers",
    "path_curves",
    "plans",
    "resizing",
    "scene_maker",
    "spawning",
    "staging",
    "starters",
)
