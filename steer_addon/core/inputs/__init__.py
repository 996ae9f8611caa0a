"""The world that a crowd perceives: colliders, targets, paths, fields, containers, spheres."""

from __future__ import annotations

from ..doors import load_on_use

load_on_use(__name__, "paths")
