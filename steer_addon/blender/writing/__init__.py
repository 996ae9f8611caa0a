"""Frames of a crowd as files that Blender or others read; playback and exports share these."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "files", "mesh_cache", "usd_points")
