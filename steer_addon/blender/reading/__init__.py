"""A scene becomes a World and Agents: plain arrays in world space."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "extents", "scene", "scene_agents", "scene_inputs", "scene_meshes")
