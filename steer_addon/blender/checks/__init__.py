"""Diagnoses of a scene, each with its remedy."""

from __future__ import annotations

from ...core.doors import load_on_use

load_on_use(__name__, "advice", "attribute_checks", "obstructions", "opened_files")
