"""How a scene becomes a World, and how results become Blender data."""

from __future__ import annotations

from ..core.doors import load_on_use

load_on_use(__name__, "playback", "scene_units")
