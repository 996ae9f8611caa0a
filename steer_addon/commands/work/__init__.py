"""Work of commands that needs Blender: each module waits until its command is run."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "bake", "demo", "render", "scene", "simulate")
