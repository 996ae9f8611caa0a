"""Walkers meet balls and are pushed to the side: they pass, also head-on, and never turn back.

The same balls and files of walkers as in `ahead_spheres`, with the push of the Cocos2d-x variant.
"""

from __future__ import annotations

from .ahead_spheres import build_balls
from .stage import Stage


def build(stage: Stage) -> None:
    """The balls, met by walkers that are pushed to the side."""
    build_balls(stage, "lateral_spheres")
