"""Heroes: agents as real rigs, and the actions that only these play."""

from __future__ import annotations

from ....core.doors import load_on_use

load_on_use(__name__, "blending", "figure_rigs", "hero", "stepping")
