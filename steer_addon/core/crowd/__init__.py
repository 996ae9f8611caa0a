"""Settings of a crowd, and presets: files of settings."""

from __future__ import annotations

from ..doors import load_on_use

load_on_use(__name__, "presets", "start")
