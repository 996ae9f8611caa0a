"""How agents are shown: the Crowd modifier, its node group, and what it instances."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "node_builder", "rigs")
