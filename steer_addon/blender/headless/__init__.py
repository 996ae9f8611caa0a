"""Work without a window: batches and rendering."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "batch", "contents", "extracting", "render", "surfaces", "unshown")
