"""Worlds: all that crowds read from their scene, as plain files, and runs without the scene."""

from __future__ import annotations

from ..doors import load_on_use

load_on_use(__name__, "layout", "recorder", "source", "stored")
