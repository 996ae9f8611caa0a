"""Frames that a simulation leaves, and what is computed from them."""

from __future__ import annotations

from ..doors import load_on_use

load_on_use(__name__, "frames", "roster")
