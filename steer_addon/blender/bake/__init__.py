"""Bakes: results of a crowd as Blender data that plays without the extension."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(
    __name__,
    "cached",
    "checking",
    "hero_age",
    "hero_motion",
    "heroes",
    "keyed_crowds",
    "keyframes",
    "places",
    "removal",
    "rig_bakes",
    "together",
)
