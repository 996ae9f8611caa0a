"""Crowds that are simulated while the animation plays."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(
    __name__,
    "advancing",
    "compiling",
    "live_store",
    "meeting",
    "missing",
    "played",
    "shared_run",
    "simulate",
)
