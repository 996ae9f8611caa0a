"""One step of a crowd: proposals, integration, arrival, and the simulation over frames."""

from __future__ import annotations

from ..doors import load_on_use

load_on_use(__name__, "solver")
