"""Characters: bodies that move, as poses sampled over speeds and phases, and what walks them on."""

from __future__ import annotations

from ..doors import load_on_use

load_on_use(__name__, "contacts", "rows")
