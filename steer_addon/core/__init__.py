"""The program that moves agents: arrays in, arrays out, and nothing of Blender."""

from __future__ import annotations

from .doors import load_on_use

load_on_use(__name__, "cache", "views")
